/* SPDX-License-Identifier: MIT
 *
 * test_copies.c: a chunk that is found is one that was kept, all of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "interleave/scenario.h"
#include "unwind/copies.c"

enum { EPOCH = 5, BEGIN = 0x7000, OTHER_BEGIN = BEGIN + SLOTS * PP_CHUNK_BYTES };

uint64_t pp_loader_epoch(void)
{
    return EPOCH;
}

static void keep_one(uintptr_t begin)
{
    pp_chunk chunk = {.lo = begin, .hi = begin + PP_CHUNK_BYTES};
    memset(chunk.bytes, (int)(begin / PP_CHUNK_BYTES & 0xff), sizeof chunk.bytes);
    pp_copies_keep(begin, EPOCH, &chunk);
}

static void keep_both(void)
{
    keep_one(BEGIN);
    keep_one(OTHER_BEGIN);
}

static void find_chunk(void)
{
    pp_chunk chunk;
    if (pp_copies_find(BEGIN, PP_CHUNK_BYTES, EPOCH, &chunk)) {
        MODEL_CHECK(chunk.lo == BEGIN && chunk.hi == BEGIN + PP_CHUNK_BYTES);
        for (size_t i = 0; i < sizeof chunk.bytes; i++) {
            MODEL_CHECK(chunk.bytes[i] == (BEGIN / PP_CHUNK_BYTES & 0xff));
        }
    }
}

static const model_scenario chunks = {"chunks", NULL, {keep_both, find_chunk}, NULL};

static void no_chunk_is_torn(void **state)
{
    (void)state;
    assert_holds_within(&chunks, 1, 1);
    assert_is_caught(&chunks, "pp_copies_keep", MODEL_FENCE, __ATOMIC_RELAXED);
    assert_is_caught(&chunks, "pp_copies_find", MODEL_FENCE, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_chunk_is_torn),
    };
    read_bounds(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
