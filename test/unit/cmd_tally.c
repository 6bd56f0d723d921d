/* SPDX-License-Identifier: MIT
 *
 * cmd_tally.c: all differences add up to the last profile; what does not accumulate stays; a program
 * that begins anew counts from zero; a tally survives its file, and no other bytes are taken for one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/tally.h"
#include "base/message.h"
#include "profile/profile_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACKS = 3 };

/* A heap profile of some stacks: `allocated` of each, and twice that in use. */
static cp_profile *make(const int64_t *allocated, uint32_t stacks, const char *key,
                        const char *value)
{
    cp_profile *p = cp_profile_new();

    p->sample_types = CP_POOL_ARRAY(&p->pool, cp_value_type, 2);
    cp_profile_add_type(p, "alloc_space", "bytes");
    cp_profile_add_type(p, "inuse_space", "bytes");
    p->locations = CP_POOL_ARRAY(&p->pool, cp_location, stacks);
    p->samples = CP_POOL_ARRAY(&p->pool, cp_sample, stacks);
    for (uint32_t i = 0; i < stacks; i++) {
        cp_sample *s = &p->samples[i];
        p->locations[i] =
            (cp_location){.id = i + 1, .address = 0x1000 + i, .mapping = CP_NO_MAPPING};
        s->locations = CP_POOL_ARRAY(&p->pool, uint32_t, 1);
        s->values = CP_POOL_ARRAY(&p->pool, int64_t, 2);
        s->labels = CP_POOL_ARRAY(&p->pool, cp_label, 2);
        s->locations[0] = i;
        s->location_count = 1;
        s->values[0] = allocated[i];
        s->values[1] = 2 * allocated[i];
        s->labels[s->label_count++] = (cp_label){
            .key = cp_strings_put(&p->strings, "bytes"), .number = allocated[i], .numeric = true};
        if (key) {
            s->labels[s->label_count++] = (cp_label){.key = cp_strings_put(&p->strings, key),
                                                     .text = cp_strings_put(&p->strings, value)};
        }
    }
    p->location_count = p->sample_count = stacks;
    return p;
}

/* What is new of each stack; then of all, in use. */
static void expect(cp_tally *tally, const int64_t allocated[STACKS], int64_t run,
                   const int64_t expected[STACKS])
{
    cp_error error;
    cp_profile *p = make(allocated, STACKS, NULL, NULL);

    assert_int_equal(cp_tally_take(tally, p, run, &error), 0);
    for (int i = 0; i < STACKS; i++) {
        assert_int_equal(p->samples[i].values[0], expected[i]);
        assert_int_equal(p->samples[i].values[1], 2 * allocated[i]);
        assert_int_equal(p->samples[i].label_count, 0);
    }
    cp_profile_free(p);
}

static void differences_add_up(void **unused)
{
    cp_tally tally = {0};
    (void)unused;

    expect(&tally, (int64_t[]){10, 0, 5}, 0, (int64_t[]){10, 0, 5});
    expect(&tally, (int64_t[]){30, 7, 5}, 0, (int64_t[]){20, 7, 0});
    /* A sum that was rounded otherwise: the next difference is smaller for that. */
    expect(&tally, (int64_t[]){30, 7, 4}, 0, (int64_t[]){0, 0, 0});
    expect(&tally, (int64_t[]){31, 7, 8}, 0, (int64_t[]){1, 0, 3});
    cp_tally_release(&tally);
}

/* The latency of cpu-latency, beside the CPU time. */
static void every_type_of_cpu_adds_up(void **unused)
{
    cp_tally tally = {0};
    cp_error error;
    (void)unused;

    for (int64_t i = 1; i <= 2; i++) {
        cp_profile *p = make((int64_t[]){10 * i}, 1, NULL, NULL);
        p->sample_types[0].type = cp_strings_put(&p->strings, "cpu");
        p->sample_types[1].type = cp_strings_put(&p->strings, "latency");
        assert_int_equal(cp_tally_take(&tally, p, 0, &error), 0);
        assert_int_equal(p->samples[0].values[0], 10);
        assert_int_equal(p->samples[0].values[1], 20);
        cp_profile_free(p);
    }
    cp_tally_release(&tally);
}

/* What is new of 10 in a mapping that begins at `start`. */
static int64_t new_in_mapping(cp_tally *tally, const char *name, uint64_t start)
{
    cp_error error;
    cp_profile *p = make((int64_t[]){10}, 1, NULL, NULL);

    p->mappings = CP_POOL_ARRAY(&p->pool, cp_mapping, 1);
    p->mappings[0] = (cp_mapping){.id = 1,
                                  .start = start,
                                  .limit = 0x9000,
                                  .file = cp_strings_put(&p->strings, name),
                                  .build_id = cp_strings_put(&p->strings, "")};
    p->mapping_count = 1;
    p->locations[0].mapping = *name ? 0 : CP_NO_MAPPING;
    assert_int_equal(cp_tally_take(tally, p, 0, &error), 0);
    int64_t found = p->samples[0].values[0];
    cp_profile_free(p);
    return found;
}

static void memory_without_a_file_may_grow(void **unused)
{
    cp_tally tally = {0};
    (void)unused;

    assert_int_equal(new_in_mapping(&tally, "[anon 0000000000001000]", 0x1000), 10);
    assert_int_equal(new_in_mapping(&tally, "[anon 0000000000000800]", 0x800), 0);
    assert_int_equal(new_in_mapping(&tally, "", 0), 0);
    assert_int_equal(new_in_mapping(&tally, "/usr/lib/a.so", 0x1000), 10);
    assert_int_equal(new_in_mapping(&tally, "/usr/lib/b.so", 0x1000), 10);
    cp_tally_release(&tally);
}

static void another_run_begins_at_zero(void **unused)
{
    cp_tally tally = {0};
    (void)unused;

    expect(&tally, (int64_t[]){10, 20, 5}, 111, (int64_t[]){10, 20, 5});
    expect(&tally, (int64_t[]){12, 20, 6}, 111, (int64_t[]){2, 0, 1});
    expect(&tally, (int64_t[]){15, 1, 2}, 222, (int64_t[]){15, 1, 2});
    cp_tally_release(&tally);
}

/* Several samples of one stack, which differ in numbers only, count as one. */
static void samples_of_a_stack_are_joined(void **unused)
{
    cp_tally tally = {0};
    cp_error error;
    (void)unused;

    for (int turn = 1; turn <= 2; turn++) {
        cp_profile *p = make((int64_t[]){10 * turn, 20 * turn}, 2, NULL, NULL);
        p->samples[1].locations[0] = 0;
        assert_int_equal(cp_tally_take(&tally, p, 0, &error), 0);
        assert_int_equal(p->samples[0].values[0], 30);
        assert_int_equal(p->samples[0].values[1], 60 * turn);
        assert_int_equal(p->samples[1].values[0], 0);
        cp_profile_free(p);
    }
    cp_tally_release(&tally);
}

static void labels_tell_stacks_apart(void **unused)
{
    cp_tally tally = {0};
    cp_error error;
    (void)unused;

    const char *const values[] = {"red", "blue", "red"};
    const int64_t expected[] = {10, 10, 5};
    for (int i = 0; i < 3; i++) {
        cp_profile *p = make((int64_t[]){i < 2 ? 10 : 15}, 1, "colour", values[i]);
        assert_int_equal(cp_tally_take(&tally, p, 0, &error), 0);
        assert_int_equal(p->samples[0].values[0], expected[i]);
        assert_int_equal(p->samples[0].label_count, 1);
        cp_profile_free(p);
    }
    cp_tally_release(&tally);
}

static void a_wait_that_goes_on_is_left_out(void **unused)
{
    cp_tally tally = {0};
    cp_error error;
    cp_profile *p = make((int64_t[]){10}, 1, "state", "waiting");
    (void)unused;

    assert_int_equal(cp_tally_take(&tally, p, 0, &error), 0);
    assert_int_equal(p->samples[0].values[0], 0);
    cp_profile_free(p);
    cp_tally_release(&tally);
}

static void too_many_stacks_are_refused(void **unused)
{
    cp_tally tally = {.types = 2, .count = CP_TALLY_STACKS};
    cp_error error;
    cp_profile *p = make((int64_t[]){10}, 1, NULL, NULL);
    (void)unused;

    assert_int_equal(cp_tally_take(&tally, p, 0, &error), -1);
    assert_int_equal(p->samples[0].values[0], 10);
    cp_profile_free(p);
}

static void only_new_stacks_need_room(void **unused)
{
    enum { MANY = CP_TALLY_STACKS / 2 + 1 };
    cp_tally tally = {0};
    int64_t *allocated = calloc(MANY, sizeof *allocated);
    cp_error error;
    (void)unused;

    assert_non_null(allocated);
    for (int64_t run = 0; run < 2; run++) { /* of which the second one begins with a full tally */
        for (int turn = 1; turn < 3; turn++) {
            cp_profile *p = make(allocated, MANY, NULL, NULL);
            p->samples[MANY - 1].values[0] = 10 * turn;
            assert_int_equal(cp_tally_take(&tally, p, run, &error), 0);
            assert_int_equal(p->samples[MANY - 1].values[0], 10);
            cp_profile_free(p);
        }
    }
    cp_tally_release(&tally);
    free(allocated);
}

static void a_tally_survives_its_file(void **unused)
{
    cp_tally tally = {0}, other = {0}, empty = {0};
    char bytes[4096];
    (void)unused;

    expect(&tally, (int64_t[]){10, 20, 5}, 7, (int64_t[]){10, 20, 5});
    tally.until_ns = 42;
    FILE *file = fmemopen(bytes, sizeof bytes, "w+");
    cp_tally_write(&tally, file);
    long whole = ftell(file);
    cp_tally_write(&empty, file);
    rewind(file);
    assert_true(cp_tally_read(&other, file));
    assert_int_equal(other.until_ns, 42);
    expect(&other, (int64_t[]){11, 20, 5}, 7, (int64_t[]){1, 0, 0});
    assert_true(cp_tally_read(&other, file));
    assert_int_equal(other.count, 0);
    fclose(file);

    /* Any byte less is none. */
    for (long i = 1; i < whole; i++) {
        file = fmemopen(bytes, (size_t)i, "r");
        assert_false(cp_tally_read(&other, file));
        assert_int_equal(other.count, 0);
        fclose(file);
    }
    bytes[0] = 'x';
    file = fmemopen(bytes, sizeof bytes, "r");
    assert_false(cp_tally_read(&other, file));
    fclose(file);
    cp_tally_release(&tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_add_up),
        cmocka_unit_test(every_type_of_cpu_adds_up),
        cmocka_unit_test(memory_without_a_file_may_grow),
        cmocka_unit_test(another_run_begins_at_zero),
        cmocka_unit_test(samples_of_a_stack_are_joined),
        cmocka_unit_test(labels_tell_stacks_apart),
        cmocka_unit_test(a_wait_that_goes_on_is_left_out),
        cmocka_unit_test(too_many_stacks_are_refused),
        cmocka_unit_test(only_new_stacks_need_room),
        cmocka_unit_test(a_tally_survives_its_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
