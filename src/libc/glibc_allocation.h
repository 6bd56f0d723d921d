/* SPDX-License-Identifier: MIT
 *
 * glibc_allocation.h: allocation functions of glibc.
 *
 * Zone: HOOK.
 */
#ifndef PP_LIBC_GLIBC_ALLOCATION_H
#define PP_LIBC_GLIBC_ALLOCATION_H

#define PP_LIBC_LACKS ""

#include <stdbool.h>

enum { PP_LIBC_ALLOCATES_AT_START = true };

#define PP_LIBC_CALLS_MALLOC(name) false

#endif
