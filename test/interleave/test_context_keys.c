/* SPDX-License-Identifier: MIT
 *
 * test_context_keys.c: a key has one number, and what is published last has every key, although no
 * thread waits for another one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "interleave/scenario.h"

/* The calls are those that name the mapping, and those of its begin and end. */
#include "arch/system_call.h"
#include "sys/lock.h"
#undef pp_system_call
#define PICK(n, a, b, c, d, ...) refuse((long)(n), (long)(a), (long)(b), (long)(c), (long)(d))
#define pp_system_call(...)      PICK(__VA_ARGS__, 0, 0, 0, 0)
static inline long refuse(long number, long a, long b, long c, long d)
{
    (void)number, (void)a, (void)b, (void)c, (void)d;
    return -1;
}
#include "base/utf8.c"
#include "store/context_keys.c"
#include "store/process_context.c"

void *pp_bump_alloc(pp_bump *memory, size_t bytes)
{
    (void)memory;
    return model_alloc(bytes);
}

/* Readers are outside of the process: the mapping is memory that only its writers access. */
static area *shown;

static void set_up(void)
{
    shown = model_alloc(sizeof *shown);
    state.prepared = shown;
    pp_process_context_publish(true);
}

bool pp_safe_copy(void *to, uintptr_t from, size_t size)
{
    memcpy(to, (const void *)from, size);
    return true;
}

void pp_apart(void (*function)(void *argument), void *argument)
{
    (void)function, (void)argument;
}

static int read_clock(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){.tv_sec = 1};
    return 0;
}
pp_clock_function *pp_clock_reader = read_clock;

static int numbers[2][2]; /* that a thread has got: of "a", of "b" */

static void use(const char *key, int *number)
{
    bool grown = false;
    *number = pp_context_key_number(key, &grown);
    if (grown) {
        pp_process_context_update();
    }
}

static void use_a_and_b(void)
{
    use("a", &numbers[0][0]);
    use("b", &numbers[0][1]);
}

static void use_b_and_a(void)
{
    use("b", &numbers[1][1]);
    use("a", &numbers[1][0]);
}

static bool payload_has(const char *key)
{
    const uint8_t *payload = (const uint8_t *)(uintptr_t)shown->header.payload;
    const uint8_t wanted[] = {ANY_TEXT << 3 | LENGTH_DELIMITED, 0x81, 0x80, 0, (uint8_t)*key};
    size_t i = 0;
    while (i + sizeof wanted <= shown->header.payload_size &&
           memcmp(payload + i, wanted, sizeof wanted) != 0) {
        i++;
    }
    return i + sizeof wanted <= shown->header.payload_size;
}

static void all_is_published(void)
{
    for (unsigned key = 0; key < 2; key++) {
        MODEL_CHECK(numbers[0][key] == numbers[1][key]);
    }
    MODEL_CHECK(numbers[0][0] + numbers[0][1] == 1);
    MODEL_CHECK(payload_has("a") && payload_has("b") && !payload_has("c"));
    MODEL_CHECK(state.requests == 0 && shown->header.published_ns == state.last_ns);
}

static const model_scenario keys = {"keys", set_up, {use_a_and_b, use_b_and_a}, all_is_published};

static void every_key_is_published(void **unused)
{
    (void)unused;
    assert_holds(&keys);
    assert_is_caught(&keys, "pp_context_key_number", MODEL_RMW, __ATOMIC_RELAXED);
    assert_is_caught(&keys, "pp_context_key", MODEL_LOAD, __ATOMIC_RELAXED);
    assert_is_caught(&keys, "pp_process_context_update", MODEL_RMW, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_key_is_published)};
    read_bounds(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
