/* SPDX-License-Identifier: MIT
 *
 * toy_kind.c: a kind of profile that shows where toy_play() was called, and nothing else of the
 * library's knows.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: none; toy_play() is called by one thread.
 * Owns: the stacks.
 */
#include "toy_kind.h"

#include "host/kind.h"
#include "output/count.h"

enum { CALLS = 16, DEPTH = 64 };

static uintptr_t stacks[CALLS][DEPTH];
static pp_count_row rows[CALLS];
static size_t calls;

__attribute__((visibility("default"))) void toy_play(void)
{
    if (calls < CALLS) {
        size_t depth = pprof_callers(0, stacks[calls], DEPTH);
        rows[calls] = (pp_count_row){.pc = stacks[calls], .depth = (uint32_t)depth, .count = 1};
        calls++;
    }
}

static size_t count(void)
{
    return calls;
}

static int write_toy(pprof_writer writer, int debug)
{
    return pp_count_write("toy", rows, calls, debug, writer);
}

static const pp_word words[] = {{"toy", NULL, "toy, without a value"}, {.name = NULL}};
static pp_end_file files[] = {{.name = "toy", .write = write_toy}, {.name = NULL}};
static const pprof_profile profiles[] = {{.name = "toy", .count = count, .write = write_toy},
                                         {.name = NULL}};

extern const pp_kind pp_kind_toy;
const pp_kind pp_kind_toy = {.name = "toy", .words = words, .profiles = profiles, .files = files};
