/* SPDX-License-Identifier: MIT
 *
 * source_age.h: whether a source file was edited after the program was built from it.
 *
 * Lines of a profile are those of the file as the compiler saw it. A file with a later time than
 * the program, or than the profile where the program was built again or is not here, may have other
 * lines at these numbers.
 *
 * Owns: the times of files and mappings, until cp_source_ages_release().
 */
#ifndef CP_SOURCE_AGE_H
#define CP_SOURCE_AGE_H

#include "profile/profile_model.h"

#include <stdint.h>
#include <sys/stat.h>

typedef struct cp_source_ages {
    const cp_profile *profile;
    int64_t *of_mapping; /* when the file of each mapping was written, in nanoseconds */
    int64_t *of_file;    /* by string: when the oldest of a source file's programs was written */
    uint32_t file_count; /* of the strings when the object was made */
} cp_source_ages;

void cp_source_ages_init(cp_source_ages *ages, const cp_profile *profile);
void cp_source_ages_release(cp_source_ages *ages);

/* Says that code of the mapping, which may be CP_NO_MAPPING, comes from the source file. */
void cp_source_ages_note(cp_source_ages *ages, cp_string file, uint32_t mapping);

/* Complains, once for each file that was noted, if `found`, the file at this path, is newer. */
void cp_source_ages_check(cp_source_ages *ages, cp_string file, const struct stat *found);

#endif
