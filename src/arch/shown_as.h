/* SPDX-License-Identifier: MIT
 *
 * shown_as.h: tables that say what stacks show in place of libpprof's own functions.
 *
 * unwind/own_frames.h reads them where the outermost frame in libpprof's code does not tell it.
 * Each file writes its rows; the linker joins them.
 *
 *   PP_SHOWN_AS(function, entry)   `function` is reached by a jump from the entry that the program
 *                                  called
 *   PP_NOT_SHOWN(function)         libc calls `function`: a constructor, a destructor, an atfork
 *                                  handler, ...
 *   PP_OWN_WORK(function)          calls of `function` out of libpprof are the library's own work,
 *                                  not the program's
 *
 * A further table, pp_allocators, has the code of hooked allocation functions: from the first of two
 * addresses to the second. The assembler of the kind `heap` writes it, and symbol/omitted_functions.c reads it.
 *
 * Both names are the assembler's, of the same file or hidden. The rows are distances, which need no
 * relocation when the library is loaded.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_SHOWN_AS_H
#define PP_ARCH_SHOWN_AS_H

#include <stdint.h>

typedef struct pp_shown_as {
    int32_t function, entry; /* distance from this field; entry: 0 = not shown */
} pp_shown_as;

#define PP_TABLE_ROW(table, first, second)                                                         \
    ".pushsection " table ",\"a\",@progbits\n"                                                     \
    ".balign 4\n"                                                                                  \
    ".long " first "\n"                                                                            \
    ".long " second "\n"                                                                           \
    ".popsection\n"

/* The linker's names of the bounds of a table; NULL if the table is empty. */
#define PP_TABLE(name)                                                                             \
    extern const pp_shown_as __start_##name[] __attribute__((weak, visibility("hidden")));         \
    extern const pp_shown_as __stop_##name[] __attribute__((weak, visibility("hidden")));

static inline uintptr_t pp_row_address(const int32_t *distance)
{
    return (uintptr_t)distance + (uintptr_t)(intptr_t)*distance;
}

#define PP_SHOWN_AS_ROW(function, entry) PP_TABLE_ROW("pp_shown_as", function " - .", entry " - .")

#define PP_SHOWN_AS(function, entry) __asm__(PP_SHOWN_AS_ROW(#function, #entry))
#define PP_NOT_SHOWN(function)       __asm__(PP_TABLE_ROW("pp_shown_as", #function " - .", "0"))
#define PP_OWN_WORK(function)        __asm__(PP_TABLE_ROW("pp_own_work", #function " - .", "0"))

/* For such a function that is static: a compiler that optimizes more than usual would call a copy with another name. */
#ifdef __clang__
#define PP_ONLY_UNDER_ITS_NAME __attribute__((noinline, used))
#else
#define PP_ONLY_UNDER_ITS_NAME __attribute__((noinline, noclone, used))
#endif

#endif
