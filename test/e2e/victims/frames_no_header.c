/* SPDX-License-Identifier: MIT
 *
 * frames_no_header.c: .eh_frame is loaded, but nothing that is loaded says where.
 *
 * Flags: -Wl,--no-eh-frame-hdr
 */
#include "frames.h"
