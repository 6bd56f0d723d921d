/* SPDX-License-Identifier: MIT
 *
 * lock_waits.h: which lock of pthread a thread waits for, and who holds it; or for the end of which
 * thread, in pthread_join(). `cpprof dump -p` asks it of another process.
 *
 * A thread that waits for a lock waits in futex(2), on a word of the lock. A mutex says beside that
 * word who holds it, glibc's rwlock who writes; pthread_join() waits for a word that has the other
 * thread's id. Two things tell a lock from other memory: the names of the functions at the leaf,
 * where they are known; or the holder, if it is one of the threads. Locks of other kinds (C++20's,
 * Rust's, Go's), semaphores and conditions have no holder.
 *
 *   threads: tid, place, stack -> names of the leaf -> words of the locks -> holders
 *            -> threads that have moved meanwhile drop out -> circles
 *
 * All words are read while each thread in a circle waits, and only a holder changes the word that
 * names it: so a circle is one at one moment, and does not open by itself. A wait that has a
 * time-out is in no circle.
 *
 * Layouts: glibc's pthread_mutex_t and pthread_rwlock_t (bits/struct_mutex.h, bits/struct_rwlock.h),
 * musl's mutexes of all types but the normal one, and the kernel's word of a lock with priority
 * inheritance (futex(2)): each has its words where others of its kind have them, so none needs to be
 * told from the others.
 *
 * Zone: NORMAL, and the fatal-signal writer. Memory is read by checked reads only.
 * Owns: nothing; everything is in the arena.
 */
#ifndef PP_KINDS_THREADS_LOCK_WAITS_H
#define PP_KINDS_THREADS_LOCK_WAITS_H

#include "base/arena.h"
#include "encode/text_stream.h"
#include "profile/model.h"
#include "sys/task_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_lock_thread {
    int tid;
    const char *name;
    const pp_task_place *place; /* NULL: it does not wait */
    const uintptr_t *pc;        /* return-like, leaf-most first */
    uint32_t depth;
} pp_lock_thread;

/* Questions about the threads; a function may be NULL. */
typedef struct pp_lock_questions {
    const pp_memory *memory; /* of their process; NULL: this one */
    /* Whether the thread has waited ever since its place and stack were read. NULL: yes. */
    bool (*has_stayed)(size_t index, void *context);
    /* Whether a thread that is not on the list lives. NULL: no. */
    bool (*lives)(int tid);
    void *context;
} pp_lock_questions;

typedef struct pp_lock_wait {
    const char *lock;  /* "mutex", "rwlock", "end"; NULL = the thread waits for no such lock */
    uintptr_t address; /* of the word that it waits for */
    int holder;        /* its tid; 0 = not known: readers, or nobody any more */
    bool hides_holder; /* somebody has the lock, and it does not say who */
    const pp_lock_thread *holder_thread; /* NULL = it is not on the list */
    bool is_sure;                        /* of more than the words of memory alone */
    bool has_timeout;
    bool is_shared; /* between processes */
    bool holder_ended;
    size_t circle; /* the number of the circle that it is in, from 1 on; 0 = in none */
} pp_lock_wait;

typedef struct pp_lock_waits {
    const pp_lock_thread *threads;
    pp_lock_wait *waits; /* an element for each thread */
    size_t count;
    size_t circles;
} pp_lock_waits;

/* Finds what each thread waits for, and the circles of threads that wait for each other. `profile`
 * has the mappings. 0 or -ENOMEM. */
int pp_lock_waits_find(const pp_profile *profile, const pp_lock_thread *threads, size_t count,
                       const pp_lock_questions *questions, pp_arena *arena, pp_lock_waits *found);

/* Writes: mutex 0x7f... held by thread 4711 "worker" */
void pp_lock_wait_write(const pp_lock_wait *wait, pp_text_stream *out);

/* Writes a line: thread 4700 "main" waits for ... */
void pp_lock_waits_write_thread(const pp_lock_waits *found, size_t index, pp_text_stream *out);

/* Writes who waits for whom in circle `number`: "deadlock: 2 threads wait for each other", and a
 * line of each. */
void pp_lock_waits_write_circle(const pp_lock_waits *found, size_t number, pp_text_stream *out);

#endif
