/* SPDX-License-Identifier: MIT
 *
 * legacy_lines.c: see legacy_lines.h.
 *
 * Tested by: unit.cmd_legacy_text, fuzz.legacy_text.
 */
#include "import/legacy_lines.h"

#include "base/message.h"
#include "import/memory_map.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void cp_legacy_init(cp_legacy *legacy, cp_profile *profile, const uint8_t *data, size_t length,
                    cp_error *error)
{
    enum { MAX_TYPES = 4 };

    *legacy = (cp_legacy){.profile = profile, .error = error};
    cp_lines_init(&legacy->lines, data, length);
    profile->sample_types = CP_POOL_ARRAY(&profile->pool, cp_value_type, MAX_TYPES);
    cp_index_init(&legacy->locations, 1024);
}

void cp_legacy_release(cp_legacy *legacy)
{
    cp_index_release(&legacy->locations);
    cp_lines_release(&legacy->lines);
}

/* ---- lines ---- */

bool cp_legacy_next(cp_legacy *legacy)
{
    bool found = cp_lines_next(&legacy->lines);

    legacy->line = legacy->lines.line;
    return found;
}

bool cp_legacy_is_blank(const cp_legacy *legacy)
{
    return legacy->line[0] == '\0' || legacy->line[0] == '#';
}

bool cp_legacy_is_map(const cp_legacy *legacy)
{
    return strstr(legacy->line, "--- Memory map: ---") || strstr(legacy->line, "MAPPED_LIBRARIES:");
}

bool cp_legacy_begins(const cp_legacy *legacy, const char *prefix)
{
    return strncmp(legacy->line, prefix, strlen(prefix)) == 0;
}

int cp_legacy_fail(const cp_legacy *legacy, const char *expected)
{
    return cp_lines_fail(&legacy->lines, expected, legacy->error);
}

bool cp_legacy_number(const char **text, int64_t *number)
{
    char *end;

    *text += strspn(*text, " \t");
    if (!isdigit((unsigned char)(*text)[**text == '-'])) {
        return false;
    }
    errno = 0;
    *number = strtoll(*text, &end, 10);
    *text = end + strspn(end, " \t");
    return errno == 0;
}

bool cp_legacy_skip(const char **text, const char *expected)
{
    size_t length = strlen(expected);

    if (strncmp(*text, expected, length) != 0) {
        return false;
    }
    *text += length;
    *text += strspn(*text, " \t");
    return true;
}

/* ---- samples ---- */

cp_sample *cp_legacy_add_sample(cp_legacy *legacy)
{
    cp_profile *profile = legacy->profile;
    profile->samples = cp_pool_grow(&profile->pool, profile->samples, profile->sample_count,
                                    &legacy->sample_room, sizeof *profile->samples);
    cp_sample *sample = &profile->samples[profile->sample_count++];

    *sample = (cp_sample){0}; /* the place may have been used before */
    sample->values = CP_POOL_ARRAY(&profile->pool, int64_t, profile->sample_type_count);
    return sample;
}

static uint32_t count_addresses(const char *text)
{
    uint32_t addresses = 0;

    for (; (text = strstr(text, "0x")) != NULL; text += 2) {
        addresses++;
    }
    return addresses;
}

static uint32_t add_location(cp_legacy *legacy, uint64_t address)
{
    cp_profile *profile = legacy->profile;

    profile->locations = cp_pool_grow(&profile->pool, profile->locations, profile->location_count,
                                      &legacy->location_room, sizeof *profile->locations);
    return cp_profile_location_at(profile, &legacy->locations, address);
}

void cp_legacy_add_stack(cp_legacy *legacy, cp_sample *sample, const char *text)
{
    sample->locations = CP_POOL_ARRAY(&legacy->profile->pool, uint32_t, count_addresses(text));
    while ((text = strstr(text, "0x")) != NULL) {
        char *end;
        uint64_t address = strtoull(text, &end, 16);

        sample->locations[sample->location_count++] = add_location(legacy, address - 1);
        text = end > text + 2 ? end : text + 2;
    }
}

void cp_legacy_finish(cp_legacy *legacy)
{
    while (!cp_legacy_is_map(legacy)) {
        if (!cp_legacy_next(legacy)) {
            break;
        }
    }
    cp_memory_map_read(legacy->profile, legacy->lines.at,
                       (size_t)(legacy->lines.end - legacy->lines.at));
}
