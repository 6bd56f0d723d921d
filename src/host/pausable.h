/* SPDX-License-Identifier: MIT
 *
 * pausable.h: the threads of the library, which the program's changes of identity pause.
 *
 * The kernel keeps user, groups, capabilities and namespaces for each thread. A program that
 * changes them, and knows of one thread of its own, leaves ours behind with what it gave up, or is
 * refused the change because there is another thread. So our threads end before such a call, and
 * begin again after it, from the thread that made it: with its identity.
 *
 *            pp_pausables_stop()                      pp_pausables_go_on()
 *   RUNS --(wake; run() returns false)--> PAUSED ---(a new thread calls run() again)--> RUNS
 *   RUNS --(run() returns true)---------> NONE
 *
 * What a thread knows while it is paused is in memory, not on its stack.
 *
 * Zone: NORMAL.
 * Locks: one, for the list, never held while a thread is waited for.
 * Owns: the list of threads.
 */
#ifndef PP_HOST_PAUSABLE_H
#define PP_HOST_PAUSABLE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pp_pausable {
    const char *name;   /* of the thread, at most 15 characters; NULL: it names itself */
    size_t stack_bytes; /* 0: as much as libc gives */
    /* The thread begins with the program's table of descriptors. run() may leave it (sys/apart.h), if
     * it calls no function of the program. */
    bool stays;
    /* run() calls nothing of libc that allocates, and asks pp_single_thread_may_lock() before it calls what takes a lock. */
    bool avoids_libc;
    /* True: the work is over. False: pp_pausables_pause() was true; the function will be called
     * again. The thread blocks all signals, and no profile shows it. */
    bool (*run)(void *context);
    /* Has run() look at pp_pausables_pause(), soon. May be called at any time, on any thread. */
    void (*wake)(void *context);
    /* Called if run() is not called again after a pause: the thread could not be created, or its end was asked for
     * meanwhile. NULL: there is nothing to do then. */
    void (*lost)(void *context);
    void *context; /* another one for each thread */
} pp_pausable;

/* Begins such a thread; at the end of the pause, if there is one. 0, -EBUSY while there is a thread
 * with that context, or -errno of creating it. */
int pp_pausable_begin(const pp_pausable *what);

/* Waits until the kernel has no such thread any more, if there is one. What run() needs to know to
 * return has been set; this calls wake(). Returns at once on the thread itself. */
void pp_pausable_end(const void *context);

/* For run(): whether it has to return false. */
bool pp_pausables_pause(void);

/* How many there are. */
unsigned pp_pausables_count(void);

/* Whether the kernel could allow a call to the calling thread that it refuses to one of these, or the
 * other way round: they have other capabilities, or would keep others when the user changes. */
bool pp_pausables_differ_from_caller(void);

/* Whether the calling thread would have to pause others: there are some, and it is none of them. */
bool pp_pausables_concern_caller(void);

/*
 * From now on all threads keep the program's table of descriptors (pp_apart_stay_all()). Those that
 * have left it begin again, within ten seconds. False if one takes longer, or if the caller has left it.
 */
bool pp_pausables_keep_table(void);

/*
 * Ends all threads but the calling one, and waits until the kernel has none of them any more, for a
 * second at most: a thread that writes a profile may take longer, and is left as it is. Until the caller has called
 * pp_pausables_go_on(), it blocks the signals that the program has handlers for, and cannot be
 * cancelled. That function begins the threads again when the last caller has come so far.
 */
void pp_pausables_stop(void);
void pp_pausables_go_on(void);

/* In the child of fork, which has none of the threads. */
void pp_pausables_after_fork(void);

#endif
