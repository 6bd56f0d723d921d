/* SPDX-License-Identifier: MIT
 *
 * thread_dump.h: the rows of a snapshot (threads/thread_snapshot.h) as text (thread_text.h).
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_KINDS_THREADS_THREAD_DUMP_H
#define PP_KINDS_THREADS_THREAD_DUMP_H

#include "base/arena.h"
#include "kinds/threads/lock_waits.h"
#include "profile/model.h"
#include "threads/coroutine_snapshot.h"
#include "threads/thread_snapshot.h"

#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_thread_dump {
    const pp_thread_row *rows;
    const pp_lock_wait *waits; /* what each row's thread waits for; NULL = not known */
    size_t count;
    const pp_coroutines *coroutines; /* written after the threads; NULL = none */
    bool interrupted;                /* the first row is of a thread that a signal interrupted */
    uint32_t most_frames;            /* a deeper stack loses frames in its middle; 0 = no limit */
    pp_symbolize symbolize;
    const pp_profile *mappings; /* a profile that has them; NULL = they are read */
} pp_thread_dump;

/* 0, -ENOMEM or the writer's first error. */
int pp_thread_dump_write(const pp_thread_dump *dump, pp_arena *arena, pprof_writer writer);

#endif
