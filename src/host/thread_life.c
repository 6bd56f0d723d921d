/* SPDX-License-Identifier: MIT
 *
 * thread_life.c: calls all that must know that a thread begins or ends.
 *
 * Zone: NORMAL.
 * Tested by: unit.labels_api, e2e.threads, e2e.labels
 */
#include "host/thread_life.h"

#include "crash/crash_stacks.h"
#include "host/samplers.h"
#include "store/labels.h"
#include "sys/own_work.h"
#include "threads/small_stacks.h"
#include "unwind/scratch.h"
#include "unwind/stack_memo.h"
#include "unwind/stack_memory.h"

void pp_thread_declare_stack(uintptr_t limit, uintptr_t top)
{
    pp_stack_declare(limit, top);
}

void pp_thread_begin(uintptr_t entry, const pp_caller *caller, pprof_labels *labels,
                     const pp_thread_creation *creation)
{
    pp_labels_exchange(labels);
    pp_thread_creation_begin(entry, creation);
    pp_samplers_thread_begins(entry, caller);
    pp_crash_stack_begin();
}

void pp_thread_was_there(void)
{
    pp_thread_creation_begin(0, &(pp_thread_creation){.stack = NULL});
}

pprof_labels *pp_thread_labels(void)
{
    return pp_labels_ref(pp_labels_current());
}

void pp_thread_drop_labels(pprof_labels *labels)
{
    pp_labels_unref(labels);
}

void pp_thread_leave(void)
{
    pp_own_work_for_ever();
    pp_thread_creation_disown();
    pp_samplers_tell(PP_THREAD_ENDS);
}

void pp_thread_end(void)
{
    pp_samplers_tell(PP_THREAD_ENDS);
    pp_small_stacks_set_own(0);
    pp_crash_stack_end();
    pp_scratch_thread_end();
    pp_memo_thread_end();
    pp_thread_creation_end(); /* after this no thread reads its labels */
    pp_labels_unref(pp_labels_exchange(NULL));
}
