/* SPDX-License-Identifier: MIT
 *
 * allocation.h: which allocation functions the C library has, and which of them call malloc.
 *
 * Its header defines:
 *   PP_LIBC_LACKS                    directives of assembler for the functions of symbol/malloc_list.h
 *                                    that a static libc does not have
 *   PP_LIBC_ALLOCATES_AT_START       whether libc allocates before the first constructor, and calls
 *                                    .preinit_array
 *   PP_LIBC_CALLS_MALLOC(NAME)       whether libc's function NAME calls malloc or aligned_alloc by
 *                                    its name, so that a hook of these has counted the block
 *
 * Zone: HOOK.
 */
#ifndef PP_LIBC_ALLOCATION_H
#define PP_LIBC_ALLOCATION_H

#ifdef PP_MUSL
#include "libc/musl_allocation.h"
#else
#include "libc/glibc_allocation.h"
#endif

#endif
