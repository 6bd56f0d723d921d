/* SPDX-License-Identifier: MIT
 *
 * linkage.h: chooses how code reaches functions of other modules: stubs, slots, relocations.
 *
 * Only files of arch/ choose an architecture. Each architecture's header defines:
 *   PP_RELOCATION_JUMP_SLOT, _GLOB_DAT   the slot holds the address of a symbol
 *   PP_RELOCATION_IRELATIVE              the slot holds the result of the function at the addend
 *   PP_STUB_SIZE                         bytes of a stub, if its section header has no entry size
 *   pp_stub_read()                       reads the slot of a stub's jump
 *
 * Zone: SIGNAL (plain functions of bytes).
 */
#ifndef PP_ARCH_LINKAGE_H
#define PP_ARCH_LINKAGE_H

#if defined(__x86_64__)
#include "arch/x86_64_linkage.h"
#else
#error "libpprof does not know the stubs of this architecture yet: add src/arch/<name>_linkage.h"
#endif

#endif
