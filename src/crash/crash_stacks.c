/* SPDX-License-Identifier: MIT
 *
 * crash_stacks.c: maps the stacks.
 *
 *   [guard page|head ...................... <- the kernel's frame, the handler]
 *              ^ss_sp                                                         ^ss_sp + ss_size
 *
 * The kernel keeps the thread's stack; so nothing here has to remember it. A stack is known by its
 * size, which no program chooses, and by its mark.
 *
 * A thread that ends keeps its stack in force until the kernel has ended it: destructors of the
 * program run after ours, and may use up their stack. Until then the stack is in the list `ended`.
 *
 * Zone: HOOK.
 * Tested by: e2e.crash
 */
#include "crash/crash_stacks.h"

#include "arch/system_call.h"
#include "base/memory.h"
#include "sys/address_space.h"
#include "sys/tasks.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

enum {
    GUARD = PP_PAGE_BYTES_MAX,
    /* The handler needs a page or two, since it dumps on another stack (crash.c). Handlers of the
     * program that have SA_ONSTACK run here as well. Only touched pages are ever there. */
    STACK_BYTES = 256 * 1024 - 2 * GUARD - 64,
    MAPPED = 256 * 1024,
    KEPT = 16,  /* released stacks, for threads that begin; to map one takes longer than the rest */
    SHARE = 500 /* a stack may take one part in so many of a limited address space */
};

static const uint64_t mark = UINT64_C(0x7070637261736821);

/* At ss_sp. */
typedef struct head {
    uint64_t mark;
    int ending;        /* the thread that ends with it; 0: none */
    struct head *next; /* in the list `ended` */
} head;

static struct {
    bool wanted;
    head *ended;
    void *kept[KEPT]; /* ss_sp of each; NULL: a free place */
} state;

static bool is_disabled(const stack_t *stack)
{
    return (stack->ss_flags & SS_DISABLE) != 0;
}

bool pp_crash_stack_is(const stack_t *stack)
{
    const head *h = stack->ss_sp;
    return !is_disabled(stack) && stack->ss_size == STACK_BYTES && h->mark == (mark ^ (uintptr_t)h);
}

static void keep_or_unmap(head *h)
{
    h->ending = 0;
    for (size_t i = 0; i < KEPT; i++) {
        void *none = NULL;
        if (__atomic_compare_exchange_n(&state.kept[i], &none, h, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            return;
        }
    }
    pp_memory_unmap((char *)h - GUARD, MAPPED);
}

void pp_crash_stack_release(const stack_t *stack)
{
    head *h = stack->ss_sp;
    if (h->ending == 0) {
        keep_or_unmap(h);
    }
}

/* ---- threads that end ---- */

static void add_ended(head *h)
{
    h->next = __atomic_load_n(&state.ended, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&state.ended, &h->next, h, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
}

/* Releases the stacks of threads that are gone. */
static void release_ended(void)
{
    head *next = NULL;
    for (head *h = __atomic_exchange_n(&state.ended, NULL, __ATOMIC_ACQUIRE); h != NULL; h = next) {
        next = h->next;
        if (pp_system_call(SYS_tgkill, pp_task_process(), h->ending, 0) == -ESRCH) {
            keep_or_unmap(h);
        } else {
            add_ended(h);
        }
    }
}

/* ---- threads that begin ---- */

static bool take_kept(stack_t *stack)
{
    void *found = NULL;
    for (size_t i = 0; i < KEPT && found == NULL; i++) {
        if (__atomic_load_n(&state.kept[i], __ATOMIC_RELAXED) != NULL) {
            found = __atomic_exchange_n(&state.kept[i], NULL, __ATOMIC_ACQ_REL);
        }
    }
    *stack = (stack_t){.ss_sp = found, .ss_size = STACK_BYTES};
    return found != NULL;
}

static bool map(stack_t *stack)
{
    release_ended();
    if (take_kept(stack)) {
        return true;
    }
    char *memory = pp_address_space_share(MAPPED, SHARE) == MAPPED ? pp_memory_map(MAPPED) : NULL;
    if (memory == NULL) {
        return false;
    }
    pp_system_call(SYS_mprotect, memory, GUARD, PROT_NONE);
    *stack = (stack_t){.ss_sp = memory + GUARD, .ss_size = STACK_BYTES};
    head *h = stack->ss_sp;
    h->mark = mark ^ (uintptr_t)h;
    return true;
}

void pp_crash_stack_begin(void)
{
    stack_t now = {.ss_flags = 0};
    if (!__atomic_load_n(&state.wanted, __ATOMIC_ACQUIRE) ||
        pp_system_call(SYS_sigaltstack, NULL, &now) != 0 || !is_disabled(&now) || !map(&now)) {
        return;
    }
    if (pp_system_call(SYS_sigaltstack, &now, NULL) != 0) {
        pp_crash_stack_release(&now);
    }
}

void pp_crash_stack_end(void)
{
    stack_t now = {.ss_flags = SS_DISABLE};
    if (!__atomic_load_n(&state.wanted, __ATOMIC_ACQUIRE)) {
        return;
    }
    release_ended();
    if (pp_system_call(SYS_sigaltstack, NULL, &now) == 0 && pp_crash_stack_is(&now)) {
        head *h = now.ss_sp;
        if (h->ending == 0) {
            h->ending = pp_task_self();
            add_ended(h);
        }
    }
}

void pp_crash_stacks_want(void)
{
    __atomic_store_n(&state.wanted, true, __ATOMIC_RELEASE);
    pp_crash_stack_begin();
}

void pp_crash_stacks_stop(void)
{
    __atomic_store_n(&state.wanted, false, __ATOMIC_RELEASE);
}
