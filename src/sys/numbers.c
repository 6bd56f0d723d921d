/* SPDX-License-Identifier: MIT
 *
 * numbers.c: reads the numbers in a folder by getdents64.
 *
 * Zone: SIGNAL.
 * Tested by: unit.tasks
 */
#include "sys/numbers.h"

#include "arch/system_call.h"
#include "sys/apart.h"
#include "sys/own_files.h"
#include "sys/signal_mask.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>

/* The number that a name consists of; -1 for other names, such as "." and "..". */
static int parse(const char *name)
{
    int number = *name >= '0' && *name <= '9' ? 0 : -1;
    for (; *name >= '0' && *name <= '9'; name++) {
        number = number * 10 + (*name - '0');
    }
    return *name == '\0' ? number : -1;
}

typedef struct listing {
    const char *folder;
    void *buffer;
    size_t size;
    pp_number_visit *visit;
    void *context;
    bool holds;
    int result;
} listing;

static void visit_entries(const listing *l, long length)
{
    for (long at = 0; at < length;) {
        const struct dirent64 *entry = (const void *)((const char *)l->buffer + at);
        int number = parse(entry->d_name);
        if (number >= 0) {
            l->visit(number, l->context);
        }
        at += entry->d_reclen;
    }
}

/* With all signals blocked: one whose handler closes a descriptor would wait for the thread that it interrupts. */
static long read_entries(const listing *l, int fd)
{
    pp_signal_mask old = 0;
    if (l->holds) {
        pp_signals_block(&old);
        pp_apart_hold();
    }
    long got = pp_system_call(SYS_getdents64, fd, l->buffer, l->size);
    if (l->holds) {
        pp_apart_release();
        pp_signals_restore(&old);
    }
    return got;
}

static void list(void *of_listing)
{
    listing *l = of_listing;
    int fd = pp_own_open(l->folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0) {
        l->result = fd;
        return;
    }
    long got = 0;
    while ((got = read_entries(l, fd)) > 0) {
        visit_entries(l, got);
    }
    pp_own_close(fd);
    l->result = (int)got;
}

int pp_numbers_each(const char *folder, void *buffer, size_t size, pp_number_visit *visit,
                    void *context)
{
    listing l = {folder, buffer, size, visit, context, false, 0};
    pp_apart(list, &l);
    return l.result;
}

int pp_numbers_each_descriptor(const char *folder, void *buffer, size_t size,
                               pp_number_visit *visit, void *context)
{
    listing l = {folder, buffer, size, visit, context, true, 0};
    pp_apart(list, &l);
    return l.result;
}
