/* SPDX-License-Identifier: MIT
 *
 * alloctrace_kind.h: whether the option alloctrace is given; tests read it.
 *
 * Zone: NORMAL.
 * Locks: those of kind.h.
 */
#ifndef PP_KINDS_HEAP_ALLOCTRACE_KIND_H
#define PP_KINDS_HEAP_ALLOCTRACE_KIND_H

#include <stdbool.h>

extern bool pp_alloctrace_asked;

#endif
