/* SPDX-License-Identifier: MIT
 *
 * own_code.h: whether an address is in the code of libpprof.so, and what to do with its variables.
 *
 * Only of the shared library: what libpprof.a has put into a program cannot be told from the rest of it.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: none.
 * Owns: nothing.
 */
#ifndef PP_SYS_OWN_CODE_H
#define PP_SYS_OWN_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool pp_own_code_has(uintptr_t pc);

/* Takes the return addresses that are in it out of a stack. Returns how many are left. */
uint32_t pp_own_code_leave_out(uintptr_t *pcs, uint32_t depth);

/* Leaves the variables of the library out of the host's core dumps: nearly all of them are tables (6 MiB). */
void pp_own_variables_leave_out_of_dumps(void);

#endif
