/* SPDX-License-Identifier: MIT
 *
 * test_wire.c: bytes as the protobuf documentation gives them, and sizes around each prefix length.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "encode/wire.h"
#include "mmap_fault.h"

static void assert_bytes(pp_buffer *buffer, const char *expected, size_t size)
{
    assert_false(buffer->failed);
    assert_int_equal(buffer->size, size);
    assert_memory_equal(buffer->data, expected, size);
    pp_buffer_release(buffer);
}

#define assert_wire(buffer, literal) assert_bytes(buffer, literal, sizeof(literal) - 1)

static void numbers(void **state)
{
    (void)state;
    pp_buffer out = PP_BUFFER_INIT;
    pp_wire_number(&out, 1, 150);
    assert_wire(&out, "\x08\x96\x01");
    pp_wire_number(&out, 1, 0);
    assert_wire(&out, "\x08\x00");
    pp_wire_number_if(&out, 1, 0);
    assert_int_equal(out.size, 0);
    pp_wire_number_if(&out, 16, 1);
    assert_wire(&out, "\x80\x01\x01");
    pp_wire_number(&out, 2, (uint64_t)INT64_C(-2));
    assert_wire(&out, "\x10\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    pp_wire_varint(&out, 127);
    pp_wire_varint(&out, 128);
    pp_wire_varint(&out, UINT64_MAX);
    assert_wire(&out, "\x7f\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

static void texts(void **state)
{
    (void)state;
    pp_buffer out = PP_BUFFER_INIT;
    pp_wire_bytes(&out, 2, "testing", 7);
    assert_wire(&out, "\x12\x07testing");
    pp_wire_bytes(&out, 6, "", 0);
    assert_wire(&out, "\x32\x00");
}

static void nested_messages(void **state)
{
    (void)state;
    pp_buffer out = PP_BUFFER_INIT;
    size_t outer = pp_wire_open(&out, 3);
    size_t inner = pp_wire_open(&out, 1);
    pp_wire_number(&out, 1, 150);
    pp_wire_close(&out, inner);
    size_t empty = pp_wire_open(&out, 2);
    pp_wire_close(&out, empty);
    pp_wire_close(&out, outer);
    assert_wire(&out, "\x1a\x07\x0a\x03\x08\x96\x01\x12\x00");
}

static void size_prefixes_of_every_length(void **state)
{
    (void)state;
    const size_t sizes[] = {0, 1, 126, 127, 128, 129, 16383, 16384, 2097151, 2097152};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char *body = malloc(sizes[i] + 1);
        for (size_t k = 0; k < sizes[i]; k++)
            body[k] = (char)(k * 7);
        pp_buffer out = PP_BUFFER_INIT, expected = PP_BUFFER_INIT;
        pp_wire_number(&out, 9, 1);
        pp_wire_number(&expected, 9, 1);
        size_t opened = pp_wire_open(&out, 5);
        pp_buffer_append(&out, body, sizes[i]);
        pp_wire_close(&out, opened);
        pp_wire_bytes(&expected, 5, body, sizes[i]);
        assert_int_equal(out.size, expected.size);
        assert_memory_equal(out.data, expected.data, out.size);
        pp_buffer_release(&out);
        pp_buffer_release(&expected);
        free(body);
    }
}

static void failure_sticks(void **state)
{
    (void)state;
    needs_mmap_fault();
    for (long allowed = 0; allowed < 4; allowed++) {
        pp_buffer out = PP_BUFFER_INIT;
        mappings_left = allowed;
        while (!out.failed) {
            size_t outer = pp_wire_open(&out, 1);
            for (int i = 0; i < 100; i++) {
                size_t inner = pp_wire_open(&out, 2);
                pp_wire_bytes(&out, 3, "0123456789", 10);
                pp_wire_varint(&out, UINT64_MAX);
                pp_wire_close(&out, inner);
            }
            pp_wire_close(&out, outer);
        }
        mappings_left = LONG_MAX;
        size_t size = out.size;
        pp_wire_close(&out, pp_wire_open(&out, 1));
        assert_int_equal(out.size, size);
        pp_buffer_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),         cmocka_unit_test(texts),
        cmocka_unit_test(nested_messages), cmocka_unit_test(size_prefixes_of_every_length),
        cmocka_unit_test(failure_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
