/* SPDX-License-Identifier: MIT
 *
 * thread_answers.h: asks a running thread for its stack, and its labels at the same instant.
 *
 * The registers of a thread that runs are in the processor, so the thread itself walks its stack,
 * in a signal handler. The signal must not interrupt a thread that has gone to sleep meanwhile,
 * since some calls then fail with EINTR in spite of SA_RESTART. So a timer on the thread's own CPU
 * clock sends the signal. As those of the CPU profile, it only expires while the thread runs.
 *
 *   asked --(handler: claims, walks)--> claimed --> done --> free
 *     +--(closed)--> free                +--(closed)--> left; free when the walk is done
 *     +--(withdrawn)--> done, without a stack
 *
 * Zone: SIGNAL, except where NORMAL is written.
 * Owns: the slots (.bss, touched when used), and how the signal's handler is installed.
 */
#ifndef PP_THREADS_THREAD_ANSWERS_H
#define PP_THREADS_THREAD_ANSWERS_H

#include "store/labels.h"
#include "unwind/walk.h"

#include <stdbool.h>

enum { PP_ANSWERS_MAX = 64 /* questions at a time */ };

typedef struct pp_answer pp_answer;

/* `install` installs the handler of the sampling signal, which calls pp_answer_give(). 0 or -errno.
 * Called when the library is loaded. NORMAL. */
void pp_answers_init(int (*install)(void));

/* Installs the handler: before the first question. 0 or -errno; -ENOSYS before init(). NORMAL. */
int pp_answers_prepare(void);

/* Whether there is room for another question. */
bool pp_answers_have_room(void);

/*
 * Asks thread `tid` for its stack; NULL if that is not possible now. The caller makes sure that the
 * thread does not block the sampling signal: the signal would stay pending.
 */
pp_answer *pp_answer_ask(int tid);

/* The thread's stack; NULL until the thread has answered. */
const pp_walk *pp_answer_look(const pp_answer *answer);

/* The labels that the thread had at that stack; valid until the question ends. Only after
 * pp_answer_look() has returned the stack. */
pprof_labels *pp_answer_labels(const pp_answer *answer);

/* Ends the question, answered or not. */
void pp_answer_close(pp_answer *answer);

/* For the handler. pp_answers_own() says whether a timer's value is a question; pp_answer_give()
 * then answers it. */
bool pp_answers_own(const void *value);
void pp_answer_give(void *value, const void *context);

/* The calling thread can have no signal for a moment, or, if it is listed in small_stacks.h, for longer: then it is asked
 * no more. The questions to it end without a stack. Waits for an asker that is about to make a timer. HOOK. */
void pp_answers_withdraw(void);

/* In the child of fork: there are no questions. */
void pp_answers_after_fork_in_child(void);

#endif
