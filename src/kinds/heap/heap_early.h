/* SPDX-License-Identifier: MIT
 *
 * heap_early.h: the rate of sampling in LIBPPROF, for an allocation before our constructor.
 *
 * Zone: HOOK.
 */
#ifndef PP_KINDS_HEAP_HEAP_EARLY_H
#define PP_KINDS_HEAP_HEAP_EARLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Stores the rate of sampling in bytes at the program's first allocation. False if the environment
 * cannot be read yet; the next allocation then asks again. The caller is inside the program's
 * malloc, maybe before the constructors of libc and of this library.
 */
bool pp_heap_first_rate(int64_t *rate);

/*
 * Reads the value of the option `heap`: a number of bytes, maybe with k, m or g after it; an empty
 * text means the default rate. False if the text is anything else.
 */
bool pp_heap_rate_of_text(const char *text, size_t length, int64_t *rate);

#endif
