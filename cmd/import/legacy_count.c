/* SPDX-License-Identifier: MIT
 *
 * legacy_count.c: profiles that only count, as text; see legacy_lines.h.
 *
 *   NAME profile: total 7
 *   COUNT @ 0x... 0x...
 *
 * A stack may be empty: Go writes such rows for threads.
 *
 * Tested by: unit.cmd_legacy_text, fuzz.legacy_text.
 */
#include "import/legacy_lines.h"

#include <stdlib.h>
#include <string.h>

static int add_row(cp_legacy *legacy)
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

int cp_legacy_read_count(cp_legacy *legacy)
{
    char *name = cp_heap_copy(legacy->line, strcspn(legacy->line, " \t"));

    cp_profile_add_type(legacy->profile, name, "count");
    free(name);
    legacy->profile->period_type = legacy->profile->sample_types[0];
    legacy->profile->period = 1;
    while (cp_legacy_next(legacy) && !cp_legacy_begins(legacy, "---")) {
        if (!cp_legacy_is_blank(legacy) && add_row(legacy) < 0) {
            return -1;
        }
    }
    return 0;
}
