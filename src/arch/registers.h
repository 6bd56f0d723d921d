/* SPDX-License-Identifier: MIT
 *
 * registers.h: the machine registers that unwinding works on.
 *
 * The one place where an architecture is chosen. Each architecture's header defines the same names:
 *   PP_REG_COUNT, PP_REG_SP, PP_REG_FP, PP_REG_BX, PP_REG_RA   DWARF register numbers
 *   pp_registers_from_context()   all registers of an interrupted thread
 *   PP_SIGNAL_CONTEXT_OFFSET      where a signal frame keeps the interrupted registers
 *   pp_registers_from_signal_frame_word()
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_REGISTERS_H
#define PP_ARCH_REGISTERS_H

#if defined(__x86_64__)
#include "arch/x86_64.h"
#else
#error "libpprof has no unwinder for this architecture yet: add src/arch/<name>.h"
#endif

#endif
