/* SPDX-License-Identifier: MIT
 *
 * registers.h: the machine registers that unwinding works on.
 *
 * Only files of arch/ choose an architecture. Each architecture's header defines:
 *   PP_REG_COUNT, PP_REG_SP, PP_REG_FP   DWARF register numbers
 *   PP_REG_BX                            the third register that a walk follows: rbx of x86-64, which
 *                                        has CFAs; the link register of aarch64
 *   PP_REG_RA, PP_REG_PC                 CFI's column of the return address; the place of the PC.
 *                                        The numbers below are registers that a CFA may count from
 *   pp_register_name()                   the name of a register, by its DWARF number
 *   PP_CALL_CLOBBERED, PP_ADDRESS_BITS, PP_RED_ZONE, PP_ABOVE_CONTROL_BLOCK
 *                                        what the ABI, the processor and libc guarantee
 *   PP_HANDLER_STACK_BYTES               what the handler of a sample needs of a stack
 *   PP_CODE_SHIFT                        the binary logarithm of the alignment of instructions
 *   PP_RETURN_ON_STACK                   whether a call leaves the return address on the stack; else
 *                                        it is in the register PP_REG_BX
 *   PP_FRAME_TOP()                       an address near the upper end of the calling function's frame: above
 *                                        its variables, and above the frames of those that it calls
 *   pp_return_address()                  the address of a return address that was signed, or not
 *   pp_untagged()                        the address that a pointer names, without the program's tag
 *   PP_NO_ADDRESS_BIT                    a bit that no such address has
 *   pp_registers_from_context()          all registers of an interrupted thread
 *   pp_perf_bit_of_register              their numbers in perf events
 *   pp_stack_pointer_from_context()      its stack pointer
 *   PP_SHOWN_REGISTERS, pp_shown_register()   the registers that a crash shows
 *   pp_signal_frame_slot()               where a signal frame holds a register
 *   pp_signal_restorer                   the code that a signal handler returns to
 *   pp_thread_exit                       the code that a thread's function returns to, without CFI
 *   PP_CALL_BYTES, pp_ends_with_call()   recognize a return address
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_REGISTERS_H
#define PP_ARCH_REGISTERS_H

#if defined(__x86_64__)
#include "arch/x86_64.h"
#elif defined(__aarch64__)
#include "arch/aarch64.h"
#else
#error "libpprof has no unwinder for this architecture yet: add src/arch/<name>.h"
#endif

#endif
