/* SPDX-License-Identifier: MIT
 *
 * open_descriptors.c: /proc/self/fd, or one try for each number.
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: nothing.
 */
#include "sys/open_descriptors.h"

#include "arch/system_call.h"
#include "sys/numbers.h"
#include "sys/own_files.h"

#include <fcntl.h>
#include <stdint.h>

enum {
    ENTRIES_BYTES = 4096, /* of the folder, at a time */
    TRIED = 65536         /* numbers, some 5 ms */
};

typedef struct each {
    pp_descriptor_visit *visit;
    void *context;
} each;

static void visit_foreign(int fd, void *context)
{
    const each *e = context;
    if (!pp_own_has(fd)) {
        e->visit(fd, e->context);
    }
}

void pp_open_descriptors_each(pp_descriptor_visit *visit, void *context)
{
    uint64_t entries[ENTRIES_BYTES / sizeof(uint64_t)];
    each e = {visit, context};
    if (pp_numbers_each("/proc/self/fd", entries, sizeof entries, visit_foreign, &e) == 0) {
        return;
    }
    for (int fd = 0; fd < TRIED; fd++) {
        if (pp_system_call(SYS_fcntl, fd, F_GETFD) >= 0) {
            visit_foreign(fd, &e);
        }
    }
}
