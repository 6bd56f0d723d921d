/* SPDX-License-Identifier: MIT
 *
 * legacy_threads.c: stacks of threads as text; see legacy_lines.h.
 *
 *   --- threadz 12 ---
 *   --- Thread 7f12 (name: main/1234) stack: ---
 *     PC: 0x... 0x...: function
 *     0x...
 *   [same as previous thread]           counts for the stack before it
 *
 * Tested by: unit.cmd_legacy_text, fuzz.legacy_text.
 */
#include "import/legacy_lines.h"

#include <stdlib.h>
#include <string.h>

#define NO_STACKS "---- no stack trace for"

static bool is_thread(const cp_legacy *legacy)
{
    return cp_legacy_begins(legacy, "--- Thread ") && strstr(legacy->line, " stack: ---");
}

/* Reads the lines of one stack, and goes to the next line that begins with "---". */
static void read_stack(cp_legacy *legacy, bool *more)
{
    cp_profile *profile = legacy->profile;
    cp_sample *sample = cp_legacy_add_sample(legacy);
    bool same = false;

    sample->values[0] = 1;
    while ((*more = cp_legacy_next(legacy)) && !cp_legacy_begins(legacy, "---")) {
        if (strstr(legacy->line, "same as previous thread")) {
            same = true;
        } else {
            cp_legacy_add_stack(legacy, sample, legacy->line, true);
        }
    }
    if (!same && sample->location_count) {
        return;
    }
    profile->sample_count--;
    if (profile->sample_count) {
        profile->samples[profile->sample_count - 1].values[0]++;
    }
}

/* The leaf of a stack may be there twice: as it was read, and once more as a return address. */
static void remove_doubled_leaves(cp_profile *profile)
{
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        cp_sample *sample = &profile->samples[i];

        if (sample->location_count > 1 &&
            profile->locations[sample->locations[0]].address ==
                profile->locations[sample->locations[1]].address + 1) {
            sample->locations++;
            sample->location_count--;
            sample->locations[0] = sample->locations[-1];
        }
    }
}

int cp_legacy_read_threads(cp_legacy *legacy)
{
    bool more = true;

    cp_legacy_add_type(legacy, "thread", "count");
    legacy->profile->period_type = legacy->profile->sample_types[0];
    legacy->profile->period = 1;
    if (!is_thread(legacy)) { /* the line with the number of threads */
        do {
            more = cp_legacy_next(legacy);
        } while (more && !cp_legacy_begins(legacy, "-") && !cp_legacy_is_map(legacy));
    }
    while (more && !cp_legacy_is_map(legacy) && !cp_legacy_begins(legacy, NO_STACKS)) {
        if (!is_thread(legacy)) {
            return cp_legacy_fail(legacy, "--- Thread ID (name: NAME/TID) stack: ---");
        }
        read_stack(legacy, &more);
    }
    remove_doubled_leaves(legacy->profile);
    return 0;
}
