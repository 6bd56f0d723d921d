/* SPDX-License-Identifier: MIT
 *
 * frames_split.c: .eh_frame is writable, and therefore in another segment than its header.
 */
__asm__(".section .eh_frame, \"aw\", @unwind\n.text");

#include "frames.h"
