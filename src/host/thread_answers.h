/* SPDX-License-Identifier: MIT
 *
 * thread_answers.h: asks a running thread for its stack.
 *
 * Whoever computes has its registers in the processor, so it has to say itself where it is, in a
 * signal handler. The signal must not meet a thread that has gone to sleep meanwhile, since some
 * calls then fail with EINTR whatever SA_RESTART says. So it is not sent; it is that of a timer on
 * the thread's own CPU clock, which expires while the thread computes and at no other time, as
 * those of the CPU profile do.
 *
 *   asked --(handler: claims, walks)--> claimed --> done --> free
 *     +--(given up)--> free              +--(given up)--> left; free when it is done
 *
 * Zone: SIGNAL. Answers come once pp_sampling_handler_install() was called.
 * Owns: the slots (.bss, touched when used).
 */
#ifndef PP_HOST_THREAD_ANSWERS_H
#define PP_HOST_THREAD_ANSWERS_H

#include "unwind/walk.h"

#include <stdbool.h>

enum { PP_ANSWERS_MAX = 64 /* at a time */ };

typedef struct pp_answer pp_answer;

/* Whether there is room for another question. */
bool pp_answers_have_room(void);

/*
 * Asks thread `tid`; NULL if it cannot be asked now. One that blocks the sampling signal should not
 * be asked: the signal would stay pending.
 */
pp_answer *pp_answer_ask(int tid);

/* The stack, once there is one; NULL until then. */
const pp_walk *pp_answer_look(const pp_answer *answer);

/* Ends the question, answered or not. */
void pp_answer_close(pp_answer *answer);

/* Of the handler: whether a timer's value is one of ours, and what to do then. */
bool pp_answers_own(const void *value);
void pp_answer_give(void *value, const void *context);

/* In the child of fork: nobody has been asked. */
void pp_answers_after_fork_in_child(void);

#endif
