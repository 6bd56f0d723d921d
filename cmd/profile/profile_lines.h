/* SPDX-License-Identifier: MIT
 *
 * profile_lines.h: adds files, lines and inlined functions to the locations of a profile.
 *
 * They come from the debug information of the files that the mappings name (names/line_reader.h).
 * A file whose build id is not the mapping's is not used. A location that nothing is known of stays
 * as it is.
 */
#ifndef CP_PROFILE_LINES_H
#define CP_PROFILE_LINES_H

#include "names/line_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cp_profile cp_profile;
typedef struct cp_regex cp_regex;

/* Which mappings get lines. In the others, unless it is CP_LINES_NONE, locations without a name get
 * one if a symbol table has it. */
typedef enum cp_lines_wanted {
    CP_LINES_NONE,
    CP_LINES_NAMELESS, /* those in which no location has a name */
    CP_LINES_MISSING,  /* those that do not say that they have functions, files or lines */
    CP_LINES_ALL
} cp_lines_wanted;

typedef struct cp_lines_options {
    cp_lines_wanted wanted;
    bool any_build; /* use files also for a profile without build ids: nobody knows whether they are
                       those that were profiled */
    bool complains; /* say which files lack lines, and what would bring them */
    bool is_quiet;  /* do not say either that a file which could have names is of another build */
    cp_regex *about; /* of those that may have functions of these names; NULL: of all */
} cp_lines_options;

/* The words of --symbolize; local: all that is missing. */
#define CP_LINES_WORDS "none local force"

/* Finds the meaning of a word. Returns 0, or -1 if there is none. */
int cp_lines_wanted_named(const char *name, cp_lines_wanted *wanted);

/* Adds the lines, and names. A mapping says that it has them (has_functions, has_filenames, has_line_numbers)
 * if its debug information was read as a whole, so that nobody can add more. Returns the number of
 * locations that got lines. */
uint32_t cp_profile_add_lines(cp_profile *profile, const cp_lines_options *options);

/* Calls found() for the ascending addresses in a mapping that something is known of. Returns what
 * cp_line_reader_find() does, or -ENODATA if the profile has no build ids, unless `any_build`. */
int cp_profile_find_lines(const cp_profile *profile, uint32_t index, bool any_build,
                          const uint64_t *addresses, size_t count, cp_place_found *found,
                          void *context);

/* Drops the functions that no location has any more. */
void cp_profile_drop_functions(cp_profile *profile);

#endif
