/* SPDX-License-Identifier: MIT
 *
 * missing_lines.c: see missing_lines.h.
 *
 * Owns: nothing after the call.
 * Tested by: e2e.cpprof_symbolize
 */
#include "profile/missing_lines.h"

#include "base/base_name.h"
#include "base/message.h"
#include "base/pool.h"
#include "names/debug_package.h"
#include "names/line_reader.h"
#include "profile/profile_model.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 3 };

static int by_locations(const void *left, const void *right)
{
    const cp_missing *a = left, *b = right;

    if (a->locations != b->locations) {
        return a->locations < b->locations ? 1 : -1;
    }
    return strcmp(a->file, b->file);
}

/* What would bring the lines: the package, or the flag; to be freed. */
static char *remedy(const cp_missing *m)
{
    const char *folder = getenv("CPPROF_DPKG");
    char *package = cp_debug_package(folder ? folder : "/var/lib/dpkg", m->file);

    if (!package) {
        return cp_heap_printf("no debug information: compile it with -g (-g1 is enough)");
    }
    char *text = cp_heap_printf("no debug information: apt install %s", package);
    free(package);
    return text;
}

static char *reason(const cp_missing *m)
{
    switch (m->error) {
    case 0:
        return cp_heap_printf("debug information of a part only");
    case -ENOENT:
        if (access(m->file, F_OK) == 0) {
            return remedy(m);
        }
        return cp_heap_printf("the file is not here, and no debug information of build id %s",
                              *m->build_id ? m->build_id : "-");
    case -ENOLINK:
        return cp_heap_printf(
            "the separate debug information (.gnu_debuglink) is of another build");
    case -ESTALE:
        return cp_heap_printf("the file is of another build than %s, which was profiled",
                              *m->build_id ? m->build_id : "the one");
    case -ENODATA:
        return cp_heap_printf("the profile has no build ids; --symbolize=local takes the file as "
                              "it is");
    case -EFBIG:
        return cp_heap_printf("more debug information than a third of this machine's memory");
    case -ENOEXEC:
    case -EIO:
        return cp_heap_printf("the debug information is damaged");
    default:
        return cp_heap_printf("%s", strerror(-m->error));
    }
}

/* "program", or the whole path if it is no file. */
static void complain(const cp_missing *m)
{
    size_t length;
    const char *base = cp_base_name(m->file, &length);
    char *why = reason(m);

    cp_complain("no %s of %.*s: %s", m->is_of_names ? "names" : "lines", (int)length, base, why);
    free(why);
}

void cp_missing_complain(cp_missing *missing, size_t count)
{
    static bool complained;

    if (complained || count == 0) {
        return;
    }
    complained = true;
    qsort(missing, count, sizeof *missing, by_locations);
    if (missing[0].error == CP_LINE_READER_ABSENT) {
        cp_line_reader_complain();
        return;
    }
    for (size_t i = 0; i < count && i < FILES; i++) {
        complain(&missing[i]);
    }
    if (count > FILES) {
        cp_complain("no %s of %zu other file%s", missing[FILES].is_of_names ? "names" : "lines",
                    count - FILES, count - FILES == 1 ? "" : "s");
    }
}

static bool has_line(const cp_location *location)
{
    for (uint32_t i = 0; i < location->line_count; i++) {
        if (location->lines[i].line > 0) {
            return true;
        }
    }
    return false;
}

static bool has_file(const cp_profile *profile, const cp_location *location)
{
    return location->mapping != CP_NO_MAPPING &&
           cp_profile_text(profile, profile->mappings[location->mapping].file)[0] == '/';
}

void cp_missing_explain(const cp_profile *profile)
{
    bool has_addresses = false, has_files = false;

    for (uint32_t i = 0; i < profile->location_count; i++) {
        const cp_location *location = &profile->locations[i];

        if (has_line(location)) {
            return;
        }
        has_addresses = has_addresses || location->address > 0;
        has_files = has_files || has_file(profile, location);
    }
    if (profile->location_count == 0) {
        return;
    }
    if (!has_addresses) {
        cp_complain("no lines: the profile has names and no addresses, as folded stacks do; take "
                    "the profile that they were made from");
    } else if (!has_files) {
        cp_complain("no lines: the profile has addresses, but no memory map that says in which "
                    "files they are; record it as a profile.proto");
    } else {
        cp_complain(
            "no lines: the profile has names and says that there is no more to know; "
            "`perf script -F +srcline` prints lines, --symbolize=force looks for them here");
    }
}
