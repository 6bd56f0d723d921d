/* SPDX-License-Identifier: MIT
 *
 * hidden.h: functions that say nothing to somebody who reads a stack.
 *
 * Zone: NORMAL, and the fatal-signal writer (looks at what it is given alone).
 */
#ifndef PP_SYMBOL_HIDDEN_H
#define PP_SYMBOL_HIDDEN_H

#include "modules/mapping.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A function that a program calls for memory: malloc and its kin, operator new, under every name
 * that is hooked.
 *
 * Operator new is that wherever it is defined, and names like tc_malloc are nobody else's. But
 * calloc may be a function of the program's for its own use. `is_local`: no other module's calls of
 * the name lead to this one (pp_symbol.is_local).
 */
bool pp_symbol_is_allocator(const char *name, bool is_local);

/* The instruction is in a hook of such a function. The leaf of a sample of the heap is the hook
 * that was called, so this holds whatever names are known. */
bool pp_code_is_allocator(uintptr_t address);

/* The file of a library that is nothing but an allocator: jemalloc, tcmalloc, mimalloc. */
bool pp_file_is_allocator(const char *path);

/* Where threads begin, below the program's own functions. */
typedef enum pp_thread_root {
    PP_ROOT_NONE,
    PP_ROOT_ENTRY, /* _start: where the kernel begins the program or its loader */
    PP_ROOT_CLONE, /* clone: where it begins a thread */
    PP_ROOT_THREAD /* start_thread, which that calls */
} pp_thread_root;

/* Which of them a function is that has this name in the code of `code_of` (modules/mapping.h). Programs
 * and their libraries may have functions of these names, too. */
pp_thread_root pp_symbol_thread_root(const char *name, unsigned code_of);

#endif
