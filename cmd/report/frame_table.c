/* SPDX-License-Identifier: MIT
 *
 * frame_table.c: see frame_table.h.
 *
 * Owns: the arrays of the table, and the indices while the table is built.
 * Tested by: unit.cmd_report, unit.cmd_reports.
 */
#include "report/frame_table.h"

#include "base/base_name.h"
#include "base/index_table.h"
#include "base/pool.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NO_FRAME  UINT32_MAX
#define NOT_CLEAN UINT32_MAX

typedef struct frame_builder {
    cp_frames *frames;
    cp_profile *profile;
    cp_granularity granularity;
    size_t capacity;
    uint32_t *of_name;  /* per string: the frame that has only that name */
    cp_string *cleaned; /* per string: the cleaned path, or NOT_CLEAN */
    cp_index_table others;
} frame_builder;

/* ---- clean paths ---- */

typedef struct cleaner {
    char *text;
    size_t length;
    size_t floor; /* ".." does not remove what is before it */
    bool rooted;
} cleaner;

static void put_part(cleaner *c, const char *part, size_t length)
{
    if (c->length > (c->rooted ? 1 : 0)) {
        c->text[c->length++] = '/';
    }
    memcpy(c->text + c->length, part, length);
    c->length += length;
}

static void put_parent(cleaner *c)
{
    if (c->length > c->floor) {
        c->length--;
        while (c->length > c->floor && c->text[c->length] != '/') {
            c->length--;
        }
    } else if (!c->rooted) {
        put_part(c, "..", 2);
        c->floor = c->length;
    }
}

static const char *skip_sandbox(const char *path)
{
    static const char *const prefixes[] = {"/proc/self/cwd/./", "/proc/self/cwd/"};

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0) {
            return path + strlen(prefixes[i]);
        }
    }
    return path;
}

char *cp_clean_path(const char *path)
{
    const char *begin = path = skip_sandbox(path);
    cleaner c = {.text = cp_heap_alloc(strlen(path) + 3, 1), .rooted = *path == '/'};

    if (c.rooted) {
        c.text[c.length++] = '/';
        c.floor = 1;
    }
    while (*path) {
        size_t length = strcspn(path, "/");

        if (length == 2 && path[0] == '.' && path[1] == '.') {
            put_parent(&c);
        } else if (length > 1 || (length == 1 && *path != '.')) {
            put_part(&c, path, length);
        }
        path += length + (path[length] == '/');
    }
    if (c.length == 0 && *begin) {
        c.text[c.length++] = '.';
    }
    c.text[c.length] = '\0';
    return c.text;
}

/* ---- labels ---- */

static const char *place_label(cp_frames *frames, const cp_frame_key *key)
{
    const char *file = cp_profile_text(frames->profile, key->file);

    if (key->line && key->column) {
        return cp_pool_printf(&frames->pool, "%s:%lld:%lld", file, (long long)key->line,
                              (long long)key->column);
    }
    if (key->line) {
        return cp_pool_printf(&frames->pool, "%s:%lld", file, (long long)key->line);
    }
    return file;
}

static const char *program_label(cp_frames *frames, const cp_frame_key *key)
{
    const char *file = cp_profile_text(frames->profile, key->program);
    size_t length;
    const char *base = cp_base_name(file, &length);

    if (!key->program) { /* not "", but it may begin with a NUL */
        return "<unknown>";
    }
    return length ? cp_pool_printf(&frames->pool, "[%.*s]", (int)length, base) : "[/]";
}

/* The last part of a label: the place if it is known; without a name at least the program. */
static const char *last_label(cp_frames *frames, const cp_frame_key *key)
{
    if (key->line || key->file) {
        return place_label(frames, key);
    }
    return key->name ? NULL : program_label(frames, key);
}

static void put_label(cp_frames *frames, cp_frame *frame)
{
    const cp_strings *strings = &frames->profile->strings;
    const cp_frame_key *key = &frame->key;
    const char *name = key->name ? cp_strings_get(strings, key->name) : NULL;
    const char *last = last_label(frames, key);

    frame->label = last ? last : name;
    if (name && last) {
        frame->label = cp_pool_printf(&frames->pool, "%s %s", name, last);
    }
    frame->label_length =
        frame->label == name ? cp_strings_length(strings, key->name) : strlen(frame->label);
    if (key->address) {
        frame->label = cp_pool_printf(&frames->pool, "%016llx %s", (unsigned long long)key->address,
                                      frame->label);
        frame->label_length = strlen(frame->label);
    }
}

/* ---- frames ---- */

static uint32_t append_frame(frame_builder *builder, const cp_frame_key *key)
{
    cp_frames *frames = builder->frames;

    frames->frames =
        cp_heap_grow(frames->frames, frames->count, &builder->capacity, sizeof *frames->frames);
    cp_frame *frame = &frames->frames[frames->count];
    frame->key = *key;
    put_label(frames, frame);
    return frames->count++;
}

static bool keys_equal(const cp_frame_key *left, const cp_frame_key *right)
{
    return left->name == right->name && left->file == right->file && left->line == right->line &&
           left->column == right->column && left->address == right->address &&
           left->program == right->program && left->start_line == right->start_line;
}

static uint32_t find_or_add(frame_builder *builder, const cp_frame_key *key)
{
    const uint64_t words[] = {key->name,
                              key->file,
                              (uint64_t)key->line,
                              key->address,
                              key->program,
                              (uint64_t)key->start_line,
                              (uint64_t)key->column};
    uint64_t hash = cp_hash_bytes(words, sizeof words, 0);
    uint64_t at = hash;
    uint32_t index;

    while (cp_index_next(&builder->others, hash, &at, &index)) {
        if (keys_equal(&builder->frames->frames[index].key, key)) {
            return index;
        }
    }
    index = append_frame(builder, key);
    cp_index_add(&builder->others, hash, index);
    return index;
}

/* The common case: a frame that is only a name. */
static uint32_t named_frame(frame_builder *builder, cp_string name)
{
    uint32_t *known = &builder->of_name[name];
    const cp_frame_key key = {.name = name};

    if (*known == NO_FRAME) {
        *known = append_frame(builder, &key);
    }
    return *known;
}

static cp_string clean_file(frame_builder *builder, cp_string file)
{
    cp_string *known = &builder->cleaned[file];

    if (*known == NOT_CLEAN) {
        char *clean = cp_clean_path(cp_profile_text(builder->profile, file));
        *known = cp_strings_put(&builder->profile->strings, clean);
        free(clean);
    }
    return *known;
}

static uint32_t frame_of_function(frame_builder *builder, const cp_location *location,
                                  const cp_line *line, cp_string program)
{
    const cp_function *function = &builder->profile->functions[line->function];
    cp_granularity granularity = builder->granularity;
    cp_frame_key key = {.name = granularity == CP_FILES ? 0 : function->name};

    if (granularity == CP_FUNCTIONS && key.name) {
        return named_frame(builder, key.name);
    }
    if (granularity != CP_FUNCTIONS && function->filename) {
        key.file = clean_file(builder, function->filename);
    }
    if (granularity >= CP_LINES) {
        key.line = line->line;
    }
    if (granularity == CP_ADDRESSES) {
        key.address = location->address;
        key.column = line->column;
    }
    if (!key.name || granularity == CP_SOURCES) {
        key.program = program;
        key.start_line = function->start_line;
    }
    return find_or_add(builder, &key);
}

static uint32_t frame_of_line(frame_builder *builder, const cp_location *location, uint32_t line)
{
    cp_frame_key key = {0};

    if (location->mapping != CP_NO_MAPPING) {
        key.program = builder->profile->mappings[location->mapping].file;
    }
    if (line < location->line_count) {
        return frame_of_function(builder, location, &location->lines[line], key.program);
    }
    if (builder->granularity == CP_ADDRESSES) {
        key.address = location->address;
    }
    return find_or_add(builder, &key);
}

static void add_locations(frame_builder *builder)
{
    cp_frames *frames = builder->frames;
    const cp_profile *profile = frames->profile;
    uint32_t at = 0;

    for (uint32_t i = 0; i < profile->location_count; i++) {
        const cp_location *location = &profile->locations[i];
        uint32_t lines = location->line_count ? location->line_count : 1;

        frames->first_of[i] = at;
        for (uint32_t line = 0; line < lines; line++) {
            frames->of_line[at++] = frame_of_line(builder, location, line);
        }
    }
    frames->first_of[profile->location_count] = at;
}

static uint32_t *new_string_map(const cp_profile *profile)
{
    uint32_t *map = cp_heap_alloc(profile->strings.count, sizeof *map);

    memset(map, 0xff, profile->strings.count * sizeof *map); /* NO_FRAME, NOT_CLEAN */
    return map;
}

void cp_frames_init(cp_frames *frames, cp_profile *profile, cp_granularity granularity)
{
    frame_builder builder = {.frames = frames, .profile = profile, .granularity = granularity};
    size_t lines = 0;

    memset(frames, 0, sizeof *frames);
    frames->profile = profile;
    cp_pool_init(&frames->pool);
    for (uint32_t i = 0; i < profile->location_count; i++) {
        lines += profile->locations[i].line_count ? profile->locations[i].line_count : 1;
    }
    frames->of_line = cp_heap_alloc(lines, sizeof *frames->of_line);
    frames->first_of = cp_heap_alloc((size_t)profile->location_count + 1, sizeof *frames->first_of);
    builder.of_name = new_string_map(profile);
    builder.cleaned = new_string_map(profile);
    cp_index_init(&builder.others, 64);
    add_locations(&builder);
    free(builder.of_name);
    free(builder.cleaned);
    cp_index_release(&builder.others);
}

void cp_frames_release(cp_frames *frames)
{
    free(frames->frames);
    free(frames->of_line);
    free(frames->first_of);
    cp_pool_release(&frames->pool);
    memset(frames, 0, sizeof *frames);
}

int cp_granularity_named(const char *name, cp_granularity *granularity)
{
    static const char *const names[] = {
        [CP_FUNCTIONS] = "functions", [CP_FILEFUNCTIONS] = "filefunctions", [CP_FILES] = "files",
        [CP_LINES] = "lines",         [CP_ADDRESSES] = "addresses",
    };

    for (int i = 0; i <= CP_ADDRESSES; i++) {
        if (strcmp(names[i], name) == 0) {
            *granularity = (cp_granularity)i;
            return 0;
        }
    }
    return -1;
}

bool cp_frames_have_inlined(const cp_frames *frames)
{
    for (uint32_t i = 0; i < frames->profile->location_count; i++) {
        if (frames->profile->locations[i].line_count > 1) {
            return true;
        }
    }
    return false;
}
