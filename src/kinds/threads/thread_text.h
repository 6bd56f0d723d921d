/* SPDX-License-Identifier: MIT
 *
 * thread_text.h: the stacks of all threads in full, as Go prints them when a program crashes
 * [runtime.Stack, runtime/pprof goroutine debug=2].
 *
 *   thread 4711 "worker" [epoll_wait]:
 *   epoll_wait(...)
 *           /lib/x86_64-linux-gnu/libc.so.6 +0x56
 *   serve(...)
 *           /usr/bin/program +0x1ca
 *   created by start_workers in thread 4700
 *           /usr/bin/program +0x3f
 *
 * Offsets are from the function's entry to the return address; where the function is unknown its
 * address stands for it, and the offset is that in the file.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#ifndef PP_KINDS_THREADS_THREAD_TEXT_H
#define PP_KINDS_THREADS_THREAD_TEXT_H

#include "base/arena.h"
#include "profile/model.h"

#include "pprof.h"

#include <stddef.h>
#include <stdint.h>

typedef struct pp_thread_text {
    int tid;
    const char *name;
    const char *state;
    const uintptr_t *pc; /* return-like, leaf-most first */
    uint32_t depth;
    const uintptr_t *creation; /* the frame that created it; NULL = not known */
    int creator;               /* 0 = not known */
} pp_thread_text;

/* `profile` has mappings and how to name addresses. 0, -ENOMEM or the writer's first error. */
int pp_thread_text_encode(const pp_profile *profile, const pp_thread_text *threads, size_t count,
                          pp_arena *arena, pprof_writer writer);

#endif
