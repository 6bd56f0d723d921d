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
#include "sys/tasks.h"

#include <stdint.h>

/* More CPU time than libc's longest part between a look at the variable and its use: a fork copies page tables. */
enum { PASSES_NS = PP_NS_PER_S };

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

/* So libc's variable is false from now on. */
static void tell(int program)
{
    single.told_ns = pp_task_cpu_ns(program);
    __atomic_store_n(&single.is_told, true, __ATOMIC_RELEASE);
    set(0);
}

void pp_single_thread_tell(void)
{
    int program = __atomic_load_n(&single.program, __ATOMIC_ACQUIRE);
    if (program == pp_task_self() && is_true()) {
        tell(program);
    }
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
        tell(program);
        return false;
    }
    if (__atomic_load_n(&single.is_told, __ATOMIC_ACQUIRE) &&
        pp_task_cpu_ns(program) < single.told_ns + PASSES_NS) {
        return false;
    }
    __atomic_store_n(&single.program, 0, __ATOMIC_RELEASE);
    return true;
}

void pp_single_thread_after_fork_in_child(void)
{
    single.program = 0;
}
