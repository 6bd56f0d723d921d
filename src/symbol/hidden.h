/* SPDX-License-Identifier: MIT
 *
 * hidden.h: functions that say nothing to somebody who reads a stack.
 *
 * Zone: SIGNAL (looks at the text alone).
 * Locks: none.
 * Owns: nothing.
 */
#ifndef PP_SYMBOL_HIDDEN_H
#define PP_SYMBOL_HIDDEN_H

#include <stdbool.h>

/* An entry of an allocator: malloc and its kin, operator new, under every name that is hooked. */
bool pp_symbol_is_allocator(const char *name);

/* Where threads begin, below the program's own functions: _start, clone, start_thread. */
bool pp_symbol_is_thread_root(const char *name);

#endif
