/* SPDX-License-Identifier: MIT
 *
 * test_jump_storm.c: a signal handler jumps out of what hooks do, wherever it is, thousands of
 * times. What they work on is as good afterwards as before.
 *
 * Libc: glibc
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kinds/contention/contended.h"
#include "kinds/heap/heap_buckets.h"
#include "kinds/heap/heap_peak.h"
#include "modules/loader.h"
#include "modules/modules.h"
#include "unwind/copies.h"
#include "unwind/rule_cache.h"
#include "unwind/walk.h"

#include "spare_library.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

enum { FIRST_PC = 0x7f0000001000 }; /* by itself: its type would be that of all */
enum {
    JUMPS = 5000,
    PERIOD_US = 40,
    PCS = 64,
    CHUNKS = 1024, /* in every place that there is for them */
    FRAMES = 4,
    STRIDE = 37,
    TURNS_TO_CHANGE = 4,
    STACKS = 1 << 16,
    OBJECT = 0x5000
};

/* ---- the storm ---- */

typedef void work(unsigned turn);

static spare_code code;
static pp_walk_space space;

static sigjmp_buf out;
static unsigned jumps;

static void jump_out(int signal)
{
    if (__atomic_add_fetch(&jumps, 1, __ATOMIC_RELAXED) <= JUMPS)
        siglongjmp(out, signal);
}

static void send_signals(long period_us)
{
    const struct itimerval period = {.it_interval.tv_usec = period_us,
                                     .it_value.tv_usec = period_us};
    assert_int_equal(setitimer(ITIMER_REAL, &period, NULL), 0);
}

/* Further down the stack than what a test calls itself. */
static __attribute__((noinline)) void work_below(work *does, unsigned turn)
{
    char room[1024];
    __asm__ volatile("" ::"r"(room) : "memory");
    does(turn);
    __asm__ volatile("" ::"r"(room) : "memory");
}

static void storm(work *does)
{
    static volatile unsigned turn;
#ifdef __SANITIZE_THREAD__
    skip(); /* it holds signals back until the program calls it: nothing is interrupted */
#endif
    turn = jumps = 0;
    if (sigsetjmp(out, 1) == 0)
        send_signals(PERIOD_US);
    while (__atomic_load_n(&jumps, __ATOMIC_RELAXED) < JUMPS)
        work_below(does, ++turn);
    send_signals(0);
}

static int catch_signals(void **state)
{
    struct sigaction action = {.sa_handler = jump_out};
    (void)state;
    return sigaction(SIGALRM, &action, NULL);
}

/* ---- what is jumped out of ---- */

static void wait_and_release(unsigned turn)
{
    pp_place place = {.at = NULL};
    uint64_t ns = 0;
    pp_charge *charge = NULL;
    (void)turn;
    pp_contended_join(OBJECT, &place);
    pp_contended_release(OBJECT, 0, &ns, &charge);
    pp_contended_leave(&place, true, &ns);
}

static void waits_find_their_list(void **state)
{
    (void)state;
    pp_place place;
    uint64_t ns = 0;
    pp_charge *charge = NULL;
    storm(wait_and_release);
    assert_true(pp_contended_join(OBJECT, &place));
    assert_true(pp_contended_release(OBJECT, 1, &ns, &charge));
    assert_non_null(charge);
    pp_charge_settle(charge, NULL, NULL);
    pp_contended_leave(&place, true, &ns);
    assert_int_equal(ns, 0);
}

static pp_rule big_rule(int32_t number)
{
    pp_rule rule;
    memset(&rule, 0, sizeof rule);
    rule.kind = PP_RULE_FRAME;
    rule.cfa_reg = PP_REG_SP;
    rule.cfa_read = true;
    rule.cfa_addend = number;
    rule.ra.kind = PP_WHERE_CFA;
    rule.ra.offset = -8;
    return rule;
}

/* A library that could be unloaded: its rules belong to an epoch, and what is read of it is kept in
 * copies. */
static int load_library(void **state)
{
    (void)state;
    void *library = dlopen(spare_library(), RTLD_NOW);
    code = spare_code_of(library);
    pp_modules_refresh();
    return library == NULL;
}

/* From somewhere in the library's code, whose rule is in no cache at first; where that leads does
 * not matter. */
static void walk_from(uintptr_t return_address)
{
    uintptr_t pcs[FRAMES];
    pp_walk walk = {.pcs = pcs, .space = &space, .capacity = FRAMES, .without_memo = true};
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
    pp_caller caller = {.return_address = return_address, .sp = sp, .fp = sp};
    pp_walk_from_caller(&caller, &walk);
}

static void walk_through_library(unsigned turn)
{
    if (turn % TURNS_TO_CHANGE == 0) {
        pp_loader_note_change();
        pp_modules_refresh();
    }
    walk_from(code.lo + turn * STRIDE % (code.hi - code.lo));
}

/* A new generation, and from time to time the first one again: nobody may be publishing then. */
static void note_changes(void)
{
    enum { CHANGES = 200 };
    for (int i = 0; i < CHANGES; i++) {
        pp_loader_note_change();
        unsigned generation = pp_rule_cache_generation(pp_loader_epoch());
        assert_in_range(generation, 1, 63);
    }
}

static void rules_can_be_published(void **state)
{
    (void)state;
    if (!pp_loader_epoch_is_known())
        skip();
    storm(walk_through_library);
    uint64_t epoch = pp_loader_epoch();
    unsigned generation = pp_rule_cache_generation(epoch);
    for (int32_t i = 0; i < PCS; i++) {
        pp_rule rule = big_rule(1000 + i);
        pp_rule found;
        rule.permanent = i % 2 != 0;
        pp_rule_cache_publish((uintptr_t)FIRST_PC + (uintptr_t)i, &rule, epoch, generation);
        assert_true(pp_rule_cache_big((uintptr_t)FIRST_PC + (uintptr_t)i, generation, &found));
        assert_int_equal(found.cfa_addend, 1000 + i);
    }
    note_changes();
}

static void keep(uintptr_t begin)
{
    static pp_chunk chunk;
    chunk.lo = begin;
    chunk.hi = begin + PP_CHUNK_BYTES;
    pp_copies_keep(begin, pp_loader_epoch(), &chunk);
}

static void chunks_can_be_kept(void **state)
{
    (void)state;
    pp_chunk found;
    storm(walk_through_library);
    for (uintptr_t i = 0; i < CHUNKS; i++) {
        uintptr_t begin = (FIRST_PC / PP_CHUNK_BYTES + i) * PP_CHUNK_BYTES;
        keep(begin);
        assert_true(pp_copies_find(begin, PP_CHUNK_BYTES, pp_loader_epoch(), &found));
        assert_int_equal(found.lo, begin);
    }
}

/* The hash takes its own way through the trie for each of them. */
static pp_heap_block block_of(uintptr_t stack)
{
    uint64_t hash = (stack + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return pp_heap_block_find(&stack, 1, hash, 16, 1, NULL);
}

static void allocate(unsigned turn)
{
    pp_heap_block_allocated(block_of(turn % STACKS));
}

static uint64_t count_listed(void)
{
    uint64_t count = 0;
    for (const pp_heap_bucket *b = pp_heap_buckets_newest(); b != NULL; b = b->next)
        count += b->alloc_objects;
    return count;
}

static void buckets_are_all_listed(void **state)
{
    (void)state;
    storm(allocate);
    uint64_t before = count_listed();
    for (unsigned i = 0; i < STACKS; i++)
        allocate(i);
    assert_int_equal(count_listed(), before + STACKS);
}

static void reach_a_peak(unsigned turn)
{
    pp_heap_peak_add(turn % 2 != 0 ? INT64_MAX / 4 : -INT64_MAX / 4);
}

static void a_peak_can_be_taken(void **state)
{
    (void)state;
    pp_heap_peak_copy copy;
    pp_heap_peak_start();
    storm(reach_a_peak);
    pp_heap_peak_take(&copy);
    assert_true(copy.held);
    pp_heap_peak_give(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_find_their_list),
        cmocka_unit_test_setup(rules_can_be_published, load_library),
        cmocka_unit_test(chunks_can_be_kept),
        cmocka_unit_test(buckets_are_all_listed),
        cmocka_unit_test(a_peak_can_be_taken),
    };
    int failed = cmocka_run_group_tests(tests, catch_signals, NULL);
    /* A jump out of the loader leaves its lock taken, for which a search for leaks at exit would
     * wait. */
    fflush(NULL);
    _exit(failed != 0);
}
