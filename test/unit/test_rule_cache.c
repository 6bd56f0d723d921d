/* SPDX-License-Identifier: MIT
 *
 * test_rule_cache.c: rules come out of the cache as they went in, for their own PC, and never after
 * the loader has moved on.
 *
 * Architecture: x86_64
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "modules/loader.h"
#include "modules/loader_state.h"
#include "modules/modules.h"
#include "unwind/rule_cache.h"

#include <pthread.h>
#include <stdbool.h>

enum { FIRST_PC = 0x7f0000001000 }; /* by itself: its type would be that of all */
enum {
    THREADS = 4,
    CHANGES = 3000, /* fits the offset field of a packed rule */
    BIG_ROUNDS = 100000
};

static uint64_t seed = 1;

static pp_rule frame_rule(uint8_t reg, int32_t offset, int32_t fp, int32_t bx, bool permanent)
{
    pp_rule rule;
    memset(&rule, 0, sizeof rule);
    rule.kind = PP_RULE_FRAME;
    rule.cfa_reg = reg;
    rule.cfa_offset = offset;
    rule.permanent = permanent;
    rule.fp.kind = fp != 0 ? PP_WHERE_CFA : PP_WHERE_SAME;
    rule.fp.offset = fp;
    rule.bx.kind = bx != 0 ? PP_WHERE_CFA : PP_WHERE_SAME;
    rule.bx.offset = bx;
    rule.ra.kind = PP_WHERE_CFA;
    rule.ra.offset = -8;
    return rule;
}

/* Where the entry says a register was saved, relative to the CFA; 0 = it was not. */
static int32_t save_offset(unsigned place)
{
    const uintptr_t cfa = 4096;
    return place == PP_PACKED_UNCHANGED ? 0 : (int32_t)(pp_packed_save_address(cfa, place) - cfa);
}

static bool is_big(uint64_t entry)
{
    return entry != 0 && pp_packed_base(entry) == PP_BASE_OTHER && pp_packed_offset(entry) != 0;
}

static uint64_t publish_and_look_up(uintptr_t pc, const pp_rule *rule)
{
    uint64_t epoch = pp_loader_epoch();
    unsigned generation = pp_rule_cache_generation(epoch);
    assert_in_range(generation, 1, 63);
    pp_rule_cache_publish(pc, rule, epoch, generation);
    return pp_rule_cache_lookup(pc, generation);
}

static int clear(void **state)
{
    (void)state;
    pp_rule_cache_clear();
    return 0;
}

static void assert_same_where(const pp_where *a, const pp_where *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->reg, b->reg);
    assert_int_equal(a->offset, b->offset);
}

static void assert_same_rule(const pp_rule *a, const pp_rule *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->cfa_reg, b->cfa_reg);
    assert_int_equal(a->cfa_offset, b->cfa_offset);
    assert_int_equal(a->cfa_read, b->cfa_read);
    assert_int_equal(a->cfa_index, b->cfa_index);
    assert_int_equal(a->cfa_scale, b->cfa_scale);
    assert_int_equal(a->cfa_addend, b->cfa_addend);
    assert_same_where(&a->fp, &b->fp);
    assert_same_where(&a->bx, &b->bx);
    assert_same_where(&a->ra, &b->ra);
}

/* ---- packing ---- */

static void usual_rules_fit_into_a_word(void **state)
{
    (void)state;
    static const struct {
        uint8_t reg;
        pp_base base;
    } bases[] = {{PP_REG_SP, PP_BASE_SP}, {PP_REG_FP, PP_BASE_FP}, {PP_REG_BX, PP_BASE_BX}};
    static const int32_t offsets[] = {0, 8, 16, 24, 4096, 32752, 32760};
    for (size_t b = 0; b < 3; b++) {
        for (size_t o = 0; o < sizeof offsets / sizeof *offsets; o++) {
            for (int32_t fp = 1; fp <= 32; fp++) { /* words below the CFA; 1: not saved */
                for (int32_t bx = 1; bx <= 32; bx++) {
                    bool permanent = (fp + bx) % 2 == 0;
                    pp_rule rule = frame_rule(bases[b].reg, offsets[o], fp > 1 ? -8 * fp : 0,
                                              bx > 1 ? -8 * bx : 0, permanent);
                    uint64_t entry = publish_and_look_up(FIRST_PC, &rule);
                    assert_int_equal(pp_packed_base(entry), bases[b].base);
                    assert_int_equal(pp_packed_offset(entry), offsets[o]);
                    assert_int_equal(save_offset(pp_packed_fp(entry)), rule.fp.offset);
                    assert_int_equal(save_offset(pp_packed_bx(entry)), rule.bx.offset);
                    assert_int_equal(pp_cache_generation(entry) == 0, permanent);
                }
            }
        }
    }
}

static void kinds_without_fields_fit_too(void **state)
{
    (void)state;
    static const struct {
        pp_rule_kind kind;
        pp_base base;
    } kinds[] = {{PP_RULE_SIGNAL, PP_BASE_SIGNAL},
                 {PP_RULE_END, PP_BASE_END},
                 {PP_RULE_NONE, PP_BASE_OTHER}};
    for (size_t i = 0; i < 3; i++) {
        const pp_rule rule = {.kind = (uint8_t)kinds[i].kind};
        assert_int_equal(pp_packed_base(publish_and_look_up(FIRST_PC, &rule)), kinds[i].base);
    }
}

/* Each differs from a usual rule in one thing. */
static size_t make_unusual_rules(pp_rule rules[])
{
    size_t count = 0;
    const pp_rule usual = frame_rule(PP_REG_SP, 16, -16, 0, false);
#define UNUSUAL(field, value)                                                                      \
    do {                                                                                           \
        rules[count] = usual;                                                                      \
        rules[count++].field = (value);                                                            \
    } while (0)
    UNUSUAL(cfa_reg, 0);
    UNUSUAL(cfa_reg, 10);
    UNUSUAL(cfa_offset, -8);
    UNUSUAL(cfa_offset, 12);
    UNUSUAL(cfa_offset, 32768);
    UNUSUAL(cfa_offset, INT32_MAX);
    UNUSUAL(cfa_offset, INT32_MIN);
    UNUSUAL(cfa_read, true);
    UNUSUAL(cfa_scale, 8);
    UNUSUAL(fp.offset, 0);
    UNUSUAL(fp.offset, 16);
    UNUSUAL(fp.offset, -12);
    UNUSUAL(fp.offset, -8);
    UNUSUAL(fp.offset, -264);
    UNUSUAL(fp.offset, INT32_MIN);
    UNUSUAL(fp.kind, PP_WHERE_MEMORY);
    UNUSUAL(fp.kind, PP_WHERE_CFA_VALUE);
    UNUSUAL(fp.kind, PP_WHERE_REGISTER);
    UNUSUAL(fp.kind, PP_WHERE_LOST);
    UNUSUAL(bx, ((pp_where){.kind = PP_WHERE_CFA, .offset = -264}));
    UNUSUAL(bx, ((pp_where){.kind = PP_WHERE_MEMORY, .offset = -16, .reg = 6}));
    UNUSUAL(ra.offset, -16);
    UNUSUAL(ra.kind, PP_WHERE_REGISTER);
    UNUSUAL(ra.kind, PP_WHERE_SAME);
#undef UNUSUAL
    return count;
}

static void unusual_rules_are_kept_whole(void **state)
{
    (void)state;
    pp_rule rules[32];
    size_t count = make_unusual_rules(rules);
    for (size_t i = 0; i < count; i++) {
        uintptr_t pc = FIRST_PC + i;
        uint64_t entry = publish_and_look_up(pc, &rules[i]);
        assert_true(is_big(entry));
    }
    for (size_t i = 0; i < count; i++) { /* neighbours have not overwritten each other */
        pp_rule back;
        unsigned generation = pp_rule_cache_generation(pp_loader_epoch());
        assert_true(pp_rule_cache_big(FIRST_PC + i, generation, &back));
        assert_same_rule(&back, &rules[i]);
        assert_false(pp_rule_cache_big(FIRST_PC + i + count, generation, &back));
        assert_false(pp_rule_cache_big(FIRST_PC + i, PP_GENERATION_UNKNOWN, &back));
    }
}

static void random_rules_come_back(void **state)
{
    (void)state;
    for (int i = 0; i < 200000; i++) {
        static const uint8_t registers[] = {PP_REG_SP, PP_REG_FP, PP_REG_BX, 10};
        pp_rule rule = frame_rule(registers[pp_random_below(&seed, 4)],
                                  (int32_t)pp_random_below(&seed, 40000) - 1000,
                                  (int32_t)pp_random_below(&seed, 300) - 280,
                                  (int32_t)pp_random_below(&seed, 40) * -8, i % 2 == 0);
        uintptr_t pc = (uintptr_t)pp_random_below(&seed, UINT64_C(1) << PP_ADDRESS_BITS);
        uint64_t entry = publish_and_look_up(pc, &rule);
        if (is_big(entry)) {
            pp_rule back;
            assert_true(pp_rule_cache_big(pc, pp_cache_generation(entry), &back));
            assert_same_rule(&back, &rule);
            continue;
        }
        static const uint8_t register_of[] = {
            [PP_BASE_SP] = PP_REG_SP, [PP_BASE_FP] = PP_REG_FP, [PP_BASE_BX] = PP_REG_BX};
        assert_in_range(pp_packed_base(entry), PP_BASE_SP, PP_BASE_BX);
        assert_int_equal(register_of[pp_packed_base(entry)], rule.cfa_reg);
        assert_int_equal(pp_packed_offset(entry), rule.cfa_offset);
        assert_int_equal(save_offset(pp_packed_fp(entry)), rule.fp.offset);
        assert_int_equal(save_offset(pp_packed_bx(entry)), rule.bx.offset);
    }
}

/* ---- which PC ---- */

static void only_the_pc_itself_finds_its_rule(void **state)
{
    (void)state;
    const pp_rule rule = frame_rule(PP_REG_SP, 8, 0, 0, true);
    for (int round = 0; round < 2000; round++) {
        uintptr_t pc = (uintptr_t)pp_random_below(&seed, UINT64_C(1) << PP_ADDRESS_BITS);
        pp_rule_cache_clear();
        assert_int_not_equal(publish_and_look_up(pc, &rule), 0);
        for (int bit = 0; bit < 64; bit++)
            assert_int_equal(pp_rule_cache_lookup(pc ^ UINT64_C(1) << bit, 1), 0);
        for (int other = 0; other < 100; other++) {
            uintptr_t random = (uintptr_t)pp_random_next(&seed);
            assert_true(random == pc || pp_rule_cache_lookup(random, 1) == 0);
        }
    }
}

static void an_empty_cache_knows_nothing(void **state)
{
    (void)state;
    static const uintptr_t pcs[] = {0, 1, FIRST_PC, UINTPTR_MAX, (uintptr_t)1 << PP_ADDRESS_BITS};
    for (size_t i = 0; i < sizeof pcs / sizeof *pcs; i++) {
        pp_rule rule;
        assert_int_equal(pp_rule_cache_lookup(pcs[i], 1), 0);
        assert_int_equal(pp_rule_cache_lookup(pcs[i], PP_GENERATION_UNKNOWN), 0);
        assert_false(pcs[i] != 0 && pp_rule_cache_big(pcs[i], 1, &rule));
    }
}

static void a_neighbourhood_of_code_has_room(void **state)
{
    (void)state;
    enum { BYTES = 1 << PP_CACHE_INDEX_BITS };
    const pp_rule rule = frame_rule(PP_REG_SP, 8, 0, 0, true);
    for (uintptr_t pc = FIRST_PC & ~(uintptr_t)(BYTES - 1), i = 0; i < BYTES; i++)
        publish_and_look_up(pc + i, &rule);
    for (uintptr_t pc = FIRST_PC & ~(uintptr_t)(BYTES - 1), i = 0; i < BYTES; i++)
        assert_int_not_equal(pp_rule_cache_lookup(pc + i, 1), 0);
}

/* ---- generations ---- */

static void a_new_epoch_retires_what_may_be_gone(void **state)
{
    (void)state;
    const pp_rule stays = frame_rule(PP_REG_SP, 8, 0, 0, true);
    const pp_rule goes = frame_rule(PP_REG_SP, 16, 0, 0, false);
    pp_rule big = goes;
    big.cfa_read = true;
    publish_and_look_up(FIRST_PC, &stays);
    publish_and_look_up(FIRST_PC + 1, &goes);
    publish_and_look_up(FIRST_PC + 2, &big);
    unsigned before = pp_rule_cache_generation(pp_loader_epoch());
    assert_int_equal(pp_rule_cache_generation(pp_loader_epoch()), before);
    pp_loader_note_change();
    unsigned after = pp_rule_cache_generation(pp_loader_epoch());
    assert_int_not_equal(after, before);
    assert_int_not_equal(pp_rule_cache_lookup(FIRST_PC, after), 0);
    assert_int_equal(pp_rule_cache_lookup(FIRST_PC + 1, after), 0);
    assert_int_equal(pp_rule_cache_lookup(FIRST_PC + 2, after), 0);
    assert_false(pp_rule_cache_big(FIRST_PC + 2, after, &big));
    /* A walk that has no generation sees the same. */
    assert_int_not_equal(pp_rule_cache_lookup(FIRST_PC, PP_GENERATION_UNKNOWN), 0);
    assert_int_equal(pp_rule_cache_lookup(FIRST_PC + 1, PP_GENERATION_UNKNOWN), 0);
}

static void what_was_computed_before_a_change_is_not_published_after_it(void **state)
{
    (void)state;
    const pp_rule goes = frame_rule(PP_REG_SP, 16, 0, 0, false);
    const pp_rule stays = frame_rule(PP_REG_SP, 8, 0, 0, true);
    pp_rule big = goes;
    big.cfa_read = true;
    uint64_t epoch = pp_loader_epoch();
    unsigned generation = pp_rule_cache_generation(epoch);
    pp_loader_note_change();
    pp_rule_cache_publish(FIRST_PC, &goes, epoch, generation);
    pp_rule_cache_publish(FIRST_PC + 1, &big, epoch, generation);
    pp_rule_cache_publish(FIRST_PC + 2, &stays, epoch, generation);
    assert_int_equal(pp_rule_cache_lookup(FIRST_PC, generation), 0);
    assert_int_equal(pp_rule_cache_lookup(FIRST_PC + 1, generation), 0);
    assert_int_not_equal(pp_rule_cache_lookup(FIRST_PC + 2, generation), 0);
}

static void a_walk_that_knows_an_old_epoch_gets_no_generation(void **state)
{
    (void)state;
    uint64_t old = pp_loader_epoch();
    pp_rule_cache_generation(old);
    pp_loader_note_change();
    pp_rule_cache_generation(pp_loader_epoch());
    assert_int_equal(pp_rule_cache_generation(old), PP_GENERATION_UNKNOWN);
}

static void a_walk_without_generation_publishes_what_stays_only(void **state)
{
    (void)state;
    const pp_rule goes = frame_rule(PP_REG_SP, 16, 0, 0, false);
    const pp_rule stays = frame_rule(PP_REG_SP, 8, 0, 0, true);
    uint64_t epoch = pp_loader_epoch();
    unsigned generation = pp_rule_cache_generation(epoch);
    pp_rule_cache_publish(FIRST_PC, &goes, epoch, PP_GENERATION_UNKNOWN);
    pp_rule_cache_publish(FIRST_PC + 1, &stays, epoch, PP_GENERATION_UNKNOWN);
    assert_int_equal(pp_rule_cache_lookup(FIRST_PC, generation), 0);
    assert_int_not_equal(pp_rule_cache_lookup(FIRST_PC + 1, generation), 0);
}

static void generations_wrap_without_waking_old_rules(void **state)
{
    (void)state;
    enum { RENEWALS = 200 };
    const pp_rule stays = frame_rule(PP_REG_SP, 8, 0, 0, true);
    publish_and_look_up(FIRST_PC, &stays);
    for (int i = 1; i <= RENEWALS; i++) {
        pp_rule goes = frame_rule(PP_REG_SP, 8 * i, 0, 0, false);
        assert_int_not_equal(publish_and_look_up(FIRST_PC + (uintptr_t)i, &goes), 0);
        goes.cfa_read = true;
        publish_and_look_up(FIRST_PC + RENEWALS + (uintptr_t)i, &goes);
        pp_loader_note_change();
        unsigned generation = pp_rule_cache_generation(pp_loader_epoch());
        assert_in_range(generation, 1, 63);
        for (uintptr_t j = 1; j <= 2 * RENEWALS; j++)
            assert_int_equal(pp_rule_cache_lookup(FIRST_PC + j, generation), 0);
        assert_int_not_equal(pp_rule_cache_lookup(FIRST_PC, generation), 0);
    }
}

/* ---- threads ---- */

static uint32_t world; /* the version of what rules describe; changes before the loader says so */
static uint32_t committed; /* the version that the loader has told of */
static bool finished;

/*
 * Looks up and publishes as walks do. What is found must not be older than what the loader had told
 * of when the walk began.
 */
static void *walk_in_a_changing_world(void *context)
{
    uint64_t own_seed = (uintptr_t)context;
    unsigned long stale = 0;
    while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE)) {
        uint32_t at_least = __atomic_load_n(&committed, __ATOMIC_ACQUIRE);
        uint64_t epoch = pp_loader_epoch();
        unsigned generation = pp_rule_cache_generation(epoch);
        for (int i = 0; i < 20; i++) {
            uintptr_t pc = FIRST_PC + pp_random_below(&own_seed, 64);
            uint64_t entry = pp_rule_cache_lookup(pc, generation);
            if (entry != 0) {
                stale += pp_packed_offset(entry) / 8 < at_least;
                continue;
            }
            uint32_t now = __atomic_load_n(&world, __ATOMIC_ACQUIRE);
            pp_rule rule = frame_rule(PP_REG_SP, (int32_t)now * 8, 0, 0, false);
            pp_rule_cache_publish(pc, &rule, epoch, generation);
        }
    }
    return (void *)stale;
}

static void no_thread_meets_a_stale_rule(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    world = committed = 0;
    finished = false;
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, walk_in_a_changing_world, (void *)i), 0);
    for (uint32_t version = 1; version <= CHANGES; version++) {
        __atomic_store_n(&world, version, __ATOMIC_RELEASE);
        pp_loader_note_change();
        __atomic_store_n(&committed, version, __ATOMIC_RELEASE);
        for (int i = 0; i < 100; i++)
            __asm__ volatile("pause");
        if (version % 16 == 0)
            sched_yield();
    }
    __atomic_store_n(&finished, true, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++) {
        void *stale = NULL;
        pthread_join(threads[i], &stale);
        assert_null(stale);
    }
}

/* All fields of a rule say the same number. */
static pp_rule telling_rule(int32_t number)
{
    pp_rule rule = frame_rule(PP_REG_SP, number, number, number, true);
    rule.cfa_read = true;
    rule.cfa_addend = number;
    rule.fp.kind = rule.bx.kind = PP_WHERE_MEMORY;
    rule.ra.offset = number;
    return rule;
}

static void *write_and_read_big_rules(void *context)
{
    uint64_t own_seed = (uintptr_t)context;
    unsigned long torn = 0;
    for (int i = 0; i < BIG_ROUNDS; i++) {
        /* Two PCs of one slot, if there is such a thing as a slot for 1024 consecutive ones. */
        uintptr_t which = pp_random_below(&own_seed, 2);
        uintptr_t pc = FIRST_PC + which * (1 << 20);
        pp_rule rule = telling_rule((int32_t)which * 1000 + 8);
        if (pp_random_below(&own_seed, 4) == 0)
            pp_rule_cache_publish(pc, &rule, 0, PP_GENERATION_UNKNOWN);
        pp_rule back;
        if (pp_rule_cache_big(pc, PP_GENERATION_UNKNOWN, &back))
            torn += memcmp(&back.cfa_offset, &rule.cfa_offset, sizeof rule.cfa_offset) != 0 ||
                    back.cfa_addend != rule.cfa_offset || back.fp.offset != rule.cfa_offset ||
                    back.bx.offset != rule.cfa_offset || back.ra.offset != rule.cfa_offset;
    }
    return (void *)torn;
}

static void big_rules_are_never_torn(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_and_read_big_rules, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        void *torn = NULL;
        pthread_join(threads[i], &torn);
        assert_null(torn);
    }
}

static int learn_the_epoch(void **state)
{
    (void)state;
    /* Nothing is known yet, but where the loader's count is libc's own. */
    assert_int_equal(pp_rule_cache_generation(0) == PP_GENERATION_UNKNOWN, !pp_loader_is_libc());
    pp_modules_refresh();
    return pp_loader_epoch_is_known() ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(usual_rules_fit_into_a_word, clear),
        cmocka_unit_test_setup(kinds_without_fields_fit_too, clear),
        cmocka_unit_test_setup(unusual_rules_are_kept_whole, clear),
        cmocka_unit_test_setup(random_rules_come_back, clear),
        cmocka_unit_test_setup(only_the_pc_itself_finds_its_rule, clear),
        cmocka_unit_test_setup(an_empty_cache_knows_nothing, clear),
        cmocka_unit_test_setup(a_neighbourhood_of_code_has_room, clear),
        cmocka_unit_test_setup(a_new_epoch_retires_what_may_be_gone, clear),
        cmocka_unit_test_setup(what_was_computed_before_a_change_is_not_published_after_it, clear),
        cmocka_unit_test_setup(a_walk_that_knows_an_old_epoch_gets_no_generation, clear),
        cmocka_unit_test_setup(a_walk_without_generation_publishes_what_stays_only, clear),
        cmocka_unit_test_setup(generations_wrap_without_waking_old_rules, clear),
        cmocka_unit_test_setup(no_thread_meets_a_stale_rule, clear),
        cmocka_unit_test_setup(big_rules_are_never_torn, clear),
    };
    return cmocka_run_group_tests(tests, learn_the_epoch, NULL);
}
