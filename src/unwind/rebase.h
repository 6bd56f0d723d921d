/* SPDX-License-Identifier: MIT
 *
 * rebase.h: rules for frames whose caller's SP is not the CFA.
 *
 * A walk uses the CFA as the caller's SP, since a return leaves SP there. __longjmp, setcontext,
 * coroutine switches in assembler and the Haskell run-time leave a frame in another way: their CFI
 * has a rule for rsp. A pp_rule has none. It is rewritten so that its `cfa` is the caller's SP:
 *
 *   SP = cfa + k          cfa' = cfa + k, all places on the CFA move by -k
 *   SP = register         cfa' = register, places on the CFA become *(base + offset)
 *   SP = *(base + k)      cfa' = *(base + k), places as with a register
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_REBASE_H
#define PP_UNWIND_REBASE_H

#include "arch/rule.h"

#include <stdbool.h>

/*
 * Rewrites `rule`, whose CFA is the one that CFI defines. `sp` is where the caller's SP is
 * (PP_WHERE_SAME: in rsp). Returns false if no rule can express this; then `rule` is of no use.
 * Places of fp and bx that cannot be expressed become PP_WHERE_BEYOND.
 */
bool pp_rule_rebase(pp_rule *rule, const pp_where *sp);

#endif
