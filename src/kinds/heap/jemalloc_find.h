/* SPDX-License-Identifier: MIT
 *
 * jemalloc_find.h: finds a jemalloc in the program, and asks it whether its profiler can take our
 * samples (jemalloc_samples.h).
 *
 * It is known by its function mallctl, with one of the prefixes that jemalloc is built with: none,
 * je_, Rust's _rjem_, or one that the user names. Libraries have it in their dynamic symbols. A
 * program that jemalloc is linked into has it in its symbol table only, unless it is stripped.
 *
 * Zone: NORMAL.
 * Owns: what was found, for ever.
 */
#ifndef PP_KINDS_HEAP_JEMALLOC_FIND_H
#define PP_KINDS_HEAP_JEMALLOC_FIND_H

#include "kinds/heap/jemalloc_samples.h"

typedef enum pp_jemalloc_state {
    PP_JEMALLOC_NONE,     /* not found */
    PP_JEMALLOC_BARE,     /* was built without its profiler */
    PP_JEMALLOC_OLD,      /* has no hooks of samples: before 5.3.1 */
    PP_JEMALLOC_OFF,      /* opt.prof was not set when the program began */
    PP_JEMALLOC_INACTIVE, /* prof.active is false now */
    PP_JEMALLOC_ACTIVE
} pp_jemalloc_state;

enum { PP_JEMALLOC_PREFIX = 32 }; /* bytes, with the NUL */

/* Also looks for mallctl with this prefix, first. False if it is too long. */
bool pp_jemalloc_set_prefix(const char *prefix);

/* Looks for it, unless it is found already, and asks it for its state. */
pp_jemalloc_state pp_jemalloc_find(void);

/* What pp_jemalloc_find() has found. */
const pp_jemalloc *pp_jemalloc_found(void);
/* Whether its functions have no prefix, so that it may be the program's malloc. */
bool pp_jemalloc_has_plain_names(void);

/* Makes the sentence of pp_jemalloc_about(). `by_hooks`: our hooks take the samples of its blocks. */
void pp_jemalloc_describe(pp_jemalloc_state is, bool by_hooks);

#endif
