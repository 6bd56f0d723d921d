/* SPDX-License-Identifier: MIT
 *
 * page_file.h: a profile as one HTML file, which shows it in any browser without a network.
 */
#ifndef CP_PAGE_FILE_H
#define CP_PAGE_FILE_H

#include "names/demangle.h"
#include "profile/profile_lines.h"
#include "report/report.h"

#include <stdbool.h>

typedef struct cp_bytes cp_bytes;
typedef struct cp_error cp_error;
typedef struct cp_profile cp_profile;

typedef struct cp_page_options {
    const char *path; /* of the profile; "-" is standard input */
    const char *base; /* the profile to compare it with, or NULL */
    cp_demangle_mode mode;
    bool with_sources;      /* the text of the source files, too */
    cp_lines_options lines; /* which mappings get lines */
    const char *sample;     /* the type that the page shows first, or NULL for the profile's */
    cp_filters filters;     /* which samples and frames are in the page */
} cp_page_options;

/* Appends the page of one profile to *out. `name` is what the page proposes for a download. */
void cp_page_build(cp_profile *profile, const char *name, cp_bytes *out);

/* Writes the page to `out`, as cp_file_put() does. Returns 0, or -1 with a sentence. */
int cp_page_write(const cp_page_options *options, const char *out, cp_error *error);

#endif
