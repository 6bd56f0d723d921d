/* SPDX-License-Identifier: MIT
 *
 * rule.h: how to get from one frame to its caller, at one program counter.
 *
 * A rule is the result of a CFA program that has run up to a PC, reduced to what a stack walk needs.
 * Which registers that are, where a call leaves the return address, and what nearly all rules look
 * like, so that they fit into a word, belong to the architecture. Its header defines:
 *   pp_where, pp_rule          the rule (unwind/cfi.c makes it, unwind/frame.c applies it)
 *   pp_rule_at_entry           the rule at the first instruction of a function
 *   pp_rule_is_usual_return()  whether the return address is where packed rules have it
 *   pp_rule_pack()             the packed rule, which the cache keeps and the inner loop applies
 *   pp_packed_...()            what a packed rule says
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_RULE_H
#define PP_ARCH_RULE_H

#if defined(__x86_64__)
#include "arch/x86_64_rule.h"
#else
#error "libpprof has no unwinder for this architecture yet: add src/arch/<name>_rule.h"
#endif

#endif
