/* SPDX-License-Identifier: MIT
 *
 * test_proto.c: the message, read back by a decoder that knows nothing but the wire format, and the
 * rules that profile.proto's readers rely on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "elf_image.h"
#include "encode/proto.h"
#include "memory_writer.h"
#include "mmap_fault.h"
#include "symbol/omitted_functions.h"
#include "symbol/lines.h"

#include <stdio.h>

/* ---- A decoder ----------------------------------------------------------------------------- */

enum { ITEMS_MAX = 4096, PARTS_MAX = 64, FIELDS = 16 };

typedef struct slice {
    const uint8_t *data;
    size_t size;
} slice;

typedef struct field {
    uint32_t number;
    uint64_t value; /* of a varint */
    slice bytes;    /* of a length-delimited one; data NULL otherwise */
} field;

static uint64_t take_varint(slice *from)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert_true(from->size > 0 && shift < 64);
        uint8_t byte = *from->data++;
        from->size--;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

static bool take_field(slice *from, field *out)
{
    if (from->size == 0)
        return false;
    uint64_t tag = take_varint(from);
    *out = (field){.number = (uint32_t)(tag >> 3)};
    if ((tag & 7) == 0) {
        out->value = take_varint(from);
    } else {
        assert_int_equal(tag & 7, 2);
        out->bytes.size = take_varint(from);
        out->bytes.data = from->data;
        assert_true(out->bytes.size <= from->size);
        from->data += out->bytes.size;
        from->size -= out->bytes.size;
    }
    return true;
}

/* Numbers of a message by field, and the fields that are messages or packed. */
typedef struct message {
    uint64_t number[FIELDS];
    bool has[FIELDS];
    slice part[PARTS_MAX];
    uint32_t part_field[PARTS_MAX];
    size_t part_count;
} message;

static message parse(slice from)
{
    message m = {0};
    for (field f; take_field(&from, &f);) {
        assert_in_range(f.number, 1, FIELDS - 1);
        if (f.bytes.data == NULL) {
            assert_false(m.has[f.number]);
            m.has[f.number] = true;
            m.number[f.number] = f.value;
        } else {
            assert_true(m.part_count < PARTS_MAX);
            m.part_field[m.part_count] = f.number;
            m.part[m.part_count++] = f.bytes;
        }
    }
    return m;
}

typedef struct decoded {
    uint8_t *raw;
    slice strings[ITEMS_MAX];
    size_t string_count;
    message items[7][ITEMS_MAX]; /* by field of Profile: 1 types ... 5 functions */
    size_t count[7];
    message period_type;
    uint64_t number[FIELDS];
    bool has[FIELDS];
    uint64_t comments[16];
    size_t comment_count;
} decoded;

static decoded d;

static const char *text(uint64_t index)
{
    static char buffers[8][512];
    static unsigned next;
    assert_true(index < d.string_count);
    char *buffer = buffers[next++ % 8];
    assert_true(d.strings[index].size < sizeof(buffers[0]));
    memcpy(buffer, d.strings[index].data, d.strings[index].size);
    buffer[d.strings[index].size] = '\0';
    return buffer;
}

static void decode(const memory_writer *sink)
{
    free(d.raw);
    memset(&d, 0, sizeof(d));
    slice from = {0};
    d.raw = gunzip(sink->data, sink->size, &from.size);
    assert_non_null(d.raw);
    from.data = d.raw;
    for (field f; take_field(&from, &f);) {
        assert_in_range(f.number, 1, FIELDS - 1);
        if (f.number == 6) {
            assert_true(d.string_count < ITEMS_MAX);
            d.strings[d.string_count++] = f.bytes;
        } else if (f.number <= 5) {
            assert_true(d.count[f.number] < ITEMS_MAX);
            d.items[f.number][d.count[f.number]++] = parse(f.bytes);
        } else if (f.number == 11) {
            d.period_type = parse(f.bytes);
        } else if (f.number == 13) {
            d.comments[d.comment_count++] = f.value;
        } else {
            assert_null(f.bytes.data);
            d.has[f.number] = true;
            d.number[f.number] = f.value;
        }
    }
}

/* The numbers of a packed field of `m`. */
static size_t packed(const message *m, uint32_t number, uint64_t *values, size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; i < m->part_count; i++) {
        slice from = m->part[i];
        while (m->part_field[i] == number && from.size > 0) {
            assert_true(count < capacity);
            values[count++] = take_varint(&from);
        }
    }
    return count;
}

/* What holds of every profile, whatever is in it. */
static void assert_well_formed(void)
{
    assert_true(d.string_count > 0);
    assert_int_equal(d.strings[0].size, 0);
    for (uint32_t kind = 3; kind <= 5; kind++) { /* ids are 1..n in order */
        for (size_t i = 0; i < d.count[kind]; i++)
            assert_int_equal(d.items[kind][i].number[1], i + 1);
    }
    for (size_t i = 0; i < d.count[4]; i++) {
        const message *location = &d.items[4][i];
        assert_in_range(location->number[2], 1, d.count[3]);
        for (size_t k = 0; k < location->part_count; k++) {
            message line = parse(location->part[k]);
            assert_in_range(line.number[1], 1, d.count[5]);
        }
    }
    for (size_t i = 0; i < d.count[2]; i++) {
        uint64_t ids[PARTS_MAX * 8];
        size_t depth = packed(&d.items[2][i], 1, ids, PARTS_MAX * 8);
        for (size_t k = 0; k < depth; k++)
            assert_in_range(ids[k], 1, d.count[4]);
        uint64_t values[8];
        assert_int_equal(packed(&d.items[2][i], 2, values, 8), d.count[1]);
    }
    assert_true(d.has[9]);
}

static void encode(const pp_profile *profile)
{
    memory_writer sink = {0};
    pp_arena arena = PP_ARENA_INIT;
    assert_int_equal(pp_proto_encode(profile, &arena, memory_writer_of(&sink)), 0);
    decode(&sink);
    memory_writer_reset(&sink);
    pp_arena_release(&arena);
    assert_well_formed();
}

/* ---- A profile ----------------------------------------------------------------------------- */

static const pp_mapping main_and_library[] = {
    {.start = 0x400000,
     .limit = 0x410000,
     .offset = 0x1000,
     .path = "/opt/app (deleted)",
     .build_id = {0x0a, 0xbc, 0xde},
     .build_id_size = 3},
    {.start = 0x7f0000001000, .limit = 0x7f0000002000, .path = "/nonexistent/lib.so"},
    {.start = 0x200000, .limit = 0x201000, .path = ""},
};

static const uintptr_t pcs[] = {0x400124, 0x7f0000001011, 0x400200, 0x200008, 0x999999};
static const uintptr_t again[] = {0x400124, 0x400300, 0x410000, 0x410001};

static const pp_sample_label labels[] = {
    {"before", "", 0, NULL},
    {"user", "caf\xc3\xa9", 0, NULL},
    {"behind", "", 0, NULL},
    {"bytes", NULL, 512, "bytes"},
};

static const pp_profile_sample samples[] = {
    {.pc = pcs, .depth = 5, .value = {3, 30}, .labels = labels, .label_count = 4},
    {.pc = again, .depth = 4, .value = {-1, INT64_MAX}},
    {.pc = NULL, .depth = 0, .value = {1, 0}},
};

static const char *const comments[] = {"one", "two", "one"};

static pp_profile whole_profile(void)
{
    return (pp_profile){
        .sample_type_count = 2,
        .sample_type = {{"samples", "count"}, {"cpu", "nanoseconds"}},
        .default_sample_type = "cpu",
        .period_type = {"cpu", "nanoseconds"},
        .period = 10000000,
        .time_ns = 1700000000000000001,
        .duration_ns = 5000000000,
        .samples = samples,
        .sample_count = 3,
        .mappings = main_and_library,
        .mapping_count = 3,
        .comments = comments,
        .comment_count = 3,
        .drop_frames = "malloc|free",
        .symbolize = PP_SYMBOLIZE_NAMES,
    };
}

static void header_fields(void **state)
{
    (void)state;
    pp_profile profile = whole_profile();
    encode(&profile);
    assert_int_equal(d.count[1], 2);
    assert_string_equal(text(d.items[1][0].number[1]), "samples");
    assert_string_equal(text(d.items[1][0].number[2]), "count");
    assert_string_equal(text(d.items[1][1].number[1]), "cpu");
    assert_string_equal(text(d.items[1][1].number[2]), "nanoseconds");
    assert_string_equal(text(d.number[7]), "malloc|free");
    assert_int_equal(d.number[9], 1700000000000000001);
    assert_int_equal(d.number[10], 5000000000);
    assert_string_equal(text(d.period_type.number[1]), "cpu");
    assert_string_equal(text(d.period_type.number[2]), "nanoseconds");
    assert_int_equal(d.number[12], 10000000);
    assert_int_equal(d.comment_count, 3);
    assert_string_equal(text(d.comments[0]), "one");
    assert_string_equal(text(d.comments[1]), "two");
    assert_string_equal(text(d.comments[2]), "one");
    assert_string_equal(text(d.number[14]), "cpu");
}

static void absent_fields(void **state)
{
    (void)state;
    pp_profile profile = {.sample_type_count = 1,
                          .sample_type = {{"thread", "count"}},
                          .period_type = {"thread", "count"},
                          .period = 1};
    encode(&profile);
    assert_true(d.has[9]); /* the time, even if it is 0 */
    assert_false(d.has[10]);
    assert_false(d.has[7]);
    assert_false(d.has[14]);
    assert_int_equal(d.comment_count, 0);
    assert_int_equal(d.count[2] + d.count[3] + d.count[4] + d.count[5], 0);
    assert_int_equal(d.string_count, 3);
}

static void mappings(void **state)
{
    (void)state;
    pp_profile profile = whole_profile();
    encode(&profile);
    assert_int_equal(d.count[3], 4);
    const message *m = d.items[3];
    assert_int_equal(m[0].number[2], 0x400000);
    assert_int_equal(m[0].number[3], 0x410000);
    assert_int_equal(m[0].number[4], 0x1000);
    assert_string_equal(text(m[0].number[5]), "/opt/app");
    assert_string_equal(text(m[0].number[6]), "0abcde");
    assert_string_equal(text(m[1].number[5]), "/nonexistent/lib.so");
    assert_int_equal(m[1].number[6], 0);
    assert_string_equal(text(m[2].number[5]), "[anon 0000000000200000]");
    assert_string_equal(text(m[3].number[5]), "[unknown]");
    for (int i = 0; i < 4; i++) {
        for (int flag = 7; flag <= 10; flag++)
            assert_false(m[i].has[flag]);
    }
}

static void the_unknown_mapping_only_when_needed(void **state)
{
    (void)state;
    pp_profile profile = whole_profile();
    profile.sample_count = 0;
    encode(&profile);
    assert_int_equal(d.count[3], 3);
    profile = whole_profile();
    profile.mapping_count = 0;
    encode(&profile);
    assert_int_equal(d.count[3], 1);
    assert_string_equal(text(d.items[3][0].number[5]), "[unknown]");
}

static void stacks_and_locations(void **state)
{
    (void)state;
    pp_profile profile = whole_profile();
    encode(&profile);
    uint64_t ids[8];
    const uint64_t first[] = {1, 2, 3, 4, 5}, second[] = {1, 6, 7, 8};
    assert_int_equal(packed(&d.items[2][0], 1, ids, 8), 5);
    assert_memory_equal(ids, first, sizeof(first));
    assert_int_equal(packed(&d.items[2][1], 1, ids, 8), 4);
    assert_memory_equal(ids, second, sizeof(second));
    assert_int_equal(packed(&d.items[2][2], 1, ids, 8), 1); /* the empty one */
    assert_int_equal(ids[0], 9);

    const uint64_t addresses[] = {0x400123, 0x7f0000001010, 0x4001ff, 0x200007, 0x999998,
                                  0x4002ff, 0x40ffff,       0x410000, 0};
    const uint64_t mapping_ids[] = {1, 2, 1, 3, 4, 1, 1, 4, 4};
    assert_int_equal(d.count[4], 9);
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(d.items[4][i].number[3], addresses[i]);
        assert_int_equal(d.items[4][i].number[2], mapping_ids[i]);
    }
}

static void values_and_labels(void **state)
{
    (void)state;
    pp_profile profile = whole_profile();
    encode(&profile);
    uint64_t values[4];
    assert_int_equal(packed(&d.items[2][1], 2, values, 4), 2);
    assert_int_equal((int64_t)values[0], -1);
    assert_int_equal((int64_t)values[1], INT64_MAX);

    const message *m = &d.items[2][0];
    assert_int_equal(m->part_count, 4); /* locations, values, and two labels that are not empty */
    message label = parse(m->part[2]);
    assert_string_equal(text(label.number[1]), "user");
    assert_string_equal(text(label.number[2]), "caf\xc3\xa9");
    assert_false(label.has[3] || label.has[4]);
    label = parse(m->part[3]);
    assert_string_equal(text(label.number[1]), "bytes");
    assert_int_equal(label.number[3], 512);
    assert_string_equal(text(label.number[4]), "bytes");
    assert_false(label.has[2]);
}

static void texts_are_valid_utf8(void **state)
{
    (void)state;
    const struct {
        const char *raw, *valid;
    } cases[] = {
        {"plain", "plain"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf",
         "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf"},
        {"a\xff"
         "b",
         "a\xef\xbf\xbd"
         "b"},
        {"a word and a half", "a word and a half"},
        {"a word  \xff", "a word  \xef\xbf\xbd"},
        {"a word \xff a word \xffz", "a word \xef\xbf\xbd a word \xef\xbf\xbdz"},
        {"a word  \xc3\xa9 a word  ", "a word  \xc3\xa9 a word  "},
        {"\x80", "\xef\xbf\xbd"},
        {"\xc3", "\xef\xbf\xbd"},
        {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"}, /* overlong */
        {"\xe0\x9f\xbf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* a surrogate */
        {"\xed\x9f\xbf", "\xed\x9f\xbf"},
        {"\xf4\x90\x80\x80x", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx"},
        {"\xf8\x88\x80\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pp_profile profile = whole_profile();
        const char *const comment[] = {cases[i].raw};
        profile.comments = comment;
        profile.comment_count = 1;
        encode(&profile);
        assert_string_equal(text(d.comments[0]), cases[i].valid);
    }
}

/* ---- Names --------------------------------------------------------------------------------- */

static elf_image image;

/* Readers take each of the four for "leave this mapping alone". */
static void assert_complete(const message *mapping, bool complete)
{
    for (int flag = 7; flag <= 10; flag++)
        assert_int_equal(mapping->number[flag], complete);
}

static pp_mapping image_mapping(void)
{
    const image_symbol symbols[] = {
        {"_Z5firstv", TEXT_START, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
        {"second", TEXT_START + 0x10, 0x10, STB_GLOBAL, STT_FUNC, TEXT},
    };
    elf_image_make(&image, &(image_options){.table_type = SHT_SYMTAB}, symbols, 2);
    uintptr_t begin = (uintptr_t)image.bytes;
    /* The code itself is never read: it may claim to lie where the headers are. */
    return (pp_mapping){.start = begin,
                        .limit = begin + image.size,
                        .bias = begin - TEXT_START,
                        .path = "[vdso]",
                        .in_memory = true};
}

static void names_become_functions(void **state)
{
    (void)state;
    pp_mapping mapping = image_mapping();
    uintptr_t stack[] = {mapping.start + 0x15, mapping.start + 0x05, mapping.start + 0x08,
                         mapping.start + 0x10, mapping.start + 0x11};
    pp_profile_sample sample = {.pc = stack, .depth = 5, .value = {1}};
    pp_profile profile = {.sample_type_count = 1,
                          .sample_type = {{"samples", "count"}},
                          .samples = &sample,
                          .sample_count = 1,
                          .mappings = &mapping,
                          .mapping_count = 1,
                          .symbolize = PP_SYMBOLIZE_NAMES};
    encode(&profile);
    const char *expected[] = {"second", "_Z5firstv", "_Z5firstv", "_Z5firstv", "second"};
    assert_int_equal(d.count[5], 2);
    for (size_t i = 0; i < 5; i++) {
        const message *location = &d.items[4][i];
        assert_int_equal(location->part_count, 1);
        uint64_t function = parse(location->part[0]).number[1];
        const message *f = &d.items[5][function - 1];
        assert_string_equal(text(f->number[2]), expected[i]);
        assert_int_equal(f->number[2], f->number[3]);
        assert_false(f->has[4] || f->has[5]);
    }
    assert_complete(&d.items[3][0], false); /* a reader with the file can add lines */

    profile.symbolize = PP_SYMBOLIZE_NONE;
    encode(&profile);
    assert_int_equal(d.count[5], 0);

    profile.symbolize = PP_SYMBOLIZE_NAMES;
    stack[2] = mapping.start + 0x22; /* one location without a name */
    encode(&profile);
    assert_int_equal(d.count[5], 2);
    assert_int_equal(d.items[4][2].part_count, 0);
}

/* ---- Lines --------------------------------------------------------------------------------- */

static uintptr_t lines_end; /* addresses above it have no lines */
static bool all_is_known;   /* nobody could find more */

/* Every address is in three functions; the outermost is called by another name than
 * its symbol's. */
static bool find_lines(const pp_mapping *mapping, const uintptr_t *addresses, size_t count,
                       pp_lines *lines, pp_arena *arena)
{
    for (size_t i = 0; i < count && addresses[i] < lines_end; i++) {
        lines[i].line = pp_arena_array(arena, 3, sizeof(pp_line));
        lines[i].count = 3;
        lines[i].entry = mapping->start;
        lines[i].line[0] =
            (pp_line){"inner", "/src/a.h", (uint32_t)(addresses[i] - mapping->start), 7};
        lines[i].line[1] = (pp_line){"middle", "/src/b.c", 0, 0};
        lines[i].line[2] = (pp_line){"outer", "/src/b.c", 22, 20};
    }
    return all_is_known;
}

static bool can_begin(void)
{
    return true;
}

static const pp_lines_source source = {can_begin, find_lines};

static void assert_function(uint64_t id, const char *name, const char *file, uint64_t start_line)
{
    const message *f = &d.items[5][id - 1];
    assert_string_equal(text(f->number[2]), name);
    assert_int_equal(f->number[2], f->number[3]);
    assert_string_equal(text(f->number[4]), file);
    assert_int_equal(f->number[5], start_line);
}

static void lines_are_innermost_first(void **state)
{
    (void)state;
    pp_mapping mapping = image_mapping();
    uintptr_t stack[] = {mapping.start + 0x06, mapping.start + 0x16, mapping.start + 0x31};
    pp_profile_sample sample = {.pc = stack, .depth = 3, .value = {1}};
    pp_profile profile = {.sample_type_count = 1,
                          .sample_type = {{"samples", "count"}},
                          .samples = &sample,
                          .sample_count = 1,
                          .mappings = &mapping,
                          .mapping_count = 1,
                          .symbolize = PP_SYMBOLIZE_LINES};
    lines_end = UINTPTR_MAX;
    all_is_known = true;
    pp_lines_set_source(&source);
    encode(&profile);
    assert_complete(&d.items[3][0], true);
    const char *outer[] = {"_Z5firstv", "second", "outer"}; /* the third has no symbol */
    for (size_t i = 0; i < 3; i++) {
        const message *location = &d.items[4][i];
        assert_int_equal(location->part_count, 3);
        message line = parse(location->part[0]);
        assert_function(line.number[1], "inner", "/src/a.h", 7);
        assert_int_equal(line.number[2], stack[i] - 1 - mapping.start);
        line = parse(location->part[1]);
        assert_function(line.number[1], "middle", "/src/b.c", 0);
        assert_false(line.has[2]);
        line = parse(location->part[2]);
        assert_function(line.number[1], outer[i], "/src/b.c", 20);
        assert_int_equal(line.number[2], 22);
    }
    assert_int_equal(d.count[5], 5); /* inner, middle, and three of the outermost */

    lines_end = mapping.start + 0x10; /* the second is left with its name, the third with nothing */
    encode(&profile);
    assert_complete(&d.items[3][0], true); /* as _start, of which nobody knows more */
    assert_int_equal(d.items[4][0].part_count, 3);
    assert_int_equal(d.items[4][1].part_count, 1);
    message line = parse(d.items[4][1].part[0]);
    assert_function(line.number[1], "second", "", 0);
    assert_int_equal(d.items[4][2].part_count, 0);

    all_is_known = false;
    encode(&profile);
    assert_complete(&d.items[3][0], false);
    assert_int_equal(d.items[4][0].part_count, 3);

    all_is_known = true;
    lines_end = 0;
    encode(&profile);
    assert_complete(&d.items[3][0], true); /* all the code is like _start */

    lines_end = UINTPTR_MAX;
    profile.symbolize = PP_SYMBOLIZE_NAMES;
    encode(&profile);
    assert_complete(&d.items[3][0], false);
    assert_int_equal(d.items[4][0].part_count, 1);

    profile.symbolize = PP_SYMBOLIZE_LINES;
    pp_lines_set_source(NULL);
    encode(&profile);
    assert_complete(&d.items[3][0], false);
    assert_int_equal(d.items[4][0].part_count, 1);
}

/* ---- The allocator's frames ----------------------------------------------------------------- */

/* Functions of 16 bytes each. */
enum { OPERATOR_NEW, GROW, OUTER, MAIN, OWN_CALLOC, FUNCTIONS };

static pp_mapping image_of_a_program(void)
{
    static const char *const names[] = {"_Znwm", "grow", "outer", "main", "calloc"};
    image_symbol symbols[FUNCTIONS];
    for (unsigned i = 0; i < FUNCTIONS; i++)
        symbols[i] =
            (image_symbol){names[i], TEXT_START + i * 0x10, 0x10, STB_GLOBAL, STT_FUNC, TEXT};
    symbols[OWN_CALLOC].binding = STB_LOCAL;
    pp_mapping mapping = image_mapping();
    elf_image_make(&image, &(image_options){.table_type = SHT_SYMTAB}, symbols, FUNCTIONS);
    return mapping;
}

/* The names of the sample's functions, leaf first, each with a blank behind it. */
static const char *stack_of(size_t number)
{
    static char stack[256];
    uint64_t ids[PARTS_MAX];
    size_t depth = packed(&d.items[2][number], 1, ids, PARTS_MAX);
    stack[0] = '\0';
    for (size_t i = 0; i < depth; i++) {
        const message *location = &d.items[4][ids[i] - 1];
        for (size_t k = 0; k < location->part_count; k++) {
            uint64_t function = parse(location->part[k]).number[1];
            strcat(strcat(stack, text(d.items[5][function - 1].number[2])), " ");
        }
        if (location->part_count == 0)
            strcat(stack, location->number[3] == 0 ? "0 " : "? ");
    }
    return stack;
}

enum { DEPTH = 5 };

static uintptr_t stacks[8][DEPTH];
static pp_profile_sample allocations[8];

/* A sample of these functions, the leaf first; HOOK is malloc's. */
enum { HOOK = -1, NONE = -2 };
static void add_allocation(pp_profile *profile, int a, int b, int c, int e, int f)
{
    const int functions[DEPTH] = {a, b, c, e, f};
    size_t at = profile->sample_count++;
    uint32_t depth = 0;
    for (; depth < DEPTH && functions[depth] != NONE; depth++)
        stacks[at][depth] = functions[depth] == HOOK ? (uintptr_t)malloc + 1
                                                     : profile->mappings[0].start + 1 +
                                                           (uintptr_t)functions[depth] * 0x10;
    allocations[at] = (pp_profile_sample){.pc = stacks[at], .depth = depth, .value = {1}};
    profile->samples = allocations;
}

static bool has_function(const char *name)
{
    for (size_t i = 0; i < d.count[5]; i++) {
        if (strcmp(text(d.items[5][i].number[2]), name) == 0)
            return true;
    }
    return false;
}

static pp_profile heap_profile(const pp_mapping *mapping)
{
    return (pp_profile){.sample_type_count = 1,
                        .sample_type = {{"alloc_objects", "count"}},
                        .mappings = mapping,
                        .mapping_count = 1,
                        .symbolize = PP_SYMBOLIZE_NAMES,
                        .hide_allocators = true};
}

static void needs_hooks(void)
{
    if (!pp_code_is_allocator((uintptr_t)malloc))
        skip();
}

static void a_hook_at_the_leaf_is_not_written(void **state)
{
    (void)state;
    needs_hooks();
    pp_mapping mapping = image_of_a_program();
    pp_profile profile = heap_profile(&mapping);
    add_allocation(&profile, HOOK, GROW, OUTER, MAIN, NONE);
    add_allocation(&profile, HOOK, OUTER, OUTER, MAIN, NONE);
    encode(&profile);
    assert_string_equal(stack_of(0), "grow outer main ");
    assert_string_equal(stack_of(1), "outer outer main ");
    assert_int_equal(d.count[4], 3);
    assert_int_equal(d.count[5], 3);

    profile.symbolize = PP_SYMBOLIZE_NONE;
    encode(&profile);
    assert_int_equal(d.count[4], 3);
    assert_string_equal(stack_of(0), "? ? ? ");

    profile.hide_allocators = false;
    encode(&profile);
    assert_string_equal(stack_of(0), "? ? ? ? ");
}

/* Names are known when the first samples are written already: these are written again. */
static void allocators_at_the_leaf_are_not_written(void **state)
{
    (void)state;
    pp_mapping mapping = image_of_a_program();
    pp_profile profile = heap_profile(&mapping);
    add_allocation(&profile, GROW, OUTER, MAIN, NONE, NONE);
    add_allocation(&profile, OPERATOR_NEW, OPERATOR_NEW, OUTER, MAIN, NONE);
    add_allocation(&profile, NONE, NONE, NONE, NONE, NONE);
    encode(&profile);
    assert_string_equal(stack_of(0), "grow outer main ");
    assert_string_equal(stack_of(1), "outer main ");
    assert_string_equal(stack_of(2), "0 ");
    assert_int_equal(d.count[4], 4);
    assert_false(has_function("_Znwm"));

    profile.symbolize = PP_SYMBOLIZE_NONE; /* nobody knows */
    encode(&profile);
    assert_string_equal(stack_of(1), "? ? ? ? ");
}

/* Behind the first frame of another kind, and what the program calls so for its own use. */
static void other_functions_are_written(void **state)
{
    (void)state;
    needs_hooks();
    pp_mapping mapping = image_of_a_program();
    pp_profile profile = heap_profile(&mapping);
    add_allocation(&profile, HOOK, OPERATOR_NEW, GROW, OPERATOR_NEW, MAIN);
    add_allocation(&profile, HOOK, OWN_CALLOC, MAIN, NONE, NONE);
    encode(&profile);
    assert_string_equal(stack_of(0), "grow _Znwm main ");
    assert_string_equal(stack_of(1), "calloc main ");
}

static void if_nothing_is_left_everything_is_written(void **state)
{
    (void)state;
    needs_hooks();
    pp_mapping mapping = image_of_a_program();
    pp_profile profile = heap_profile(&mapping);
    add_allocation(&profile, HOOK, OPERATOR_NEW, NONE, NONE, NONE);
    add_allocation(&profile, HOOK, OPERATOR_NEW, OPERATOR_NEW, OPERATOR_NEW, NONE);
    add_allocation(&profile, HOOK, MAIN, NONE, NONE, NONE);
    encode(&profile);
    assert_string_equal(stack_of(0), "? _Znwm "); /* the hook is in no mapping of the profile */
    assert_string_equal(stack_of(1), "? _Znwm _Znwm _Znwm ");
    assert_string_equal(stack_of(2), "main ");

    profile.samples++; /* its hook is in no other stack that is shown */
    profile.sample_count = 1;
    encode(&profile);
    assert_string_equal(stack_of(0), "? _Znwm _Znwm _Znwm ");
}

/* An operator new that was inlined into the function that uses it. */
static bool find_inlined(const pp_mapping *mapping, const uintptr_t *addresses, size_t count,
                         pp_lines *lines, pp_arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        bool inlined = addresses[i] - mapping->start == GROW * 0x10;
        lines[i].line = pp_arena_array(arena, 2, sizeof(pp_line));
        lines[i].line[inlined] = (pp_line){"", "/src/a.cc", 7, 0};
        if (inlined)
            lines[i].line[0] = (pp_line){"_Znwm", "/src/new.h", 3, 0};
        lines[i].count = 1 + inlined;
    }
    return true;
}

static void inlined_allocators_are_not_written(void **state)
{
    (void)state;
    static const pp_lines_source inlining = {can_begin, find_inlined};
    pp_mapping mapping = image_of_a_program();
    pp_profile profile = heap_profile(&mapping);
    add_allocation(&profile, GROW, OUTER, MAIN, NONE, NONE);
    profile.symbolize = PP_SYMBOLIZE_LINES;
    pp_lines_set_source(&inlining);
    encode(&profile);
    pp_lines_set_source(NULL);
    assert_string_equal(stack_of(0), "grow outer main ");
    assert_false(has_function("_Znwm"));
}

/* ---- Failures and size --------------------------------------------------------------------- */

enum { MANY = 3000 };

static uintptr_t many_pcs[MANY][40];
static pp_profile_sample many_samples[MANY];

static pp_profile large_profile(void)
{
    uint32_t seed = 5;
    for (size_t i = 0; i < MANY; i++) {
        for (size_t k = 0; k < 40; k++) {
            seed = seed * 1664525 + 1013904223;
            many_pcs[i][k] = 0x400001 + (seed >> 16) % 3500 * 16;
        }
        many_samples[i] = (pp_profile_sample){
            .pc = many_pcs[i], .depth = 40, .value = {(int64_t)i, (int64_t)i * 10000000}};
    }
    pp_profile profile = whole_profile();
    profile.samples = many_samples;
    profile.sample_count = MANY;
    return profile;
}

static void large_profiles_are_complete(void **state)
{
    (void)state;
    pp_profile profile = large_profile();
    encode(&profile);
    assert_int_equal(d.count[2], MANY);
    for (size_t i = 0; i < MANY; i++) {
        uint64_t ids[40];
        assert_int_equal(packed(&d.items[2][i], 1, ids, 40), 40);
        for (size_t k = 0; k < 40; k++)
            assert_int_equal(d.items[4][ids[k] - 1].number[3], many_pcs[i][k] - 1);
    }
}

static void equal_profiles_are_equal_bytes(void **state)
{
    (void)state;
    pp_profile profile = large_profile();
    memory_writer sinks[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        pp_arena arena = PP_ARENA_INIT;
        assert_int_equal(pp_proto_encode(&profile, &arena, memory_writer_of(&sinks[i])), 0);
        pp_arena_release(&arena);
    }
    assert_int_equal(sinks[0].size, sinks[1].size);
    assert_memory_equal(sinks[0].data, sinks[1].data, sinks[0].size);
    memory_writer_reset(&sinks[0]);
    memory_writer_reset(&sinks[1]);
}

static void writer_errors_are_returned(void **state)
{
    (void)state;
    pp_profile profile = large_profile();
    for (long fail_at = 1; fail_at <= 4; fail_at++) {
        memory_writer sink = {.fail_at = fail_at, .error = -EDQUOT};
        pp_arena arena = PP_ARENA_INIT;
        assert_int_equal(pp_proto_encode(&profile, &arena, memory_writer_of(&sink)), -EDQUOT);
        assert_int_equal(sink.calls, fail_at);
        memory_writer_reset(&sink);
        pp_arena_release(&arena);
    }
}

static int encode_all_or_nothing(void *profile)
{
    memory_writer sink = {0};
    pp_arena arena = PP_ARENA_INIT;
    int error = pp_proto_encode(profile, &arena, memory_writer_of(&sink));
    pp_arena_release(&arena);
    assert_int_equal(sink.calls > 0, error == 0);
    memory_writer_reset(&sink);
    return error;
}

static void refused_memory_writes_nothing_and_leaks_nothing(void **state)
{
    (void)state;
    needs_mmap_fault();
    pp_profile profile = large_profile();
    assert_in_range(mappings_needed(encode_all_or_nothing, &profile), 4, 98);
    profile.hide_allocators = true;
    assert_in_range(mappings_needed(encode_all_or_nothing, &profile), 4, 98);
}

static int free_decoded(void **state)
{
    (void)state;
    free(d.raw);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_fields),
        cmocka_unit_test(absent_fields),
        cmocka_unit_test(mappings),
        cmocka_unit_test(the_unknown_mapping_only_when_needed),
        cmocka_unit_test(stacks_and_locations),
        cmocka_unit_test(values_and_labels),
        cmocka_unit_test(texts_are_valid_utf8),
        cmocka_unit_test(names_become_functions),
        cmocka_unit_test(lines_are_innermost_first),
        cmocka_unit_test(a_hook_at_the_leaf_is_not_written),
        cmocka_unit_test(allocators_at_the_leaf_are_not_written),
        cmocka_unit_test(other_functions_are_written),
        cmocka_unit_test(if_nothing_is_left_everything_is_written),
        cmocka_unit_test(inlined_allocators_are_not_written),
        cmocka_unit_test(large_profiles_are_complete),
        cmocka_unit_test(equal_profiles_are_equal_bytes),
        cmocka_unit_test(writer_errors_are_returned),
        cmocka_unit_test(refused_memory_writes_nothing_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, free_decoded);
}
