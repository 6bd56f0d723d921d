/* SPDX-License-Identifier: MIT
 *
 * code_weights.c: see code_weights.h.
 *
 *   addresses of the stacks, by mapping, with the samples of which each is the leaf
 *     -> debug information -> extents of their functions -> each byte -> debug information -> parts
 *                                '-> instructions -> flow of control: how often they run ---^
 *
 * Owns: the addresses, the calls and the extents, for the length of a call.
 * Tested by: e2e.cpprof_pgo
 */
#include "convert/code_weights.h"

#include "base/index_table.h"
#include "base/message.h"
#include "convert/code_flow.h"
#include "convert/code_instructions.h"
#include "profile/profile_lines.h"
#include "profile/profile_model.h"
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXTENT_MOST ((uint64_t)1 << 22) /* bytes of a function; a longer one is damaged */
#define BATCH       65536               /* addresses that are looked up at a time */
#define LEAST_SHARE                                                                                \
    0.01 /* of the samples in files: with less of them in lines, no profile is written */

typedef struct leaf {
    uint32_t mapping;
    uint64_t address;
    int64_t value;
} leaf;

/* Two addresses, one above the other on stacks. */
typedef struct call {
    uint32_t mapping; /* of the callee */
    uint64_t address; /* in the instruction that calls; 0: of another mapping */
    uint64_t callee;
    int64_t value;
} call;

typedef struct extent {
    uint64_t entry, limit;
    const char *name;
} extent;

/* A file of the profile, in all processes. */
typedef struct sampled_file {
    cp_string name, build_id;
    int64_t samples;
    int64_t placed; /* of these, samples in lines of the source code */
    int error;      /* of reading its debug information */
    bool lacks_dwo; /* a part of it, a .dwo file, is not here */
} sampled_file;

/* A part of a function; its place is that of the part. */
typedef struct listed_part {
    cp_code_function *function;
    size_t part;
} listed_part;

typedef struct listed_inlined {
    const cp_code_function *into;
    cp_code_function *function;
} listed_inlined;

/* The functions of one mapping, and the files of all. */
typedef struct collector {
    const cp_report *report;
    cp_code *code;
    sampled_file *files;
    size_t file_count;
    int64_t samples; /* in files or not */
    uint32_t mapping;
    const leaf *leaves; /* of the mapping, by address */
    size_t leaf_count;
    const call *calls; /* those that are left, by mapping and address */
    size_t call_count;
    extent *extents;
    size_t extent_count, extent_room;
    uint64_t *addresses; /* BATCH of them */
    uint64_t entry;      /* of the current function */
    int64_t placed;      /* samples in lines of the source code */
    bool lacks_dwo;
    size_t next_leaf;
    cp_flow *flow;           /* NULL: its bytes cannot be read */
    cp_index_table by_name;  /* of the code's functions */
    cp_index_table by_place; /* of the parts */
    listed_part *parts;
    size_t part_count, part_room;
    cp_index_table by_call; /* of the inlined functions */
    listed_inlined *inlined;
    size_t inlined_count, inlined_room;
} collector;

/* ---- leaves ---- */

static int by_address(const void *left, const void *right)
{
    const leaf *a = left, *b = right;

    if (a->mapping != b->mapping) {
        return a->mapping < b->mapping ? -1 : 1;
    }
    return (a->address > b->address) - (a->address < b->address);
}

uint32_t cp_code_count_type(const cp_report *report)
{
    const cp_profile *profile = report->profile;

    for (uint32_t i = 0; i < profile->sample_type_count; i++) {
        if (strcmp(cp_profile_text(profile, profile->sample_types[i].unit), "count") == 0) {
            return i;
        }
    }
    return report->value_index;
}

/* For each mapping, the first one of the same part of the same file: several processes have it at other addresses. */
static uint32_t *list_first(const cp_profile *profile)
{
    uint32_t *first = cp_heap_alloc(profile->mapping_count + 1, sizeof *first);
    cp_index_table table;

    cp_index_init(&table, 64);
    for (uint32_t i = 0; i < profile->mapping_count; i++) {
        const cp_mapping *own = &profile->mappings[i], *other;
        uint64_t hash = cp_hash_bytes(&own->file, sizeof own->file, cp_hash_secret()), slot;
        uint32_t index = i;
        bool is_found = false;

        hash = cp_hash_bytes(&own->build_id, sizeof own->build_id, hash);
        slot = hash = cp_hash_bytes(&own->offset, sizeof own->offset, hash);
        while (!is_found && cp_index_next(&table, hash, &slot, &index)) {
            other = &profile->mappings[index];
            is_found = other->file == own->file && other->build_id == own->build_id &&
                       other->offset == own->offset;
        }
        first[i] = is_found ? index : i;
        if (!is_found) {
            cp_index_add(&table, hash, i);
        }
    }
    cp_index_release(&table);
    return first;
}

/* A file that several processes have counts as the first one. */
static leaf place_of(const cp_profile *profile, const uint32_t *first, uint32_t index)
{
    const cp_location *location = &profile->locations[index];

    if (location->mapping == CP_NO_MAPPING) {
        return (leaf){location->mapping, location->address, 0};
    }
    uint64_t start = profile->mappings[location->mapping].start;
    uint32_t mapping = first[location->mapping];
    return (leaf){mapping, location->address - start + profile->mappings[mapping].start, 0};
}

static size_t frames_of(const cp_profile *profile)
{
    size_t count = 0;

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        count += profile->samples[i].location_count;
    }
    return count;
}

/* A sample's value; at most one of which sums do not overflow, as those of a damaged profile would. */
static int64_t value_of(const cp_sample *sample, uint32_t type, size_t frames)
{
    int64_t most = INT64_MAX / (int64_t)(frames + 1);

    return sample->values[type] < most ? sample->values[type] : most;
}

/* The addresses on stacks, each once, in order. Those that are no leaf have the value 0. */
static size_t list_leaves(const cp_report *report, const uint32_t *first, size_t frames,
                          leaf *leaves)
{
    const cp_profile *profile = report->profile;
    uint32_t type = cp_code_count_type(report);
    size_t count = 0, kept = 0;

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const cp_sample *sample = &profile->samples[i];
        int64_t value = value_of(sample, type, frames);

        for (uint32_t j = 0; j < sample->location_count && value > 0; j++) {
            leaves[count] = place_of(profile, first, sample->locations[j]);
            leaves[count++].value = j ? 0 : value;
        }
    }
    qsort(leaves, count, sizeof *leaves, by_address);
    for (size_t i = 0; i < count; i++) {
        if (kept && by_address(&leaves[kept - 1], &leaves[i]) == 0) {
            leaves[kept - 1].value += leaves[i].value;
        } else {
            leaves[kept++] = leaves[i];
        }
    }
    return kept;
}

static int by_call(const void *left, const void *right)
{
    const call *a = left, *b = right;

    if (a->mapping != b->mapping) {
        return a->mapping < b->mapping ? -1 : 1;
    }
    return (a->address > b->address) - (a->address < b->address);
}

static size_t list_calls(const cp_report *report, const uint32_t *first, size_t frames, call *calls)
{
    const cp_profile *profile = report->profile;
    uint32_t type = cp_code_count_type(report);
    size_t count = 0;

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const cp_sample *sample = &profile->samples[i];
        int64_t value = value_of(sample, type, frames);

        for (uint32_t j = 1; j < sample->location_count && value > 0; j++) {
            leaf callee = place_of(profile, first, sample->locations[j - 1]);
            leaf caller = place_of(profile, first, sample->locations[j]);
            uint64_t address = callee.mapping == caller.mapping ? caller.address : 0;
            calls[count++] = (call){callee.mapping, address, callee.address, value};
        }
    }
    qsort(calls, count, sizeof *calls, by_call);
    return count;
}

/* ---- extents ---- */

static void take_extent(void *context, const pprof_dwarf_place *place)
{
    collector *c = context;

    c->lacks_dwo = c->lacks_dwo || place->may_lack_inlined;
    if (!place->entry || place->limit <= place->entry ||
        place->limit - place->entry > EXTENT_MOST) {
        return;
    }
    c->extents = cp_heap_grow(c->extents, c->extent_count, &c->extent_room, sizeof *c->extents);
    const char *name = place->functions[place->count - 1].name;
    c->extents[c->extent_count++] = (extent){
        place->entry, place->limit, name ? cp_pool_copy(&c->code->pool, name, strlen(name)) : NULL};
}

static int by_entry(const void *left, const void *right)
{
    const extent *a = left, *b = right;

    if (a->entry != b->entry) {
        return a->entry < b->entry ? -1 : 1;
    }
    if (a->limit != b->limit) {
        return a->limit > b->limit ? -1 : 1;
    }
    return strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

/* Functions at one address with several names count once. */
static void sort_extents(collector *c)
{
    size_t kept = 0;

    qsort(c->extents, c->extent_count, sizeof *c->extents, by_entry);
    for (size_t i = 0; i < c->extent_count; i++) {
        if (!kept || c->extents[i].entry >= c->extents[kept - 1].limit) {
            c->extents[kept++] = c->extents[i];
        }
    }
    c->extent_count = kept;
}

/* ---- functions ---- */

static bool same_place(cp_code_place a, cp_code_place b)
{
    return a.line == b.line && a.discriminator == b.discriminator;
}

static cp_code_function *new_function(cp_code *code, const char *name, cp_code_place at)
{
    cp_code_function *function = CP_POOL_ARRAY(&code->pool, cp_code_function, 1);

    function->name = cp_pool_copy(&code->pool, name, strlen(name));
    function->at = at;
    function->runs = -1;
    return function;
}

/* Equal names are one function. It is entered as often as the one of them that is entered most. */
static cp_code_function *outermost(collector *c, const char *name)
{
    cp_code *code = c->code;
    uint64_t hash = cp_hash_bytes(name, strlen(name), cp_hash_secret()), slot = hash;
    uint32_t index;

    while (cp_index_next(&c->by_name, hash, &slot, &index)) {
        if (strcmp(code->functions[index]->name, name) == 0) {
            return code->functions[index];
        }
    }
    code->functions = cp_pool_grow(&code->pool, code->functions, code->count, &code->room,
                                   sizeof(cp_code_function *));
    code->functions[code->count] = new_function(code, name, (cp_code_place){0, 0});
    cp_index_add(&c->by_name, hash, (uint32_t)code->count);
    return code->functions[code->count++];
}

static uint64_t hash_of(const cp_code_function *function, cp_code_place place)
{
    uintptr_t address = (uintptr_t)function;
    uint64_t hash = cp_hash_bytes(&address, sizeof address, cp_hash_secret());

    return cp_hash_bytes(&place, sizeof place, hash);
}

static cp_code_function *inlined(collector *c, cp_code_function *into, const char *name,
                                 cp_code_place place)
{
    uint64_t hash = cp_hash_bytes(name, strlen(name), hash_of(into, place)), slot = hash;
    uint32_t index;

    while (cp_index_next(&c->by_call, hash, &slot, &index)) {
        cp_code_function *function = c->inlined[index].function;
        if (c->inlined[index].into == into && same_place(function->at, place) &&
            strcmp(function->name, name) == 0) {
            return function;
        }
    }
    cp_code_function *function = new_function(c->code, name, place);
    *(into->inlined ? &into->last->next : &into->inlined) = function;
    into->last = function;
    c->inlined = cp_heap_grow(c->inlined, c->inlined_count, &c->inlined_room, sizeof *c->inlined);
    c->inlined[c->inlined_count] = (listed_inlined){into, function};
    cp_index_add(&c->by_call, hash, (uint32_t)c->inlined_count++);
    return function;
}

static cp_code_part *part_of(collector *c, cp_code_function *function, cp_code_place place)
{
    uint64_t hash = hash_of(function, place), slot = hash;
    uint32_t index;

    while (cp_index_next(&c->by_place, hash, &slot, &index)) {
        listed_part *one = &c->parts[index];
        if (one->function == function && same_place(function->parts[one->part].place, place)) {
            return &function->parts[one->part];
        }
    }
    c->parts = cp_heap_grow(c->parts, c->part_count, &c->part_room, sizeof *c->parts);
    c->parts[c->part_count] = (listed_part){function, function->part_count};
    cp_index_add(&c->by_place, hash, (uint32_t)c->part_count++);
    function->parts = cp_pool_grow(&c->code->pool, function->parts, function->part_count,
                                   &function->part_room, sizeof *function->parts);
    function->parts[function->part_count] = (cp_code_part){.place = place};
    return &function->parts[function->part_count++];
}

static cp_code_place place_in(const pprof_dwarf_function *function)
{
    return (cp_code_place){(function->line - function->start_line) & 0xffff,
                           function->discriminator};
}

/* Whether each function's first line is known: else no place in it can be named. */
static bool is_whole(const pprof_dwarf_place *place)
{
    for (size_t i = 0; i < place->count; i++) {
        const pprof_dwarf_function *function = &place->functions[i];
        if (!function->name || !function->start_line || !function->line) {
            return false;
        }
    }
    return true;
}

static int64_t samples_at(collector *c, uint64_t address)
{
    while (c->next_leaf < c->leaf_count && c->leaves[c->next_leaf].address < address) {
        c->next_leaf++;
    }
    return c->next_leaf < c->leaf_count && c->leaves[c->next_leaf].address == address
               ? c->leaves[c->next_leaf].value
               : 0;
}

/* The function that has the address; NULL: not known. */
static const extent *function_at(const collector *c, uint64_t address)
{
    size_t lo = 0, hi = c->extent_count; /* the first extent above the address */

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (c->extents[middle].entry <= address) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo && address < c->extents[lo - 1].limit ? &c->extents[lo - 1] : NULL;
}

static void take_target(cp_code *code, cp_code_part *part, const char *name, int64_t samples)
{
    cp_code_target **target = &part->targets;

    while (*target && strcmp((*target)->name, name) != 0) {
        target = &(*target)->next;
    }
    if (!*target) {
        *target = CP_POOL_ARRAY(&code->pool, cp_code_target, 1);
        (*target)->name = name;
    }
    (*target)->samples += samples;
}

/* What the instruction at the address calls. Addresses ascend. */
static void take_calls(collector *c, cp_code_part *part, uint64_t address)
{
    for (; c->call_count && c->calls->mapping == c->mapping && c->calls->address <= address;
         c->calls++, c->call_count--) {
        const extent *callee =
            c->calls->address == address ? function_at(c, c->calls->callee) : NULL;
        if (callee && callee->name) {
            take_target(c->code, part, callee->name, c->calls->value);
        }
    }
}

/* Of the parts of a function, the one counts that is entered most often. */
static void take_entry(const collector *c, cp_code_function *function,
                       const pprof_dwarf_function *outer)
{
    double entries = c->flow ? cp_flow_entries(c->flow, c->entry) : -1;

    if (entries >= function->runs) {
        function->runs = entries;
        function->entry = place_in(outer);
    }
}

static void take_byte(void *context, const pprof_dwarf_place *place)
{
    collector *c = context;
    uint64_t address = c->addresses[place->index];

    if (!is_whole(place)) {
        return;
    }
    int64_t samples = samples_at(c, address);
    double runs = c->flow ? cp_flow_runs(c->flow, address) : -1;
    cp_code_function *function = outermost(c, place->functions[place->count - 1].name);
    if (address == c->entry) {
        take_entry(c, function, &place->functions[place->count - 1]);
    }
    function->samples += samples;
    for (size_t i = place->count - 1; i > 0; i--) {
        function =
            inlined(c, function, place->functions[i - 1].name, place_in(&place->functions[i]));
        function->samples += samples;
    }
    cp_code_part *part = part_of(c, function, place_in(&place->functions[0]));
    part->samples += samples;
    part->bytes++;
    part->runs = part->bytes == 1 ? runs : fmax(part->runs, runs);
    c->placed += samples;
    take_calls(c, part, address);
}

/* ---- mappings ---- */

static int find(collector *c, size_t count, cp_place_found *found)
{
    return cp_profile_find_lines(c->report->profile, c->mapping, false, c->addresses, count, found,
                                 c);
}

static int find_extents(collector *c)
{
    int error = 0;

    for (size_t first = 0; error == 0 && first < c->leaf_count; first += BATCH) {
        size_t count = c->leaf_count - first < BATCH ? c->leaf_count - first : BATCH;

        for (size_t i = 0; i < count; i++) {
            c->addresses[i] = c->leaves[first + i].address;
        }
        error = find(c, count, take_extent);
    }
    return error;
}

static void take_function(collector *c, const extent *e)
{
    c->entry = e->entry;
    for (uint64_t first = e->entry; first < e->limit; first += BATCH) {
        size_t count = e->limit - first < BATCH ? (size_t)(e->limit - first) : BATCH;

        for (size_t i = 0; i < count; i++) {
            c->addresses[i] = first + i;
        }
        find(c, count, take_byte);
    }
}

/* The flow of the mapping's functions; NULL: not all of their bytes can be read. */
static cp_flow *find_flow(const collector *c)
{
    const cp_profile *profile = c->report->profile;
    const cp_mapping *mapping = &profile->mappings[c->mapping];
    cp_code_file file = {.name = cp_strings_raw(&profile->strings, mapping->file),
                         .build_id = cp_profile_text(profile, mapping->build_id),
                         .start = mapping->start,
                         .offset = mapping->offset};
    bool is_read = true;

    if (cp_code_read_begin(&file) != 0) {
        return NULL;
    }
    cp_flow *flow = cp_flow_new();
    for (size_t i = 0; is_read && i < c->extent_count; i++) {
        is_read = cp_code_read(&file, c->extents[i].entry, c->extents[i].limit, flow) == 0;
    }
    cp_code_read_end(&file);
    if (!is_read) {
        cp_flow_free(flow);
        return NULL;
    }
    for (size_t i = 0; i < c->leaf_count; i++) {
        cp_flow_samples(flow, c->leaves[i].address, c->leaves[i].value);
    }
    for (size_t i = 0; i < c->call_count && c->calls[i].mapping == c->mapping; i++) {
        const extent *callee = function_at(c, c->calls[i].callee);
        uint64_t address = function_at(c, c->calls[i].address) ? c->calls[i].address : 0;
        if (callee) {
            cp_flow_call(flow, address, callee->entry, c->calls[i].value);
        }
    }
    cp_flow_solve(flow);
    return flow;
}

/* Nothing tells whether a file without a build id is the one that was profiled. One without debug information has its own
 * error: its build does not matter. */
static bool is_build_known(const collector *c)
{
    const cp_profile *profile = c->report->profile;

    return *cp_profile_text(profile, profile->mappings[c->mapping].build_id) != '\0';
}

/* Returns what finding lines does. */
static int collect_mapping(collector *c)
{
    int error = find_extents(c);

    error = error == 0 && !is_build_known(c) ? -ENODATA : error;
    if (error == 0) {
        sort_extents(c);
        c->next_leaf = 0;
        c->flow = find_flow(c);
        for (size_t i = 0; i < c->extent_count; i++) {
            take_function(c, &c->extents[i]);
        }
    }
    if (c->flow) {
        cp_flow_free(c->flow);
        c->flow = NULL;
    }
    free(c->extents);
    c->extents = NULL;
    c->extent_count = c->extent_room = 0;
    return error;
}

/* ---- files ---- */

static sampled_file *file_of(collector *c)
{
    const cp_mapping *mapping = &c->report->profile->mappings[c->mapping];
    size_t i = 0;

    while (i < c->file_count &&
           (c->files[i].name != mapping->file || c->files[i].build_id != mapping->build_id)) {
        i++;
    }
    if (i == c->file_count) {
        c->files[c->file_count++] =
            (sampled_file){.name = mapping->file, .build_id = mapping->build_id};
    }
    return &c->files[i];
}

static void collect_file(collector *c, int64_t samples)
{
    sampled_file *file = file_of(c);

    c->placed = 0;
    c->lacks_dwo = false;
    int error = collect_mapping(c);
    file->error = error ? error : file->error;
    file->samples += samples;
    file->placed += c->placed;
    file->lacks_dwo = file->lacks_dwo || c->lacks_dwo;
}

static void collect_all(collector *c)
{
    size_t frames = frames_of(c->report->profile);
    leaf *leaves = cp_heap_alloc(frames + 1, sizeof *leaves);
    call *calls = cp_heap_alloc(frames + 1, sizeof *calls);
    uint32_t *first_of = list_first(c->report->profile);
    size_t count = list_leaves(c->report, first_of, frames, leaves);

    c->calls = calls;
    c->call_count = list_calls(c->report, first_of, frames, calls);
    free(first_of);
    for (size_t first = 0, end; first < count; first = end) {
        int64_t sum = 0;

        for (end = first; end < count && leaves[end].mapping == leaves[first].mapping; end++) {
            sum += leaves[end].value;
        }
        c->mapping = leaves[first].mapping;
        c->leaves = &leaves[first];
        c->leaf_count = end - first;
        for (; c->call_count && c->calls->mapping < c->mapping; c->calls++) {
            c->call_count--;
        }
        c->samples += sum;
        if (c->mapping != CP_NO_MAPPING) {
            collect_file(c, sum);
        }
    }
    free(calls);
    free(leaves);
}

static int by_samples(const void *left, const void *right)
{
    const cp_code_function *a = *(cp_code_function *const *)left,
                           *b = *(cp_code_function *const *)right;

    if (a->samples != b->samples) {
        return a->samples < b->samples ? 1 : -1;
    }
    return strcmp(a->name, b->name);
}

static const char *reason(const sampled_file *file, const char *name)
{
    switch (file->error) {
    case 0:
        return file->lacks_dwo ? "a .dwo file with its debug information is not here"
                               : "its debug information has no lines of that code";
    case -ENOENT:
        return access(name, F_OK) == 0 ? "it has no debug information (compile it with -g)"
                                       : "the file is not here, nor its debug information";
    case -ENOLINK:
        return "its separate debug information (.gnu_debuglink) is of another build";
    case -ESTALE:
        return "the file is of another build than the one that was profiled";
    case -ENODATA:
        return "the profile has no build id of it (link it with -Wl,--build-id)";
    case CP_LINE_READER_ABSENT:
        return "libpprof-dwarf.so cannot be loaded";
    default:
        return strerror(-file->error);
    }
}

/* What a period is of; where the profile does not say it, what its first values are. */
static const char *subject_of(const cp_profile *profile)
{
    const char *name = cp_profile_text(profile, profile->period_type.type);

    return *name || !profile->sample_type_count
               ? name
               : cp_profile_text(profile, profile->sample_types[0].type);
}

/* Whether the samples say where a processor was, and not where memory was allocated or a thread waited. */
static bool is_of_processor(const char *name)
{
    static const char *const names[] = {"cpu", "cycles", "samples", "cpu-clock", "task-clock"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

int cp_code_check(const cp_report *report, cp_error *error)
{
    const char *subject = subject_of(report->profile);

    if (!is_of_processor(subject)) {
        return cp_fail(error, "expected a CPU profile, found one of %.100s", subject);
    }
    return 0;
}

static int percent(const collector *c, int64_t samples)
{
    return (int)(100.0 * (double)samples / (double)c->samples + 0.5);
}

static int refuse(const collector *c, const sampled_file *file, cp_error *error)
{
    const char *name = cp_profile_text(c->report->profile, file->name);

    return cp_fail(error, "%.300s, which has %d %% of the samples: %s", name,
                   percent(c, file->samples), reason(file, name));
}

/* Says how many samples are left out, and why those of the file that has most of these. */
static void complain(const collector *c, const sampled_file *file, int64_t placed)
{
    const char *name = cp_profile_text(c->report->profile, file->name);

    if (percent(c, c->samples - placed) > 0) {
        cp_complain("%d %% of the samples are left out, %d %% in %.300s: %s",
                    percent(c, c->samples - placed), percent(c, file->samples - file->placed), name,
                    reason(file, name));
    }
}

static bool may_be_of_other_build(const sampled_file *file)
{
    return file->error == -ESTALE || file->error == -ENODATA;
}

/* Whether a compiler can use what was found. A file that may be of another build is not left out if it has more samples
 * than there are in lines: the profile is of it. A few stray samples, as of the loader, are no profile of a program. */
static int judge(const collector *c, cp_error *error)
{
    const sampled_file *largest = NULL, *stale = NULL, *lost = NULL;
    int64_t samples = 0, placed = 0;

    for (size_t i = 0; i < c->file_count; i++) {
        const sampled_file *file = &c->files[i];

        samples += file->samples;
        placed += file->placed;
        if (file->samples > (largest ? largest->samples : 0)) {
            largest = file;
        }
        if (may_be_of_other_build(file) && file->samples > (stale ? stale->samples : 0)) {
            stale = file;
        }
        if (!lost || file->samples - file->placed > lost->samples - lost->placed) {
            lost = file;
        }
    }
    if (!largest) {
        return cp_fail(error, "expected samples with addresses in files, found none");
    }
    if (stale && stale->samples > placed) {
        return refuse(c, stale, error);
    }
    if ((double)placed < LEAST_SHARE * (double)samples) {
        return refuse(c, lost, error);
    }
    complain(c, lost, placed);
    return 0;
}

int cp_code_collect(const cp_report *report, cp_code *code, cp_error *error)
{
    collector c = {.report = report, .code = code};

    memset(code, 0, sizeof *code);
    cp_pool_init(&code->pool);
    if (cp_code_check(report, error) != 0) {
        return -1;
    }
    c.addresses = cp_heap_alloc(BATCH, sizeof *c.addresses);
    c.files = cp_heap_alloc(report->profile->mapping_count + 1, sizeof *c.files);
    cp_index_init(&c.by_name, 64);
    cp_index_init(&c.by_place, 1024);
    cp_index_init(&c.by_call, 1024);
    collect_all(&c);
    cp_index_release(&c.by_name);
    cp_index_release(&c.by_place);
    cp_index_release(&c.by_call);
    free(c.parts);
    free(c.inlined);
    if (code->count) {
        qsort(code->functions, code->count, sizeof(cp_code_function *), by_samples);
    }
    int status = judge(&c, error);
    free(c.addresses);
    free(c.files);
    return status;
}

void cp_code_release(cp_code *code)
{
    cp_pool_release(&code->pool);
}
