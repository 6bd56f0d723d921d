/* SPDX-License-Identifier: MIT
 *
 * test_contended.c: who is charged for how much: each nanosecond of a wait once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "kinds/contention/contended.h"

#include <pthread.h>

enum { SOME = 5, STORM_THREADS = 4, STORM_STEPS = 20000, STORM_OBJECTS = 3 };

static uint64_t leave(pp_place *place)
{
    uint64_t unseen_ns = 0;
    pp_contended_leave(place, true, &unseen_ns);
    return unseen_ns;
}

static void a_release_is_charged_for_all_that_wait(void **state)
{
    (void)state;
    const uintptr_t object = 0x1000;
    pp_place places[SOME];
    pp_charge *charge = NULL;
    uint64_t first_ns = 0;
    uint64_t again_ns = 0;
    uint64_t unseen_ns = 0;
    uint64_t waits_ns = 0;
    pp_stack_entry entry = {.amount = 0};
    for (int i = 0; i < SOME; i++)
        assert_true(pp_contended_join(object, &places[i]));
    assert_true(pp_contended_release(object, 1, &first_ns, &charge));
    assert_non_null(charge);
    pp_charge_settle(charge, &entry, NULL);
    assert_true(pp_contended_release(object, 1, &again_ns, &charge));
    for (int i = 0; i < SOME; i++) {
        uint64_t since_ns = places[i].since_ns;
        waits_ns += pp_contended_leave(&places[i], true, &unseen_ns) - since_ns;
        assert_int_equal(unseen_ns, 0);
    }
    /* The second holder is slow: it settles when all are gone. */
    pp_charge_settle(charge, &entry, NULL);
    assert_int_equal(first_ns + again_ns + entry.amount, waits_ns);
    assert_int_equal(entry.count, SOME * PP_CONTENTION_EVENT);
    assert_false(pp_contended_release(object, 1, &again_ns, &charge));
}

static void what_is_left_after_the_last_release_counts_as_often_as_that(void **state)
{
    (void)state;
    const uintptr_t object = 0x2000;
    pp_place place;
    pp_charge *charge = NULL;
    uint64_t waited_ns = 0;
    uint64_t unseen_ns = 0;
    pp_stack_entry entry = {.amount = 0};
    assert_true(pp_contended_join(object, &place));
    uint64_t since_ns = place.since_ns;
    assert_true(pp_contended_release(object, 7, &waited_ns, &charge));
    pp_charge_settle(charge, &entry, NULL);
    uint64_t wait_ns = pp_contended_leave(&place, true, &unseen_ns) - since_ns;
    assert_int_equal(entry.amount, (wait_ns - waited_ns) * 7);
    assert_int_equal(entry.count, 7 * PP_CONTENTION_EVENT);
}

/* As with a mutex that is taken again before who was woken up comes to it. */
static void a_wait_counts_for_the_release_that_it_ended_with(void **state)
{
    (void)state;
    enum { RELEASES = 10 };
    const uintptr_t object = 0x2100;
    pp_place place;
    pp_charge *charge = NULL;
    uint64_t waited_ns = 0;
    pp_stack_entry entries[RELEASES] = {{.amount = 0}};
    assert_true(pp_contended_join(object, &place));
    for (int i = 0; i < RELEASES; i++) {
        assert_true(pp_contended_release(object, 1, &waited_ns, &charge));
        pp_charge_settle(charge, &entries[i], NULL);
    }
    assert_int_equal(leave(&place), 0);
    for (int i = 0; i < RELEASES; i++)
        assert_int_equal(entries[i].count, i + 1 == RELEASES ? PP_CONTENTION_EVENT : 0);
}

/* Whether it leaves before the holder's stack is known, or behind that. */
static void who_gives_up_was_let_through_by_nobody(void **state)
{
    (void)state;
    const uintptr_t object = 0x2200;
    for (int settles_first = 0; settles_first < 2; settles_first++) {
        pp_place place;
        pp_charge *charge = NULL;
        uint64_t waited_ns = 0;
        uint64_t unseen_ns = 0;
        pp_stack_entry entry = {.amount = 0};
        assert_true(pp_contended_join(object, &place));
        uint64_t since_ns = place.since_ns;
        assert_true(pp_contended_release(object, 1, &waited_ns, &charge));
        if (settles_first)
            pp_charge_settle(charge, &entry, NULL);
        uint64_t wait_ns = pp_contended_leave(&place, false, &unseen_ns) - since_ns;
        if (!settles_first)
            pp_charge_settle(charge, &entry, NULL);
        assert_int_equal(unseen_ns, 0);
        assert_int_equal(entry.amount, wait_ns - waited_ns);
        assert_int_equal(entry.count, 0);
    }
}

static void who_met_no_holder_says_so(void **state)
{
    (void)state;
    pp_place place;
    uint64_t unseen_ns = 0;
    assert_true(pp_contended_join(0x3000, &place));
    uint64_t since_ns = place.since_ns;
    uint64_t now_ns = pp_contended_leave(&place, true, &unseen_ns);
    assert_int_equal(unseen_ns, now_ns - since_ns);
}

static void a_release_that_is_not_chosen_takes_its_part_along(void **state)
{
    (void)state;
    const uintptr_t object = 0x4000;
    pp_place place;
    pp_charge *charge = NULL;
    uint64_t waited_ns = 0;
    uint64_t uncharged = pp_contended_uncharged();
    assert_true(pp_contended_join(object, &place));
    assert_true(pp_contended_release(object, 0, &waited_ns, &charge));
    assert_null(charge);
    assert_int_equal(leave(&place), 0);
    assert_int_equal(pp_contended_uncharged(), uncharged);
}

static void objects_do_not_mix(void **state)
{
    (void)state;
    const uintptr_t one = 0x5000;
    const uintptr_t other = one + (UINT64_C(1) << 40); /* the same hash */
    pp_place place;
    pp_charge *charge = NULL;
    uint64_t waited_ns = 0;
    assert_int_equal(pp_contention_hash(one), pp_contention_hash(other));
    assert_true(pp_contended_join(one, &place));
    assert_false(pp_contended_release(other, 1, &waited_ns, &charge));
    assert_true(leave(&place) > 0);
    leave(&place); /* not taken any more: nothing */
}

static void ten_thousand_objects_at_once(void **state)
{
    (void)state;
    enum { MANY = 10000 };
    static pp_place places[MANY];
    unsigned joined = 0;
    uint64_t uncharged = pp_contended_uncharged();
    for (uintptr_t i = 0; i < MANY; i++) {
        places[i].at = NULL;
        joined += pp_contended_join(0x100000 + i * 40, &places[i]);
    }
    assert_int_equal(joined, PP_CONTENDED_MAX);
    assert_int_equal(pp_contended_uncharged() - uncharged, MANY - PP_CONTENDED_MAX);
    for (int i = 0; i < MANY; i++)
        leave(&places[i]);
    assert_true(pp_contended_join(0x100000, &places[0]));
    leave(&places[0]);
}

static void a_child_of_fork_knows_nobody(void **state)
{
    (void)state;
    pp_place place;
    pp_charge *charge = NULL;
    uint64_t waited_ns = 0;
    assert_true(pp_contended_join(0x6000, &place));
    assert_true(pp_contended_release(0x6000, 1, &waited_ns, &charge));
    pp_contended_after_fork_in_child();
    assert_false(pp_contended_release(0x6000, 1, &waited_ns, &charge));
    assert_int_equal(leave(&place), 0);
    assert_int_equal(pp_contended_uncharged(), 1); /* and none of the parent's */
}

/* ---- many threads ---- */

typedef struct storm {
    pthread_t thread;
    uint64_t seed;
    uint64_t waits_ns, charged_ns;
    uint64_t waits, unseen; /* how many */
} storm;

static pp_stack_entry extras;

static void *stir(void *context)
{
    storm *s = context;
    for (int i = 0; i < STORM_STEPS; i++) {
        uintptr_t object = 0x7000 + pp_random_below(&s->seed, STORM_OBJECTS) * 64;
        uint64_t ns = 0;
        pp_charge *charge = NULL;
        if (pp_random_below(&s->seed, 2) == 0) {
            if (pp_contended_release(object, 1, &ns, &charge)) {
                s->charged_ns += ns;
                pp_charge_settle(charge, &extras, NULL);
            }
        } else {
            pp_place place;
            assert_true(pp_contended_join(object, &place));
            uint64_t since_ns = place.since_ns;
            s->waits_ns += pp_contended_leave(&place, true, &ns) - since_ns;
            s->charged_ns += ns;
            s->waits++;
            s->unseen += ns != 0;
        }
    }
    return NULL;
}

static void in_a_storm_charges_are_the_waits(void **state)
{
    (void)state;
    storm storms[STORM_THREADS];
    uint64_t waits_ns = 0;
    uint64_t charged_ns = 0;
    uint64_t charged = 0;
    for (unsigned i = 0; i < STORM_THREADS; i++) {
        storms[i] = (storm){.seed = i + 1};
        pthread_create(&storms[i].thread, NULL, stir, &storms[i]);
    }
    for (int i = 0; i < STORM_THREADS; i++) {
        pthread_join(storms[i].thread, NULL);
        waits_ns += storms[i].waits_ns;
        charged_ns += storms[i].charged_ns;
        charged += storms[i].waits - storms[i].unseen;
    }
    assert_int_equal(charged_ns + extras.amount, waits_ns);
    assert_int_equal(extras.count, charged * PP_CONTENTION_EVENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_release_is_charged_for_all_that_wait),
        cmocka_unit_test(what_is_left_after_the_last_release_counts_as_often_as_that),
        cmocka_unit_test(a_wait_counts_for_the_release_that_it_ended_with),
        cmocka_unit_test(who_gives_up_was_let_through_by_nobody),
        cmocka_unit_test(who_met_no_holder_says_so),
        cmocka_unit_test(a_release_that_is_not_chosen_takes_its_part_along),
        cmocka_unit_test(objects_do_not_mix),
        cmocka_unit_test(ten_thousand_objects_at_once),
        cmocka_unit_test(a_child_of_fork_knows_nobody),
        cmocka_unit_test(in_a_storm_charges_are_the_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
