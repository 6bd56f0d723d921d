/* SPDX-License-Identifier: MIT
 *
 * probe.h: places in the code at which tracers can stop, and what is known there (USDT).
 *
 * A probe is one instruction that does nothing, and a note in the file that says where it is, where its
 * semaphore is and where its arguments are. A tracer (perf, bpftrace, gdb, an eBPF profiler) writes a
 * breakpoint over the instruction and increments the semaphore; as long as it is 0, code does not
 * come near the probe. The note (SystemTap's, version 3):
 *
 *   [size of "stapsdt"|size of the rest|3] "stapsdt"
 *   address of the instruction | of the section .stapsdt.base | of the semaphore
 *   "provider" "name" "8@%rdi 8@%rsi"       each argument: its size @ its place
 *
 * The loaded file may have moved against the note's addresses (prelink); the base tells by how much.
 *
 * The assembler's own words are the same on all architectures, and the compiler writes a register as the
 * note wants it: so this file has none for each architecture.
 *
 * Source: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
 *
 * Zone: SIGNAL (macros only).
 */
#ifndef PP_ARCH_PROBE_H
#define PP_ARCH_PROBE_H

#include <stdint.h>

/* Defines the semaphore `name` of a probe, a number that only tracers change. */
#define PP_PROBE_SEMAPHORE(name)                                                                   \
    volatile uint16_t name __attribute__((section(".probes"), visibility("hidden"), used))

#define PP_PROBE_NOTE(provider, name, semaphore, arguments)                                        \
    "990: nop\n"                                                                                   \
    ".pushsection .note.stapsdt, \"\", \"note\"\n"                                                 \
    ".balign 4\n"                                                                                  \
    ".4byte 992f - 991f, 994f - 993f, 3\n"                                                         \
    "991: .asciz \"stapsdt\"\n"                                                                    \
    "992: .balign 4\n"                                                                             \
    "993: .8byte 990b, _.stapsdt.base, " semaphore "\n"                                            \
    ".asciz \"" provider "\", \"" name "\", \"" arguments "\"\n"                                   \
    "994: .balign 4\n"                                                                             \
    ".popsection\n"                                                                                \
    ".ifndef _.stapsdt.base\n"                                                                     \
    ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"                    \
    ".weak _.stapsdt.base\n"                                                                       \
    ".hidden _.stapsdt.base\n"                                                                     \
    "_.stapsdt.base: .space 1\n"                                                                   \
    ".size _.stapsdt.base, 1\n"                                                                    \
    ".popsection\n"                                                                                \
    ".endif\n"

/* A probe with one or three arguments of 8 bytes. `provider`, `name`, `semaphore` (the variable): texts. A
 * function that has one is not inlined, so that each probe has one place. */
#define PP_PROBE1(provider, name, semaphore, a)                                                    \
    __asm__ volatile(PP_PROBE_NOTE(provider, name, semaphore, "8@%[a_]")                           \
                     :                                                                             \
                     : [a_] "r"((uint64_t)(a))                                                     \
                     : "memory")

#define PP_PROBE3(provider, name, semaphore, a, b, c)                                              \
    __asm__ volatile(PP_PROBE_NOTE(provider, name, semaphore, "8@%[a_] 8@%[b_] 8@%[c_]")           \
                     :                                                                             \
                     : [a_] "r"((uint64_t)(a)), [b_] "r"((uint64_t)(b)), [c_] "r"((uint64_t)(c))   \
                     : "memory")

#endif
