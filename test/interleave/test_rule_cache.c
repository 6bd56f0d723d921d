/* SPDX-License-Identifier: MIT
 *
 * test_rule_cache.c: no rule of before a change of the loader is found after it, and none is torn.
 *
 * The loader's words are stored with relaxed order: what a walk may hope for is that it sees what
 * happened before it.
 *
 * Architecture: x86_64
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arch/x86_64_rule.c"
#include "interleave/scenario.h"
#include "modules/loader.c"
#include "modules/loader_state_glibc.c"
#include "unwind/rule_cache.c"

enum {
    PC = 0x401000,
    OTHER_PC = PC + PP_CACHE_BIG_RULES, /* in the same slot of the second table, not of the first */
    LOADED = 5,
    LAST_GENERATION = GENERATIONS - 1,
    STALE_WORDS = 9 /* a slot, and one more */
};

/* As _rtld_global: the list's head, its length, the count of loads, and a word that is like it by
 * accident. */
static uint64_t rtld[4];
static uint64_t world;     /* the version of what rules tell about */
static uint64_t committed; /* changes that are over */
static uint64_t old_epoch;

static void set_up(void)
{
    rtld[1] = LOADED;
    rtld[2] = LOADED + 1;
    pp_loader_calibrate(rtld, sizeof rtld, LOADED + 1, LOADED);
    old_epoch = pp_loader_epoch();
}

/* Another module in its place. */
static void change(void)
{
    __atomic_store_n(&world, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* the kernel has mapped it */
    __atomic_store_n(&rtld[2], LOADED + 2, __ATOMIC_RELAXED);
    __atomic_store_n(&committed, 1, __ATOMIC_RELEASE);
}

static pp_rule rule_of(uint64_t version)
{
    pp_rule rule = {.kind = PP_RULE_FRAME, .cfa_reg = PP_REG_SP, .cfa_offset = 8 * (int)version};
    rule.ra = (pp_where){.kind = PP_WHERE_CFA, .offset = -WORD};
    return rule;
}

/* ---- a candidate is dropped ---- */

static uint64_t seen_epoch;

static void set_up_accident(void)
{
    rtld[3] = LOADED + 1;
    set_up();
    rtld[3]++;
    old_epoch = pp_loader_epoch();
}

static void drop_candidate(void)
{
    pp_loader_calibrate(rtld, sizeof rtld, LOADED + 1, LOADED);
}

static void read_epoch(void)
{
    seen_epoch = pp_loader_epoch();
}

static void epoch_is_of_one_set(void)
{
    MODEL_CHECK(pp_loader_epoch() != old_epoch);
    MODEL_CHECK(seen_epoch == old_epoch || seen_epoch == pp_loader_epoch());
}

static const model_scenario dropping = {
    "dropping", set_up_accident, {drop_candidate, read_epoch}, epoch_is_of_one_set};

/* ---- a change while somebody walks ---- */

static void walk(void)
{
    uint64_t least = __atomic_load_n(&committed, __ATOMIC_ACQUIRE);
    uint64_t epoch = pp_loader_epoch();
    unsigned generation = pp_rule_cache_generation(epoch);
    uint64_t entry = pp_rule_cache_lookup(PC, generation);
    if (entry != 0) {
        MODEL_CHECK(pp_packed_offset(entry) / WORD >= least);
    } else {
        pp_rule rule = rule_of(__atomic_load_n(&world, __ATOMIC_RELAXED));
        pp_rule_cache_publish(PC, &rule, epoch, generation);
    }
}

static void walk_twice(void)
{
    walk();
    walk();
}

static const model_scenario walks = {"walks", set_up, {walk, change, walk_twice}, NULL};

/* ---- the last generation is used up ---- */

static void set_up_last_generation(void)
{
    set_up();
    pp_rule_cache.generation = LAST_GENERATION;
    pp_rule_cache.epoch = old_epoch - 1;
}

/* A walk that began long ago: in the first generation of the round before. */
static void publish_late(void)
{
    pp_rule rule = rule_of(0);
    pp_rule_cache_publish(PC, &rule, old_epoch, 1);
}

static void begin_new_round(void)
{
    uint64_t epoch = pp_loader_epoch();
    if (epoch != old_epoch) {
        unsigned generation = pp_rule_cache_generation(epoch);
        MODEL_CHECK(generation == 1 || generation == PP_GENERATION_UNKNOWN);
        MODEL_CHECK(pp_rule_cache_lookup(PC, generation) == 0);
    }
}

static void change_and_begin_new_round(void)
{
    change();
    begin_new_round();
}

static void nothing_is_found_in_the_new_round(void)
{
    if (pp_rule_cache.generation == 1) {
        MODEL_CHECK(pp_rule_cache_lookup(PC, 1) == 0);
    }
    MODEL_CHECK(pp_rule_cache.publishers == 0 && !pp_rule_cache.renewing);
}

static const model_scenario last = {"last generation",
                                    set_up_last_generation,
                                    {publish_late, change_and_begin_new_round},
                                    nothing_is_found_in_the_new_round};
/* Who begins the round has heard of the change from others. */
static const model_scenario last_of_three = {"last generation, three",
                                             set_up_last_generation,
                                             {publish_late, change, begin_new_round},
                                             nothing_is_found_in_the_new_round};

/* ---- rules of many words ---- */

static pp_rule telling_rule(int number)
{
    pp_rule rule = rule_of(0);
    rule.cfa_offset = rule.cfa_addend = rule.fp.offset = rule.bx.offset = rule.ra.offset = number;
    rule.cfa_read = rule.permanent = true;
    return rule;
}

static void publish_big_rule(void)
{
    pp_rule rule = telling_rule(PC);
    pp_rule_cache_publish(PC, &rule, old_epoch, PP_GENERATION_UNKNOWN);
}

static void publish_other_big_rule(void)
{
    pp_rule rule = telling_rule(OTHER_PC);
    pp_rule_cache_publish(OTHER_PC, &rule, old_epoch, PP_GENERATION_UNKNOWN);
}

static void publish_both(void)
{
    publish_big_rule();
    publish_other_big_rule();
}

static void read_big_rule(void)
{
    pp_rule rule;
    if (pp_rule_cache_lookup(PC, PP_GENERATION_UNKNOWN) != 0 &&
        pp_rule_cache_big(PC, PP_GENERATION_UNKNOWN, &rule)) {
        MODEL_CHECK(rule.cfa_offset == PC && rule.cfa_addend == PC && rule.fp.offset == PC &&
                    rule.bx.offset == PC && rule.ra.offset == PC);
    }
}

static const model_scenario big = {"big rules", set_up, {publish_both, read_big_rule}, NULL};
static const model_scenario big_of_two = {"big rules, two writers",
                                          set_up,
                                          {publish_big_rule, publish_other_big_rule, read_big_rule},
                                          NULL};

/* ---- a slot of the round before ---- */

/* Whoever sees the new entry sees the new slot: the release fence stands before both, and the
 * acquire fence behind the look at the entry. */

static void set_up_old_slot(void)
{
    set_up_last_generation();
    pp_rule rule = telling_rule(0);
    publish_big(PC, &rule, 1);
}

static void begin_round_with_big_rule(void)
{
    change();
    uint64_t epoch = pp_loader_epoch();
    pp_rule rule = telling_rule(WORD);
    rule.permanent = false;
    pp_rule_cache_publish(PC, &rule, epoch, pp_rule_cache_generation(epoch));
}

static void read_big_rule_of_round(void)
{
    pp_rule rule;
    uint64_t epoch = pp_loader_epoch();
    if (epoch != old_epoch && pp_rule_cache_generation(epoch) == 1 &&
        pp_rule_cache_lookup(PC, 1) != 0 && pp_rule_cache_big(PC, 1, &rule)) {
        MODEL_CHECK(rule.cfa_offset == WORD);
    }
}

static const model_scenario old_slot = {
    "old slot", set_up_old_slot, {begin_round_with_big_rule, read_big_rule_of_round}, NULL};

/* ---- tests ---- */

static void an_epoch_is_of_one_set_of_candidates(void **state)
{
    (void)state;
    assert_holds(&dropping);
}

static void no_walk_meets_a_rule_of_before(void **state)
{
    (void)state;
    assert_holds(&walks);
    assert_is_caught(&walks, "pp_rule_cache_generation", MODEL_LOAD, __ATOMIC_RELAXED);
    assert_is_caught(&walks, "next_generation", MODEL_STORE, __ATOMIC_RELAXED);
    assert_is_caught(&walks, "pp_loader_epoch", MODEL_LOAD, __ATOMIC_RELAXED);
}

static void no_late_rule_gets_into_the_next_round(void **state)
{
    (void)state;
    assert_holds(&last);
    assert_holds(&last_of_three);
    assert_is_caught(&last, "store_removable", MODEL_FENCE, __ATOMIC_RELAXED);
    assert_is_caught(&last, "next_generation", MODEL_FENCE, __ATOMIC_RELAXED);
    assert_is_caught(&last, "store_removable", MODEL_RMW, __ATOMIC_RELAXED);
    assert_is_caught(&last, "next_generation", MODEL_LOAD, __ATOMIC_RELAXED);
    assert_is_caught(&last_of_three, "store_removable", MODEL_FENCE, __ATOMIC_ACQ_REL);
    assert_is_caught(&last_of_three, "next_generation", MODEL_FENCE, __ATOMIC_ACQ_REL);
}

static void no_big_rule_is_torn(void **state)
{
    (void)state;
    assert_holds(&big);
    assert_holds_within(&big_of_two, 1, 1);
    assert_is_caught(&big, "publish_big", MODEL_FENCE, __ATOMIC_RELAXED);
    assert_is_caught(&big, "publish_big", MODEL_STORE, __ATOMIC_RELAXED);
    assert_is_caught(&big, "pp_rule_cache_big", MODEL_FENCE, __ATOMIC_RELAXED);
    assert_is_caught(&big, "pp_rule_cache_big", MODEL_LOAD, __ATOMIC_RELAXED);
}

static void no_big_rule_is_of_the_round_before(void **state)
{
    (void)state;
    allow_stale_reads(STALE_WORDS);
    assert_holds_within(&old_slot, 1, 0);
    assert_is_caught(&old_slot, "publish_big", MODEL_FENCE, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_is_of_one_set_of_candidates),
        cmocka_unit_test(no_walk_meets_a_rule_of_before),
        cmocka_unit_test(no_late_rule_gets_into_the_next_round),
        cmocka_unit_test(no_big_rule_is_torn),
        cmocka_unit_test(no_big_rule_is_of_the_round_before),
    };
    read_bounds(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
