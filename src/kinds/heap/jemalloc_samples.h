/* SPDX-License-Identifier: MIT
 *
 * jemalloc_samples.h: samples that jemalloc takes itself, by the hooks of its profiler.
 *
 *   malloc of jemalloc --> its countdown used up? --> experimental.hooks.prof_backtrace    --> us
 *                                                     experimental.hooks.prof_sample       --> us
 *   free of jemalloc   --> was the block sampled? --> experimental.hooks.prof_sample_free  --> us
 *
 * jemalloc counts the bytes of each thread anyway while its profiler is active. Its samples follow
 * the same law as ours (docs/SAMPLING.md), with its own mean number of bytes, and sizes that are
 * rounded up to its size classes. So its calls need no entries of ours, and calls are seen that no
 * symbol table leads to us. jemalloc_find.c finds it and sets the hooks.
 *
 * The first of these hooks walks the stack for both, which takes a part of the time that jemalloc's
 * own walk takes. Then the second has it as an argument.
 *
 * jemalloc calls a hook on the thread that allocates or frees, without a lock, and takes no sample
 * of what the hook itself allocates. For a block that realloc resizes it reports first the new
 * sample, then the end of the old one, which may have the same address; or another thread may have
 * got the old address already. So a second sample of an address that has a record means that one
 * report of an end is still to come; that one changes nothing.
 *
 *   sample of A, sample of A, end of A: the second sample is alive
 *
 * Zone: HOOK.
 * Locks: none.
 */
#ifndef PP_KINDS_HEAP_JEMALLOC_SAMPLES_H
#define PP_KINDS_HEAP_JEMALLOC_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* jemalloc's mallctl: reads an option or a variable, sets it, or both. 0 or an errno. */
typedef int pp_mallctl(const char *name, void *old, size_t *old_size, void *changed,
                       size_t changed_size);

/* A function of jemalloc. */
typedef struct pp_jemalloc_function {
    uintptr_t start, limit;
    uintptr_t shown_as; /* what the program has called if this is the last frame of jemalloc; 0: the
                           function maps memory for jemalloc */
} pp_jemalloc_function;

enum { PP_JEMALLOC_FUNCTIONS = 48 };

typedef struct pp_jemalloc {
    pp_mallctl *ask;
    uintptr_t start, limit; /* of its library; both 0 if it is a part of the program */
    uintptr_t walk;         /* its own walk of the stack; 0: not known */
    size_t count;
    pp_jemalloc_function function[PP_JEMALLOC_FUNCTIONS];
} pp_jemalloc;

/*
 * Sets the hooks. `jemalloc` stays for ever; `is_active`: its profiler takes samples already. 0, or
 * an errno of mallctl: ENOENT if its profiler is off or has no such hooks. Hooks that the program
 * has set before go on to be called.
 */
int pp_jemalloc_begin(const pp_jemalloc *jemalloc, bool is_active);

/* The mean number of bytes between its samples; the program may change it (prof.reset). */
uint64_t pp_jemalloc_rate(const pp_jemalloc *jemalloc);

/* Gives the hooks back. */
void pp_jemalloc_end(void);

/* Whether hooks are set. */
bool pp_jemalloc_is_on(void);

/* Whether the function at `address` belongs to the jemalloc whose hooks are set, so that it needs
 * no samples of ours. */
bool pp_jemalloc_has(uintptr_t address);

/* Whether the code at `address` maps memory for that jemalloc, whose samples make those of its
 * mappings needless. */
bool pp_jemalloc_maps(uintptr_t address);

/* A sentence about the jemalloc that was found, for a comment, without a full stop; NULL: none. */
const char *pp_jemalloc_about(void);
void pp_jemalloc_set_about(const char *text, size_t length);

#endif
