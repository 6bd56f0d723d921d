/* SPDX-License-Identifier: MIT
 *
 * symbolize_control.h: how the addresses of every profile are named: the option `symbolize`.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: the option's value.
 */
#ifndef PP_OUTPUT_SYMBOLIZE_H
#define PP_OUTPUT_SYMBOLIZE_H

#include "profile/model.h"

/* What is wanted now; names at first. */
pp_symbolize pp_symbolize_wanted(void);

void pp_symbolize_set(pp_symbolize wanted);

#endif
