/* SPDX-License-Identifier: MIT
 *
 * source_age.c: see source_age.h.
 *
 * Tested by: e2e.cpprof_list, page.logic
 */
#include "profile/source_age.h"

#include "base/message.h"
#include "base/pool.h"

#include <stdlib.h>

/* The time of a program that is not here: no file is newer. */
#define NEVER INT64_MAX

static int64_t time_of(const struct stat *info)
{
    return (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec;
}

void cp_source_ages_init(cp_source_ages *ages, const cp_profile *profile)
{
    *ages = (cp_source_ages){.profile = profile, .file_count = profile->strings.count};
    ages->of_mapping = cp_heap_alloc((size_t)profile->mapping_count + 1, sizeof(int64_t));
    ages->of_file = cp_heap_alloc(ages->file_count, sizeof(int64_t));
    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        const char *path = cp_strings_raw(&profile->strings, profile->mappings[i].file);
        struct stat info;
        bool is_here = *path == '/' && stat(path, &info) == 0 && S_ISREG(info.st_mode);

        ages->of_mapping[i] = is_here ? time_of(&info) : NEVER;
    }
}

void cp_source_ages_release(cp_source_ages *ages)
{
    free(ages->of_mapping);
    free(ages->of_file);
}

void cp_source_ages_note(cp_source_ages *ages, cp_string file, uint32_t mapping)
{
    if (file >= ages->file_count) {
        return;
    }
    int64_t built = mapping == CP_NO_MAPPING ? NEVER : ages->of_mapping[mapping];
    if (ages->of_file[file] == 0 || built < ages->of_file[file]) {
        ages->of_file[file] = built;
    }
}

void cp_source_ages_check(cp_source_ages *ages, cp_string file, const struct stat *found)
{
    int64_t recorded = ages->profile->time_nanos, edited = time_of(found);

    if (file >= ages->file_count || ages->of_file[file] == 0) {
        return;
    }
    const char *older = edited > ages->of_file[file]        ? "program that was built from it"
                        : recorded > 0 && edited > recorded ? "profile"
                                                            : NULL;
    if (older) {
        cp_complain("%s is newer than the %s: lines may have moved; build and record again",
                    cp_profile_text(ages->profile, file), older);
        ages->of_file[file] = 0;
    }
}
