/* SPDX-License-Identifier: MIT
 *
 * test_gzip.c: zlib reads back what was written, however it was cut; errors stick.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "encode/gzip.h"
#include "memory_writer.h"
#include "mmap_fault.h"

enum { TEXT_SIZE = 700000 };

static uint8_t text[TEXT_SIZE];

/* Half compressible, half noise. */
static int fill_text(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (size_t i = 0; i < TEXT_SIZE; i++) {
        seed = seed * 1664525 + 1013904223;
        text[i] = i % 8192 < 4096 ? (uint8_t)(i % 61) : (uint8_t)(seed >> 24);
    }
    return 0;
}

static void assert_roundtrip(size_t size, size_t step, int level)
{
    pp_arena arena = PP_ARENA_INIT;
    memory_writer sink = {0};
    pp_gzip *gzip = pp_gzip_new(&arena, memory_writer_of(&sink), level);
    assert_non_null(gzip);
    pprof_writer writer = pp_gzip_writer(gzip);
    for (size_t at = 0; at < size; at += step) {
        size_t part = size - at < step ? size - at : step;
        assert_int_equal(writer.write(writer.ctx, text + at, part), 0);
    }
    assert_int_equal(pp_gzip_finish(gzip), 0);
    long calls = sink.calls;
    assert_int_equal(pp_gzip_finish(gzip), 0);
    assert_int_equal(sink.calls, calls);

    size_t found_size;
    uint8_t *found = gunzip(sink.data, sink.size, &found_size);
    assert_non_null(found);
    assert_int_equal(found_size, size);
    assert_memory_equal(found, text, size);
    assert_int_equal(sink.data[0], 0x1f);
    for (int i = 4; i < 8; i++)
        assert_int_equal(sink.data[i], 0); /* no modification time */
    free(found);
    memory_writer_reset(&sink);
    pp_arena_release(&arena);
}

static void roundtrips(void **state)
{
    (void)state;
    assert_roundtrip(0, 1, 1);
    assert_roundtrip(1, 1, 1);
    assert_roundtrip(5000, 1, 3);
    assert_roundtrip(TEXT_SIZE, TEXT_SIZE, 1);
    assert_roundtrip(TEXT_SIZE, 977, 6);
    assert_roundtrip(TEXT_SIZE, 32768, 9);
}

static void inner_errors_stick(void **state)
{
    (void)state;
    for (long fail_at = 1; fail_at <= 10; fail_at++) {
        pp_arena arena = PP_ARENA_INIT;
        memory_writer sink = {.fail_at = fail_at, .error = -ENOSPC};
        pp_gzip *gzip = pp_gzip_new(&arena, memory_writer_of(&sink), 1);
        assert_non_null(gzip);
        pprof_writer writer = pp_gzip_writer(gzip);
        int error = 0;
        for (size_t at = 0; at < TEXT_SIZE; at += 7000) {
            int now = writer.write(writer.ctx, text + at, 7000);
            assert_true(error == 0 || now == error);
            error = now;
        }
        assert_int_equal(pp_gzip_finish(gzip), -ENOSPC);
        assert_int_equal(sink.calls, fail_at);
        assert_false(sink.called_after_error);
        memory_writer_reset(&sink);
        pp_arena_release(&arena);
    }
}

static void writing_after_the_end_is_an_error(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    memory_writer sink = {0};
    pp_gzip *gzip = pp_gzip_new(&arena, memory_writer_of(&sink), 1);
    pprof_writer writer = pp_gzip_writer(gzip);
    assert_int_equal(pp_gzip_finish(gzip), 0);
    assert_int_equal(writer.write(writer.ctx, "x", 1), -EINVAL);
    memory_writer_reset(&sink);
    pp_arena_release(&arena);
}

static int make_one(void *sink)
{
    pp_arena arena = PP_ARENA_INIT;
    bool made = pp_gzip_new(&arena, memory_writer_of(sink), 1) != NULL;
    pp_arena_release(&arena);
    return made ? 0 : -ENOMEM;
}

static void no_memory_and_no_such_level(void **state)
{
    (void)state;
    needs_mmap_fault();
    memory_writer sink = {0};
    pp_arena arena = PP_ARENA_INIT;
    assert_in_range(mappings_needed(make_one, &sink), 1, 19);
    assert_null(pp_gzip_new(&arena, memory_writer_of(&sink), 0));
    assert_null(pp_gzip_new(&arena, memory_writer_of(&sink), 10));
    assert_int_equal(sink.calls, 0);
    pp_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roundtrips),
        cmocka_unit_test(inner_errors_stick),
        cmocka_unit_test(writing_after_the_end_is_an_error),
        cmocka_unit_test(no_memory_and_no_such_level),
    };
    return cmocka_run_group_tests(tests, fill_text, NULL);
}
