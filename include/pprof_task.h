/* SPDX-License-Identifier: MIT
 *
 * pprof_task.h: shows the tasks of a runtime (coroutines, fibers, green threads) in the profiles.
 *
 * A task has a stack, or frames, of its own, and runs on any thread. The runtime embeds a
 * pprof_task in its own object for the task, and says when the task begins, is suspended, goes on,
 * and ends:
 *
 *     pprof_task_begin ----> suspended --pprof_task_resume--> runs ----pprof_task_end-->
 *                                ^                             |
 *                                +------pprof_task_suspend-----+
 *
 * Then each task is in the profile `thread` [runtime/pprof goroutine], where it waits, with its
 * labels; waits of tasks are in the profile `block`; and labels move with the task from thread to
 * thread. CPU profiles need none of this. docs/TASKS.md has the whole, and how runtimes call it.
 *
 * Suspending and resuming are inline functions that store a few words. They call the library only
 * if the program has labels, or the block profile is on.
 *
 * All functions: a task belongs to one caller at a time, as it does in a runtime that switches to
 * it; different tasks may be used by different threads at the same time. None is async-signal-safe,
 * since a handler must not switch tasks; none fails in a way that would keep the runtime from going
 * on.
 */
#ifndef PPROF_TASK_H
#define PPROF_TASK_H

#include <pprof.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A frame of a task that has no stack of its own (a C++20 coroutine): the frame that goes on when
 * this one is done, and the address in its code at which it goes on.
 */
typedef struct pprof_task_frame {
    const struct pprof_task_frame *caller; /* NULL: the outermost one */
    uintptr_t pc;                          /* as a return address: one past the call or later */
} pprof_task_frame;

/*
 * A task. All members are the library's. It need not be initialized before pprof_task_begin(), must
 * not move, and may be freed once pprof_task_end() has returned. The first 64 bytes are those that
 * a switch uses.
 */
typedef struct pprof_task {
    uint32_t sequence_;    /* odd while the task runs */
    uint32_t size_;        /* sizeof(pprof_task), as the caller knows it */
    const uint32_t *work_; /* what a switch has to do beside its stores; usually 0 */
    uintptr_t pc_, sp_, fp_, bx_;
    const char *why_;
    uint64_t since_ns_;

    pprof_labels *labels_; /* of the task; while it runs, those that its thread had */
    uintptr_t stack_, stack_end_, entry_;
    struct pprof_task *next_, **link_;
    uint64_t id_;

    uint64_t creator_; /* the task that has begun this one; 0: a thread has */
    uintptr_t created_at_;
    const char *name_;
    uint32_t creator_thread_, shard_;
    uintptr_t reserved_[5]; /* for later versions */
} pprof_task;

/*
 * size         sizeof(pprof_task_options), so that members can be added later. Others may be 0.
 * stack, stack_size
 *              the memory of the task's stack, without guard pages. 0: the task has none, or uses
 *              one that others use, too: then its profile has only the PC, or its frames.
 * entry        the function that the task begins with: shown until the task is suspended for the
 *              first time
 * name         is shown in texts; must stay until the task ends
 * creator      the task that begins this one; NULL: the calling thread does, or it is not known
 * created_at   the address to which the runtime's function that makes tasks returns; shown as
 *              "created by". 0: the caller of pprof_task_begin()
 * labels       of the task, which keeps a reference; NULL: those of the calling thread, as a thread
 *              inherits them
 */
typedef struct pprof_task_options {
    size_t size;
    const void *stack;
    size_t stack_size;
    uintptr_t entry;
    const char *name;
    const pprof_task *creator;
    uintptr_t created_at;
    pprof_labels *labels;
} pprof_task_options;

/* Parts of the functions below, which call them where they have to. */
PPROF_API int pprof_task_register(pprof_task *task, const pprof_task_options *options);
PPROF_API void pprof_task_suspending(pprof_task *task);
PPROF_API void pprof_task_resumed(pprof_task *task);

/*
 * Ends a task that is suspended, or that runs on the calling thread, which then has its own labels
 * again. When it returns, the library does not look at the task and its stack any more: it waits
 * for a profile that does. Some 20 ns. NULL, a task that has ended, and one that has not begun,
 * whatever its memory contains, are ignored.
 */
PPROF_API void pprof_task_end(pprof_task *task);

/* How many tasks there are. */
PPROF_API size_t pprof_task_count(void);

#if defined(__GNUC__)

#define PPROF_TASK_INLINE static __inline__ __attribute__((__always_inline__, __unused__))

/* The fence orders the store before it with what the task writes to its stack. */
#if defined(PPROF_TASK_FENCE)
#elif defined(__x86_64__)
#define PPROF_TASK_FENCE() __asm__ volatile("" ::: "memory")
#elif defined(__aarch64__)
#define PPROF_TASK_FENCE() __asm__ volatile("dmb ishst" ::: "memory")
#else
#define PPROF_TASK_FENCE() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

#define PPROF_TASK_SET(member, value) __atomic_store_n(&(member), (value), __ATOMIC_RELAXED)

/*
 * Begins a task, which is suspended and goes on with pprof_task_resume(). `options` may be NULL,
 * and is not used after the return. Some 30 ns. 0, or -EINVAL: `task` is NULL, or the size is not
 * one of this structure; the task is then in no profile, and all other calls ignore it. -EEXIST: the
 * task has begun and has not ended; it stays as it is.
 */
PPROF_TASK_INLINE int pprof_task_begin(pprof_task *task, const pprof_task_options *options)
{
    if (task != NULL) {
        task->size_ = (uint32_t)sizeof *task;
    }
    return pprof_task_register(task, options);
}

/*
 * The task is about to be suspended, and will go on at `pc` with these registers. `pc` is that of
 * the code that calls the runtime's switch: an address to which a call returns, with SP and frame
 * pointer as that code has them after the return. `fp` 0: not known.
 *
 * `why` says what the task waits for, in a word or two ("channel", "sleep"), and must stay as long
 * as the program. NULL: it waits for nothing, only for a thread that runs it; such waits are not in
 * the block profile.
 */
PPROF_TASK_INLINE void pprof_task_suspend_at(pprof_task *task, uintptr_t pc, uintptr_t sp,
                                             uintptr_t fp, uintptr_t bx, const char *why)
{
    PPROF_TASK_SET(task->pc_, pc);
    PPROF_TASK_SET(task->sp_, sp);
    PPROF_TASK_SET(task->fp_, fp);
    PPROF_TASK_SET(task->bx_, bx);
    PPROF_TASK_SET(task->why_, why);
    PPROF_TASK_SET(task->since_ns_, 0);
    if (__builtin_expect(__atomic_load_n(task->work_, __ATOMIC_RELAXED) != 0, 0)) {
        pprof_task_suspending(task);
    }
    __atomic_store_n(&task->sequence_, task->sequence_ + 1, __ATOMIC_RELEASE);
}

/* The same for a task without a stack: it goes on in `frame`, which must stay until then. */
PPROF_TASK_INLINE void pprof_task_suspend_in(pprof_task *task, const pprof_task_frame *frame,
                                             const char *why)
{
    pprof_task_suspend_at(task, 0, 0, (uintptr_t)frame, 0, why);
}

#if defined(__x86_64__)
#define PPROF_TASK_HERE(pc, sp, fp, bx)                                                            \
    __asm__ volatile(                                                                              \
        "leaq 0f(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2\n\tmovq %%rbx, %3\n0:"             \
        : "=&r"(pc), "=&r"(sp), "=&r"(fp), "=&r"(bx))
#elif defined(__aarch64__)
#define PPROF_TASK_HERE(pc, sp, fp, bx)                                                            \
    __asm__ volatile("adr %0, 0f\n\tmov %1, sp\n\tmov %2, x29\n\tmov %3, xzr\n0:"                  \
                     : "=&r"(pc), "=&r"(sp), "=&r"(fp), "=&r"(bx))
#endif

#if defined(PPROF_TASK_HERE)
/*
 * The task is about to be suspended in the function that calls this one, before that function
 * returns. It then calls the runtime's switch, whichever way that saves registers: the profile
 * shows the stack from this function on.
 */
PPROF_TASK_INLINE void pprof_task_suspend(pprof_task *task, const char *why)
{
    uintptr_t pc, sp, fp, bx;
    PPROF_TASK_HERE(pc, sp, fp, bx);
    pprof_task_suspend_at(task, pc, sp, fp, bx, why);
}
#endif

/* The calling thread is about to go on with the task. */
PPROF_TASK_INLINE void pprof_task_resume(pprof_task *task)
{
    PPROF_TASK_SET(task->sequence_, task->sequence_ + 1);
    PPROF_TASK_FENCE();
    if (__builtin_expect(__atomic_load_n(task->work_, __ATOMIC_RELAXED) != 0, 0)) {
        pprof_task_resumed(task);
    }
}

#endif

#ifdef __cplusplus
}
#endif
#endif
