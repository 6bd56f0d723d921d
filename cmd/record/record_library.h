/* SPDX-License-Identifier: MIT
 *
 * record_library.h: the library that `cpprof record` preloads, and which kinds of profiles it has.
 *
 * record_kinds.c knows the rates and the hints of the kinds that the help lists. The library may
 * have more kinds, and it is another file than cpprof. So cpprof asks the library itself: it runs
 * `true` with the kind's word and looks whether a profile of that kind arrives.
 */
#ifndef CP_RECORD_LIBRARY_H
#define CP_RECORD_LIBRARY_H

#include <stdbool.h>

typedef struct cp_error cp_error;

/* The library's path without links, to be freed: LIBPPROF_LIBRARY, or the one beside cpprof. NULL
 * with a sentence if there is none. */
char *cp_record_library_find(cp_error *error);

/* Whether the library takes `word` ("wall:100") as the option for profiles of `kind` ("wall"). */
bool cp_record_library_has(const char *kind, const char *word);

#endif
