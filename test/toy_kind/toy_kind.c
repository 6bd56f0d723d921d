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

#include "output/count.h"
#include "output/end_file.h"
#include "host/kind.h"
#include "output/prepare.h"
#include "output/word_values.h"

enum { CALLS = 16, DEPTH = 64 };

static uintptr_t stacks[CALLS][DEPTH];
static pp_count_row rows[CALLS];
static size_t calls;
static bool asked;

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

static int write_file(pprof_writer writer)
{
    return write_toy(writer, 0);
}

static pp_end_file file = {"toy", write_file, false, NULL};

static int start(uint64_t duration_ns)
{
    (void)duration_ns;
    if (asked) {
        pp_prepare_recording();
        file.wanted = true;
    }
    return 0;
}

static bool is_on(void)
{
    return file.wanted;
}

static void end(const void *interrupted)
{
    pp_end_files_write(&file, 1, interrupted != NULL);
}

static void write_so_far(void)
{
    pp_end_files_write_so_far(&file, 1);
}

static void after_fork_in_child(bool goes_on)
{
    file.wanted = file.wanted && goes_on;
}

static const pp_word words[] = {{"toy", NULL, "toy, without a value"}, {.name = NULL}};
static pprof_profile profiles[] = {{.name = "toy", .count = count, .write = write_toy},
                                   {.name = NULL}};

extern const pp_kind pp_kind_toy;
const pp_kind pp_kind_toy = {
    .name = "toy",
    .words = words,
    .profiles = profiles,
    .asked = &asked,
    .start = start,
    .is_on = is_on,
    .holds_addresses = is_on,
    .end = end,
    .write_so_far = write_so_far,
    .after_fork_in_child = after_fork_in_child,
};
