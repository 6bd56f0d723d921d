/* SPDX-License-Identifier: MIT
 *
 * omitted_functions.h: recognizes functions that stacks omit, because readers do not need them.
 *
 * Zone: NORMAL, and the fatal-signal writer (reads only its arguments).
 */
#ifndef PP_SYMBOL_OMITTED_FUNCTIONS_H
#define PP_SYMBOL_OMITTED_FUNCTIONS_H

#include "elf/mapping.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether a program calls this function for memory: malloc and its kin, operator new, under every
 * hooked name.
 *
 * Operator new and names like tc_malloc always are such functions, whoever defines them. But calloc
 * may be a function that the program defines for its own use. `is_local`: other modules' calls of
 * the name do not reach this function (pp_symbol.is_local).
 */
bool pp_symbol_is_allocator(const char *name, bool is_local);

/* Whether the instruction is in a hook of such a function. The leaf of a heap sample is the hook
 * that the program called, so this answer needs no names. */
bool pp_code_is_allocator(uintptr_t address);

/* Whether the file is a library that is only an allocator: jemalloc, tcmalloc, mimalloc. */
bool pp_file_is_allocator(const char *path);

/* The functions at the root of a thread's stack, before the program's own functions. */
typedef enum pp_thread_root {
    PP_ROOT_NONE,
    PP_ROOT_ENTRY, /* _start: the kernel begins the program or its loader here */
    PP_ROOT_CLONE, /* clone: the kernel begins a thread here */
    PP_ROOT_THREAD /* start_thread, which clone calls */
} pp_thread_root;

/* Returns the kind of a function by its name and by `code_of` (elf/mapping.h), since programs
 * and their libraries may have functions of these names, too. */
pp_thread_root pp_symbol_thread_root(const char *name, unsigned code_of);

#endif
