/* SPDX-License-Identifier: MIT
 *
 * linked.h: distinguishes a program that is linked to this library from one that preloads it.
 *
 * Zone: NORMAL.
 * Locks: the loader's.
 */
#ifndef PP_MODULES_LINKED_H
#define PP_MODULES_LINKED_H

#include <stdbool.h>

/* True if the program or one of its libraries was linked to libpprof.so or libpprof.a. */
bool pp_is_linked(void);

#endif
