/* SPDX-License-Identifier: MIT
 *
 * test_leak_blocks.c: which words are the address of a block, and which blocks are reached.
 */
#include "kinds/heap/leak_blocks.h"

#include "base/stack_hash.h"
#include "kinds/heap/heap_buckets.h"
#include "kinds/heap/leak_doubts.h"
#include "kinds/heap/live_table.h"
#include "threads/thread_creation.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Addresses of no memory: nothing reads the blocks. */
static const uintptr_t somewhere = UINT64_C(0x7e5000000000);
static const uintptr_t outside = UINT64_C(0x7e6000000000);

enum { MAX_BLOCKS = 64 };

typedef struct scene {
    uintptr_t start[MAX_BLOCKS];
    unsigned count;
    pp_arena arena, of_pass;
    pp_leak_blocks blocks;
} scene;

static void add_under(scene *s, uintptr_t start, uint64_t size, uintptr_t site, uintptr_t root)
{
    const uintptr_t pcs[] = {site, 2 * root, root};
    pp_heap_block block = pp_heap_block_find(pcs, 3, pp_stack_hash(pcs, 3), size, 1, NULL);
    assert_true(block != 0);
    assert_true(pp_live_table_insert(start, block));
    s->start[s->count++] = start;
}

static void add(scene *s, uintptr_t start, uint64_t size, uintptr_t site)
{
    add_under(s, start, size, site, 0x1000);
}

static void begin(scene *s)
{
    assert_int_equal(pp_leak_blocks_read(&s->blocks, &s->arena), 0);
    assert_int_equal(s->blocks.count, s->count);
    assert_int_equal(pp_leak_blocks_begin(&s->blocks, &s->of_pass), 0);
}

static void end(scene *s)
{
    for (unsigned i = 0; i < s->count; i++) {
        uint64_t value = 0;
        assert_true(pp_live_table_remove(s->start[i], &value));
    }
    pp_arena_release(&s->of_pass);
    pp_arena_release(&s->arena);
    *s = (scene){.count = 0};
}

static void look(scene *s, uintptr_t place, uint64_t word)
{
    pp_leak_blocks_look(&s->blocks, place, &word, 1);
}

enum { AROUND = 19 /* words that are looked at in groups, and some alone */ };

/* How many of so many blocks are reached by a word at a place that is in no block, among others that
 * refer to nothing. */
static unsigned count_reached(const uintptr_t *starts, unsigned count, uint64_t size, uint64_t word,
                              unsigned place, uint64_t others)
{
    scene s = {.count = 0};
    uint64_t words[AROUND];
    for (unsigned i = 0; i < count; i++) {
        add(&s, starts[i], size, 0x3000);
    }
    for (unsigned i = 0; i < AROUND; i++) {
        words[i] = i == place ? word : others;
    }
    begin(&s);
    pp_leak_blocks_look(&s.blocks, outside, words, AROUND);
    pp_leak_blocks_end(&s.blocks);
    unsigned reached = count - s.blocks.candidates;
    end(&s);
    return reached;
}

/* The same wherever it stands. */
static bool refers(uint64_t word, uintptr_t start, uint64_t size)
{
    unsigned reached = 0;
    for (unsigned place = 0; place < AROUND; place++) {
        reached += count_reached(&start, 1, size, word, place, place % 2 == 0 ? 0 : UINT64_MAX);
    }
    assert_true(reached == 0 || reached == AROUND);
    return reached > 0;
}

static void words_are_addresses(void **state)
{
    (void)state;
    pp_live_table_init();
    const uintptr_t at = somewhere + 0x120;
    assert_true(refers(at, at, 100));
    assert_true(refers(at + 50, at, 100));
    assert_true(refers(at + 100, at, 100)); /* just after it */
    assert_false(refers(at + 101, at, 100));
    assert_false(refers(at - 1, at, 100));
    assert_true(refers(at | 3, at, 100));
    assert_true(refers(at | UINT64_C(0xa5) << 56, at, 100));
    assert_true(refers(at, at, 0));
    assert_false(refers(at + 1, at, 0));
    assert_true(refers(somewhere + 8192, somewhere, 8192)); /* its end is that of a page */
    assert_true(refers(somewhere + 8191, somewhere, 8192));
    assert_true(refers(somewhere + (1 << 30) + 5, somewhere + (1 << 30) - 100, 200));
    assert_false(refers(0, at, 100));
    assert_false(refers(UINT64_MAX, at, 100));
    for (unsigned bit = 7; bit < 48; bit++) {
        assert_false(refers(at ^ UINT64_C(1) << bit, at, 100));
    }
}

/* Blocks from one end of the address space to the other: their span in pages has more than 32 bits. */
static void spans_may_be_wide(void **state)
{
    (void)state;
    const uintptr_t starts[] = {0x1000, UINT64_C(0x10000000f000), UINT64_C(0x2ffffffff000),
                                UINT64_C(0x400000005000), UINT64_C(0xfffffffff000)};
    const unsigned count = sizeof starts / sizeof *starts;
    for (unsigned i = 0; i < count; i++) {
        for (unsigned place = 0; place < AROUND; place++) {
            assert_int_equal(count_reached(starts, count, 64, starts[i] + 8, place, 0), 1);
            assert_int_equal(count_reached(starts, count, 64, starts[i] + 65, place, 0), 0);
        }
    }
}

/* The end of a block is the beginning of the next one. */
static void an_address_is_of_one_block(void **state)
{
    (void)state;
    scene s = {.count = 0};
    add(&s, somewhere, 64, 0x3000);
    add(&s, somewhere + 64, 64, 0x3000);
    begin(&s);
    look(&s, outside, somewhere + 64);
    pp_leak_blocks_end(&s.blocks);
    assert_int_equal(s.blocks.candidates, 1);
    assert_false(s.blocks.list[0].reached);
    assert_true(s.blocks.list[1].reached);
    end(&s);
}

/* A list is looked at from its end and from its head; a ring that nothing refers to stays. */
static void edges_are_followed(void **state)
{
    (void)state;
    scene s = {.count = 0};
    for (unsigned i = 0; i < 30; i++) {
        add(&s, somewhere + i * 4096, 64, 0x3000 + i);
    }
    begin(&s);
    for (unsigned i = 9; i-- > 0;) {
        look(&s, somewhere + i * 4096 + 8, somewhere + (i + 1) * 4096);
    }
    look(&s, outside, somewhere);
    for (unsigned i = 10; i < 20; i++) {
        look(&s, somewhere + i * 4096 + 8, somewhere + (i == 19 ? 10 : i + 1) * 4096);
    }
    look(&s, somewhere + 20 * 4096 + 8, somewhere + 20 * 4096);  /* itself */
    look(&s, somewhere + 21 * 4096 + 64, somewhere + 22 * 4096); /* not in the block any more */
    pp_leak_blocks_end(&s.blocks);
    for (unsigned i = 0; i < 30; i++) {
        assert_int_equal(s.blocks.list[i].reached, i < 10 || i == 22);
    }

    /* Another pass looks for the rest: the ring's way in is found. */
    pp_arena_release(&s.of_pass);
    assert_int_equal(pp_leak_blocks_begin(&s.blocks, &s.of_pass), 0);
    look(&s, outside, somewhere + 15 * 4096);
    for (unsigned i = 10; i < 20; i++) {
        look(&s, somewhere + i * 4096 + 8, somewhere + (i == 19 ? 10 : i + 1) * 4096);
    }
    pp_leak_blocks_end(&s.blocks);
    for (unsigned i = 0; i < 30; i++) {
        assert_int_equal(s.blocks.list[i].reached, i < 20 || i == 22);
    }
    end(&s);
}

/* If every block is known, other words in pages with blocks are in free memory. */
static void free_memory_does_not_count(void **state)
{
    (void)state;
    for (unsigned complete = 0; complete < 2; complete++) {
        scene s = {.count = 0};
        add(&s, somewhere + 64, 64, 0x3000);
        begin(&s);
        s.blocks.complete = complete;
        look(&s, somewhere + 1024, somewhere + 64);
        pp_leak_blocks_end(&s.blocks);
        assert_int_equal(s.blocks.candidates, complete);
        end(&s);
    }
    scene s = {.count = 0};
    add(&s, somewhere + 64, 64, 0x3000);
    begin(&s);
    s.blocks.complete = true;
    look(&s, somewhere + 4096, somewhere + 64);
    pp_leak_blocks_end(&s.blocks);
    assert_int_equal(s.blocks.candidates, 0);
    end(&s);
}

/* Where others have memory at the program break, too, none of it is free memory for sure. */
static void memory_of_others_at_the_break_counts(void **state)
{
    (void)state;
    for (unsigned shares = 0; shares < 2; shares++) {
        scene s = {.count = 0};
        add(&s, somewhere + 64, 64, 0x3000);
        begin(&s);
        s.blocks.complete = true;
        s.blocks.break_start = somewhere;
        s.blocks.break_limit = somewhere + 3 * 4096;
        s.blocks.shares_break = shares;
        look(&s, somewhere + 1024, somewhere + 64);
        look(&s, somewhere + 2 * 4096, somewhere + 64);
        pp_leak_blocks_end(&s.blocks);
        assert_int_equal(s.blocks.candidates, !shares);
        end(&s);
    }
}

/* A word that is just after a block is of the block, if the program uses such memory: it counts if the block does. */
static void words_after_a_block_are_of_it_where_they_are_used(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 4; way++) {
        scene s = {.count = 0};
        add(&s, somewhere + 64, 40, 0x3000);
        add(&s, somewhere + 256, 40, 0x3000);
        begin(&s);
        s.blocks.complete = true;
        s.blocks.uses_slack = way & 1;
        look(&s, somewhere + 64 + 40, somewhere + 256);
        look(&s, somewhere + 64 + 40 + 80, somewhere + 256); /* too far */
        if (way & 2) {
            look(&s, outside, somewhere + 64);
        }
        pp_leak_blocks_end(&s.blocks);
        assert_int_equal(s.blocks.candidates, way == 3 ? 0 : way == 2 ? 1 : 2);
        end(&s);
    }
}

/* Of a place that has lost no more structures than there are threads, each may be in a register. */
static void threads_are_in_doubt(void **state)
{
    (void)state;
    const uintptr_t root[] = {0x2000, 0x1000};
    pp_thread_row rows[3] = {{.tid = 1, .whole = true, .depth = 2, .pc = root},
                             {.tid = 2, .whole = true, .depth = 2, .pc = root},
                             {.tid = 3, .whole = true, .depth = 2, .pc = root}};
    for (unsigned lists = 1; lists <= 4; lists++) {
        const pp_threads threads = {.rows = rows, .count = 3};
        scene s = {.count = 0};
        for (unsigned i = 0; i < lists * 5; i++) {
            add(&s, somewhere + i * 256, 64, i % 5 == 0 ? 0x3000 : 0x4000);
        }
        begin(&s);
        for (unsigned i = 0; i < lists * 5; i++) { /* lists, and a ring */
            unsigned next = i % 5 == 4 ? i - 4 : i + 1;
            if (i % 5 != 4 || i < 5) {
                look(&s, somewhere + i * 256, somewhere + next * 256);
            }
        }
        pp_leak_blocks_end(&s.blocks);
        assert_int_equal(s.blocks.candidates, lists * 5);
        uint32_t in_doubt = pp_leak_doubts_leave_out_of(&s.blocks, &threads, 1, 0, &s.of_pass);
        assert_int_equal(in_doubt, lists <= 2 ? lists * 5 : 0);
        assert_int_equal(s.blocks.candidates, lists <= 2 ? 0 : lists * 5);
        end(&s);
    }
}

/* Whether `count` lost blocks under `root` are in doubt. */
static bool in_doubt(unsigned count, uintptr_t root, pp_thread_row *rows, size_t row_count)
{
    const pp_threads threads = {.rows = rows, .count = row_count};
    scene s = {.count = 0};
    for (unsigned i = 0; i < count; i++) {
        add_under(&s, somewhere + i * 256, 64, 0x3000, root);
    }
    begin(&s);
    pp_leak_blocks_end(&s.blocks);
    uint32_t left_out = pp_leak_doubts_leave_out_of(&s.blocks, &threads, 1, 0, &s.of_pass);
    assert_true(left_out == 0 || left_out == count);
    end(&s);
    return left_out > 0;
}

/* Threads by pthread_create have the same outermost frames: one that waits shows those of all. */
static void threads_that_run_are_in_doubt(void **state)
{
    (void)state;
    const uintptr_t first[] = {0x2000, 0x1000};
    const uintptr_t created[] = {0x9000, 0x8000, 0x4000};
    pp_thread_row rows[] = {{.tid = 1, .whole = true, .depth = 2, .pc = first},
                            {.tid = 2, .entry = 0x9000},
                            {.tid = 3, .entry = 0x9000, .whole = true, .depth = 3, .pc = created},
                            {.tid = 4}};
    assert_true(in_doubt(1, 0x1000, rows, 2)); /* of the second thread nothing is known */
    assert_false(in_doubt(2, 0x1000, rows, 2));
    assert_false(in_doubt(1, 0x1000, rows, 3));
    assert_true(in_doubt(2, 0x4000, rows, 3));
    assert_false(in_doubt(3, 0x4000, rows, 3));
    assert_true(in_doubt(1, 0x4000, rows, 2)); /* from now on it is known */
    assert_false(in_doubt(1, 0x1000, rows, 2));
    assert_true(in_doubt(1, 0x1000, rows, 4)); /* not by pthread_create */
    assert_false(in_doubt(2, 0x1000, rows, 4));
    assert_true(in_doubt(3, 0x4000, rows, 4));
    assert_false(in_doubt(4, 0x4000, rows, 4));
}

/* Looks for `count` lost blocks, as the calling thread. */
static bool is_in_doubt_now(unsigned count)
{
    scene s = {.count = 0};
    for (unsigned i = 0; i < count; i++) {
        add_under(&s, somewhere + i * 256, 64, 0x3000, 0x7000);
    }
    begin(&s);
    pp_leak_blocks_end(&s.blocks);
    uint32_t left_out = pp_leak_doubts_leave_out(&s.blocks, &s.of_pass);
    end(&s);
    return left_out > 0;
}

typedef struct of_library {
    pthread_barrier_t barrier;
    bool one, two;
} of_library;

static void *live_in_library(void *context)
{
    of_library *l = context;
    pp_thread_creation_disown();
    l->one = is_in_doubt_now(1);
    l->two = is_in_doubt_now(2);
    pthread_barrier_wait(&l->barrier);
    pthread_barrier_wait(&l->barrier);
    pp_thread_creation_end();
    return NULL;
}

/* To the library's thread, the program's is another one, which may hold a block; not the other way round. */
static void threads_of_the_library_hold_no_block(void **state)
{
    (void)state;
    pthread_t thread;
    of_library l = {.one = false};
    pp_leak_doubts_permit(true);
    assert_int_equal(pthread_barrier_init(&l.barrier, NULL, 2), 0);
    assert_int_equal(pthread_create(&thread, NULL, live_in_library, &l), 0);
    pthread_barrier_wait(&l.barrier);
    assert_true(l.one);
    assert_false(l.two);
    assert_false(is_in_doubt_now(1));
    pthread_barrier_wait(&l.barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&l.barrier);
}

/* Addresses far apart, and between them: words between the two places of blocks are none. */
static void blocks_are_in_two_places(void **state)
{
    (void)state;
    const uintptr_t low = UINT64_C(0x550000000000);
    const uintptr_t places[] = {low, low + 4096 * 7, somewhere, somewhere + 64, somewhere + 4096};
    enum { COUNT = sizeof places / sizeof *places };
    scene s = {.count = 0};
    for (unsigned i = 0; i < COUNT; i++) {
        add(&s, places[i], 64, 0x3000);
    }
    begin(&s);
    look(&s, outside, low - 1);
    look(&s, outside, places[1] + 65);
    look(&s, outside, somewhere - 1);
    look(&s, outside, somewhere + 4096 + 65);
    pp_leak_blocks_end(&s.blocks);
    assert_int_equal(s.blocks.candidates, COUNT);
    for (unsigned i = COUNT; i-- > 0;) {
        assert_int_equal(pp_leak_blocks_begin(&s.blocks, &s.of_pass), 0);
        look(&s, outside, places[i] + (i % 2 == 0 ? 64 : 0) - (i == 2));
        pp_leak_blocks_end(&s.blocks);
        assert_true(s.blocks.list[i].reached);
        assert_int_equal(s.blocks.candidates, i);
    }
    end(&s);
}

/* A block that the table still has under a larger one: the inner one has its addresses. */
static void blocks_overlap(void **state)
{
    (void)state;
    scene s = {.count = 0};
    add(&s, somewhere, 4096, 0x3000);
    add(&s, somewhere + 256, 64, 0x3000);
    begin(&s);
    look(&s, outside, somewhere + 8);
    look(&s, outside, somewhere + 300);
    pp_leak_blocks_end(&s.blocks);
    assert_int_equal(s.blocks.candidates, 0);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_addresses),
        cmocka_unit_test(spans_may_be_wide),
        cmocka_unit_test(an_address_is_of_one_block),
        cmocka_unit_test(edges_are_followed),
        cmocka_unit_test(free_memory_does_not_count),
        cmocka_unit_test(memory_of_others_at_the_break_counts),
        cmocka_unit_test(words_after_a_block_are_of_it_where_they_are_used),
        cmocka_unit_test(threads_are_in_doubt),
        cmocka_unit_test(threads_that_run_are_in_doubt),
        cmocka_unit_test(blocks_are_in_two_places),
        cmocka_unit_test(blocks_overlap),
        cmocka_unit_test(threads_of_the_library_hold_no_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
