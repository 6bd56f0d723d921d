/* SPDX-License-Identifier: MIT
 *
 * profile_filter.c: see profile_filter.h.
 *
 * Owns: nothing after a call.
 * Tested by: unit.cmd_filter.
 */
#include "profile/profile_filter.h"

#include "base/message.h"
#include "base/regex.h"
#include "names/demangle.h"
#include "profile/profile_model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void cp_profile_demangle(cp_profile *profile)
{
    cp_profile_demangle_as(profile, CP_DEMANGLE_SIMPLE);
}

void cp_profile_demangle_as(cp_profile *profile, cp_demangle_mode mode)
{
    cp_function **nameless = cp_heap_alloc(profile->function_count, sizeof(cp_function *));
    const char **symbols = cp_heap_alloc(profile->function_count, sizeof(char *));
    char **names = cp_heap_alloc(profile->function_count, sizeof(char *));
    size_t count = 0;

    for (uint32_t i = 0; i < profile->function_count; i++) {
        cp_function *function = &profile->functions[i];

        if (mode > CP_DEMANGLE_GO_1_19 && function->name && function->system_name) {
            function->name = function->system_name;
        }
        if (mode != CP_DEMANGLE_NONE &&
            (!function->name || function->name == function->system_name)) {
            nameless[count] = function;
            symbols[count++] = cp_profile_text(profile, function->system_name);
        }
    }
    cp_demangle(symbols, count, mode, names);
    for (size_t i = 0; i < count; i++) {
        nameless[i]->name = cp_strings_put(&profile->strings, names[i]);
        free(names[i]);
    }
    free(nameless);
    free(symbols);
    free(names);
}

/* Whether the name is "scheme:...". */
static bool is_url(const char *file)
{
    size_t at = 0;

    if (!isalpha((unsigned char)file[0])) {
        return false;
    }
    while (isalnum((unsigned char)file[at]) || (file[at] && strchr("+-.", file[at]))) {
        at++;
    }
    return file[at] == ':';
}

void cp_profile_forget_urls(cp_profile *profile)
{
    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        cp_mapping *mapping = &profile->mappings[i];
        if (!mapping->build_id && is_url(cp_profile_text(profile, mapping->file))) {
            mapping->file = 0;
        }
    }
}

/* ---- drop_frames ---- */

typedef struct prune {
    cp_profile *profile;
    cp_regex *drop, *keep;
    signed char *function_matches; /* 0 = unknown, 1 = yes, -1 = no */
} prune;

/* The length of a demangled name without its parameter list. The parentheses of "operator()" and
 * "(anonymous namespace)::f" are part of the name. */
static size_t bare_length(const char *name)
{
    static const char *const reserved[] = {"(anonymous namespace)", "operator()"};
    size_t at = 0;

    while (name[at]) {
        bool skipped = false;

        for (size_t i = 0; i < 2 && !skipped; i++) {
            size_t length = strlen(reserved[i]);
            if (strncmp(name + at, reserved[i], length) == 0) {
                at += length;
                skipped = true;
            }
        }
        if (!skipped && name[at++] == '(') {
            return at - 1;
        }
    }
    return at;
}

static bool function_is_dropped(prune *p, uint32_t index)
{
    signed char *known = &p->function_matches[index];

    const char *name;
    size_t length;
    if (*known == 0) {
        name = cp_profile_text(p->profile, p->profile->functions[index].name);
        name += name[0] == '.'; /* the entry points of some PowerPC programs */
        length = bare_length(name);
        *known = *name && cp_regex_match(p->drop, name, length) &&
                         !(p->keep && cp_regex_match(p->keep, name, length))
                     ? 1
                     : -1;
    }
    return *known > 0;
}

enum { KEPT = 0, PRUNED, PRUNED_BENEATH };

/* Cuts the outermost matching frame of a location, and all frames that are inlined into it. */
static unsigned char prune_location(prune *p, cp_location *location)
{
    for (uint32_t i = location->line_count; i-- > 0;) {
        if (!function_is_dropped(p, location->lines[i].function)) {
            continue;
        }
        if (i == location->line_count - 1) {
            return PRUNED;
        }
        location->lines += i + 1;
        location->line_count -= i + 1;
        return PRUNED_BENEATH;
    }
    return KEPT;
}

static void prune_sample(const unsigned char *marks, cp_sample *sample)
{
    bool found_user = false; /* a frame that stays was found, on the way from the root */

    for (uint32_t i = sample->location_count; i-- > 0;) {
        unsigned char mark = marks[sample->locations[i]];
        uint32_t cut;

        if (mark == KEPT) {
            found_user = true;
        } else if (found_user) {
            cut = mark == PRUNED ? i + 1 : i;
            sample->locations += cut;
            sample->location_count -= cut;
            return;
        }
    }
}

static void prune_all(prune *p)
{
    cp_profile *profile = p->profile;
    unsigned char *marks = cp_heap_alloc(profile->location_count, 1);

    p->function_matches = cp_heap_alloc(profile->function_count, 1);
    for (uint32_t i = 0; i < profile->location_count; i++) {
        marks[i] = prune_location(p, &profile->locations[i]);
    }
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        prune_sample(marks, &profile->samples[i]);
    }
    free(p->function_matches);
    free(marks);
}

/* Compiles an expression that has to match the whole name. */
static cp_regex *compile_whole(const cp_profile *profile, cp_string pattern)
{
    cp_pool pool;
    cp_pool_init(&pool);
    cp_error ignored;
    cp_regex *regex = cp_regex_compile(
        cp_pool_printf(&pool, "^(%s)$", cp_profile_text(profile, pattern)), &ignored);
    cp_pool_release(&pool);
    return regex;
}

void cp_profile_prune(cp_profile *profile)
{
    prune p = {.profile = profile};

    if (!profile->drop_frames) {
        return;
    }
    p.drop = compile_whole(profile, profile->drop_frames);
    if (p.drop && profile->keep_frames) {
        p.keep = compile_whole(profile, profile->keep_frames);
    }
    if (p.drop && (p.keep || !profile->keep_frames)) {
        prune_all(&p);
    }
    cp_regex_free(p.drop);
    cp_regex_free(p.keep);
}
