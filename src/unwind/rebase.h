/* SPDX-License-Identifier: MIT
 *
 * rebase.h: frames whose caller's SP is not the CFA.
 *
 * A walk goes on with the CFA as SP, since that is what a return leaves behind. __longjmp and
 * setcontext leave in another way, as do switches between coroutines in assembler and the
 * Haskell run-time: their CFI has a rule for rsp itself. A pp_rule has no such thing. It is
 * rewritten so that its `cfa` is what SP will be:
 *
 *   SP = cfa + k          cfa' = cfa + k, all places on the CFA move by -k
 *   SP = register         cfa' = register, places on the CFA become *(base + offset)
 *   SP = *(base + k)      cfa' = *(base + k), places likewise
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_REBASE_H
#define PP_UNWIND_REBASE_H

#include "unwind/rule.h"

#include <stdbool.h>

/*
 * `rule` has a frame with a CFA as CFI defines it, `sp` says where the caller's SP is
 * (PP_WHERE_SAME: in rsp itself). False if no rule can say it, then `rule` is of no use. Of fp and
 * bx what cannot be said becomes PP_WHERE_BEYOND.
 */
bool pp_rule_rebase(pp_rule *rule, const pp_where *sp);

#endif
