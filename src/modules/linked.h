/* SPDX-License-Identifier: MIT
 *
 * linked.h: whether somebody linked this library, or it was only preloaded.
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
