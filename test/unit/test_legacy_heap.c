/* SPDX-License-Identifier: MIT
 *
 * test_legacy_heap.c: the text of a heap profile, line by line, and what becomes of errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kinds/heap/legacy_heap.h"
#include "memory_writer.h"
#include "mmap_fault.h"

static memory_writer sink;

static const uintptr_t one[] = {0x1001, 0x2005, 0x3007};
static const uintptr_t two[] = {0x1101};

static const pp_profile_sample samples[] = {
    /* allocated objects and bytes, in use objects and bytes */
    {.pc = one, .depth = 3, .value = {40, 4000, 32, 3200}},
    {.pc = two, .depth = 1, .value = {7, 700, 0, 0}},
    {.pc = NULL, .depth = 0, .value = {1, 9, 1, 9}},
};

static pp_legacy_heap text_of_samples(void)
{
    pp_legacy_heap text = {
        .profile = {.samples = samples, .sample_count = 3, .sample_type_count = 4},
        .rate = 524288,
        .memory = {.is_libc = true,
                   .heap_alloc = 1000,
                   .heap_sys = 5000,
                   .heap_idle = 3500,
                   .stack = 132,
                   .own = 77,
                   .peak_rss = 4096,
                   .collector = {.collections = 5, .collections_forced = 2, .last_end_ns = 99},
                   .total_alloc = 9000,
                   .mallocs = 600,
                   .frees = 450},
    };
    text.memory.by_size[0] = (pp_size_class){16, 10, 4};
    text.memory.by_size[1] = (pp_size_class){32, 0, 0};
    text.memory.by_size[2] = (pp_size_class){48, 590, 590};
    return text;
}

static const char *encode(const pp_legacy_heap *text, bool bare)
{
    pp_arena arena = PP_ARENA_INIT;
    memory_writer_reset(&sink);
    assert_int_equal(pp_legacy_heap_encode(text, bare, &arena, memory_writer_of(&sink)), 0);
    pp_arena_release(&arena);
    sink.data[sink.size] = '\0';
    return (const char *)sink.data;
}

static void assert_begins(const char *text, const char *beginning)
{
    char *copy = strndup(text, strlen(beginning));
    assert_string_equal(copy, beginning);
    free(copy);
}

static const char statistics[] = "\n# runtime.MemStats\n"
                                 "# (Estimated from samples: TotalAlloc, Mallocs, Frees, "
                                 "HeapObjects, BySize.)\n"
                                 "# Alloc = 1000\n"
                                 "# TotalAlloc = 9000\n"
                                 "# Sys = 5209\n"
                                 "# Lookups = 0\n"
                                 "# Mallocs = 600\n"
                                 "# Frees = 450\n"
                                 "# HeapAlloc = 1000\n"
                                 "# HeapSys = 5000\n"
                                 "# HeapIdle = 3500\n"
                                 "# HeapInuse = 1500\n"
                                 "# HeapReleased = 0\n"
                                 "# HeapObjects = 150\n"
                                 "# Stack = 132 / 132\n"
                                 "# MSpan = 0 / 0\n"
                                 "# MCache = 0 / 0\n"
                                 "# MHeapMapSys = 0\n"
                                 "# BuckHashSys = 77\n"
                                 "# GCSys = 0\n"
                                 "# OtherSys = 0\n"
                                 "# NextGC = 0\n"
                                 "# LastGC = 99\n"
                                 "# PauseNs = 0\n"
                                 "# PauseEnd = 0\n"
                                 "# NumGC = 5\n"
                                 "# NumForcedGC = 2\n"
                                 "# GCCPUFraction = 0\n"
                                 "# EnableGC = false\n"
                                 "# DebugGC = false\n"
                                 "# BySize = Size * (Active = Mallocs - Frees)\n"
                                 "# (Excluding large blocks.)\n"
                                 "# 16 * (6 = 10 - 4)\n"
                                 "# 48 * (0 = 590 - 590)\n"
                                 "# MaxRSS = 4096\n"
                                 "\nMAPPED_LIBRARIES:\n";

static void with_comments(void **state)
{
    (void)state;
    pp_legacy_heap text = text_of_samples();
    const char *found = encode(&text, false);
    assert_begins(found, "heap profile: 33: 3209 [48: 4709] @ heap/1048576\n"
                         "32: 3200 [40: 4000] @ 0x1001 0x2005 0x3007\n"
                         "#\t0x1000\n"
                         "#\t0x2004\n"
                         "#\t0x3006\n"
                         "\n"
                         "0: 0 [7: 700] @ 0x1101\n"
                         "#\t0x1100\n"
                         "\n"
                         "1: 9 [1: 9] @ 0x1\n"
                         "#\t0x0\n"
                         "\n"
                         "\n"
                         "# runtime.MemStats\n");
    assert_begins(strstr(found, "\n# runtime"), statistics);
}

static void bare(void **state)
{
    (void)state;
    pp_legacy_heap text = text_of_samples();
    const char *found = encode(&text, true);
    const char *rows = "heap profile: 33: 3209 [48: 4709] @ heap/1048576\n"
                       "32: 3200 [40: 4000] @ 0x1001 0x2005 0x3007\n"
                       "0: 0 [7: 700] @ 0x1101\n"
                       "1: 9 [1: 9] @ 0x1\n";
    assert_begins(found, rows);
    assert_begins(found + strlen(rows), statistics);
}

static void estimates_have_another_header(void **state)
{
    (void)state;
    pp_legacy_heap text = text_of_samples();
    text.scaled = true;
    assert_begins(encode(&text, true), "heap profile: 33: 3209 [48: 4709] @ heapprofile\n32: ");
}

/* Equal numbers would say that the profile has only what is in use. */
static void the_header_says_four_columns_where_nothing_was_freed(void **state)
{
    static const pp_profile_sample kept = {.pc = two, .depth = 1, .value = {3, 300, 3, 300}};
    (void)state;
    pp_legacy_heap text = {.profile = {.samples = &kept, .sample_count = 1, .sample_type_count = 4},
                           .rate = 1};
    assert_begins(encode(&text, true), "heap profile: 3: 300 [3: 301] @ heap/2\n"
                                       "3: 300 [3: 300] @ 0x1101\n");
    text.scaled = true;
    assert_begins(encode(&text, true), "heap profile: 3: 300 [3: 301] @ heapprofile\n");
}

static void an_empty_profile(void **state)
{
    (void)state;
    pp_legacy_heap text = {.rate = 1};
    const char *found = encode(&text, false);
    assert_begins(found, "heap profile: 0: 0 [0: 1] @ heap/2\n\n# runtime.MemStats\n"
                         "# (Estimated from samples: Alloc, TotalAlloc, Mallocs, Frees, HeapAlloc, "
                         "HeapSys, HeapInuse, HeapObjects, BySize.)\n");
}

/* Readers refuse what is no int64_t. */
static void the_largest_rate_can_be_read(void **state)
{
    (void)state;
    pp_legacy_heap text = {.rate = INT64_MAX};
    assert_begins(encode(&text, true), "heap profile: 0: 0 [0: 1] @ heap/9223372036854775807\n");
}

static void the_maps_are_at_the_end(void **state)
{
    (void)state;
    pp_legacy_heap text = text_of_samples();
    const char *maps = strstr(encode(&text, false), "\nMAPPED_LIBRARIES:\n");
    assert_non_null(maps);
    assert_non_null(strstr(maps, "[stack]"));
    assert_non_null(strstr(maps, "test_legacy_heap"));
    assert_int_equal(sink.data[sink.size - 1], '\n');
}

static void the_writer_s_error_is_returned(void **state)
{
    (void)state;
    pp_legacy_heap text = text_of_samples();
    pp_arena arena = PP_ARENA_INIT;
    memory_writer_reset(&sink);
    sink.fail_at = 1;
    sink.error = -EPIPE;
    assert_int_equal(pp_legacy_heap_encode(&text, false, &arena, memory_writer_of(&sink)), -EPIPE);
    assert_false(sink.called_after_error);
    pp_arena_release(&arena);
}

static int encode_once(void *text)
{
    pp_arena arena = PP_ARENA_INIT;
    memory_writer_reset(&sink);
    int error = pp_legacy_heap_encode(text, false, &arena, memory_writer_of(&sink));
    pp_arena_release(&arena);
    return error;
}

static void without_memory_it_says_so(void **state)
{
    (void)state;
    needs_mmap_fault();
    pp_legacy_heap text = text_of_samples();
    assert_true(mappings_needed(encode_once, &text) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_comments),
        cmocka_unit_test(bare),
        cmocka_unit_test(estimates_have_another_header),
        cmocka_unit_test(the_header_says_four_columns_where_nothing_was_freed),
        cmocka_unit_test(an_empty_profile),
        cmocka_unit_test(the_largest_rate_can_be_read),
        cmocka_unit_test(the_maps_are_at_the_end),
        cmocka_unit_test(the_writer_s_error_is_returned),
        cmocka_unit_test(without_memory_it_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
