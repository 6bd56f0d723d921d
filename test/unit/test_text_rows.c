/* SPDX-License-Identifier: MIT
 *
 * test_text_rows.c: the lines of frames: columns as Go's tabwriter makes them, hidden frames.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "elf_image.h"
#include "encode/text_rows.h"
#include "memory_writer.h"
#include "symbol/lines.h"

enum { DEPTH_MAX = 16 };

static elf_image image;
static memory_writer sink;

typedef struct frame {
    const char *name; /* NULL: an address outside of the image */
    uintptr_t offset; /* of the call */
} frame;

static pp_symbolize symbolize = PP_SYMBOLIZE_NAMES;
static uint8_t code_of = PP_CODE_OF_PROGRAM | PP_CODE_OF_LIBC; /* the module */

/* What is written for a stack of these frames, leaf first, with 0xP for each address. */
static const char *lines_of(const frame *frames, uint32_t depth, bool hide_allocators)
{
    image_symbol symbols[DEPTH_MAX];
    uintptr_t pcs[DEPTH_MAX];
    unsigned functions = 0;
    uintptr_t entry = TEXT_START; /* they stand one behind the other */
    uintptr_t bias = (uintptr_t)image.bytes;
    for (uint32_t i = 0; i < depth; i++) {
        if (frames[i].name == NULL) {
            pcs[i] = 0x1000 + i + 1;
            continue;
        }
        uintptr_t size = frames[i].offset + 1;
        symbols[functions++] =
            (image_symbol){frames[i].name, entry, size, STB_GLOBAL, STT_FUNC, TEXT};
        pcs[i] = bias + entry + frames[i].offset + 1;
        entry += size;
    }
    elf_image_make(&image, &(image_options){.table_type = SHT_SYMTAB}, symbols, functions);
    const pp_mapping mapping = {.start = bias,
                                .limit = bias + TEXT_LIMIT,
                                .bias = bias,
                                .path = "/lib/module",
                                .code_of = code_of,
                                .in_memory = true};
    const pp_profile_sample sample = {.pc = pcs, .depth = depth};
    const pp_profile profile = {.samples = &sample,
                                .sample_count = 1,
                                .mappings = &mapping,
                                .mapping_count = 1,
                                .symbolize = symbolize};
    pp_arena arena = PP_ARENA_INIT;
    pp_frame_lines comments;
    pp_text_stream out;
    memory_writer_reset(&sink);
    pp_text_stream_init(&out, memory_writer_of(&sink));
    assert_int_equal(pp_frame_lines_init(&comments, &profile, hide_allocators, &arena), 0);
    pp_frame_lines_write(&comments, &sample, &out);
    assert_int_equal(pp_text_stream_finish(&out), 0);
    pp_arena_release(&arena);
    sink.data[sink.size] = '\0';
    return (const char *)sink.data;
}

/* The text with every address replaced by 0xP: where the image lies is not known beforehand. */
static const char *without_addresses(const char *text)
{
    static char result[4096];
    char *to = result;
    while (*text != '\0') {
        if (strncmp(text, "#\t0x", 4) == 0) {
            memcpy(to, "#\t0xP", 5);
            to += 5;
            text += 4 + strspn(text + 4, "0123456789abcdef");
        } else {
            *to++ = *text++;
        }
    }
    *to = '\0';
    return result;
}

#define LINES(hide, ...)                                                                           \
    without_addresses(lines_of((const frame[]){__VA_ARGS__},                                       \
                               sizeof((const frame[]){__VA_ARGS__}) / sizeof(frame), hide))

/* As Go 1.19 writes these names and offsets. */
static void columns_are_go_s(void **state)
{
    (void)state;
    assert_string_equal(LINES(true, {"compress/flate.NewWriter", 0x2e},
                              {"compress/gzip.(*Writer).Write", 0x2d8},
                              {"runtime/pprof.(*profileBuilder).build", 0x364},
                              {"runtime/pprof.printCountProfile", 0x5a4},
                              {"runtime/pprof.writeRuntimeProfile", 0x164}, {"main.w", 0x6e}),
                        "#\t0xP\tcompress/flate.NewWriter+0x2e\t\t\t/lib/module\n"
                        "#\t0xP\tcompress/gzip.(*Writer).Write+0x2d8\t\t/lib/module\n"
                        "#\t0xP\truntime/pprof.(*profileBuilder).build+0x364\t/lib/module\n"
                        "#\t0xP\truntime/pprof.printCountProfile+0x5a4\t\t/lib/module\n"
                        "#\t0xP\truntime/pprof.writeRuntimeProfile+0x164\t\t/lib/module\n"
                        "#\t0xP\tmain.w+0x6e\t\t\t\t\t/lib/module\n\n");
    assert_string_equal(LINES(true, {"fmt.glob..func1", 0x24}, {"sync.(*Pool).Get", 0xb1},
                              {"fmt.newPrinter", 0x24}, {"fmt.Sprint", 0x27}),
                        "#\t0xP\tfmt.glob..func1+0x24\t/lib/module\n"
                        "#\t0xP\tsync.(*Pool).Get+0xb1\t/lib/module\n"
                        "#\t0xP\tfmt.newPrinter+0x24\t/lib/module\n"
                        "#\t0xP\tfmt.Sprint+0x27\t\t/lib/module\n\n");
}

/* A width that is a multiple of eight needs a tab more; characters count, not bytes. */
static void a_cell_is_one_wider_than_its_text(void **state)
{
    (void)state;
    assert_string_equal(LINES(true, {"abc", 0x10}, {"abcd", 0x10}),
                        "#\t0xP\tabc+0x10\t/lib/module\n"
                        "#\t0xP\tabcd+0x10\t/lib/module\n\n");
    assert_string_equal(LINES(true, {"ab", 0x10}, {"a", 0x1}), "#\t0xP\tab+0x10\t/lib/module\n"
                                                               "#\t0xP\ta+0x1\t/lib/module\n\n");
    assert_string_equal(LINES(true, {"\xc3\xa4\xc3\xb6\xc3\xbc", 0x1}, {"a", 0x1}),
                        "#\t0xP\t\xc3\xa4\xc3\xb6\xc3\xbc+0x1\t/lib/module\n"
                        "#\t0xP\ta+0x1\t/lib/module\n\n");
}

/* An address without a name has no second column and ends the columns of the lines above it. */
static void unknown_addresses_stand_alone(void **state)
{
    (void)state;
    assert_string_equal(LINES(true, {"short", 0x1}, {NULL, 0}, {"a_function_with_a_long_name", 0x1},
                              {"short_too", 0x1}, {NULL, 0}),
                        "#\t0xP\tshort+0x1\t/lib/module\n"
                        "#\t0xP\n"
                        "#\t0xP\ta_function_with_a_long_name+0x1\t/lib/module\n"
                        "#\t0xP\tshort_too+0x1\t\t\t/lib/module\n"
                        "#\t0xP\n\n");
}

static void addresses_are_those_of_calls(void **state)
{
    (void)state;
    const frame one[] = {{"function", 0x7f}};
    char expected[64];
    const char *text = lines_of(one, 1, true);
    snprintf(expected, sizeof expected, "#\t0x%lx\tfunction+0x7f\t",
             (unsigned long)image.bytes + TEXT_START + 0x7f);
    assert_memory_equal(text, expected, strlen(expected));
}

static void allocators_at_the_leaf_and_roots_are_hidden(void **state)
{
    (void)state;
    assert_string_equal(LINES(true, {"malloc", 0}, {"_Znwm", 0x1c}, {"grow", 0x1}, {"realloc", 0x2},
                              {"main", 0x3}, {"_start", 0x21}),
                        "#\t0xP\tgrow+0x1\t/lib/module\n"
                        "#\t0xP\trealloc+0x2\t/lib/module\n"
                        "#\t0xP\tmain+0x3\t/lib/module\n\n");
    assert_string_equal(
        LINES(true, {"malloc", 0}, {"work", 0x1}, {"start_thread", 0x2}, {"clone3", 0x3}),
        "#\t0xP\twork+0x1\t/lib/module\n\n");
    assert_string_equal(LINES(false, {"malloc", 0}, {"main", 0x3}, {"_start", 0x21}),
                        "#\t0xP\tmalloc+0x0\t/lib/module\n"
                        "#\t0xP\tmain+0x3\t/lib/module\n\n");
}

/* A program may have functions with the names of roots; so may any function's caller. */
static void roots_are_hidden_at_the_root_alone(void **state)
{
    (void)state;
    assert_string_equal(LINES(true, {"leaf", 0}, {"start_thread", 0x1}, {"clone", 0x2},
                              {"_start", 0x3}, {"main", 0x4}, {"_start", 0x5}),
                        "#\t0xP\tleaf+0x0\t\t/lib/module\n"
                        "#\t0xP\tstart_thread+0x1\t/lib/module\n"
                        "#\t0xP\tclone+0x2\t\t/lib/module\n"
                        "#\t0xP\t_start+0x3\t\t/lib/module\n"
                        "#\t0xP\tmain+0x4\t\t/lib/module\n\n");
    /* The one that the thread begins with is libc's, the other one the program's. */
    assert_string_equal(
        LINES(true, {"a", 0}, {"start_thread", 0x1}, {"start_thread", 0x2}, {"clone", 0x3}),
        "#\t0xP\ta+0x0\t\t\t/lib/module\n"
        "#\t0xP\tstart_thread+0x1\t/lib/module\n\n");
    assert_string_equal(LINES(true, {"a", 0}, {"clone", 0x1}, {"start_thread", 0x2}),
                        "#\t0xP\ta+0x0\t\t/lib/module\n"
                        "#\t0xP\tclone+0x1\t/lib/module\n\n");
}

static void roots_of_other_modules_are_shown(void **state)
{
    (void)state;
    code_of = 0;
    assert_string_equal(LINES(true, {"a", 0}, {"start_thread", 0x1}, {"clone", 0x2}),
                        "#\t0xP\ta+0x0\t\t\t/lib/module\n"
                        "#\t0xP\tstart_thread+0x1\t/lib/module\n"
                        "#\t0xP\tclone+0x2\t\t/lib/module\n\n");
    assert_string_equal(LINES(true, {"a", 0}, {"_start", 0x2}),
                        "#\t0xP\ta+0x0\t\t/lib/module\n"
                        "#\t0xP\t_start+0x2\t/lib/module\n\n");
    code_of = PP_CODE_OF_PROGRAM;
    assert_string_equal(LINES(true, {"a", 0}, {"start_thread", 0x2}),
                        "#\t0xP\ta+0x0\t\t\t/lib/module\n"
                        "#\t0xP\tstart_thread+0x2\t/lib/module\n\n");
    code_of = PP_CODE_OF_PROGRAM | PP_CODE_OF_LIBC;
}

static void if_nothing_is_left_everything_is_shown(void **state)
{
    (void)state;
    assert_string_equal(LINES(true, {"calloc", 0}, {"start_thread", 0x2}, {"clone", 0x3}),
                        "#\t0xP\tcalloc+0x0\t\t/lib/module\n"
                        "#\t0xP\tstart_thread+0x2\t/lib/module\n"
                        "#\t0xP\tclone+0x3\t\t/lib/module\n\n");
    assert_string_equal(LINES(true, {"_Znwm", 0}, {"_Znwm", 1}),
                        "#\t0xP\toperator new+0x0\t/lib/module\n"
                        "#\t0xP\toperator new+0x1\t/lib/module\n\n");
    /* An unknown address is something: the second pass is not needed. */
    assert_string_equal(LINES(true, {"malloc", 0}, {NULL, 0}, {"_start", 0x3}), "#\t0xP\n\n");
}

/* ---- lines ---- */

/* The functions at the addresses with these offsets in the first functions of the image; 0
 * functions: unknown. */
typedef struct place {
    pp_line line[3];
    uint32_t count;
} place;

static const place *places;
static size_t place_count;

static bool find_places(const pp_mapping *mapping, const uintptr_t *addresses, size_t count,
                        pp_lines *lines, pp_arena *arena)
{
    (void)mapping;
    (void)addresses;
    assert_int_equal(count, place_count);
    for (size_t i = 0; i < count; i++) {
        lines[i].count = places[i].count;
        lines[i].line = pp_arena_array(arena, 3, sizeof(pp_line));
        memcpy(lines[i].line, places[i].line, sizeof places[i].line);
    }
    return true;
}

#define LINES_AT(wanted, ...)                                                                      \
    (places = wanted, place_count = sizeof(wanted) / sizeof(place), LINES(true, __VA_ARGS__))

static bool can_begin(void)
{
    return true;
}

static const pp_lines_source source = {can_begin, find_places};

static int with_lines(void **state)
{
    (void)state;
    symbolize = PP_SYMBOLIZE_LINES;
    pp_lines_set_source(&source);
    return 0;
}

static int without_lines(void **state)
{
    (void)state;
    symbolize = PP_SYMBOLIZE_NAMES;
    pp_lines_set_source(NULL);
    return 0;
}

/* As Go 1.19 writes them. The machine's stack has one address where Go's has one for
 * each function. */
static void lines_and_inlined_functions_are_go_s(void **state)
{
    (void)state;
    static const place known[] = {
        {{{"runtime/pprof.(*Profile).Add", "/usr/lib/go-1.19/src/runtime/pprof/pprof.go", 287, 0}},
         1},
        {{{"main.inner", "/home/main.go", 12, 0},
          {"main.middle", "/home/main.go", 13, 0},
          {"another name than the symbol's", "/home/main.go", 17, 0}},
         3},
        {{{"main.main", "/home/main.go", 21, 0}}, 1},
    };
    assert_string_equal(LINES_AT(known, {"runtime/pprof.(*Profile).Add", 0x9f},
                                 {"main.outer", 0x2f}, {"main.main", 0x30}),
                        "#\t0xP\truntime/pprof.(*Profile).Add+0x9f\t/usr/lib/go-1.19/src/runtime/"
                        "pprof/pprof.go:287\n"
                        "#\t0xP\tmain.inner+0x2f\t\t\t\t/home/main.go:12\n"
                        "#\t0xP\tmain.middle+0x2f\t\t\t/home/main.go:13\n"
                        "#\t0xP\tmain.outer+0x2f\t\t\t\t/home/main.go:17\n"
                        "#\t0xP\tmain.main+0x30\t\t\t\t/home/main.go:21\n\n");
}

/* Where a line is unknown the module stands, in the same column; a name that is not in the symbol
 * table comes from the lines. */
static void lines_and_modules_share_a_column(void **state)
{
    (void)state;
    static const place known[] = {
        {{{"a", "/s/a.c", 1, 0}}, 1},
        {.count = 0},
        {{{"a_longer_name", "/s/b.c", 0, 0}, {"b", "/s/a.c", 4294967295, 0}}, 2},
    };
    assert_string_equal(LINES_AT(known, {"a", 0x1}, {"c", 0x1}, {"b", 0x2}),
                        "#\t0xP\ta+0x1\t\t\t/s/a.c:1\n"
                        "#\t0xP\tc+0x1\t\t\t/lib/module\n"
                        "#\t0xP\ta_longer_name+0x2\t/s/b.c:0\n"
                        "#\t0xP\tb+0x2\t\t\t/s/a.c:4294967295\n\n");
}

/* An inlined function is hidden by its own name. */
static void inlined_functions_are_hidden_as_others(void **state)
{
    (void)state;
    static const place known[] = {
        {{{"_Znwm", "/s/new.h", 5, 0}, {"grow", "/s/a.c", 6, 0}}, 2},
        {{{"clone", "/s/c.S", 7, 0}}, 1},
    };
    assert_string_equal(LINES_AT(known, {"grow", 0x1}, {"clone", 0x2}),
                        "#\t0xP\tgrow+0x1\t/s/a.c:6\n\n");
    static const place only_hidden[] = {
        {{{"malloc", "/s/m.c", 5, 0}, {"_start", "/s/a.S", 6, 0}}, 2},
    };
    assert_string_equal(LINES_AT(only_hidden, {"_start", 0x1}), "#\t0xP\tmalloc+0x1\t/s/m.c:5\n"
                                                                "#\t0xP\t_start+0x1\t/s/a.S:6\n\n");
}

/* As Go has it; its row has the address that readers make 0 of. */
static void an_empty_stack_has_the_address_0(void **state)
{
    (void)state;
    const frame none[1] = {{NULL, 0}};
    assert_string_equal(lines_of(none, 0, true), "#\t0x0\n\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_go_s),
        cmocka_unit_test(a_cell_is_one_wider_than_its_text),
        cmocka_unit_test(unknown_addresses_stand_alone),
        cmocka_unit_test(addresses_are_those_of_calls),
        cmocka_unit_test(allocators_at_the_leaf_and_roots_are_hidden),
        cmocka_unit_test(roots_are_hidden_at_the_root_alone),
        cmocka_unit_test(roots_of_other_modules_are_shown),
        cmocka_unit_test(if_nothing_is_left_everything_is_shown),
        cmocka_unit_test(an_empty_stack_has_the_address_0),
        cmocka_unit_test_setup_teardown(lines_and_inlined_functions_are_go_s, with_lines,
                                        without_lines),
        cmocka_unit_test_setup_teardown(lines_and_modules_share_a_column, with_lines,
                                        without_lines),
        cmocka_unit_test_setup_teardown(inlined_functions_are_hidden_as_others, with_lines,
                                        without_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
