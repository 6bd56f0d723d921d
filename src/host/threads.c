/* SPDX-License-Identifier: MIT
 *
 * threads.c: pthread_create and thrd_create, and the end of threads.
 *
 *   program: pthread_create(f, x) --> hook: record {f, x, stack size} --> libc: thread start stub
 *   new thread: stub --> prepare(record): stack bounds, key, samplers --> jump to f(x)
 *   end (return, pthread_exit, cancellation): the key's destructor --> samplers
 *
 * The symbols have no version on purpose: the loader would not take a versioned definition in place
 * of pthread_create@GLIBC_2.34.
 *
 * Zone: NORMAL (pthread_create allocates anyway). But this file does not call the program's malloc:
 *       in the new thread it would create a malloc arena that the thread may never need.
 * Owns: the key.
 * Tested by: e2e.threads, e2e.labels, unit.labels_api
 */
#include "host/hooks.h"

#include "arch/registers.h"
#include "arch/stubs.h"
#include "crash/crash_stacks.h"
#include "host/real.h"
#include "host/samplers.h"
#include "store/labels.h"
#include "sys/own_work.h"
#include "sys/tasks.h"
#include "threads/small_stacks.h"
#include "threads/thread_launches.h"
#include "unwind/scratch.h"
#include "unwind/stack_memo.h"
#include "unwind/stack_memory.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <threads.h>
#include <unistd.h>

#ifndef AT_MINSIGSTKSZ /* Linux 5.14 */
#define AT_MINSIGSTKSZ 51
#endif

enum { PAGE = 4096 };

/* No thread stack may grow into the gap that the kernel keeps below the main stack. */
static const uintptr_t main_stack_max = 64u << 20;

/* Two registers, as the stub expects them. */
typedef struct call {
    uintptr_t function;
    void *argument;
} call;

static struct {
    pthread_key_t end_key;
    bool end_key_made;
    bool first_told; /* samplers know that the first thread is about to be created */
    void *real_create;
    void *real_c11_create;
} state;

/* ---- the new thread ---- */

static void declare_stack(size_t stack_size)
{
    uintptr_t top = (uintptr_t)pthread_self(); /* the control block lies at the stack's end */
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t limit = top + PP_ABOVE_CONTROL_BLOCK - stack_size;
    if (here < top && here >= limit && limit < top) {
        pp_stack_declare(limit, top);
    }
}

/*
 * Clears the stack below, where calls of ours have left return addresses. A walk that looks for a
 * frame pointer on the stack (unwind/frame_pointer.h) would take the one of an indirect call for
 * that of the program's function, whose variables may lie there now and be written later or never.
 */
static __attribute__((noinline)) void clear_stack(void)
{
    enum { BYTES = 2048 };
    char used[BYTES];
    memset(used, 0, sizeof used);
    __asm__ volatile("" : : "r"(used) : "memory");
}

/* Called by the stub on the new thread. */
call pp_hook_thread_prepare(pp_thread_launch *l, uintptr_t sp, uintptr_t fp, uintptr_t bx);

__attribute__((visibility("hidden"), used)) call
pp_hook_thread_prepare(pp_thread_launch *l, uintptr_t sp, uintptr_t fp, uintptr_t bx)
{
    call next = {l->start.address, l->argument};
    declare_stack(l->stack_size);
    if (state.end_key_made) {
        pthread_setspecific(state.end_key, (void *)1);
    }
    pp_caller caller = pp_caller_at_entry(sp, fp, bx);
    pp_labels_exchange(l->labels);
    pp_thread_creation_begin(next.function, &l->creation);
    pp_samplers_thread_begins(next.function, &caller);
    pp_crash_stack_begin();
    pp_thread_launch_give_back(l); /* now the thread has its record */
    clear_stack();
    return next;
}

PP_STUB_THREAD_START(pp_hook_thread_start, pp_hook_thread_prepare);
void *pp_hook_thread_start(void *record);

static void end_thread(void)
{
    pp_samplers_tell(PP_THREAD_ENDS);
    pp_small_stacks_set_own(0);
    pp_crash_stack_end();
    pp_scratch_thread_end();
    pp_memo_thread_end();
    pp_thread_creation_end(); /* after this no thread reads its labels */
    pp_labels_unref(pp_labels_exchange(NULL));
}

/* Destructors of other keys may still use CPU time. So this one sets its key again, and does its
 * work in the last round of destructors. */
PP_REALIGNS_STACK static void on_thread_end(void *round)
{
    uintptr_t next = (uintptr_t)round + 1;
    if (next < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(state.end_key, (void *)next);
    } else {
        end_thread();
    }
}

PP_NOT_SHOWN(on_thread_end);

/* ---- the hooks ---- */

static size_t stack_size_of(const pthread_attr_t *attributes)
{
    pthread_attr_t defaults;
    size_t size = 0;
    if (attributes != NULL) {
        return pthread_attr_getstacksize(attributes, &size) == 0 ? size : 0;
    }
    if (pthread_getattr_default_np(&defaults) == 0) {
        if (pthread_attr_getstacksize(&defaults, &size) != 0) {
            size = 0;
        }
        pthread_attr_destroy(&defaults);
    }
    return size;
}

/* The least stack that takes a signal beside the thread's own frames. musl allows stacks of 2 KiB, less than the
 * kernel puts there for a signal; glibc allows no smaller ones. */
static size_t least_stack(void)
{
    enum { LEAST = 16 * 1024, OWN = 8 * 1024 };
    size_t signal_frame = getauxval(AT_MINSIGSTKSZ);
    return signal_frame + OWN > LEAST ? signal_frame + OWN : LEAST;
}

/* Makes a copy that asks for the least stack, if libc is to allocate a smaller one. */
static bool has_larger(const pthread_attr_t *attributes, size_t size, pthread_attr_t *larger)
{
    void *own = NULL;
    size_t own_size = 0;
    if (attributes == NULL || size == 0 || size >= least_stack() ||
        (pthread_attr_getstack(attributes, &own, &own_size) == 0 && own != NULL)) {
        return false;
    }
    *larger = *attributes;
    return pthread_attr_setstacksize(larger, least_stack()) == 0;
}

/* `leaf` is the hook, which the program called from `return_address`. */
static pp_thread_launch *new_launch(uintptr_t start, void *argument, size_t stack_size,
                                    uintptr_t leaf, uintptr_t return_address)
{
    pp_thread_launch *l = pp_thread_launch_take();
    if (l != NULL) {
        l->creation = pp_thread_creation_take(leaf, return_address);
        l->start.address = start;
        l->argument = argument;
        l->stack_size = stack_size;
        l->labels = pp_labels_ref(pp_labels_current());
    }
    return l;
}

/* The thread could not be created. */
static void drop_launch(pp_thread_launch *l)
{
    pp_labels_unref(l->labels);
    pp_thread_launch_give_back(l);
}

/* Before each thread; the samplers are told of the first one only. */
static void prepare_hooks(void)
{
    pp_hook_settle_fork();
    if (!__atomic_exchange_n(&state.first_told, true, __ATOMIC_RELAXED)) {
        pp_samplers_tell(PP_THREAD_IS_FIRST);
    }
}

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int c11_create_function(thrd_t *, thrd_start_t, void *);

/* Names of the hooks that no other library can define, for the leaves of stacks. */
extern __typeof__(pthread_create) pp_own_create
    __attribute__((alias("pthread_create"), visibility("hidden"), nothrow));
extern __typeof__(thrd_create) pp_own_c11_create
    __attribute__((alias("thrd_create"), visibility("hidden")));

/* libc's header has its own names.
 * NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
__attribute__((visibility("default"))) int pthread_create(pthread_t *restrict thread,
                                                          const pthread_attr_t *restrict attributes,
                                                          void *(*start)(void *),
                                                          void *restrict argument)
{
    create_function *create = (create_function *)pp_real(&state.real_create, "pthread_create");
    if (create == NULL) {
        return EAGAIN;
    }
    prepare_hooks();
    pthread_attr_t larger;
    size_t size = stack_size_of(attributes);
    if (has_larger(attributes, size, &larger)) {
        attributes = &larger;
        size = least_stack();
    }
    pp_thread_launch *l = new_launch((uintptr_t)start, argument, size, (uintptr_t)pp_own_create,
                                     (uintptr_t)__builtin_return_address(0));
    if (l == NULL) { /* the library only finds this thread when it lists the threads */
        return create(thread, attributes, start, argument);
    }
    int error = create(thread, attributes, pp_hook_thread_start, l);
    if (error != 0) {
        drop_launch(l);
    }
    return error;
}

/* glibc's thrd_create calls pthread_create by an internal name, past the hook above. */
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
__attribute__((visibility("default"))) int thrd_create(thrd_t *thread, thrd_start_t start,
                                                       void *argument)
{
    c11_create_function *create =
        (c11_create_function *)pp_real(&state.real_c11_create, "thrd_create");
    if (create == NULL) {
        return thrd_error;
    }
    prepare_hooks();
    pp_thread_launch *l =
        new_launch((uintptr_t)start, argument, stack_size_of(NULL), (uintptr_t)pp_own_c11_create,
                   (uintptr_t)__builtin_return_address(0));
    if (l == NULL) {
        return create(thread, start, argument);
    }
    /* The stub returns what the start routine leaves in the result register, whatever its type. */
    int error = create(thread, (thrd_start_t)(uintptr_t)pp_hook_thread_start, l);
    if (error != thrd_success) {
        drop_launch(l);
    }
    return error;
}

/* ---- set-up ---- */

static void declare_main_stack(void)
{
    uintptr_t in_stack = (uintptr_t)getauxval(AT_EXECFN); /* a string at the stack's very end */
    struct rlimit size;
    if (in_stack == 0 || pp_task_process() != pp_task_self() ||
        getrlimit(RLIMIT_STACK, &size) != 0) {
        return;
    }
    uintptr_t top = (in_stack + PAGE) & ~(uintptr_t)(PAGE - 1);
    uintptr_t room = size.rlim_cur < main_stack_max ? (uintptr_t)size.rlim_cur : main_stack_max;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (here < top && here >= top - room) {
        pp_stack_declare(top - room, top);
    }
}

static void see_end_of_this_thread(void)
{
    if (state.end_key_made) {
        pthread_setspecific(state.end_key, (void *)1);
    }
}

void pp_hook_thread_leave(void)
{
    see_end_of_this_thread();
    pp_own_work_for_ever();
    pp_thread_creation_disown();
    pp_samplers_tell(PP_THREAD_ENDS);
}

void pp_hook_threads_init(void)
{
    pp_real(&state.real_create, "pthread_create");
    pp_real(&state.real_c11_create, "thrd_create");
    declare_main_stack();
    pp_thread_creation_begin(0, &(pp_thread_creation){.stack = NULL}); /* it was there before */
    state.end_key_made = pthread_key_create(&state.end_key, on_thread_end) == 0;
    see_end_of_this_thread();
}
