/* SPDX-License-Identifier: MIT
 *
 * thread_label.c: see thread_label.h.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.wall_threads
 */
#include "kinds/cpu/thread_label.h"

#include "arch/system_call.h"
#include "base/compiler.h"
#include "sys/task_state.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

static const char key[] = "thread";

static unsigned wanted;

void pp_thread_label_want(void)
{
    __atomic_add_fetch(&wanted, 1, __ATOMIC_RELAXED);
}

void pp_thread_label_unwant(void)
{
    unsigned users = __atomic_load_n(&wanted, __ATOMIC_RELAXED);
    while (users > 0 && !__atomic_compare_exchange_n(&wanted, &users, users - 1, true,
                                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

void pp_thread_label_end(void)
{
    __atomic_store_n(&wanted, 0, __ATOMIC_RELAXED);
}

bool pp_thread_label_is_wanted(void)
{
    return __atomic_load_n(&wanted, __ATOMIC_RELAXED) != 0;
}

void pp_thread_label_own_name(char *name)
{
    name[0] = '\0';
    if (pp_thread_label_is_wanted()) {
        pp_system_call(SYS_prctl, PR_GET_NAME, name, 0, 0, 0);
        name[PP_TASK_NAME_BYTES - 1] = '\0';
    }
}

pprof_labels *pp_thread_label_add(pprof_labels *labels, const char *name)
{
    const char *const pair[] = {key, name};
    int error = 0;
    if (name[0] == '\0' || (labels != NULL && pp_labels_find(labels, key) != NULL)) {
        return pp_labels_ref(labels);
    }
    pprof_labels *set = pp_labels_new(labels, pair, 1, &error);
    return set != NULL ? set : pp_labels_ref(labels);
}

pprof_labels *pp_thread_label_take(void)
{
    char name[PP_TASK_NAME_BYTES];
    pprof_labels *labels = pp_labels_current();
    if (pp_likely(!pp_thread_label_is_wanted())) {
        return pp_labels_ref(labels);
    }
    pp_thread_label_own_name(name);
    return pp_thread_label_add(labels, name);
}
