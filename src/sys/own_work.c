/* SPDX-License-Identifier: MIT
 *
 * own_work.c: the mark of the calling thread.
 *
 * Zone: SIGNAL.
 * Owns: the mark.
 * Tested by: e2e.lines
 */
#include "sys/own_work.h"

PP_TLS uintptr_t pp_own_work_sp;
