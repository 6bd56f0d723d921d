/* SPDX-License-Identifier: MIT
 *
 * profile_lines.c: see profile_lines.h.
 *
 *   locations, sorted by mapping and address -> one mapping after the other: the reader
 *       -> place: [inlined function, line]... [function, line] -> functions, each once -> lines
 *       -> of those that have no name still: the symbol tables -> one function without a line
 *
 * Owns: the sorted locations and the new functions, until the call ends.
 * Tested by: e2e.cpprof_symbolize
 */
#include "profile/profile_lines.h"

#include "base/meter.h"
#include "base/regex.h"
#include "profile/missing_lines.h"
#include "profile/profile_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BUILD_ID_MAX = 64 };

typedef struct adder {
    cp_profile *profile;
    const cp_lines_options *options;
    uint32_t *order;     /* locations, by mapping, then by address */
    uint64_t *addresses; /* of the current mapping */
    uint32_t first;      /* in `order`: the first location of the current mapping */
    uint32_t known;      /* locations of the current mapping that got lines */
    bool lacks;          /* some of them may lack inlined functions */
    uint32_t added;      /* locations with new lines */
    cp_function *functions;
    uint32_t function_count;
    size_t function_room;
    cp_index_table by_contents; /* functions by their contents */
    cp_missing *missing;
    size_t missing_count;
    cp_meter meter;
} adder;

int cp_lines_wanted_named(const char *name, cp_lines_wanted *wanted)
{
    static const struct {
        const char *name;
        cp_lines_wanted wanted;
    } words[] = {{"none", CP_LINES_NONE}, {"local", CP_LINES_MISSING}, {"force", CP_LINES_ALL}};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].name, name) == 0) {
            *wanted = words[i].wanted;
            return 0;
        }
    }
    return -1;
}

/* ---- functions ---- */

static uint32_t append_function(adder *a, const cp_function *function, uint64_t hash)
{
    a->functions =
        cp_heap_grow(a->functions, a->function_count, &a->function_room, sizeof *a->functions);
    a->functions[a->function_count] = *function;
    cp_index_add(&a->by_contents, hash, a->function_count);
    return a->function_count++;
}

/* The index of a function with these contents. */
static uint32_t function_like(adder *a, const cp_function *wanted)
{
    uint64_t hash = cp_function_hash(wanted), at = hash;
    uint32_t index;

    while (cp_index_next(&a->by_contents, hash, &at, &index)) {
        if (cp_function_equal(&a->functions[index], wanted)) {
            return index;
        }
    }
    return append_function(a, wanted, hash);
}

/* The function that the profile names at a location; NULL if it has only a place: "[prog]+0x10". */
static const cp_function *named_function(const adder *a, const cp_location *location)
{
    if (!location->line_count) {
        return NULL;
    }
    const cp_function *old = &a->functions[location->lines[location->line_count - 1].function];
    const char *name = cp_profile_text(a->profile, old->name);
    return *name && *name != '[' && *name != '?' ? old : NULL;
}

/* The function that is not inlined keeps the profile's name, which is its symbol: so it has the
 * same name in profiles with and without lines. */
static cp_function function_at(adder *a, const cp_location *location,
                               const pprof_dwarf_function *found, bool outermost)
{
    cp_strings *strings = &a->profile->strings;
    const cp_function *old = outermost ? named_function(a, location) : NULL;
    cp_function function = {.filename = cp_strings_put(strings, found->file ? found->file : ""),
                            .start_line = found->start_line};

    if (old) {
        function.name = old->name;
        function.system_name = old->system_name;
    } else {
        function.name = cp_strings_put(strings, found->name ? found->name : "??");
        function.system_name = function.name;
    }
    return function;
}

/* ---- locations ---- */

static void take_place(void *context, const pprof_dwarf_place *place)
{
    adder *a = context;
    cp_location *location = &a->profile->locations[a->order[a->first + place->index]];
    bool has_file = place->functions[place->count - 1].file != NULL;

    if (!has_file && named_function(a, location)) {
        return; /* a name that the profile has, too */
    }
    cp_line *lines = CP_POOL_ARRAY(&a->profile->pool, cp_line, place->count);
    for (size_t i = 0; i < place->count; i++) {
        const pprof_dwarf_function *found = &place->functions[i];
        cp_function function = function_at(a, location, found, i + 1 == place->count);
        lines[i] = (cp_line){.function = function_like(a, &function), .line = found->line};
    }
    location->lines = lines;
    location->line_count = (uint32_t)place->count;
    location->folded = false;
    a->added += has_file;
    a->known += has_file;
    a->lacks |= place->may_lack_inlined;
}

/* ---- mappings ---- */

static int digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *found = c ? strchr(digits, c | 0x20) : NULL;

    return found ? (int)(found - digits) : -1;
}

/* Reads the build id. Returns 0 if it is not in hexadecimal digits. */
static size_t parse_build_id(const char *text, uint8_t bytes[BUILD_ID_MAX])
{
    size_t size = strlen(text) / 2;

    if (strlen(text) % 2 != 0 || size > BUILD_ID_MAX) {
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return 0;
        }
        bytes[i] = (uint8_t)(high << 4 | low);
    }
    return size;
}

/* Whether some mapping has a build id: then one without it has none. */
static bool are_ids_known(const cp_profile *profile)
{
    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        if (profile->mappings[i].build_id) {
            return true;
        }
    }
    return false;
}

static int find_lines(const cp_profile *profile, uint32_t index, bool any_build, bool names_only,
                      const uint64_t *addresses, size_t count, cp_place_found *found, void *context)
{
    const cp_mapping *mapping = &profile->mappings[index];
    uint8_t build_id[BUILD_ID_MAX];
    pprof_dwarf_module module = {.path = cp_strings_raw(&profile->strings, mapping->file),
                                 .build_id = build_id,
                                 .start = mapping->start,
                                 .limit = mapping->limit,
                                 .offset = mapping->offset};

    module.build_id_size = parse_build_id(cp_profile_text(profile, mapping->build_id), build_id);
    module.any_build = module.build_id_size == 0 && !are_ids_known(profile);
    if (module.any_build && !any_build) {
        return -ENODATA;
    }
    return cp_line_reader_find(&module, addresses, count, names_only, found, context);
}

int cp_profile_find_lines(const cp_profile *profile, uint32_t index, bool any_build,
                          const uint64_t *addresses, size_t count, cp_place_found *found,
                          void *context)
{
    return find_lines(profile, index, any_build, false, addresses, count, found, context);
}

static int read_mapping(adder *a, uint32_t index, uint32_t count, bool names_only)
{
    for (uint32_t i = 0; i < count; i++) {
        a->addresses[i] = a->profile->locations[a->order[a->first + i]].address;
    }
    return find_lines(a->profile, index, a->options->any_build, names_only, a->addresses, count,
                      take_place, a);
}

static bool has_names(const adder *a, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (a->profile->locations[a->order[a->first + i]].line_count) {
            return true;
        }
    }
    return false;
}

/* Whether there is a file to look into, and the mapping does not say that there is no more to know. */
static bool is_open(const adder *a, const cp_mapping *mapping)
{
    bool is_file = cp_profile_text(a->profile, mapping->file)[0] == '/'; /* not "[vdso]" */
    bool is_whole = mapping->has_functions || mapping->has_filenames || mapping->has_line_numbers;

    return is_file && (!is_whole || a->options->wanted == CP_LINES_ALL);
}

static bool wants_lines(const adder *a, uint32_t count)
{
    return a->options->wanted != CP_LINES_NAMELESS || !has_names(a, count);
}

/* Whether a location may be of a function that the user asks for: it has no name, or one that is
 * not readable yet. */
static bool may_match(const adder *a, const cp_location *location)
{
    for (uint32_t i = 0; i < location->line_count; i++) {
        const cp_function *function = &a->functions[location->lines[i].function];
        const char *name = cp_profile_text(a->profile, function->name);
        if (strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0 ||
            cp_regex_match(a->options->about, name, strlen(name))) {
            return true;
        }
    }
    return location->line_count == 0;
}

static bool is_asked_for(const adder *a, uint32_t count)
{
    bool asked = a->options->about == NULL;
    for (uint32_t i = 0; i < count && !asked; i++) {
        asked = may_match(a, &a->profile->locations[a->order[a->first + i]]);
    }
    return asked;
}

/* Start-up code has no debug information anywhere: a few locations without lines are no lack. */
static void note_missing(adder *a, const cp_mapping *mapping, uint32_t count, int error)
{
    uint32_t lacking = count - a->known;

    if (lacking > a->known) {
        a->missing[a->missing_count++] =
            (cp_missing){.file = cp_profile_text(a->profile, mapping->file),
                         .build_id = cp_profile_text(a->profile, mapping->build_id),
                         .locations = lacking,
                         .error = error,
                         .is_asked_for = is_asked_for(a, count)};
    }
}

/* The locations of the mapping are `count` from a->first on. */
static void add_lines(adder *a, uint32_t index, uint32_t count)
{
    cp_mapping *mapping = &a->profile->mappings[index];

    cp_meter_step(&a->meter, index, a->profile->mapping_count);
    a->known = 0;
    a->lacks = false;
    int error = read_mapping(a, index, count, false);
    if (error == 0) {
        mapping->has_functions = mapping->has_filenames = mapping->has_line_numbers = !a->lacks;
        mapping->has_inline_frames = !a->lacks;
    }
    if (a->options->complains) {
        note_missing(a, mapping, count, error);
    }
}

/* Puts the locations without a name before the others. Returns how many these are; their addresses
 * ascend still. */
static uint32_t nameless_first(adder *a, uint32_t count)
{
    uint32_t *order = &a->order[a->first], nameless = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t location = order[i];
        if (!named_function(a, &a->profile->locations[location])) {
            order[i] = order[nameless];
            order[nameless++] = location;
        }
    }
    return nameless;
}

/* A program under Landlock or chroot could not read its own file: its symbols that are for others
 * have names, its own functions have none. */
static void add_names(adder *a, uint32_t index, uint32_t count)
{
    const cp_mapping *mapping = &a->profile->mappings[index];
    const cp_lines_options *options = a->options;
    uint32_t nameless = nameless_first(a, count);
    int error = nameless ? read_mapping(a, index, nameless, true) : 0;

    if (error == -ESTALE && !options->complains && !options->is_quiet) {
        a->missing[a->missing_count++] =
            (cp_missing){.file = cp_profile_text(a->profile, mapping->file),
                         .build_id = cp_profile_text(a->profile, mapping->build_id),
                         .locations = nameless,
                         .error = -ESTALE,
                         .is_of_names = true};
    }
}

static void add_to_mapping(adder *a, uint32_t index, uint32_t count)
{
    if (!is_open(a, &a->profile->mappings[index])) {
        return;
    }
    if (wants_lines(a, count)) {
        add_lines(a, index, count);
    }
    add_names(a, index, count);
}

static void add_to_all(adder *a)
{
    cp_profile *profile = a->profile;
    uint32_t count = profile->location_count;

    for (uint32_t i = 0; i < count; i++) {
        a->order[i] = i;
    }
    qsort_r(a->order, count, sizeof *a->order, cp_location_order, profile);
    for (uint32_t end; a->first < count; a->first = end) {
        uint32_t mapping = profile->locations[a->order[a->first]].mapping;
        for (end = a->first + 1; end < count; end++) {
            if (profile->locations[a->order[end]].mapping != mapping) {
                break;
            }
        }
        if (mapping != CP_NO_MAPPING) {
            add_to_mapping(a, mapping, end - a->first);
        }
    }
}

/* The new functions come after the old ones, whose numbers stay. */
static void begin(adder *a)
{
    cp_profile *profile = a->profile;

    cp_index_init(&a->by_contents, 1024);
    a->order = cp_heap_alloc((size_t)profile->location_count + 1, sizeof *a->order);
    a->addresses = cp_heap_alloc((size_t)profile->location_count + 1, sizeof *a->addresses);
    a->missing = cp_heap_alloc((size_t)profile->mapping_count + 1, sizeof *a->missing);
    a->function_count = profile->function_count;
    a->function_room = profile->function_count;
    a->functions = cp_heap_alloc((size_t)profile->function_count + 1, sizeof *a->functions);
    if (profile->function_count) {
        memcpy(a->functions, profile->functions, profile->function_count * sizeof *a->functions);
    }
}

static void end(adder *a)
{
    cp_profile *profile = a->profile;

    if (a->function_count > profile->function_count) {
        profile->functions = CP_POOL_ARRAY(&profile->pool, cp_function, a->function_count);
        memcpy(profile->functions, a->functions, a->function_count * sizeof *a->functions);
        profile->function_count = a->function_count;
    }
    cp_index_release(&a->by_contents);
    free(a->order);
    free(a->addresses);
    free(a->missing);
    free(a->functions);
}

/* Leaves out files that have nothing to do with what the user asks for; but if no function of the
 * profile is that, it may be an inlined one of any file. */
static void choose_missing(adder *a)
{
    size_t kept = 0;

    a->first = 0;
    if (!is_asked_for(a, a->profile->location_count)) {
        return;
    }
    for (size_t i = 0; i < a->missing_count; i++) {
        if (a->missing[i].is_asked_for) {
            a->missing[kept++] = a->missing[i];
        }
    }
    a->missing_count = kept;
}

static void complain(adder *a)
{
    if (a->options->complains) {
        choose_missing(a);
    }
    cp_missing_complain(a->missing, a->missing_count);
    if (a->options->complains && a->missing_count == 0) {
        cp_missing_explain(a->profile);
    }
}

uint32_t cp_profile_add_lines(cp_profile *profile, const cp_lines_options *options)
{
    adder a = {.profile = profile, .options = options};

    if (options->wanted == CP_LINES_NONE) {
        return 0;
    }
    begin(&a);
    cp_meter_begin(&a.meter, "looking for lines", "files");
    add_to_all(&a);
    cp_meter_end(&a.meter);
    complain(&a);
    end(&a);
    return a.added;
}

void cp_profile_drop_functions(cp_profile *profile)
{
    enum { UNUSED, USED };
    uint32_t *number = cp_heap_alloc((size_t)profile->function_count + 1, sizeof *number);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < profile->location_count; i++) {
        for (uint32_t j = 0; j < profile->locations[i].line_count; j++) {
            number[profile->locations[i].lines[j].function] = USED;
        }
    }
    for (uint32_t i = 0; i < profile->function_count; i++) {
        if (number[i] == USED) {
            profile->functions[kept] = profile->functions[i];
            number[i] = kept++;
        }
    }
    for (uint32_t i = 0; i < profile->location_count; i++) {
        for (uint32_t j = 0; j < profile->locations[i].line_count; j++) {
            cp_line *line = &profile->locations[i].lines[j];
            line->function = number[line->function];
        }
    }
    profile->function_count = kept;
    free(number);
}
