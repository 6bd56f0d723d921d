/* SPDX-License-Identifier: MIT
 *
 * own_code.h: recognizes addresses in the code of libpprof, and keeps its variables out of dumps.
 *
 * The code of libpprof.so is all executable code of that module. The code of libpprof.a and
 * libpprof_static.a has a section of its own in the program (src/CMakeLists.txt). If the objects
 * are linked in another way, as in unit tests, their code cannot be recognized.
 *
 * Zone: SIGNAL.
 * Owns: the addresses of the library's code, which the first call finds.
 */
#ifndef PP_MODULES_OWN_CODE_H
#define PP_MODULES_OWN_CODE_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pp_own_code_place {
    uintptr_t start, bytes; /* 0 bytes: none */
    uintptr_t shown,
        shown_bytes; /* of that: public functions that call the program's (PP_SHOWN_FUNCTION) */
    uintptr_t clock; /* the vDSO, whose code reads clocks for us */
    bool known;
} pp_own_code_place;

extern pp_own_code_place pp_own_code;
void pp_own_code_find(void);

/* Whether the function at `pc` is one that stacks show like the program's own: pprof_do, as Go
 * shows Do. Only after pp_own_code_has(). */
static inline bool pp_own_code_shows(uintptr_t pc)
{
    return pc - __atomic_load_n(&pp_own_code.shown, __ATOMIC_RELAXED) <
           __atomic_load_n(&pp_own_code.shown_bytes, __ATOMIC_RELAXED);
}

static inline bool pp_own_code_has(uintptr_t pc)
{
    if (pp_unlikely(!__atomic_load_n(&pp_own_code.known, __ATOMIC_ACQUIRE))) {
        pp_own_code_find();
    }
    /* Another thread may be storing the same values. */
    uintptr_t start = __atomic_load_n(&pp_own_code.start, __ATOMIC_RELAXED);
    uintptr_t bytes = __atomic_load_n(&pp_own_code.bytes, __ATOMIC_RELAXED);
    return pc - start < bytes && pp_likely(!pp_own_code_shows(pc));
}

/* Precedes the definition of such a function. */
#define PP_SHOWN_FUNCTION __attribute__((section("pp_shown")))

bool pp_own_code_is_clock(uintptr_t pc);

/* The tables of the library among its variables; none (0 to 0) if they cannot be told from the
 * program's. */
void pp_own_variables(uintptr_t *from, uintptr_t *to);

/* Leaves the variables of the library out of the host's core dumps, and has no transparent huge pages made of
 * them: nearly all of them are tables (6 MiB) that are not full. */
void pp_own_variables_are_sparse(void);

#endif
