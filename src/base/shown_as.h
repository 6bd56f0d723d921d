/* SPDX-License-Identifier: MIT
 *
 * shown_as.h: what a sample shows that landed in libpprof's own code, where its outermost frame
 * there does not say so itself (unwind/own_frames.h). Tables that the linker puts together of what
 * each file says.
 *
 *   PP_SHOWN_AS(function, entry)   `function` is jumped to by the entry that the program called
 *   PP_NOT_SHOWN(function)         libc calls `function`: a constructor, a destructor, an atfork handler, ...
 *   PP_OWN_WORK(function)          what `function` calls outside of libpprof is its own work, not the program's
 *
 * Both names are the assembler's, of this file or hidden. Distances, which need no relocation when
 * the library is loaded.
 *
 * Zone: SIGNAL (data only).
 */
#ifndef PP_BASE_SHOWN_AS_H
#define PP_BASE_SHOWN_AS_H

#include <stdint.h>

typedef struct pp_shown_as {
    int32_t function, entry; /* from the field itself; entry: 0 = it is not shown */
} pp_shown_as;

#define PP_TABLE_ROW(table, first, second)                                                         \
    ".pushsection " table ",\"a\",@progbits\n"                                                     \
    ".balign 4\n"                                                                                  \
    ".long " first "\n"                                                                            \
    ".long " second "\n"                                                                           \
    ".popsection\n"

#define PP_SHOWN_AS_ROW(function, entry) PP_TABLE_ROW("pp_shown_as", function " - .", entry " - .")

#define PP_SHOWN_AS(function, entry) __asm__(PP_SHOWN_AS_ROW(#function, #entry))
#define PP_NOT_SHOWN(function)       __asm__(PP_TABLE_ROW("pp_shown_as", #function " - .", "0"))
#define PP_OWN_WORK(function)        __asm__(PP_TABLE_ROW("pp_own_work", #function " - .", "0"))

#endif
