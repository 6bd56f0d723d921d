/* SPDX-License-Identifier: MIT
 *
 * hook_layout.h: the layout of hooks, and of the calls that entries pass on, for assembler and C.
 *
 * A hook begins with two addresses: the real function, and the target of the entry. An entry that
 * goes on in C (to_c of <architecture>_asm.inc) leaves a record of the call on the stack, from low
 * to high: arguments, hook, the caller's bx and fp, return address.
 *
 * Where the return address of a function may be in a register alone (PP_RETURN_ON_STACK is 0), the
 * entries of functions that may wait leave a pp_call_mark on the stack during the call: the
 * function, that xor the mark's own address, and the frame record.
 *
 * Zone: HOOK (no code).
 */
#ifndef PP_ARCH_HOOK_LAYOUT_H
#define PP_ARCH_HOOK_LAYOUT_H

#define PP_HOOK_REAL   0
#define PP_HOOK_TARGET 8

/* Lists what glibc has kept from before 2.17, which is its first version on aarch64. */
#if defined(__x86_64__)
#define PP_OF_OLD_GLIBC(...) __VA_ARGS__
#else
#define PP_OF_OLD_GLIBC(...)
#endif

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

#define PP_ASSERT_HOOK(type)                                                                       \
    _Static_assert(offsetof(type, real) == PP_HOOK_REAL &&                                         \
                       offsetof(type, target) == PP_HOOK_TARGET,                                   \
                   "the entries read " #type)

typedef struct pp_call_mark {
    uintptr_t function, check;
    uintptr_t fp, return_address; /* of the hook's caller */
} pp_call_mark;

_Static_assert(sizeof(pp_call_mark) == 32, "call_marked of waits_aarch64.S writes it");

#define PP_ASSERT_CALL(type, arguments)                                                            \
    _Static_assert(offsetof(type, argument) == 0 &&                                                \
                       offsetof(type, hook) == (arguments) * sizeof(uintptr_t) &&                  \
                       offsetof(type, bx) == ((arguments) + 1) * sizeof(uintptr_t) &&              \
                       offsetof(type, fp) == ((arguments) + 2) * sizeof(uintptr_t) &&              \
                       offsetof(type, return_address) == ((arguments) + 3) * sizeof(uintptr_t),    \
                   "the entries write " #type)

#endif

#endif
