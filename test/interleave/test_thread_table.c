/* SPDX-License-Identifier: MIT
 *
 * test_thread_table.c: a copy is of one thread, and nobody looks into the memory of a thread that
 * has gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "interleave/scenario.h"

/* The calls are those of pp_lock_pause() and pp_lock_sleep(). */
#include "arch/system_call.h"
#include "sys/signal_mask.h"
#undef pp_system_call
#define PICK(n, a, b, c, d, ...) wait_instead((long)(n), (long)(a), (long)(b), (long)(c), (long)(d))
#define pp_system_call(...)      PICK(__VA_ARGS__, 0, 0, 0, 0, 0)
static inline void wait_instead(long number, long a, long b, long c, long d)
{
    (void)number, (void)a, (void)b, (void)c, (void)d;
    model_wait();
}
#include "threads/thread_table.c"

enum { FIRST = 1, SECOND = 2 };

/* The list of libpprof's own threads has a test of its own. */
void pp_own_threads_replace(int from, int to)
{
    (void)from, (void)to;
}

/* Every field says the same; `place` is a variable of the thread. */
static pp_thread_record *begin(int thread, const int *place)
{
    const pp_thread_record content = {.tid = thread,
                                      .creator = thread,
                                      .entry = (uintptr_t)thread,
                                      .creation = (const pp_stack_entry *)(uintptr_t)thread,
                                      .place = place};
    pp_thread_record *record = pp_thread_table_add(&content);
    MODEL_CHECK(record != NULL);
    return record;
}

static int memory_of[SECOND + 1];

/* `end`: what its thread does with the record. */
static void live(int thread, void (*end)(pp_thread_record *record))
{
    memory_of[thread] = thread;
    end(begin(thread, &memory_of[thread]));
    memory_of[thread] = 0; /* not a thread's any more: a race with whoever looks still */
}

static void live_first(void)
{
    live(FIRST, pp_thread_table_remove);
}

static void live_second(void)
{
    live(SECOND, pp_thread_table_remove);
}

static void end_first(void)
{
    live(FIRST, pp_thread_table_end);
}

static void end_second(void)
{
    live(SECOND, pp_thread_table_end);
}

static void look_at_place(const void *place, void *context)
{
    MODEL_CHECK(*(const int *)place == *(const int *)context);
}

static void read_and_look(void)
{
    pp_thread_record copies[2];
    pp_thread_record *from[2];
    size_t count = pp_thread_table_read(copies, from, 2);
    for (size_t i = 0; i < count; i++) {
        const pp_thread_record *c = &copies[i];
        MODEL_CHECK(c->tid == FIRST || c->tid == SECOND);
        MODEL_CHECK(c->creator == c->tid && c->entry == (uintptr_t)c->tid &&
                    (uintptr_t)c->creation == (uintptr_t)c->tid);
        MODEL_CHECK(c->place == &memory_of[c->tid] || c->place == NULL); /* NULL: it is ending */
        int tid = c->tid;
        pp_thread_table_look(from[i], c, look_at_place, &tid);
    }
}

static void all_are_in_the_ring(void)
{
    for (int i = 0; i < PP_BITMAP_WORD; i++) {
        const pp_thread_record *r = &table.first_chunk[i];
        bool taken = (table.taken[0] >> i) % 2 != 0;
        MODEL_CHECK(taken == (r->serial % 2 != 0) && r->readers == 0);
        MODEL_CHECK(!taken || table.ending[0] == r || table.ending[1] == r);
    }
}

static const model_scenario reading = {
    "reading", NULL, {live_first, live_second, read_and_look}, all_are_in_the_ring};
static const model_scenario looking = {
    "looking", NULL, {live_first, read_and_look, read_and_look}, all_are_in_the_ring};
static const model_scenario ending = {
    "ending", NULL, {end_first, end_second, read_and_look}, all_are_in_the_ring};

static void a_copy_is_of_one_thread(void **state)
{
    (void)state;
    assert_holds(&reading);
    assert_holds_within(&looking, 1, 0);
    assert_holds(&ending);
    assert_is_caught(&reading, "pp_thread_table_add", MODEL_STORE, __ATOMIC_RELAXED);
    assert_is_caught(&reading, "copy_record", MODEL_LOAD, __ATOMIC_RELAXED);
}

static void nobody_looks_at_what_has_gone(void **state)
{
    (void)state;
    assert_is_caught(&reading, "free_record", MODEL_STORE, __ATOMIC_RELEASE);
    assert_is_caught(&reading, "let_readers_finish", MODEL_LOAD, __ATOMIC_ACQUIRE);
    assert_is_caught(&reading, "pp_thread_table_look", MODEL_LOAD, __ATOMIC_ACQUIRE);
    assert_is_caught(&reading, "pp_thread_table_look", MODEL_RMW, __ATOMIC_ACQ_REL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_of_one_thread),
        cmocka_unit_test(nobody_looks_at_what_has_gone),
    };
    read_bounds(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
