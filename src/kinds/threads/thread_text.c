/* SPDX-License-Identifier: MIT
 *
 * thread_text.c: finds the names of all addresses, then writes thread after thread (the header has
 * the layout).
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no stdio, no locks).
 * Tested by: e2e.thread_profile, e2e.first_thread_ends
 */
#include "kinds/threads/thread_text.h"

#include "encode/location_names.h"
#include "encode/text_stream.h"

#include <errno.h>

typedef struct dump {
    const pp_profile *profile;
    pp_location_table locations;
    pp_location_names names;
    pp_text_stream out;
} dump;

static int find_names(dump *d, const pp_thread_text *threads, size_t count, pp_arena *arena)
{
    pp_location_table_init(&d->locations, arena);
    for (size_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < threads[i].depth; k++) {
            pp_location_table_id(&d->locations, threads[i].pc[k] - 1);
        }
        if (threads[i].creation != NULL) {
            pp_location_table_id(&d->locations, *threads[i].creation - 1);
        }
    }
    if (d->locations.failed) {
        return -ENOMEM;
    }
    int error = pp_location_names_find(d->profile, &d->locations, arena, &d->names);
    return error != 0 ? error : pp_location_names_demangle(&d->names, d->locations.count, arena);
}

static const pp_mapping *mapping_of(const dump *d, const pp_location *location)
{
    uint32_t id = location->mapping;
    return id > 0 && id <= d->profile->mapping_count ? &d->profile->mappings[id - 1] : NULL;
}

static void write_place(dump *d, const pp_line *line)
{
    pp_text_stream_add(&d->out, "\n\t");
    pp_text_stream_add(&d->out, line->file);
    pp_text_stream_add(&d->out, ":");
    pp_text_stream_unsigned(&d->out, line->line);
}

/* Writes the functions that were inlined at the location. They have no offset, since they have no
 * code of their own. */
static void write_inlined(dump *d, uint32_t id, const char *after)
{
    const pp_lines *lines = &d->names.lines[id - 1];
    for (uint32_t i = 0; i + 1 < lines->count; i++) {
        pp_text_stream_add(&d->out, d->names.demangled_lines[id - 1][i]);
        pp_text_stream_add(&d->out, after);
        write_place(d, &lines->line[i]);
        pp_text_stream_add(&d->out, "\n");
    }
}

/* Writes a function, its source line or module, and the offset in it of `shown`: the return address
 * `pc`, or the instruction before. */
static void write_function(dump *d, const char *before, uintptr_t pc, uintptr_t shown,
                           const char *after, uint64_t creator)
{
    uint32_t id = pp_location_table_id(&d->locations, pc - 1);
    const pp_symbol *symbol = &d->names.symbols[id - 1];
    const pp_lines *lines = &d->names.lines[id - 1];
    const pp_mapping *mapping = mapping_of(d, &d->locations.locations[id - 1]);
    uintptr_t from = symbol->name != NULL ? symbol->entry : mapping != NULL ? mapping->bias : 0;
    pp_text_stream_add(&d->out, before);
    if (symbol->name != NULL) {
        pp_text_stream_add(&d->out, d->names.demangled[id - 1]);
    } else {
        pp_text_stream_hex(&d->out, shown);
    }
    pp_text_stream_add(&d->out, after);
    if (creator > 0) {
        pp_text_stream_unsigned(&d->out, creator);
    }
    if (lines->count > 0) {
        write_place(d, &lines->line[lines->count - 1]);
    } else {
        pp_text_stream_add(&d->out, "\n\t");
        pp_text_stream_add(&d->out,
                           mapping != NULL && *mapping->path != '\0' ? mapping->path : "?");
    }
    pp_text_stream_add(&d->out, " +");
    pp_text_stream_hex(&d->out, shown - from);
    pp_text_stream_add(&d->out, "\n");
}

static void write_left_out(dump *d, const pp_thread_text *t, uint32_t at)
{
    if (t->left_out > 0 && at == t->left_out_after) {
        pp_text_stream_add(&d->out, "...");
        pp_text_stream_unsigned(&d->out, t->left_out);
        pp_text_stream_add(&d->out, " frames elided...\n");
    }
}

static void write_creation(dump *d, const pp_thread_text *t)
{
    uintptr_t pc = *t->creation;
    if (t->creator_task > 0) {
        write_function(d, "created by ", pc, pc, " in task ", t->creator_task);
    } else {
        write_function(d, "created by ", pc, pc, t->creator > 0 ? " in thread " : "",
                       (uint64_t)t->creator);
    }
}

static void write_thread(dump *d, const pp_thread_text *t)
{
    pp_text_stream_add(&d->out, t->task != 0 ? "task " : "thread ");
    pp_text_stream_unsigned(&d->out, t->task != 0 ? t->task : (uint64_t)t->tid);
    if (t->name != NULL) {
        pp_text_stream_add(&d->out, " ");
        pp_text_stream_quoted(&d->out, t->name);
    }
    pp_text_stream_add(&d->out, " [");
    pp_text_stream_escaped(&d->out, t->state); /* a task's is a word of the program */
    if (t->wait != NULL) {
        pp_text_stream_add(&d->out, ", ");
        pp_lock_wait_write(t->wait, &d->out);
    }
    pp_text_stream_add(&d->out, "]:\n");
    for (uint32_t i = 0; i < t->depth; i++) {
        uint32_t id = pp_location_table_id(&d->locations, t->pc[i] - 1);
        write_left_out(d, t, i);
        write_inlined(d, id, "(...)");
        write_function(d, "", t->pc[i], t->pc[i] - (i == 0 && t->interrupted), "(...)", 0);
    }
    if (t->note != NULL) {
        pp_text_stream_add(&d->out, t->note);
    }
    if (t->creation != NULL) {
        write_creation(d, t);
    }
}

int pp_thread_text_encode(const pp_profile *profile, const pp_thread_text *threads, size_t count,
                          pp_arena *arena, pprof_writer writer)
{
    dump d = {.profile = profile};
    pp_text_stream_init(&d.out, writer);
    int error = find_names(&d, threads, count, arena);
    for (size_t i = 0; error == 0 && d.out.error == 0 && i < count; i++) {
        if (i > 0) {
            pp_text_stream_add(&d.out, "\n");
        }
        write_thread(&d, &threads[i]);
    }
    if (error != 0) {
        pp_text_stream_fail(&d.out, error);
    }
    return pp_text_stream_finish(&d.out);
}
