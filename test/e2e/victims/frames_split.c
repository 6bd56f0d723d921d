/* SPDX-License-Identifier: MIT
 *
 * frames_split.c: .eh_frame is writable, and therefore in another segment than its header, beyond a
 * hole that belongs to nobody.
 *
 * Flags: -fno-pie -no-pie -Wl,-z,max-page-size=0x200000
 */
__asm__(".section .eh_frame, \"aw\", @unwind\n.text");

#include "frames.h"
