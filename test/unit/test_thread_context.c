/* SPDX-License-Identifier: MIT
 *
 * test_thread_context.c: records of labels as a reader takes them apart, within their room; the
 * numbers of keys; a context that is published, withdrawn and published again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "store/context_keys.h"
#include "store/labels.h"
#include "store/process_context.h"
#include "store/thread_context.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEAD = 28, GUARD = 0xa5, ROUNDS = 20000, MOST = 8, LONGEST = 300 };

static size_t size_of(const uint8_t *record)
{
    uint16_t size = 0;
    memcpy(&size, record + 26, sizeof size);
    return size;
}

/* The value of the key in the record, with its length; NULL: none. */
static const uint8_t *find(const uint8_t *record, const char *key, size_t *length)
{
    const uint8_t *at = record + HEAD;
    const uint8_t *end = at + size_of(record);
    const uint8_t *found = NULL;
    while (at < end) {
        assert_true(end - at >= 2 && at + 2 + at[1] <= end);
        assert_non_null(pp_context_key(at[0]));
        if (strcmp(pp_context_key(at[0]), key) == 0) {
            assert_null(found);
            found = at + 2;
            *length = at[1];
        }
        at += 2 + at[1];
    }
    return found;
}

static void a_record_is_what_was_given(void **state)
{
    static uint8_t memory[PP_CONTEXT_RECORD_MAX + 2 + 1 + 16];
    static char values[MOST][LONGEST + 1];
    static const char *const keys[MOST] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    uint64_t random = 1;
    unsigned left_out = 0;
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        pp_label labels[MOST];
        uint32_t count = (uint32_t)pp_random_below(&random, MOST + 1);
        size_t bytes = 0;
        for (uint32_t i = 0; i < count; i++) {
            size_t length = pp_random_below(&random, round % 2 == 0 ? 20 : LONGEST);
            memset(values[i], 'a' + (int)i, length);
            values[i][length] = '\0';
            labels[i] = (pp_label){keys[i], values[i]};
            bytes += length + 2;
        }
        size_t room = pp_context_record_room(bytes);
        size_t shift = round % 3;
        memset(memory, GUARD, sizeof memory);
        const uint8_t *record = pp_context_record_write(memory + shift, room, labels, count);
        assert_true((uintptr_t)record % 2 == 0 && record >= memory + shift);
        assert_true(HEAD + size_of(record) <= PP_CONTEXT_RECORD_MAX);
        for (size_t i = shift + room; i < sizeof memory; i++) {
            assert_int_equal(memory[i], GUARD);
        }
        assert_int_equal(record[24], 1);
        for (uint32_t i = 0; i < count; i++) {
            size_t wanted = strlen(values[i]) < 255 ? strlen(values[i]) : 255;
            size_t length = 0;
            const uint8_t *value = find(record, keys[i], &length);
            left_out += value == NULL;
            if (value != NULL) {
                assert_int_equal(length, wanted);
                assert_memory_equal(value, values[i], wanted);
            } else {
                assert_true(bytes + HEAD > PP_CONTEXT_RECORD_MAX);
            }
        }
    }
    assert_true(left_out > 0);
}

static void ids_come_in_pairs(void **state)
{
    static const uint8_t none[24];
    static const struct {
        const char *trace, *span;
        bool valid;
    } cases[] = {{"000102030405060708090A0b0c0d0e0f", "00000000000000ff", true},
                 {"000102030405060708090A0b0c0d0e0f", "0000000000000000", false},
                 {"000102030405060708090A0b0c0d0e0f", "00000000000000f", false},
                 {"000102030405060708090A0b0c0d0e0g", "00000000000000ff", false},
                 {"00000000000000000000000000000000", "00000000000000ff", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        _Alignas(2) uint8_t memory[256];
        size_t length = 0;
        const pp_label labels[] = {{"span_id", cases[i].span}, {"trace_id", cases[i].trace}};
        const uint8_t *record = pp_context_record_write(memory, sizeof memory, labels, 2);
        if (cases[i].valid) {
            for (uint8_t k = 0; k < 16; k++) {
                assert_int_equal(record[k], k);
            }
            assert_int_equal(record[23], 0xff);
            assert_int_equal(size_of(record), 0);
        } else {
            assert_memory_equal(record, none, sizeof none);
            assert_non_null(find(record, "trace_id", &length));
            assert_non_null(find(record, "span_id", &length));
        }
    }
}

static pp_context_text text_of(const char *text)
{
    return (pp_context_text){text, strlen(text)};
}

static void a_context_is_published_again(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        if (pp_process_context_begin() == -ENOTSUP) {
            skip();
        }
        assert_false(pp_process_context_is_published());
        assert_true(pp_process_context_add(text_of("service.name"), text_of("first")));
        assert_true(pp_process_context_add(text_of("service.name"), text_of("second")));
        pp_process_context_publish(true);
        assert_true(pp_process_context_is_published());
        pp_process_context_update();
        pp_process_context_withdraw();
        assert_false(pp_process_context_is_published());
        pp_process_context_update();
        pp_process_context_withdraw();
    }
}

static void a_resource_has_an_end(void **state)
{
    char value[1000];
    char key[16];
    int taken = 0;
    (void)state;
    if (pp_process_context_begin() == -ENOTSUP) {
        skip();
    }
    memset(value, 'v', sizeof value);
    do {
        snprintf(key, sizeof key, "key-%d", taken);
    } while (pp_process_context_add(text_of(key), (pp_context_text){value, sizeof value}) &&
             ++taken < 100);
    assert_int_equal(taken, 8);
    assert_true(pp_process_context_add(text_of("short"), text_of("1")));
    pp_process_context_publish(false);
    pp_process_context_withdraw();
}

static void keys_have_an_end(void **state)
{
    char key[64];
    bool grown = false;
    int last = 0;
    (void)state;
    for (int i = 0; i < 2 * PP_CONTEXT_KEYS && last != PP_CONTEXT_KEY_NONE; i++) {
        snprintf(key, sizeof key, "a key of some length, so that many do fit: %d", i);
        last = pp_context_key_number(key, &grown);
        assert_true(last == PP_CONTEXT_KEY_NONE ||
                    (grown && strcmp(pp_context_key(last), key) == 0));
    }
    assert_int_equal(last, PP_CONTEXT_KEY_NONE);
    assert_null(pp_context_key(PP_CONTEXT_KEYS));
    last = pp_context_key_number("a key of some length, so that many do fit: 0", &grown);
    assert_true(last >= 0 && !grown);
    pp_context_keys_close();
    assert_int_equal(pp_context_key_number("new", &grown), PP_CONTEXT_KEY_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_what_was_given),
        cmocka_unit_test(ids_come_in_pairs),
        cmocka_unit_test(a_context_is_published_again),
        cmocka_unit_test(a_resource_has_an_end),
        cmocka_unit_test(keys_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
