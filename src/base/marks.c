/* SPDX-License-Identifier: MIT
 *
 * marks.c: the marks of the calling thread.
 *
 * Zone: SIGNAL.
 * Owns: the marks.
 * Tested by: unit.apart, e2e.heap_mappings
 */
#include "base/marks.h"

PP_TLS pp_marks pp_thread_marks;
