/* SPDX-License-Identifier: MIT
 *
 * second_opinion.h: what libunwind makes of the stopped program's stack.
 *
 * Zone: tests.
 * Owns: libunwind's state for the program.
 */
#ifndef PP_COMPARE_SECOND_OPINION_H
#define PP_COMPARE_SECOND_OPINION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

bool second_opinion_available(void);

/*
 * Fills in the frames as pp_walk does (the leaf's PC plus 1 first); returns how many. `registers`
 * need not be those that the program has now; the memory is.
 */
size_t second_opinion_walk(pid_t pid, const struct user_regs_struct *registers, uint64_t *pcs,
                           size_t room);

/* Another program, or other libraries: what was remembered is wrong. */
void second_opinion_forget(void);

#endif
