/* SPDX-License-Identifier: MIT
 *
 * live_terminal.h: the terminal while `cpprof top -p` has it: an alternate screen, keys without
 * Enter, no echo; and the signals that matter meanwhile.
 *
 * However cpprof ends, the terminal is as it was before: at a key, a signal, exit() or a crash. When
 * the user stops cpprof (Ctrl-Z) the terminal is given back, and taken again when cpprof is in the
 * foreground again.
 *
 * Owns: the modes of the terminal, between cp_terminal_take() and cp_terminal_give_back(); the
 *       handlers of signals, until the end of the process.
 */
#ifndef CP_LIVE_TERMINAL_H
#define CP_LIVE_TERMINAL_H

#include "live/live_screen.h"

#include <stdbool.h>

typedef struct cp_bytes cp_bytes;

/* Whether standard input and output are a terminal on which a screen can be drawn. */
bool cp_terminal_is_screen(void);

/* Prepares for signals, and takes the terminal as soon as cpprof is in its foreground. */
void cp_terminal_open(void);

/* Takes the terminal if it was given back, and cpprof is in its foreground. Returns whether it was
 * taken now: then the screen is empty. */
bool cp_terminal_take(void);
void cp_terminal_give_back(void);

/* Whether the terminal is taken: nothing is to be drawn otherwise. */
bool cp_terminal_is_taken(void);

/* Readable when there are signals. */
int cp_terminal_signals(void);

/* Handles the signals that have come: stops if one says so, and does not return from one that ends
 * the process. Returns SIGINT, SIGWINCH or SIGCONT if there was one of them, in this order; else
 * 0. */
int cp_terminal_take_signals(void);

cp_live_size cp_terminal_size(void);

/* Writes to the terminal. False: there is nobody at its other end any more. */
bool cp_terminal_write(const cp_bytes *bytes);

#endif
