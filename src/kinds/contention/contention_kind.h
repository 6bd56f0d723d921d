/* SPDX-License-Identifier: MIT
 *
 * contention_kind.h: the rates that the program or its user asks for, for tests.
 *
 * Zone: NORMAL.
 * Locks: those of kind.h.
 */
#ifndef PP_KINDS_CONTENTION_CONTENTION_KIND_H
#define PP_KINDS_CONTENTION_CONTENTION_KIND_H

#include "kinds/contention/contention_control.h"

extern pp_contention_request pp_contention_asked;

#endif
