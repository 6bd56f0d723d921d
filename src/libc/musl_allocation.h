/* SPDX-License-Identifier: MIT
 *
 * musl_allocation.h: allocation functions of musl.
 *
 * A program may replace malloc, so musl's other functions call malloc and aligned_alloc by name.
 *
 * Zone: HOOK.
 */
#ifndef PP_LIBC_MUSL_ALLOCATION_H
#define PP_LIBC_MUSL_ALLOCATION_H

#define PP_LIBC_LACKS ".weak __real_pvalloc"

#include <stdbool.h>

enum { PP_LIBC_ALLOCATES_AT_START = false };

#define PP_LIBC_CALLS_MALLOC(name)          PP_LIBC_CALLS_MALLOC_##name
#define PP_LIBC_CALLS_MALLOC_malloc         false
#define PP_LIBC_CALLS_MALLOC_free           false
#define PP_LIBC_CALLS_MALLOC_calloc         true
#define PP_LIBC_CALLS_MALLOC_realloc        false
#define PP_LIBC_CALLS_MALLOC_posix_memalign true
#define PP_LIBC_CALLS_MALLOC_aligned_alloc  false
#define PP_LIBC_CALLS_MALLOC_memalign       true
#define PP_LIBC_CALLS_MALLOC_valloc         true
#define PP_LIBC_CALLS_MALLOC_pvalloc        true

#endif
