/* SPDX-License-Identifier: MIT
 *
 * fd_rows.c: joins the list of open descriptors (sys/open_descriptors.h) with the table of stacks.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: e2e.fd, e2e.fd_real
 */
#include "kinds/fd/fd_rows.h"

#include "host/samplers.h"
#include "kinds/fd/fd_opened.h"
#include "kinds/fd/fd_table.h"
#include "output/count.h"

#include <errno.h>
#include <string.h>

enum { FIRST_ROWS = 64 };

/* ---- open descriptors ---- */

typedef struct each {
    pp_descriptor_visit *visit;
    void *context;
} each;

static void visit_foreign(int fd, void *context)
{
    const each *e = context;
    if (!pp_samplers_own_descriptor(fd)) {
        e->visit(fd, e->context);
    }
}

void pp_fd_each(pp_descriptor_visit *visit, void *context)
{
    each e = {visit, context};
    pp_open_descriptors_each(visit_foreign, &e);
}

/* ---- rows ---- */

typedef struct collection {
    pp_arena *arena;
    pp_value_rows *rows;
    size_t capacity;
    bool failed;
} collection;

/* Doubles the list. The arena keeps the old one until it is released. */
static bool grow(collection *c)
{
    size_t capacity = c->capacity == 0 ? FIRST_ROWS : 2 * c->capacity;
    pp_count_row *list = pp_arena_array(c->arena, capacity, sizeof *list);
    if (list == NULL) {
        return false;
    }
    if (c->rows->count > 0) {
        memcpy(list, c->rows->list, c->rows->count * sizeof *list);
    }
    c->rows->list = list;
    c->capacity = capacity;
    return true;
}

static void add_row(int fd, void *context)
{
    collection *c = context;
    pprof_labels *labels = NULL;
    const pp_trie_stack *stack = pp_fd_table_get(fd, &labels);
    if (stack == NULL) {
        stack = pp_fd_unseen();
    }
    if (stack == NULL || (c->rows->count == c->capacity && !grow(c))) {
        pp_labels_unref(labels);
        c->failed = true;
        return;
    }
    c->rows->list[c->rows->count++] =
        (pp_count_row){.pc = stack->pc, .depth = stack->depth, .labels = labels, .count = 1};
}

static int read_rows(pp_arena *arena, pp_value_rows *rows)
{
    collection c = {.arena = arena, .rows = rows};
    rows->count = 0;
    pp_fd_each(add_row, &c);
    return c.failed ? -ENOMEM : 0;
}

static void count_one(int fd, void *count)
{
    (void)fd;
    ++*(size_t *)count;
}

size_t pp_fd_rows_count(void)
{
    size_t count = 0;
    pp_fd_each(count_one, &count);
    return count;
}

int pp_fd_rows_write(pprof_writer writer, int debug)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_value_rows rows = {.count = 0};
    int error = read_rows(&arena, &rows);
    if (error == 0) {
        error = pp_count_write("fd", rows.list, rows.count, debug, writer);
    }
    pp_value_rows_release(&rows);
    pp_arena_release(&arena);
    return error;
}
