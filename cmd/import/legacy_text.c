/* SPDX-License-Identifier: MIT
 *
 * legacy_text.c: reads profiles as text, of libpprof, Go, gperftools, tcmalloc and jemalloc.
 *
 *   heap profile: 4: 4096 [9: 9216] @ heap/1048576     heap, growth and fragmentation
 *   heap_v2/524288                                     heap, of jemalloc
 *   --- contention:  --- mutex:  --- contentionz       waits for locks
 *   NAME profile: total 7                              counts, such as goroutine and threadcreate
 *
 * Rows have addresses only; what stands after # is for people. The list of mapped files at the end
 * shows which program each address is in. The first line that is no comment tells the format; the one of
 * profiles that only count is here:
 *
 *   NAME profile: total 7
 *   COUNT @ 0x... 0x...
 *
 * Owns: nothing after the call.
 * Tested by: unit.cmd_legacy_text, e2e.cpprof_reports, fuzz.legacy_text.
 */
#include "import/formats.h"

#include "base/message.h"
#include "import/legacy_lines.h"

#include <ctype.h>
#include <stdlib.h>
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

/* A stack may be empty: Go writes such rows for threads. */
static int add_count(cp_legacy *legacy)
{
    const char *text = legacy->line;

    int64_t count;
    if (!cp_legacy_number(&text, &count) || !cp_legacy_skip(&text, "@") ||
        (*text && strncmp(text, "0x", 2) != 0)) {
        return cp_legacy_fail(legacy, "COUNT @ ADDRESSES");
    }
    cp_sample *sample = cp_legacy_add_sample(legacy);
    sample->values[0] = count;
    cp_legacy_add_stack(legacy, sample, text);
    return 0;
}

static int read_counts(cp_legacy *legacy)
{
    char *name = cp_heap_copy(legacy->line, strcspn(legacy->line, " \t"));

    cp_profile_add_type(legacy->profile, name, "count");
    free(name);
    legacy->profile->period_type = legacy->profile->sample_types[0];
    legacy->profile->period = 1;
    while (cp_legacy_next(legacy) && !cp_legacy_begins(legacy, "---")) {
        if (!cp_legacy_is_blank(legacy) && add_count(legacy) < 0) {
            return -1;
        }
    }
    return 0;
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
    return is_count_header(legacy->line) ? read_counts : NULL;
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

static bool recognize(const uint8_t *data, size_t length)
{
    cp_legacy legacy = {0};

    cp_lines_init(&legacy.lines, data, length < SNIFFED ? length : SNIFFED);
    bool found = find_header(&legacy) != NULL;
    cp_lines_release(&legacy.lines);
    return found;
}

static int decode(const uint8_t *data, size_t length, cp_profile **out, cp_error *error)
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

const cp_format cp_legacy_text = {recognize, decode};
