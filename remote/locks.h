/* SPDX-License-Identifier: MIT
 *
 * locks.h: which lock of pthread a thread of the target waits for, and who holds it; or for the end
 * of which thread, in pthread_join().
 *
 * A thread that waits for a lock waits in futex(2), on a word of the lock. A mutex says beside that
 * word who holds it, glibc's rwlock who writes; pthread_join() waits for a word that has the other
 * thread's id. Two things tell a lock from other memory: the names
 * of the functions at the leaf, where they are known; or the holder, if it is one of the threads.
 * Locks of other kinds (C++20's, Rust's, Go's), semaphores and conditions have no holder.
 *
 * Layouts: glibc's pthread_mutex_t and pthread_rwlock_t (bits/struct_mutex.h, bits/struct_rwlock.h),
 * musl's mutexes of all types but the normal one, and the kernel's word of a lock with priority
 * inheritance (futex(2)): each stands where others of its kind stand, so none needs to be told from
 * the others.
 */
#ifndef PP_REMOTE_LOCKS_H
#define PP_REMOTE_LOCKS_H

#include "remote/threads.h"

#include "profile/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_remote_wait {
    const char *lock;  /* "mutex", "rwlock"; NULL = the thread waits for no such lock */
    uintptr_t address; /* of the word that it waits for */
    int holder;        /* its tid; 0 = not known: readers, or nobody any more */
    const pp_remote_thread *holder_thread; /* NULL = it has ended, or is not known */
    size_t circle; /* the number of the circle that it is in, from 1 on; 0 = in none */
} pp_remote_wait;

/* Finds what each thread waits for: *waits has an element for each. Returns 0 or -ENOMEM. */
int pp_remote_waits_find(const pp_profile *profile, const pp_remote_threads *threads,
                         pp_arena *arena, pp_remote_wait **waits);

/* Numbers the circles of threads that wait for each other, and returns how many there are. */
size_t pp_remote_circles_find(const pp_remote_threads *threads, pp_remote_wait *waits);

#endif
