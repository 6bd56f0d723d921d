/* SPDX-License-Identifier: MIT
 *
 * coroutine_api.c: the public functions that say when a task begins and ends (<pprof_task.h>).
 * threads/coroutines.h has the lists; kinds/contention/coroutine_waits.c has the functions between.
 *
 * Zone: NORMAL.
 * Tested by: e2e.tasks
 */
#include "pprof_task.h"

#include "host/kind.h"
#include "threads/coroutines.h"

PP_NEEDS_KINDS;

int pprof_task_register(pprof_task *task, const pprof_task_options *options)
{
    return pp_coroutine_begin(task, options, (uintptr_t)__builtin_return_address(0));
}

void pprof_task_end(pprof_task *task)
{
    pp_coroutine_end(task);
}

size_t pprof_task_count(void)
{
    return pp_coroutines_count();
}
