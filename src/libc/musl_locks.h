/* SPDX-License-Identifier: MIT
 *
 * musl_locks.h: locks of musl since 0.9 (its private header, src/internal/pthread_impl.h).
 *
 *   pthread_mutex_t   [type][word][waiters][...][...][count]      int each
 *     type     0 normal, 1 recursive, 2 error-checking; +4 robust, +8 priority-inheriting, +128 shared
 *     word     0 free; EBUSY, or the owner's tid if the type is not 0; bits 30 and 31 are flags
 *     count    further locks of a recursive mutex
 *   pthread_rwlock_t  [word]...       0 free; readers, or 0x7fffffff: a writer; bit 31 is a flag
 *   spin lock         [word]          0 free
 *
 * An rwlock does not say which thread writes.
 *
 * Zone: HOOK.
 */
#ifndef PP_LIBC_MUSL_LOCKS_H
#define PP_LIBC_MUSL_LOCKS_H

/* musl has none of these (1.2.5), and one version of each function. */
#define PP_WAIT_NEWER_LIST(X)
#define PP_WAIT_OLD_LIST(X)

#define PP_MUTEX_WORD          4 /* the offset of the word */
#define PP_RWLOCK_WORD_BITS    0x7fffffff
#define PP_RWLOCK_WORD_WRITTEN 0x7fffffff

#ifndef __ASSEMBLER__

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { PP_MUTEX_TYPE_BITS = 3, PP_MUTEX_TID_BITS = 0x3fffffff };

typedef struct pp_mutex_words {
    int type, word, waiters, unused[2], count;
} pp_mutex_words;

_Static_assert(sizeof(pthread_mutex_t) == 40 && sizeof(pp_mutex_words) == 24 &&
                   PTHREAD_MUTEX_NORMAL == 0 && PTHREAD_MUTEX_RECURSIVE == 1 &&
                   PTHREAD_MUTEX_ERRORCHECK == 2,
               "musl's private layout");

static inline const pp_mutex_words *pp_mutex_data(uintptr_t mutex)
{
    return (const pp_mutex_words *)mutex;
}

static inline bool pp_mutex_is_recursive(uintptr_t mutex)
{
    return (pp_mutex_data(mutex)->type & PP_MUTEX_TYPE_BITS) == PTHREAD_MUTEX_RECURSIVE;
}

static inline bool pp_mutex_checks_errors(uintptr_t mutex)
{
    return (pp_mutex_data(mutex)->type & PP_MUTEX_TYPE_BITS) == PTHREAD_MUTEX_ERRORCHECK;
}

static inline bool pp_mutex_is_owner(uintptr_t mutex, int tid)
{
    return (__atomic_load_n(&pp_mutex_data(mutex)->word, __ATOMIC_RELAXED) & PP_MUTEX_TID_BITS) ==
           tid;
}

/* Whether the owner of a recursive mutex has to unlock it more than once. */
static inline bool pp_mutex_is_nested(uintptr_t mutex)
{
    return pp_mutex_data(mutex)->count > 0;
}

/* Whether a try may change more than the lock function does. */
static inline bool pp_mutex_try_harms(uintptr_t mutex)
{
    (void)mutex;
    return false;
}

static inline bool pp_mutex_robust_waits(uintptr_t mutex, int tid)
{
    (void)mutex;
    (void)tid;
    return true;
}

/* The tid of the thread that has the lock for writing; 0 = not known. */
static inline int pp_rwlock_writer(uintptr_t rwlock)
{
    (void)rwlock;
    return 0;
}

#endif
#endif
