/* SPDX-License-Identifier: MIT
 *
 * x86_64_spin.h: the instruction for loops that wait on x86-64 (Intel SDM, volume 2, PAUSE).
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_X86_64_SPIN_H
#define PP_ARCH_X86_64_SPIN_H

static inline void pp_spin_hint(void)
{
    __builtin_ia32_pause();
}

#endif
