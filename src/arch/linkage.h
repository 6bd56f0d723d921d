/* SPDX-License-Identifier: MIT
 *
 * linkage.h: chooses how code reaches functions of other modules: stubs, slots, relocations.
 *
 * Only files of arch/ choose an architecture. Each architecture's header defines:
 *   PP_RELOCATION_JUMP_SLOT, _GLOB_DAT   the slot holds the address of a symbol
 *   PP_RELOCATION_IRELATIVE              the slot holds the result of the function at the addend
 *   PP_STUB_SIZE                         bytes of a stub, if its section header has no entry size
 *   PP_STUBS_VARY, PP_STUB_STEP          whether there are several sizes, so that stubs are found by
 *                                        their instructions; the bytes of one
 *   pp_stub_read()                       reads the slot of a stub's jump
 *   pp_got_type_of()                     whether a relocation's word is the address of a function
 *
 * Zone: SIGNAL (plain functions of bytes).
 */
#ifndef PP_ARCH_LINKAGE_H
#define PP_ARCH_LINKAGE_H

/* A word that the loader fills in with the address of a function, by the type of its relocation. */
typedef enum pp_got_type {
    PP_GOT_NONE,
    PP_GOT_CALL,   /* of the linkage table: bound at the first call, or before */
    PP_GOT_POINTER /* bound when the object is loaded */
} pp_got_type;

#if defined(__x86_64__)
#include "arch/x86_64_linkage.h"
#elif defined(__aarch64__)
#include "arch/aarch64_linkage.h"
#else
#error "libpprof does not know the stubs of this architecture yet: add src/arch/<name>_linkage.h"
#endif

#endif
