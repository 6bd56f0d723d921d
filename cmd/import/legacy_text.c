/* SPDX-License-Identifier: MIT
 *
 * legacy_text.c: see legacy_text.h. The first line that is no comment tells the format.
 *
 * Owns: nothing after the call.
 * Tested by: unit.cmd_legacy_text, e2e.cpprof_reports, fuzz.legacy_text.
 */
#include "import/legacy_text.h"

#include "base/message.h"
#include "import/legacy_lines.h"

#include <ctype.h>
#include <string.h>

#define SNIFFED ((size_t)64 << 10)

typedef int reader(cp_legacy *legacy);

static bool is_count_header(const char *line)
{
    const char *rest = line + strcspn(line, " \t");
    static const char middle[] = " profile: total ";

    if (rest == line || strncmp(rest, middle, sizeof middle - 1) != 0) {
        return false;
    }
    rest += sizeof middle - 1;
    return isdigit((unsigned char)*rest) && rest[strspn(rest, "0123456789")] == '\0';
}

static reader *reader_of(const cp_legacy *legacy)
{
    if (strstr(legacy->line, "heap profile:")) {
        return cp_legacy_read_heap;
    }
    if (cp_legacy_begins(legacy, "heap_v2/")) {
        return cp_legacy_read_jemalloc;
    }
    if (cp_legacy_begins(legacy, "--- contentionz ") ||
        cp_legacy_begins(legacy, "--- contention:") || cp_legacy_begins(legacy, "--- mutex:")) {
        return cp_legacy_read_contention;
    }
    return is_count_header(legacy->line) ? cp_legacy_read_count : NULL;
}

/* Goes to the header. Returns its reader, or NULL if there is none. */
static reader *find_header(cp_legacy *legacy)
{
    while (cp_legacy_next(legacy)) {
        if (!cp_legacy_is_blank(legacy)) {
            return reader_of(legacy);
        }
    }
    return NULL;
}

bool cp_legacy_text_is(const uint8_t *data, size_t length)
{
    cp_legacy legacy = {0};

    cp_lines_init(&legacy.lines, data, length < SNIFFED ? length : SNIFFED);
    bool found = find_header(&legacy) != NULL;
    cp_lines_release(&legacy.lines);
    return found;
}

int cp_legacy_text_decode(const uint8_t *data, size_t length, cp_profile **out, cp_error *error)
{
    cp_profile *profile = cp_profile_new();
    cp_legacy legacy;

    cp_legacy_init(&legacy, profile, data, length, error);
    reader *read = find_header(&legacy);
    int status = read ? read(&legacy) : cp_fail(error, "byte 0: expected a profile as text");
    if (status == 0) {
        cp_legacy_finish(&legacy);
    }
    cp_legacy_release(&legacy);
    if (status < 0) {
        cp_profile_free(profile);
        return -1;
    }
    *out = profile;
    return 0;
}
