/* SPDX-License-Identifier: MIT
 *
 * alternate_stack.c: sigaltstack. Our handler runs on the thread's alternate stack, and some of
 * these stacks have no room for a signal.
 *
 * A thread that sets up such a small stack gets no signals of ours from before the stack is in
 * force until after it is gone (threads/small_stacks.h). A stack that is large enough may become a
 * coroutine's (PP_THREAD_CHANGES_STACK).
 *
 * The stacks of crash/crash_stacks.h are hidden from the program.
 *
 * Zone: HOOK. The program may call sigaltstack from its signal handlers.
 * Locks: those of the samplers, which wait with patience.
 * Tested by: e2e.alternate_stacks, e2e.signal_calls, e2e.crash
 */
#include "host/hooks.h"

#include "arch/system_call.h"
#include "crash/crash_stacks.h"
#include "host/real.h"
#include "host/samplers.h"
#include "threads/small_stacks.h"
#include "threads/thread_answers.h"
#include "unwind/in_handler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

typedef int sigaltstack_function(const stack_t *, stack_t *);

static void *real_sigaltstack;

static void follow(const stack_t *stack)
{
    bool before = pp_small_stacks_has_own();
    bool small = pp_small_stacks_is(stack);
    pp_small_stacks_set_own(small ? (uintptr_t)pthread_self() : 0);
    if (small && !before) {
        pp_answers_withdraw();
        pp_samplers_tell(PP_THREAD_PAUSES);
    } else if (!small && before) {
        pp_samplers_tell(PP_THREAD_RESUMES);
    }
}

/* Follows the stack that is in force, whoever set it up. */
static void follow_kernel(void)
{
    stack_t now = {.ss_flags = SS_DISABLE};
    pp_system_call(SYS_sigaltstack, NULL, &now);
    follow(&now);
}

/* Shows the program what it would see without stacks of ours. */
static void hide(stack_t *old)
{
    if (old != NULL && pp_crash_stack_is(old)) {
        *old = (stack_t){.ss_flags = SS_DISABLE};
    }
}

/* Makes the change. `old` is never NULL: it has the stack of before. If this is a handler, the
 * kernel undoes the change when it returns: then our stack must still be there. */
static int change(sigaltstack_function *real, const stack_t *stack, stack_t *old)
{
    bool disables = (stack->ss_flags & SS_DISABLE) != 0;
    int result = real(stack, old);
    int saved_errno = errno;
    if (result == 0 && pp_crash_stack_is(old)) {
        stack_t ours = *old;
        hide(old);
        if (!pp_in_handler()) {
            pp_crash_stack_release(&ours);
        }
    }
    if (result == 0 && disables) {
        pp_crash_stack_begin();
    }
    errno = saved_errno;
    return result;
}

/* A child of vfork is not followed: it may set up another stack, but our memory is its parent's.
 * libc's header has its own names. */
__attribute__((visibility("default"))) int
sigaltstack(/* NOLINT(readability-inconsistent-declaration-parameter-name) */
            const stack_t *restrict stack, stack_t *restrict old)
{
    sigaltstack_function *real = (sigaltstack_function *)pp_real(&real_sigaltstack, "sigaltstack");
    if (real == NULL) {
        errno = ENOSYS;
        return -1;
    }
    if (stack == NULL || !pp_hook_is_owner()) {
        int result = real(stack, old);
        hide(result == 0 ? old : NULL);
        return result;
    }
    if (pp_small_stacks_is(stack)) {
        follow(stack);
    } else if ((stack->ss_flags & SS_DISABLE) == 0) {
        pp_answers_withdraw();
        pp_samplers_tell(PP_THREAD_CHANGES_STACK);
    }
    stack_t before;
    int result = change(real, stack, old != NULL ? old : &before);
    int saved_errno = errno;
    if (pp_small_stacks_has_own()) {
        follow_kernel();
    }
    errno = saved_errno;
    return result;
}

void pp_hook_alternate_stack_init(void)
{
    pp_real(&real_sigaltstack, "sigaltstack");
}
