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
#include "sys/own_threads.h"
#include "sys/sandbox.h"
#include "sys/tasks.h"

#include <stdint.h>

/* More CPU time than libc's longest part between a look at the variable and its use: a fork copies page tables. */
enum { PASSES_NS = PP_NS_PER_S };

typedef enum knowledge {
    KNOWS,    /* libc knows of all threads */
    CREATED,  /* the other thread is being created: libc knows of that */
    HIDDEN,   /* libc takes the program's thread for the only one */
    CHANGING, /* it knows while the program changes its identity */
    TOLD,     /* it knows, but the program's thread may be within what it began before */
} knowledge;

enum { KNOWLEDGE_MASK = 7 };

static struct {
    char *is_single; /* libc's variable; NULL: not known, or there is none */
    int program;     /* the program's thread */
    uint32_t state;  /* knowledge; above it how often that has changed, so that none is missed */
    int64_t told_ns; /* CPU time of the program's thread when libc was told */
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

static uint32_t load_state(void)
{
    return __atomic_load_n(&single.state, __ATOMIC_SEQ_CST);
}

static knowledge known_in(uint32_t state)
{
    return (knowledge)(state & KNOWLEDGE_MASK);
}

/* False: it is not `from` any more. */
static bool change(uint32_t from, knowledge to)
{
    uint32_t next = ((from | KNOWLEDGE_MASK) + 1) | (uint32_t)to;
    return __atomic_compare_exchange_n(&single.state, &from, next, false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

/* By the program's thread: the other one may be about to tell libc. */
static void change_to(knowledge to)
{
    while (!change(load_state(), to)) {
    }
}

static bool is_program(void)
{
    return __atomic_load_n(&single.program, __ATOMIC_RELAXED) == pp_task_self();
}

static int64_t program_ns(void)
{
    return pp_task_cpu_ns(__atomic_load_n(&single.program, __ATOMIC_RELAXED));
}

bool pp_single_thread_begin(void)
{
    if (!is_true()) {
        return false;
    }
    __atomic_store_n(&single.program, pp_task_self(), __ATOMIC_RELAXED);
    change_to(CREATED);
    return true;
}

void pp_single_thread_end(void)
{
    set(1);
    change_to(HIDDEN);
}

bool pp_single_thread_tell(void)
{
    uint32_t state = load_state();
    while (known_in(state) == HIDDEN && is_program()) {
        if (change(state, CHANGING)) {
            set(0);
            return true;
        }
        state = load_state();
    }
    if ((known_in(state) == CHANGING || known_in(state) == TOLD) && is_program()) {
        set(0); /* whoever has said so may not have come to it */
    }
    return false;
}

/* A handler may have created a thread meanwhile. Not known: no. */
static bool is_alone(void)
{
    unsigned tasks = pp_sandbox_has_filter() ? 0 : pp_tasks_count_all();
    return tasks == 1 || tasks == 2;
}

void pp_single_thread_hide_again(void)
{
    bool hides = is_alone();
    if (hides) {
        set(1);
    } else {
        __atomic_store_n(&single.told_ns, program_ns(), __ATOMIC_RELAXED);
    }
    change_to(hides ? HIDDEN : TOLD);
}

static bool tell_of_other(uint32_t state)
{
    if (change(state, TOLD)) {
        set(0);
        __atomic_store_n(&single.told_ns, program_ns(), __ATOMIC_RELAXED);
    }
    return false;
}

bool pp_single_thread_may_lock(void)
{
    uint32_t state = load_state();
    switch (known_in(state)) {
    case KNOWS:
        return true;
    case HIDDEN: /* false: the program has a thread of its own by now */
        return is_true() ? tell_of_other(state) : change(state, KNOWS);
    case TOLD:
        return program_ns() >= __atomic_load_n(&single.told_ns, __ATOMIC_RELAXED) + PASSES_NS &&
               change(state, KNOWS);
    default:
        return false;
    }
}

void pp_single_thread_after_fork_in_child(void)
{
    change_to(KNOWS);
}
