/* SPDX-License-Identifier: MIT
 *
 * frames_no_header.c: .eh_frame is loaded, but nothing that is loaded says where. It has so many entries that a handler
 * cannot go through them.
 *
 * Flags: -Wl,--no-eh-frame-hdr
 */
__asm__(".text\n"
        ".rept 40000\n"
        ".cfi_startproc\n"
        "nop\n"
        ".cfi_endproc\n"
        ".endr\n");

/* Nor does the code lead to the caller: nobody knows where this jump goes. */
#define FRAMES_END()                                                                               \
    __extension__({                                                                                \
        __label__ one, other;                                                                      \
        static const void *const ways[] = {&&one, &&other};                                        \
        goto *ways[burn_sink & 1];                                                                 \
    one:                                                                                           \
        burn_sink++;                                                                               \
    other:;                                                                                        \
    })

#include "frames.h"
