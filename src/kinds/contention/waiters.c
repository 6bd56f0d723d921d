/* SPDX-License-Identifier: MIT
 *
 * waiters.c: keeps the pool of waiters, and each thread's chain.
 *
 * Zone: HOOK.
 * Owns: pool and chains.
 * Tested by: interleave.waiters, unit.contention
 */
#include "kinds/contention/waiters.h"

#include "base/bitmap.h"
#include "base/compiler.h"
#include "base/words.h"
#include "sys/left_frame.h"

#include <string.h>

_Static_assert(offsetof(pp_waiter_pool, listed) == 0, "the entry stubs read it");

pp_waiter_pool pp_waiters;

static PP_TLS struct {
    pp_waiter *spare;   /* taken from the pool, not waiting */
    pp_waiter *waiting; /* the innermost wait of this thread */
    bool keeps_spare;   /* the end of this thread will give the spare waiter back */
} own;

/* Access to fields that a reader copies while the waiter may become that of another wait
 * (base/words.h). */
#define SET(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)
#define GET(field)        __atomic_load_n(&(field), __ATOMIC_RELAXED)

/* ---- the pool ---- */

static void give(const pp_waiter *waiter)
{
    pp_bitmap_release(pp_waiters.taken, (size_t)(waiter - pp_waiters.waiters));
}

/* Exchanges the spare waiter in one instruction, since a signal handler may do so at any time. */
static pp_waiter *exchange_spare(pp_waiter *waiter)
{
    return __atomic_exchange_n(&own.spare, waiter, __ATOMIC_RELAXED);
}

static pp_waiter *new_waiter(void)
{
    pp_waiter *mine = own.spare != NULL ? exchange_spare(NULL) : NULL;
    if (mine != NULL) {
        return mine;
    }
    int index = pp_bitmap_take(pp_waiters.taken, PP_WAITER_WORDS);
    return index >= 0 ? &pp_waiters.waiters[index] : NULL;
}

/* Returns the index of the next waiter that is taken, from `i` on. */
static size_t next_taken(size_t i)
{
    return pp_bitmap_next(pp_waiters.taken, PP_WAITER_WORDS, i);
}

static void give_back(pp_waiter *waiter)
{
    pp_waiter *other = own.keeps_spare ? exchange_spare(waiter) : waiter;
    if (other != NULL) {
        give(other);
    }
}

/* ---- the chain ---- */

static void forget_innermost(void)
{
    uint64_t unseen_ns = 0;
    pp_waiter *gone = own.waiting;
    pp_waiter_hide(gone);
    pp_contended_leave(&gone->place, false, &unseen_ns);
    own.waiting = gone->outer;
    give_back(gone);
}

PP_COLD_PATH static void forget_abandoned(uintptr_t sp)
{
    while (own.waiting != NULL && pp_frame_was_left(own.waiting->caller.sp, sp)) {
        forget_innermost();
    }
}

/* The fence: a reader that sees one of the new values also sees that the waiter was hidden before,
 * whichever thread hid it. */
PP_RAW_MEMORY pp_waiter *pp_waiter_new(uintptr_t object, const pp_caller *caller)
{
    if (own.waiting != NULL) {
        forget_abandoned(caller->sp);
    }
    pp_waiter *waiter = new_waiter();
    if (waiter != NULL) {
        __atomic_thread_fence(__ATOMIC_RELEASE);
        waiter->outer = own.waiting;
        waiter->place.at = NULL;
        waiter->entry = NULL;
        SET(waiter->object, object);
        SET(waiter->labels, pp_labels_current());
        pp_words_store(&waiter->caller, caller, sizeof *caller);
        own.waiting = waiter;
    }
    return waiter;
}

void pp_waiter_show(pp_waiter *waiter, uint64_t since_ns)
{
    SET(waiter->since_ns, since_ns);
    __atomic_add_fetch(&pp_waiters.listed[pp_contention_hash(waiter->object)], 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&waiter->serial, waiter->serial + 1, __ATOMIC_RELEASE);
}

/* The fence: a reader that sees what the thread writes to its stack later also sees that the waiter
 * is hidden. A release store of the serial would order only what came before it. */
PP_RAW_MEMORY void pp_waiter_hide(pp_waiter *waiter)
{
    if (pp_waiter_is_shown(waiter)) {
        SET(waiter->serial, waiter->serial + 1);
        __atomic_thread_fence(__ATOMIC_RELEASE);
        __atomic_sub_fetch(&pp_waiters.listed[pp_contention_hash(waiter->object)], 1,
                           __ATOMIC_SEQ_CST);
    }
}

/* The fence: the word of the object was read before. The caller's later loads, of what the waiter
 * stored before it stored to that word, come after it, too. */
PP_RAW_MEMORY bool pp_waiters_any(uintptr_t object)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&pp_waiters.listed[pp_contention_hash(object)], __ATOMIC_RELAXED) != 0;
}

pp_waiter *pp_waiters_innermost(void)
{
    return own.waiting;
}

/* A jump may have left waits of handlers that interrupted this one. */
void pp_waiter_free(pp_waiter *waiter)
{
    while (own.waiting != NULL && own.waiting != waiter) {
        forget_innermost();
    }
    own.waiting = waiter->outer;
    give_back(waiter);
}

/* ---- reading ---- */

static bool copy_if_shown(const pp_waiter *waiter, pp_waiter *copy)
{
    uint64_t serial = __atomic_load_n(&waiter->serial, __ATOMIC_ACQUIRE);
    if (serial % 2 == 0) {
        return false;
    }
    copy->object = GET(waiter->object);
    copy->since_ns = GET(waiter->since_ns);
    copy->labels = GET(waiter->labels);
    copy->serial = serial;
    pp_words_load(&copy->caller, &waiter->caller, sizeof copy->caller);
    return pp_waiter_still_waits(waiter, copy);
}

/* The fence: what the caller read before, it read before the serial is read here. */
PP_RAW_MEMORY bool pp_waiter_still_waits(const pp_waiter *waiter, const pp_waiter *copy)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return GET(waiter->serial) == copy->serial;
}

void pp_waiters_each(pp_waiter_visit *visit, void *context)
{
    for (size_t i = 0; (i = next_taken(i)) < PP_CONTENDED_MAX; i++) {
        pp_waiter copy = {.serial = 0};
        if (copy_if_shown(&pp_waiters.waiters[i], &copy)) {
            visit(&copy, &pp_waiters.waiters[i], context);
        }
    }
}

size_t pp_waiters_count(void)
{
    size_t count = 0;
    for (size_t i = 0; (i = next_taken(i)) < PP_CONTENDED_MAX; i++) {
        count++;
    }
    return count;
}

/* ---- threads and processes ---- */

void pp_waiters_thread_begin(void)
{
    own.keeps_spare = true;
}

/* After this, destructors of the program may still wait: they take a waiter and give it back. */
void pp_waiters_thread_end(void)
{
    own.keeps_spare = false;
    while (own.waiting != NULL) {
        forget_innermost();
    }
    pp_waiter *mine = exchange_spare(NULL);
    if (mine != NULL) {
        give(mine);
    }
}

/* Hides all waiters, since the child has none of these threads. If the forking thread itself waits
 * (a handler has forked), its wait goes on unseen. If the handler has interrupted the beginning of
 * a wait, that wait is shown later, when its waiter may belong to another thread: then one of the
 * two is recorded wrongly, and the pool stays intact. */
void pp_waiters_after_fork_in_child(void)
{
    for (size_t i = 0; (i = next_taken(i)) < PP_CONTENDED_MAX; i++) {
        pp_waiters.waiters[i].serial += 2 - pp_waiters.waiters[i].serial % 2;
    }
    memset(pp_waiters.taken, 0, sizeof pp_waiters.taken);
    memset(pp_waiters.listed, 0, sizeof pp_waiters.listed);
    own.spare = own.waiting = NULL;
}
