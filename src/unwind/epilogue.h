/* SPDX-License-Identifier: MIT
 *
 * epilogue.h: a rule for code without CFI, from the instructions up to the function's return.
 *
 * Assembler of libcrypto has no CFI on aarch64, and neither have linkage stubs. What such a function
 * will add to SP and load into the frame pointer and the link register before it returns is what its
 * frame is now:
 *
 *   ldp x29, x30, [sp], #32       the caller's fp is at SP, the return address at SP + 8, the CFA is SP + 32
 *   ret
 *
 * A push that comes first, in a prologue, is subtracted; a load from below the present SP is then one of a
 * word that is not there yet, and the register still has its value. Code is read as if no conditional
 * branch were taken, up to the first return. After an unconditional one it is read on in the order of
 * addresses, if an earlier branch leads there: what comes between is a loop, or another way out.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_EPILOGUE_H
#define PP_UNWIND_EPILOGUE_H

#include "arch/rule.h"
#include "sys/safe_read.h"

#include <stdint.h>

/* The bytes that pp_epilogue_rule() works in. They need no initialisation. */
enum { PP_EPILOGUE_SPACE = 1024 };

/* Makes a rule of the code from `pc` on, and returns true; false, and *rule is what it was, if no return
 * is found, if SP is not computed from SP or the frame pointer, or if the architecture has CFI
 * everywhere. Works in the PP_EPILOGUE_SPACE bytes of `space`, since the caller may be a handler. */
bool pp_epilogue_rule(const pp_memory *memory, uintptr_t pc, void *space, pp_rule *rule);

#endif
