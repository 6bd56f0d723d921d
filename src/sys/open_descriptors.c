/* SPDX-License-Identifier: MIT
 *
 * open_descriptors.c: lists /proc/self/fd, or tries each number.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.fd
 */
#include "sys/open_descriptors.h"

#include "arch/system_call.h"
#include "base/text.h"
#include "sys/numbers.h"
#include "sys/own_files.h"
#include "sys/own_threads.h"
#include "sys/recorder.h"
#include "sys/tasks.h"

#include <fcntl.h>
#include <stdint.h>

enum {
    ENTRIES_BYTES = 4096, /* of the folder, for one call */
    TRIED = 65536         /* numbers, in about 5 ms */
};

typedef struct each {
    pp_descriptor_visit *visit;
    void *context;
    bool any;
} each;

static void visit_foreign(int fd, void *context)
{
    each *e = context;
    e->any = true;
    if (!pp_own_has(fd) && !pp_recorder_has(fd)) {
        e->visit(fd, e->context);
    }
}

/* True if the list has at least one entry, the folder's own descriptor. */
static bool list(const char *folder, each *e)
{
    uint64_t entries[ENTRIES_BYTES / sizeof(uint64_t)];
    return pp_numbers_each_descriptor(folder, entries, sizeof entries, visit_foreign, e) == 0 &&
           e->any;
}

/* The id of a thread of the program. */
static void choose(int tid, void *of_chosen)
{
    int *chosen = of_chosen;
    if (tid != pp_task_process() && !pp_own_threads_have(tid)) {
        *chosen = tid;
    }
}

static bool list_of_other(each *e)
{
    uint64_t entries[ENTRIES_BYTES / sizeof(uint64_t)];
    int tid = 0;
    pp_text path = PP_TEXT_INIT;
    pp_tasks_each(entries, sizeof entries, choose, &tid);
    pp_text_add(&path, "/proc/self/task/");
    pp_text_add_number(&path, (uint64_t)tid);
    pp_text_add(&path, "/fd");
    path.data[path.length] = '\0';
    return tid != 0 && list(path.data, e);
}

/* /proc/self names the first thread, which has no descriptors any more once it has ended before the
 * others. */
void pp_open_descriptors_each(pp_descriptor_visit *visit, void *context)
{
    each e = {visit, context, false};
    if (list("/proc/self/fd", &e) || list_of_other(&e)) {
        return;
    }
    for (int fd = 0; fd < TRIED; fd++) {
        if (pp_system_call(SYS_fcntl, fd, F_GETFD) >= 0) {
            visit_foreign(fd, &e);
        }
    }
}
