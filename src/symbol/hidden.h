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

#include "sys/mapping.h"

#include <stdbool.h>

/* An entry of an allocator: malloc and its kin, operator new, under every name that is hooked. */
bool pp_symbol_is_allocator(const char *name);

/* Where threads begin, below the program's own functions. */
typedef enum pp_thread_root {
    PP_ROOT_NONE,
    PP_ROOT_ENTRY, /* _start: where the kernel begins the program or its loader */
    PP_ROOT_CLONE, /* clone: where it begins a thread */
    PP_ROOT_THREAD /* start_thread, which that calls */
} pp_thread_root;

/* Which of them a function is that has this name in the code of `code_of` (sys/mapping.h). Programs and their
 * libraries may have functions of these names, too. */
pp_thread_root pp_symbol_thread_root(const char *name, unsigned code_of);

#endif
