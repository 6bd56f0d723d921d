/* SPDX-License-Identifier: MIT
 *
 * registers.h: the machine registers that unwinding works on.
 *
 * Only files of arch/ choose an architecture. Each architecture's header defines:
 *   PP_REG_COUNT, PP_REG_SP, PP_REG_FP, PP_REG_BX, PP_REG_RA   DWARF register numbers
 *   pp_register_name()                   the name of a register, by its DWARF number
 *   PP_CALL_CLOBBERED, PP_ADDRESS_BITS   what the ABI and the processor guarantee
 *   pp_registers_from_context()          all registers of an interrupted thread
 *   pp_perf_bit_of_register              their numbers in perf events
 *   pp_stack_pointer_from_context()      its stack pointer
 *   PP_SHOWN_REGISTERS, pp_shown_register()   the registers that a crash shows
 *   pp_signal_frame_slot()               where a signal frame holds a register
 *   pp_signal_restorer                   the code that a signal handler returns to
 *   PP_CALL_BYTES, pp_ends_with_call()   recognize a return address
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
