/* SPDX-License-Identifier: MIT
 *
 * single_thread.c: see single_thread.h.
 *
 * Zone: NORMAL.
 * Tested by: unit.single_thread, e2e.wall
 */
#include "modules/single_thread.h"

#include "modules/libc.h"
#include "sys/clock.h"
#include "sys/task_state.h"
#include "sys/tasks.h"

#include <stdint.h>

enum {
    PASSES_NS =
        1000000 /* more CPU time than libc's longest part between a look at the variable and its use */
};

static struct {
    char *is_single; /* libc's variable; NULL: not known, or there is none */
    int program;     /* the program's thread; 0: libc knows of all threads */
    bool is_kept;    /* false while the other thread is created: libc knows of that */
    bool is_told;    /* by us: the variable was true until then */
    int64_t told_ns; /* CPU time of the program's thread at that moment */
} single;

/* What the program reads, which may be a copy in the program itself. */
extern char seen_by_program __asm__("__libc_single_threaded") __attribute__((weak));

/* What libc reads. */
static char *find_variable(void)
{
    char *known = __atomic_load_n(&single.is_single, __ATOMIC_RELAXED);
    if (known == NULL) {
        known = (char *)pp_libc_variable("__libc_single_threaded");
        __atomic_store_n(&single.is_single, known, __ATOMIC_RELAXED);
    }
    return known;
}

static bool is_true(void)
{
    const char *variable = find_variable();
    return variable != NULL && __atomic_load_n(variable, __ATOMIC_SEQ_CST) != 0;
}

static void set(char value)
{
    __atomic_store_n(single.is_single, value, __ATOMIC_SEQ_CST);
    if (&seen_by_program != NULL) {
        __atomic_store_n(&seen_by_program, value, __ATOMIC_SEQ_CST);
    }
}

bool pp_single_thread_begin(void)
{
    if (!is_true()) {
        return false;
    }
    __atomic_store_n(&single.is_kept, false, __ATOMIC_RELAXED);
    __atomic_store_n(&single.program, pp_task_self(), __ATOMIC_RELEASE);
    return true;
}

void pp_single_thread_end(void)
{
    single.is_told = false;
    set(1);
    __atomic_store_n(&single.is_kept, true, __ATOMIC_RELEASE);
}

/* In a system call a thread holds none of libc's locks that it took without an atomic instruction, but for those of a
 * function that itself waits: their next owner waits for it. */
static bool has_passed(int program)
{
    pp_task_place place;
    int64_t ran_ns = pp_task_cpu_ns(program) - single.told_ns;
    return ran_ns >= PASSES_NS || ran_ns < 0 ||
           (pp_task_look(PP_TASK_ANY_FOLDER, program, &place) == PP_TASK_WAITS && place.call >= 0);
}

bool pp_single_thread_may_lock(void)
{
    int program = __atomic_load_n(&single.program, __ATOMIC_ACQUIRE);
    if (program == 0) {
        return true;
    }
    if (!__atomic_load_n(&single.is_kept, __ATOMIC_ACQUIRE)) {
        return false;
    }
    if (is_true()) {
        single.is_told = true;
        set(0);
        single.told_ns = pp_task_cpu_ns(program);
        return false;
    }
    if (single.is_told && !has_passed(program)) {
        return false;
    }
    __atomic_store_n(&single.program, 0, __ATOMIC_RELEASE);
    return true;
}

void pp_single_thread_after_fork_in_child(void)
{
    single.program = 0;
}
