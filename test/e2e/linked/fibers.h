/* SPDX-License-Identifier: MIT
 *
 * fibers.h: a small runtime of fibers on swapcontext, which tells <pprof_task.h> of them. A stack is
 * unmapped as soon as its fiber has ended.
 */
#ifndef PP_TEST_FIBERS_H
#define PP_TEST_FIBERS_H

#include "must.h"

#include <pprof_task.h>

#include <stdbool.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { FIBER_STACK = 32 * 1024 };

typedef struct fiber {
    pprof_task task;
    ucontext_t context;
    ucontext_t *home; /* of the thread that runs it */
    void (*body)(struct fiber *self);
    void *stack;
    bool done;
} fiber;

static inline void fiber_begins(unsigned high, unsigned low)
{
    fiber *self = (fiber *)(((uintptr_t)high << 32) | low); /* NOLINT(performance-no-int-to-ptr) */
    self->body(self);
    self->done = true;
    pprof_task_end(&self->task);
    setcontext(self->home);
}

/* Shown as created by the caller. */
__attribute__((noinline)) static void fiber_make(fiber *f, void (*body)(fiber *self),
                                                 const char *name, const fiber *creator)
{
    pprof_task_options options = {.size = sizeof options,
                                  .stack_size = FIBER_STACK,
                                  .entry = (uintptr_t)body,
                                  .name = name,
                                  .creator = creator != NULL ? &creator->task : NULL,
                                  .created_at = (uintptr_t)__builtin_return_address(0)};
    f->body = body;
    f->done = false;
    options.stack = f->stack = mmap(NULL, FIBER_STACK, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    check(f->stack != MAP_FAILED && getcontext(&f->context) == 0, "getcontext");
    f->context.uc_stack.ss_sp = f->stack;
    f->context.uc_stack.ss_size = FIBER_STACK;
    f->context.uc_link = NULL;
    makecontext(&f->context, (void (*)(void))fiber_begins, 2, (unsigned)((uintptr_t)f >> 32),
                (unsigned)(uintptr_t)f);
    check(pprof_task_begin(&f->task, &options) == 0, "pprof_task_begin");
}

/* Runs the fiber until it waits, or is done. */
__attribute__((noinline)) static void fiber_run(fiber *f)
{
    ucontext_t here;
    f->home = &here;
    pprof_task_resume(&f->task);
    swapcontext(&here, &f->context);
}

/* The calling fiber waits; NULL: only for its turn. */
__attribute__((noinline)) static void fiber_wait(fiber *self, const char *why)
{
    pprof_task_suspend(&self->task, why);
    swapcontext(&self->context, self->home);
}

static inline void fiber_free(fiber *f)
{
    if (!f->done) {
        pprof_task_end(&f->task);
    }
    munmap(f->stack, FIBER_STACK);
}

#endif
