/* SPDX-License-Identifier: MIT
 *
 * heap_kind.c: the kind "heap": the profiles heap, allocs and peak.
 *
 * Zone: NORMAL.
 * Locks: those of kind.h.
 * Owns: the options and flags of the kind.
 * Tested by: unit.options, e2e.heap, e2e.flags
 */
#include "kinds/heap/heap_kind.h"

#include "base/text.h"
#include "host/kind.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/heap_collect.h"
#include "kinds/heap/heap_cycles.h"
#include "kinds/heap/heap_early.h"
#include "kinds/heap/heap_mappings.h"
#include "kinds/heap/heap_peak.h"
#include "kinds/heap/heap_text.h"
#include "modules/late.h"
#include "modules/linked.h"
#include "modules/own_code.h"
#include "output/output.h"
#include "output/prepare.h"
#include "output/word_values.h"
#include "sys/log.h"
#include "sys/own_work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

pp_heap_wish pp_heap_asked = {.request = {.rate = PP_HEAP_RATE_DEFAULT}};

/* ---- words, variables and flags ---- */

static int take_heap(const char *value)
{
    if (!pp_heap_rate_of_text(value, value != NULL ? strlen(value) : 0,
                              &pp_heap_asked.request.rate)) {
        return -EINVAL;
    }
    pp_heap_asked.heap = true;
    return 0;
}

/* `peak` implies `heap`. */
static int take_peak(const char *value)
{
    pp_heap_asked.heap |= value == NULL;
    return pp_word_alone(value, &pp_heap_asked.request.peak);
}

static const pp_word words[] = {
    {"heap", take_heap, "heap or heap:BYTES, 0 for off, 1 for every block, 512k"},
    {"peak", take_peak, "peak, without a value"},
    {.name = NULL}};

/* In gperftools, the value is a prefix, followed by a number and ".heap". */
static int take_prefix(const char *value)
{
    enum { MAX_NAME = 4096 };
    static const char suffix[] = ".heap";
    char name[MAX_NAME];
    size_t length = strlen(value);
    pp_heap_asked.heap = true;
    if (length + sizeof suffix > sizeof name) {
        return -ENAMETOOLONG;
    }
    memcpy(name, value, length + 1);
    memcpy(name + length, suffix, sizeof suffix);
    return pp_output_set_template_of("heap", name);
}

static const pp_word variables[] = {{"HEAPPROFILE", take_prefix, NULL}, {.name = NULL}};

static const pp_flag flags[] = {{"memprofile", .file = &pp_heap_asked.flagged.file},
                                {"memprofilerate", .number = &pp_heap_asked.flagged.rate},
                                {.name = NULL}};

static int64_t flagged_rate(void)
{
    int64_t present = pp_heap_rate();
    int64_t flagged = pp_heap_asked.flagged.rate;
    return flagged > 0 ? flagged : present > 0 ? present : PP_HEAP_RATE_DEFAULT;
}

static int take_flags(void)
{
    int error = 0;
    pp_heap_asked.heap = pp_flag_file("allocs", pp_heap_asked.flagged.file, &error);
    if (pp_heap_asked.heap) {
        pp_heap_asked.request.allocs = true;
        pp_heap_asked.request.rate = flagged_rate();
    } else if (pp_heap_asked.flagged.rate > 0) {
        pprof_set_mem_profile_rate(pp_heap_asked.flagged.rate);
    }
    pp_heap_asked.flagged.file = NULL;
    pp_heap_asked.flagged.rate = 0;
    return error;
}

static void forget(bool all)
{
    pp_heap_asked.heap = pp_heap_asked.request.allocs = false;
    if (all) {
        pp_heap_asked.request = (pp_heap_request){.rate = PP_HEAP_RATE_DEFAULT};
    }
}

static unsigned files(void)
{
    unsigned heap = pp_heap_asked.heap;
    unsigned peak = pp_heap_asked.request.peak;
    return heap + peak;
}

/* ---- start and end ---- */

/* False if the program, or a library before us, defines its own malloc. The call is marked as our
 * own work, so that the hooks do not count memory that such a malloc maps. */
static bool sees_allocations(void)
{
    enum { COUNTDOWN = 1000 };
    void *(*volatile allocate)(size_t) = malloc; /* else the compiler could drop the call */
    pp_heap_set_rate(0);                         /* the block is not the program's */
    pp_heap_countdown = COUNTDOWN;
    pp_own_work_begin();
    free(allocate(1));
    pp_own_work_end();
    bool seen = pp_heap_countdown != COUNTDOWN;
    pp_heap_countdown = 0;
    return seen;
}

static void warn_of_no_samples(void)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, "the heap profile will be empty: the program's malloc is not the one that "
                       "libpprof hooks; preload libpprof first, or link it first; a fully static "
                       "program has to be linked with the options in libpprof_static.wrap");
    pp_log(&text);
}

/* Not in builds with sanitizers, whose allocator comes first, nor in fully static programs. */
extern void find_real_functions(void) __asm__("pp_malloc_resolve_all")
    __attribute__((weak, visibility("hidden")));

static void find_real(void)
{
    if (find_real_functions != NULL) {
        find_real_functions();
    }
}

static void forget_calls(void)
{
    const uint64_t everything = UINT64_MAX / 2;
    pp_signal_mask old = 0;
    pp_heap_forget_blocks();
    if (pp_heap_mappings_any() && pp_heap_mappings_enter(&old)) {
        pp_heap_unmapped(0, everything);
        pp_heap_mappings_leave(&old);
    }
}

static int start(uint64_t duration_ns)
{
    (void)duration_ns;
    if (!pp_heap_asked.heap) {
        return 0;
    }
    pp_prepare_recording();
    bool seen = pp_late_is() || sees_allocations();
    int error = pp_heap_control_start(&pp_heap_asked.request);
    if (!seen) {
        warn_of_no_samples();
    }
    return error;
}

/* A program that is linked to us is sampled without an option, as in Go. */
static void load_unasked(bool options_given)
{
    bool on = !options_given && pp_is_linked();
    if (on) {
        pp_own_variables_leave_out_of_dumps();
        pp_prepare_walks();
    }
    pp_heap_control_default(on);
}

static void end(const void *interrupted)
{
    pp_heap_control_end(interrupted != NULL);
}

static void after_fork_in_child(bool goes_on)
{
    pp_heap_control_after_fork(goes_on);
    pp_heap_collect_after_fork();
}

/* ---- profiles ---- */

static size_t count_records(void)
{
    size_t records = 0;
    pprof_mem_profile(NULL, 0, &records, true);
    return records;
}

static int write_view(pp_heap_view view, pprof_writer writer, int debug)
{
    return debug == 0 ? pp_heap_control_write(view, writer)
                      : pp_heap_text_write(debug == PPROF_DEBUG_BARE, writer);
}

static int write_heap(pprof_writer writer, int debug)
{
    return write_view(PP_HEAP_INUSE, writer, debug);
}

static int write_allocs(pprof_writer writer, int debug)
{
    return write_view(PP_HEAP_ALLOCS, writer, debug);
}

static int write_peak(pprof_writer writer, int debug)
{
    return debug == 0 ? pp_heap_control_write(PP_HEAP_PEAK, writer) : -ENOTSUP;
}

static void collect(void)
{
    pp_heap_collect();
}

static int build_heap(pp_arena *arena, pp_profile *profile)
{
    return pp_heap_profile_build(PP_HEAP_INUSE, arena, profile);
}

static int build_allocs(pp_arena *arena, pp_profile *profile)
{
    return pp_heap_profile_build(PP_HEAP_ALLOCS, arena, profile);
}

static pprof_profile profiles[] = {
    {.name = "heap",
     .about = "What is allocated now, by the places that allocated it. gc=1 runs the collector "
              "first, if the program has set one.",
     .count = count_records,
     .write = write_heap,
     .build = build_heap,
     .set_rate = pprof_set_mem_profile_rate,
     .before_write = collect},
    {.name = "allocs",
     .about = "All that was ever allocated, by the places that allocated it.",
     .count = count_records,
     .write = write_allocs,
     .build = build_allocs,
     .set_rate = pprof_set_mem_profile_rate,
     .before_write = collect},
    {.name = "peak",
     .about = "What was allocated when the most was.",
     .count = count_records,
     .write = write_peak,
     .is_there = pp_heap_peak_is_wanted},
    {.name = NULL}};

const pp_kind pp_kind_heap = {
    .name = "heap",
    .words = words,
    .variables = variables,
    .flags = flags,
    .profiles = profiles,
    .forget = forget,
    .files = files,
    .take_flags = take_flags,
    .start = start,
    .load_unasked = load_unasked,
    .is_on = pp_heap_control_is_on,
    .needs_calls = pp_heap_control_is_on,
    .find_real = find_real,
    .forget_calls = forget_calls,
    .holds_addresses = pp_heap_control_is_on,
    .end = end,
    .confine = pp_heap_control_confine,
    .stops_at_deadline = true,
    .write_so_far = pp_heap_control_write_so_far,
    .after_fork_in_child = after_fork_in_child,
};
