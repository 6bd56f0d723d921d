/* SPDX-License-Identifier: MIT
 *
 * cmd_string_pool.c: strings that a writer has chosen to have one hash are found as fast as others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/pool.h"
#include "base/string_pool.h"

#include <string.h>

/* Two words. The second one is what the hash is after the first one: so what follows of it is 0 for all. */
static void choose(uint64_t first, uint64_t words[2])
{
    uint64_t hash = 0x9e3779b97f4a7c15u + 16;
    unsigned __int128 product = (unsigned __int128)(hash ^ first) * 0xd6e8feb86659fd93u;

    words[0] = first;
    words[1] = (uint64_t)product ^ (uint64_t)(product >> 64) ^ 0x2545f4914f6cdd1du;
}

/* A million in one row would take an hour. */
static void chosen_strings_are_spread(void **unused)
{
    enum { MANY = 1000000 };
    uint64_t words[2], others[2];
    cp_strings strings;
    cp_pool pool;
    (void)unused;

    choose(1, words);
    choose(2, others);
    assert_int_equal(cp_hash_stable(words, sizeof words, 0),
                     cp_hash_stable(others, sizeof others, 0));
    assert_int_not_equal(cp_hash_bytes(words, sizeof words, 0),
                         cp_hash_bytes(others, sizeof others, 0));
    cp_pool_init(&pool);
    cp_strings_init(&strings, &pool);
    for (uint64_t i = 1; i <= MANY; i++) {
        choose(i, words);
        assert_int_equal(cp_strings_add(&strings, (const char *)words, sizeof words), i);
    }
    choose(7, words);
    assert_int_equal(cp_strings_add(&strings, (const char *)words, sizeof words), 7);
    cp_strings_release(&strings);
    cp_pool_release(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_strings_are_spread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
