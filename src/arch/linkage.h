/* SPDX-License-Identifier: MIT
 *
 * linkage.h: how a module's code reaches functions of other modules: stubs, slots, relocations.
 *
 * The one place where an architecture is chosen. Each architecture's header defines the same names:
 *   PP_RELOCATION_JUMP_SLOT, _GLOB_DAT   the slot holds the address of a symbol
 *   PP_RELOCATION_IRELATIVE              the slot holds what the function at the addend has returned
 *   PP_STUB_SIZE                         bytes of a stub, where its section does not say
 *   pp_stub_read()                       which slot a stub jumps through
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
