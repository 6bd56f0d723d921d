/* SPDX-License-Identifier: MIT
 *
 * rule.h: how to get from one frame to its caller, at one program counter.
 *
 *   cfa    = register + offset                 nearly always sp or fp
 *          | *(register + offset) + addend     DRAP realignment, libcrypto's assembler
 *            (either with + index * scale)     libcrypto's Montgomery multiplication
 *   fp, bx = unchanged | *(cfa + offset) | *(register + offset) | cfa + offset | in a register
 *          | lost
 *   return = one of the same forms; unchanged: in its register
 *
 * The CFA ("canonical frame address") is SP before the call, and fp and bx are two registers of the
 * caller (arch/registers.h). The caller's SP is the CFA. Where CFI has another rule for it (__longjmp,
 * setcontext, coroutine switches in assembler, the Haskell run-time), rebase.h rewrites the rule: `cfa`
 * here is always the caller's SP, and the places count from there.
 *
 * A rule is the result of a CFA program that has run up to a PC, reduced to what a stack walk needs.
 * Which registers that are, where a call leaves the return address, and what nearly all rules look
 * like, so that they fit into a word, belong to the architecture. unwind/cfi.c makes rules, and
 * unwind/frame.c applies them. The architecture's header defines:
 *   pp_rule_at_entry           the rule at the first instruction of a function
 *   pp_rule_is_usual_return()  whether the return address is where packed rules have it
 *   pp_rule_pack()             the packed rule, which the cache keeps and the inner loop applies
 *   pp_packed_...()            what a packed rule says
 *   pp_cfa_sign_operands()     how many numbers follow a CFA operation that says whether return addresses
 *                              are signed; -1: it says something else
 *   pp_rule_may_be_signal()    whether CFI that does not say so may describe a signal frame
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_RULE_H
#define PP_ARCH_RULE_H

#if defined(__x86_64__)
#include "arch/x86_64_rule.h"
#elif defined(__aarch64__)
#include "arch/aarch64_rule.h"
#else
#error "libpprof has no unwinder for this architecture yet: add src/arch/<name>_rule.h"
#endif

#endif
