/* SPDX-License-Identifier: MIT
 *
 * kinds.c: the list of all kinds. A new one is a line.
 *
 * Zone: SIGNAL. Constants; what may be called where says kind.h.
 */
#include "host/kind.h"

/*
 * The trace starts last, and sees nothing of the other starts. CPU ends before the others: the time
 * that their files take is not the program's.
 */
#define PP_KINDS(KIND)                                                                             \
    KIND(alloctrace)                                                                               \
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
