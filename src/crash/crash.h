/* SPDX-License-Identifier: MIT
 *
 * crash.h: the handler of the signals of a crash, and of SIGQUIT where the program goes on.
 *
 *   signal -> turn -> dump of all stacks -> profiles -> default action, in the state of the crash
 *
 * dispositions.c installs it where the program wants the default action.
 *
 * Zone: HOOK.
 * Locks: the turn (crash/dump_turn.h), which waits a limited time.
 * Owns: the stack that dumps are written on.
 */
#ifndef PP_CRASH_CRASH_H
#define PP_CRASH_CRASH_H

#include <signal.h>
#include <stdbool.h>

enum { PP_CRASH_SIGNALS = 5 };
extern const int pp_crash_signals[PP_CRASH_SIGNALS];

/* What a dump calls. */
typedef struct pp_crash_calls {
    bool (*is_owner)(void); /* false in a child of vfork: there is no dump */
    void (*dump)(const siginfo_t *info, const void *interrupted);
    void (*end)(const void *interrupted); /* only if the process ends */
} pp_crash_calls;

/* Maps what the handler needs: called before the handler is installed. 0 or -ENOMEM. */
int pp_crash_prepare(const pp_crash_calls *calls);

/*
 * Calls `dump` and `end`, and restores the default action. When the
 * calling handler returns, the signal strikes again, with the registers and the siginfo_t that it
 * had: the core dump and the parent see what they would see without this library. If the dump
 * itself crashes, or takes too long, the process ends in the same way, as by the first signal.
 */
void pp_crash_handle(int signal, siginfo_t *info, void *context);

/* Calls `dump`. The program goes on. If the dump itself crashes, it ends there, and the
 * program goes on. */
void pp_crash_dump_only(siginfo_t *info, void *context);

#endif
