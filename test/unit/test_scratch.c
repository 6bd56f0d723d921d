/* SPDX-License-Identifier: MIT
 *
 * test_scratch.c: a buffer belongs to one borrower, and there are as many as there are bits in a
 * word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sample/scratch.h"

#include <pthread.h>

enum { BUFFERS = 64, THREADS = 8, ROUNDS = 20000 };

static void all_buffers_can_be_had_and_no_more(void **state)
{
    (void)state;
    pp_scratch *taken[BUFFERS];
    for (int i = 0; i < BUFFERS; i++) {
        taken[i] = pp_scratch_take();
        assert_non_null(taken[i]);
        memset(taken[i], i, sizeof *taken[i]);
    }
    assert_null(pp_scratch_take());
    for (int i = 0; i < BUFFERS; i++) {
        const uint8_t *bytes = (const uint8_t *)taken[i];
        for (size_t j = 0; j < sizeof *taken[i]; j++)
            assert_int_equal(bytes[j], i); /* nobody else wrote here */
    }
    pp_scratch_give(taken[17]);
    assert_ptr_equal(pp_scratch_take(), taken[17]);
    assert_null(pp_scratch_take());
    for (int i = BUFFERS - 1; i >= 0; i--)
        pp_scratch_give(taken[i]);
    for (int i = 0; i < BUFFERS; i++)
        assert_non_null(taken[i] = pp_scratch_take());
    for (int i = 0; i < BUFFERS; i++)
        pp_scratch_give(taken[i]);
}

static void *borrow(void *context)
{
    unsigned long disturbed = 0;
    for (int i = 0; i < ROUNDS; i++) {
        pp_scratch *buffer = pp_scratch_take();
        if (buffer == NULL) {
            disturbed++;
            continue;
        }
        buffer->pcs[0] = (uintptr_t)context;
        buffer->pcs[PP_SCRATCH_DEPTH - 1] = (uintptr_t)context + (uintptr_t)i;
        disturbed += buffer->pcs[0] != (uintptr_t)context ||
                     buffer->pcs[PP_SCRATCH_DEPTH - 1] != (uintptr_t)context + (uintptr_t)i;
        pp_scratch_give(buffer);
    }
    return (void *)disturbed;
}

static void threads_do_not_share_a_buffer(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, borrow, (void *)(i << 32)), 0);
    for (int i = 0; i < THREADS; i++) {
        void *disturbed = NULL;
        pthread_join(threads[i], &disturbed);
        assert_null(disturbed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_buffers_can_be_had_and_no_more),
        cmocka_unit_test(threads_do_not_share_a_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
