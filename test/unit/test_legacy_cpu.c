/* SPDX-License-Identifier: MIT
 *
 * test_legacy_cpu.c: the words of the file, and what a reader makes of them: `read_back` does to a
 * record what profile/legacy_profile.go of google/pprof does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kinds/cpu/legacy_cpu.h"
#include "memory_writer.h"
#include "mmap_fault.h"

enum { DEPTH_MAX = 200, SAMPLES_MAX = 100 };

static memory_writer sink;

static size_t encode(const pp_profile_sample *samples, size_t count, int64_t period)
{
    memory_writer_reset(&sink);
    pp_profile profile = {
        .samples = samples, .sample_count = count, .period = period, .sample_type_count = 2};
    pp_arena arena = PP_ARENA_INIT;
    assert_int_equal(pp_legacy_cpu_encode(&profile, &arena, memory_writer_of(&sink)), 0);
    pp_arena_release(&arena);
    return sink.size / sizeof(uintptr_t);
}

static uintptr_t word(size_t index)
{
    uintptr_t value;
    memcpy(&value, sink.data + index * sizeof(value), sizeof(value));
    return value;
}

static void assert_words(const uintptr_t *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(word(i), expected[i]);
}

static void header_record_trailer_maps(void **state)
{
    (void)state;
    const uintptr_t one[] = {0x1001, 0x2005, 0x3007};
    const uintptr_t two[] = {0x1101, 0x2205};
    const uintptr_t three[] = {0x1101, 0x2305};
    const pp_profile_sample samples[] = {
        {.pc = one, .depth = 3, .value = {5}},
        {.pc = two, .depth = 2, .value = {6}},
        {.pc = three, .depth = 2, .value = {7}},
    };
    encode(samples, 3, 10000000);
    const uintptr_t expected[] = {0, 3, 0,      10000,  0,      /* header */
                                  5, 3, 0x1000, 0x2005, 0x3007, /* leaf - 1, callers */
                                  6, 2, 0x1100, 0x2205, 7,      2, 0x1100, 0x2305, 0, 1, 0};
    assert_words(expected, sizeof(expected) / sizeof(expected[0]));
    const char *maps = (const char *)sink.data + sizeof(expected);
    size_t maps_size = sink.size - sizeof(expected);
    static const char header[] = "\nMAPPED_LIBRARIES:\n";
    assert_in_range(maps_size, sizeof(header), SIZE_MAX);
    assert_memory_equal(maps, header, sizeof(header) - 1);
    assert_non_null(memmem(maps, maps_size, "[stack]", 7));
    assert_int_equal(maps[maps_size - 1], '\n');
}

static void periods_are_whole_microseconds(void **state)
{
    (void)state;
    const struct {
        int64_t ns;
        uintptr_t us;
    } cases[] = {{0, 1}, {-5, 1}, {1, 1}, {1499, 1}, {1500, 2}, {10000000, 10000}, {3333333, 3333}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        encode(NULL, 0, cases[i].ns);
        const uintptr_t expected[] = {0, 3, 0, cases[i].us, 0, 0, 1, 0};
        assert_words(expected, 8);
    }
}

static void empty_and_worthless_samples(void **state)
{
    (void)state;
    const uintptr_t stack[] = {0x1001};
    const uintptr_t null_stack[] = {0};
    const pp_profile_sample samples[] = {
        {.depth = 0, .value = {3}},
        {.pc = stack, .depth = 1, .value = {0}}, /* dropped */
        {.depth = 0, .value = {0}},              /* dropped: it would read as the trailer */
        {.pc = null_stack, .depth = 1, .value = {2}},
    };
    encode(samples, 4, 1000);
    const uintptr_t expected[] = {0, 3, 0, 1, 0, 3, 1, 1, 2, 1, 0, 0, 1, 0};
    assert_words(expected, sizeof(expected) / sizeof(expected[0]));
}

/* ---- The reader ---------------------------------------------------------------------------- */

typedef struct stack {
    int64_t value;
    size_t depth;
    uintptr_t address[DEPTH_MAX];
} stack;

static stack found[SAMPLES_MAX];

static void remove_second(stack *s)
{
    memmove(s->address + 1, s->address + 2, (s->depth - 2) * sizeof(s->address[0]));
    s->depth--;
}

static size_t read_back(void)
{
    size_t count = 0;
    for (size_t at = 5;; count++) {
        stack *s = &found[count];
        s->value = (int64_t)word(at++);
        s->depth = word(at++);
        assert_in_range(s->depth, 1, DEPTH_MAX);
        for (size_t i = 0; i < s->depth; i++)
            s->address[i] = word(at++) - (i > 0);
        if (s->value == 0 && s->depth == 1 && s->address[0] == 0)
            break;
    }
    for (int iteration = 0; iteration < 2; iteration++) {
        for (size_t i = 0; i < count; i++) {
            uintptr_t second = found[i].depth > 1 ? found[i].address[1] : 0;
            size_t same = 0;
            for (size_t k = 0; k < count; k++)
                same += found[k].depth > 1 && found[k].address[1] == second;
            if (found[i].depth < 2 || same < count - count / 32)
                continue;
            for (size_t k = 0; k < count; k++) {
                if (found[k].depth > 1 && found[k].address[1] == second)
                    remove_second(&found[k]);
            }
            break;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (found[i].depth > 1 && found[i].address[0] == found[i].address[1] + 1)
            remove_second(&found[i]);
    }
    return count;
}

static void assert_read_back(const pp_profile_sample *samples, size_t count)
{
    encode(samples, count, 1000000);
    assert_int_equal(read_back(), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i].value, samples[i].value[0]);
        assert_int_equal(found[i].depth, samples[i].depth);
        for (size_t k = 0; k < samples[i].depth; k++)
            assert_int_equal(found[i].address[k], samples[i].pc[k] - 1);
    }
}

/* Random stacks over few addresses: shared second frames, recursion, leaves that equal their
 * caller. */
static void readers_get_every_stack_back(void **state)
{
    (void)state;
    static uintptr_t stacks[SAMPLES_MAX][DEPTH_MAX];
    static pp_profile_sample samples[SAMPLES_MAX];
    uint32_t seed = 11;
    for (int round = 0; round < 3000; round++) {
        seed = seed * 1664525 + 1013904223;
        size_t count = 1 + (seed >> 16) % (round % 2 == 0 ? 5 : SAMPLES_MAX - 1);
        unsigned common = (seed >> 8) % 8; /* how strongly the second frame is shared */
        for (size_t i = 0; i < count; i++) {
            seed = seed * 1664525 + 1013904223;
            uint32_t depth = (seed >> 16) % 64 == 0 ? 1 : 2 + (seed >> 24) % 5;
            for (uint32_t k = 0; k < depth; k++) {
                seed = seed * 1664525 + 1013904223;
                stacks[i][k] = 0x1000 + (seed >> 16) % 4;
            }
            seed = seed * 1664525 + 1013904223;
            if (depth > 1 && (seed >> 16) % 40 >= common)
                stacks[i][1] = 0x1002;
            samples[i] = (pp_profile_sample){
                .pc = stacks[i], .depth = depth, .value = {(int64_t)(seed >> 20) + 1}};
        }
        assert_read_back(samples, count);
    }
}

static void one_hot_call_site(void **state)
{
    (void)state;
    const uintptr_t pcs[] = {0x1001, 0x2005, 0x2005, 0x2005, 0x3007};
    const pp_profile_sample sample = {.pc = pcs, .depth = 5, .value = {1}};
    assert_read_back(&sample, 1);
}

static void deep_stacks_cross_the_window(void **state)
{
    (void)state;
    static uintptr_t pcs[DEPTH_MAX];
    static pp_profile_sample samples[SAMPLES_MAX - 1];
    for (size_t i = 0; i < DEPTH_MAX; i++)
        pcs[i] = 0x1000 + 16 * i;
    for (size_t i = 0; i < SAMPLES_MAX - 1; i++)
        samples[i] = (pp_profile_sample){.pc = pcs + i % 5, .depth = DEPTH_MAX - 5, .value = {1}};
    assert_read_back(samples, SAMPLES_MAX - 1);
    assert_true(sink.calls > 3);
}

/* ---- Failures ------------------------------------------------------------------------------ */

static void writer_errors_stick(void **state)
{
    (void)state;
    static uintptr_t pcs[DEPTH_MAX];
    pp_profile_sample samples[SAMPLES_MAX];
    for (size_t i = 0; i < SAMPLES_MAX; i++)
        samples[i] = (pp_profile_sample){.pc = pcs, .depth = DEPTH_MAX - 4, .value = {1}};
    pp_profile profile = {.samples = samples, .sample_count = SAMPLES_MAX, .period = 1000};
    pp_arena arena = PP_ARENA_INIT;
    for (long fail_at = 1; fail_at <= 6; fail_at++) {
        memory_writer failing = {.fail_at = fail_at, .error = -EPIPE};
        assert_int_equal(pp_legacy_cpu_encode(&profile, &arena, memory_writer_of(&failing)),
                         -EPIPE);
        assert_int_equal(failing.calls, fail_at);
        memory_writer_reset(&failing);
    }
    pp_arena_release(&arena);
}

static void refused_memory_is_reported(void **state)
{
    (void)state;
    needs_mmap_fault();
    memory_writer_reset(&sink);
    pp_profile profile = {.period = 1000};
    pp_arena arena = PP_ARENA_INIT;
    mappings_left = 0;
    int error = pp_legacy_cpu_encode(&profile, &arena, memory_writer_of(&sink));
    mappings_left = LONG_MAX;
    assert_int_equal(error, -ENOMEM);
    assert_int_equal(sink.calls, 0);
    pp_arena_release(&arena);
}

static int free_sink(void **state)
{
    (void)state;
    memory_writer_reset(&sink);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_record_trailer_maps),
        cmocka_unit_test(periods_are_whole_microseconds),
        cmocka_unit_test(empty_and_worthless_samples),
        cmocka_unit_test(readers_get_every_stack_back),
        cmocka_unit_test(one_hot_call_site),
        cmocka_unit_test(deep_stacks_cross_the_window),
        cmocka_unit_test(writer_errors_stick),
        cmocka_unit_test(refused_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, free_sink);
}
