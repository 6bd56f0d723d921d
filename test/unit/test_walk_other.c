/* SPDX-License-Identifier: MIT
 *
 * test_walk_other.c: the stack of a thread that waits, with a frame whose frame pointer has to be
 * found; and stacks that are none.
 *
 * Architecture: x86_64
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "modules/modules.h"
#include "sys/safe_read.h"
#include "sys/task_state.h"
#include "unwind/walk_other.h"

#include "parked_thread.h"

#include <sys/mman.h>

enum { CAPACITY = 64 };

static pp_other_space space;
static uintptr_t pcs[CAPACITY];

static pp_walk walk(uintptr_t pc, uintptr_t sp, uint32_t capacity)
{
    pp_walk w = {.pcs = pcs, .capacity = capacity};
    pp_walk_other(pc, sp, &space, &w);
    return w;
}

static pp_task_place place_of(int tid)
{
    pp_task_place place;
    int folder = pp_task_open();
    while (pp_task_look(folder, tid, &place) != PP_TASK_WAITS) {
        poll(NULL, 0, 1);
    }
    pp_task_close(folder);
    return place;
}

/* Which frame it is; the stack's depth if there is none. */
static uint32_t frame_of(const pp_walk *w, uintptr_t pc)
{
    uint32_t i = 0;
    while (i < w->depth && w->pcs[i] != pc) {
        i++;
    }
    return i;
}

static void a_whole_stack(void **state)
{
    (void)state;
    enum { THREADS = 3 };
    parked_thread threads[THREADS] = {{.computes = false}};
    pp_modules_refresh();
    for (unsigned i = 0; i < THREADS;
         i++) { /* the later ones profit from what the first has shown */
        parked_start(&threads[i]);
        pp_task_place place = place_of(threads[i].tid);
        pp_walk w = walk(place.pc, place.sp, CAPACITY);
        uint32_t at = frame_of(&w, threads[i].returns_to[0]);
        assert_int_equal(w.stop, PP_STOP_END);
        assert_true(at > 0);
        assert_true(at + 1 < w.depth);
        assert_int_equal(w.pcs[at + 1], threads[i].returns_to[1]);
        w = walk(place.pc, place.sp, at);
        assert_int_equal(w.stop, PP_STOP_TRUNCATED);
        assert_int_equal(w.depth, at);
        assert_true(parked_end(&threads[i]));
    }
}

static void stacks_that_are_none(void **state)
{
    (void)state;
    enum { BYTES = 8192 };
    const uintptr_t pc = (uintptr_t)wait_in_poll + 1;
    static const uintptr_t nowhere[] = {0, 8, 1, 0x7fffffffe000, UINTPTR_MAX - 7};
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        pp_walk w = walk(pc, nowhere[i], CAPACITY);
        assert_int_not_equal(w.stop, PP_STOP_END);
        assert_int_equal(w.depth, 1);
    }
    uint8_t *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    for (unsigned seed = 0; seed < 100; seed++) { /* whatever stands there: an end, and no fault */
        uint32_t number = seed;
        for (size_t i = 0; i < BYTES; i++) {
            number = number * 1664525 + (seed != 0 ? 1013904223U : 0);
            memory[i] = (uint8_t)(number >> 24);
        }
        pp_walk w = walk(pc, (uintptr_t)memory + 64, CAPACITY);
        assert_true(w.depth >= 1 && w.depth <= CAPACITY);
    }
    munmap(memory, BYTES);
    assert_int_equal(walk(pc, (uintptr_t)memory + 64, CAPACITY).depth, 1);
}

/* From here on without process_vm_readv. */
static void forbid(void **state)
{
    (void)state;
    pp_safe_read_forbid_copy();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_stack),
        cmocka_unit_test(stacks_that_are_none),
        cmocka_unit_test(forbid),
        {"without_copy_a_whole_stack", a_whole_stack, NULL, NULL, NULL},
        {"without_copy_stacks_that_are_none", stacks_that_are_none, NULL, NULL, NULL},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
