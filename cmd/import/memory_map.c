/* SPDX-License-Identifier: MIT
 *
 * memory_map.c: see memory_map.h.
 *
 * Owns: nothing after the call.
 * Tested by: unit.cmd_gperftools, unit.cmd_legacy_text, fuzz.legacy_text.
 */
#include "import/memory_map.h"

#include "profile/profile_model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINE 4608

/* ---- lines ---- */

/* Reads a hexadecimal number, with or without 0x, and goes past it. */
static bool read_hex(const char **text, uint64_t *number)
{
    char *end;

    if (!isxdigit((unsigned char)**text)) {
        return false;
    }
    *number = strtoull(*text, &end, 16);
    *text = end;
    return true;
}

/* Reads "START-LIMIT", and goes past it and the colon after it. */
static bool read_range(const char **text, cp_mapping *mapping)
{
    *text += strspn(*text, " \t");
    if (!read_hex(text, &mapping->start) || !**text || !strchr("- \t", **text)) {
        return false;
    }
    *text += strspn(*text, "- \t");
    if (!read_hex(text, &mapping->limit)) {
        return false;
    }
    *text += **text == ':';
    return true;
}

static bool is_permissions(const char *word)
{
    return word && *word && word[strspn(word, "-rwxp")] == '\0';
}

static void parse_long_form(char *words[6], cp_mapping *mapping, const char **file)
{
    const char *offset = words[0];

    read_hex(&offset, &mapping->offset);
    *file = words[3];
}

static void parse_short_form(char *words[6], cp_profile *profile, cp_mapping *mapping,
                             const char **file)
{
    unsigned at = 0;

    *file = words[at];
    at += *file != NULL;
    if (words[at] && strncmp(words[at], "(@", 2) == 0) {
        const char *offset = words[at++] + 2;
        read_hex(&offset, &mapping->offset);
    }
    if (words[at] && words[at][strspn(words[at], "0123456789abcdefABCDEF")] == '\0') {
        mapping->build_id = cp_strings_put(&profile->strings, words[at]);
    }
}

/* False for a line that is no mapping, and for a range that is not executable. A blank ends the
 * file's name, also the one before "(deleted)". */
static bool parse_line(cp_profile *profile, char *line, cp_mapping *mapping)
{
    const char *at = line;
    char *words[6] = {NULL}, *rest = NULL;
    unsigned count = 0, first = 0;

    if (!read_range(&at, mapping) || (*at && !isspace((unsigned char)*at))) {
        return false;
    }
    char *words_begin = line + (at - line);
    for (char *word = strtok_r(words_begin, " \t\r", &rest); word && count < 5;
         word = strtok_r(NULL, " \t\r", &rest)) {
        words[count++] = word;
    }
    if (is_permissions(words[0])) {
        if (!strchr(words[0], 'x')) {
            return false;
        }
        first = 1;
    }
    const char *file;
    if (words[first] && words[first + 1] && strchr(words[first + 1], ':')) {
        parse_long_form(words + first, mapping, &file);
    } else {
        parse_short_form(words + first, profile, mapping, &file);
    }
    mapping->file = file ? cp_strings_put(&profile->strings, file) : 0;
    return true;
}

/* ---- mappings ---- */

/* Two adjacent ranges of one file are one mapping. */
static bool continues(const cp_mapping *last, const cp_mapping *next)
{
    if ((last->file && next->file && last->file != next->file) ||
        (last->build_id && next->build_id && last->build_id != next->build_id)) {
        return false;
    }
    if (last->limit != next->start) {
        return false;
    }
    return !last->offset || !next->offset ||
           last->offset + (last->limit - last->start) == next->offset;
}

static void add_mapping(cp_profile *profile, const cp_mapping *mapping)
{
    cp_mapping *next = profile->mappings + profile->mapping_count;

    if (profile->mapping_count == 0 || !continues(next - 1, mapping)) {
        *next = *mapping;
        profile->mapping_count++;
        return;
    }
    cp_mapping *last = next - 1;
    last->limit = mapping->limit;
    last->file = mapping->file ? mapping->file : last->file;
    last->build_id = mapping->build_id ? mapping->build_id : last->build_id;
}

static bool is_library(const char *file)
{
    const char *so = strstr(file, ".so");

    for (; so; so = strstr(so + 1, ".so")) {
        if (so[3] == '\0' || ((so[3] == '.' || so[3] == '_') && so[4] >= '0' && so[4] <= '9')) {
            return true;
        }
    }
    return false;
}

bool cp_may_be_program(const char *file)
{
    return *file && *file != '[' && !is_library(file);
}

/* The program's mapping becomes the first. It is the first file that is neither a library nor the
 * kernel's. */
static void put_program_first(cp_profile *profile)
{
    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        cp_mapping mapping = profile->mappings[i];

        if (!cp_may_be_program(cp_profile_text(profile, mapping.file))) {
            continue;
        }
        profile->mappings[i] = profile->mappings[0];
        profile->mappings[0] = mapping;
        return;
    }
}

/* A program whose text was moved to huge pages has a strange first mapping; one whose first part
 * was moved starts at the usual address nevertheless. */
static void mend_program(cp_profile *profile)
{
    const uint64_t usual_start = 0x400000;
    cp_mapping *first = profile->mappings;

    if (profile->mapping_count > 1 && first->limit == first[1].start &&
        strncmp(cp_profile_text(profile, first->file), "/anon_hugepage", 14) == 0) {
        profile->mappings++;
        profile->mapping_count--;
        first++;
    }
    if (profile->mapping_count && first->start - first->offset == usual_start) {
        first->start = usual_start;
        first->offset = 0;
    }
}

/* ---- locations ---- */

static uint32_t find_mapping(cp_profile *profile, uint64_t address)
{
    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        if (profile->mappings[i].start <= address && address < profile->mappings[i].limit) {
            return i;
        }
    }
    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        cp_mapping *mapping = &profile->mappings[i];

        if (mapping->offset && mapping->start - mapping->offset <= address &&
            address < mapping->start) {
            mapping->start -= mapping->offset; /* its first part is missing in the list */
            mapping->offset = 0;
            return i;
        }
    }
    return CP_NO_MAPPING;
}

static void assign_mappings(cp_profile *profile)
{
    uint32_t nameless = CP_NO_MAPPING; /* covers every address */

    for (uint32_t i = 0; i < profile->location_count; i++) {
        cp_location *location = &profile->locations[i];

        location->mapping = CP_NO_MAPPING;
        if (location->address == 0) {
            continue;
        }
        location->mapping = find_mapping(profile, location->address);
        if (location->mapping != CP_NO_MAPPING) {
            continue;
        }
        if (nameless == CP_NO_MAPPING) {
            nameless = profile->mapping_count++;
            profile->mappings[nameless].limit = UINT64_MAX;
        }
        location->mapping = nameless;
    }
}

static size_t count_lines(const char *text, size_t length)
{
    size_t lines = 1;

    for (size_t i = 0; i < length; i++) {
        lines += text[i] == '\n';
    }
    return lines;
}

void cp_memory_map_read(cp_profile *profile, const char *text, size_t length)
{
    const char *end = text + length;
    char line[MAX_LINE];

    profile->mappings = CP_POOL_ARRAY(&profile->pool, cp_mapping, count_lines(text, length) + 1);
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t bytes = (size_t)((newline ? newline : end) - text);
        cp_mapping mapping = {0};

        if (bytes < sizeof line) {
            memcpy(line, text, bytes);
            line[bytes] = '\0';
            if (parse_line(profile, line, &mapping)) {
                add_mapping(profile, &mapping);
            }
        }
        text += bytes + 1;
    }
    put_program_first(profile);
    mend_program(profile);
    assign_mappings(profile);
    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        profile->mappings[i].id = i + 1;
    }
}
