/* SPDX-License-Identifier: MIT
 *
 * kinds.c: the list of all kinds of profiles. A new kind is one line.
 *
 * Zone: SIGNAL. Only constants; host/kind.h has the zones of the functions.
 * Tested by: unit.options, toy_kind.toy_kind
 */
#include "api/preload.h"
#include "host/kind.h"

/*
 * The trace starts last, and sees nothing of the other starts. Wall takes part in the CPU profile that
 * runs, if there is one: it starts after it and ends before. CPU ends before the kinds that write
 * files: the time for their files is not the program's.
 */
#define PP_KINDS(KIND)                                                                             \
    KIND(alloctrace)                                                                               \
    KIND(wall)                                                                                     \
    KIND(cpu)                                                                                      \
    KIND(thread)                                                                                   \
    KIND(heap)                                                                                     \
    KIND(contention)                                                                               \
    KIND(fd)                                                                                       \
    KIND(custom)

#define DECLARE(name) extern const pp_kind pp_kind_##name;
#define LIST(name)    &pp_kind_##name,

PP_KINDS(DECLARE)

const pp_kind *const pp_kinds[] = {PP_KINDS(LIST) NULL};

__attribute__((used)) static void (*const starts_the_library)(void) = pp_preload_link;
