/* SPDX-License-Identifier: MIT
 *
 * tls.h: how code reaches the variables of a thread (PP_TLS of base/compiler.h).
 *
 * Signal handlers do it, so nothing may be allocated at the first use.
 *   initial-exec   the variables are at a constant offset from the thread's pointer. glibc keeps room for libraries that
 *                  are loaded late. musl keeps none, and refuses them.
 *   descriptors    code calls a function of the loader that returns the offset and preserves all other registers. glibc's
 *                  may allocate. musl's never does: its dlopen makes the variables of all threads before it returns. The
 *                  linker makes constants of them in a program that is linked to libpprof.a.
 *
 * PP_TLS_DESCRIPTORS comes from the build (CMakeLists.txt): musl, with a compiler that has them. Assembler reads a variable by
 * libc/ARCHITECTURE_tls.inc.
 *
 * Zone: SIGNAL (macros only).
 */
#ifndef PP_LIBC_TLS_H
#define PP_LIBC_TLS_H

#ifdef PP_TLS_DESCRIPTORS
#define PP_TLS_MODEL "global-dynamic"
#else
#define PP_TLS_MODEL "initial-exec"
#endif

/* Where the word is by which a control block is known (pp_is_control_block()), from the thread pointer. */
#if defined(PP_MUSL) && defined(__aarch64__)
#define PP_CONTROL_WORD ((uintptr_t)-8)
#else
#define PP_CONTROL_WORD ((uintptr_t)0)
#endif

#endif
