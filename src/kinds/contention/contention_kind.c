/* SPDX-License-Identifier: MIT
 *
 * contention_kind.c: the kind "contention": the profiles block and mutex.
 *
 * Zone: NORMAL.
 * Locks: those of kind.h.
 * Owns: the rates that the program or its user asks for.
 * Tested by: unit.options, e2e.flags, e2e.contention
 */
#include "kinds/contention/contention_control.h"
#include "kinds/contention/contention_text.h"
#include "kinds/contention/waits.h"
#include "host/kind.h"
#include "output/prepare.h"
#include "output/word_values.h"
#include "sys/log.h"

#include <errno.h>

/* The values of the flags. */
typedef struct flag_values {
    const char *block, *mutex;
    int64_t block_rate, mutex_fraction;
} flag_values;

static const flag_values unsaid = {.block_rate = 1, .mutex_fraction = 1};

static struct {
    pp_contention_request asked;
    flag_values said;
} state = {.said = {.block_rate = 1, .mutex_fraction = 1}};

/* ---- words and flags ---- */

/* Reads a number above 0; without a value it is 1. */
static int take_rate(const char *value, int64_t *rate)
{
    int64_t number = 1;
    if (value != NULL && (!pp_word_number(value, &number) || number < 1)) {
        return -EINVAL;
    }
    *rate = number;
    return 0;
}

static int take_block(const char *value)
{
    return take_rate(value, &state.asked.block_rate);
}

static int take_mutex(const char *value)
{
    return take_rate(value, &state.asked.mutex_fraction);
}

static const pp_word words[] = {{"block", take_block, "block or block:NS, 1 for every wait"},
                                {"mutex", take_mutex, "mutex or mutex:N, one release in N"},
                                {.name = NULL}};

static const pp_flag flags[] = {{"blockprofile", .file = &state.said.block},
                                {"blockprofilerate", .number = &state.said.block_rate},
                                {"mutexprofile", .file = &state.said.mutex},
                                {"mutexprofilefraction", .number = &state.said.mutex_fraction},
                                {.name = NULL}};

static int take_flags(void)
{
    int error = 0;
    if (state.said.block_rate >= 0 && pp_flag_file("block", state.said.block, &error)) {
        state.asked.block_rate =
            state.said.block_rate > 0 ? state.said.block_rate : PP_CONTENTION_OFF;
    }
    if (state.said.mutex_fraction >= 0 && pp_flag_file("mutex", state.said.mutex, &error)) {
        state.asked.mutex_fraction =
            state.said.mutex_fraction > 0 ? state.said.mutex_fraction : PP_CONTENTION_OFF;
    }
    state.said = unsaid;
    return error;
}

static void forget(bool all)
{
    (void)all;
    state.asked = (pp_contention_request){.block_rate = 0, .mutex_fraction = 0};
}

static unsigned files(void)
{
    unsigned block = state.asked.block_rate != 0;
    unsigned mutex = state.asked.mutex_fraction != 0;
    return block + mutex;
}

/* ---- start and end ---- */

static int start(uint64_t duration_ns)
{
    (void)duration_ns;
    if (files() == 0) {
        return 0;
    }
    pp_prepare_recording();
    int error = pp_contention_control_start(&state.asked);
    if (error != 0) {
        pp_log_error("the block and mutex profiles", " could not be started", error, NULL);
    }
    return error;
}

static void end(const void *interrupted)
{
    pp_contention_control_end(interrupted != NULL);
}

/* ---- profiles ---- */

static size_t count_block(void)
{
    size_t records = 0;
    pprof_block_profile(NULL, 0, &records);
    return records;
}

static size_t count_mutex(void)
{
    size_t records = 0;
    pprof_mutex_profile(NULL, 0, &records);
    return records;
}

static int write_view(pp_contention_view view, pprof_writer writer, int debug)
{
    return debug == 0 ? pp_contention_control_write(view, writer)
                      : pp_contention_text_write(view, debug == PPROF_DEBUG_BARE, writer);
}

static int write_block(pprof_writer writer, int debug)
{
    return write_view(PP_CONTENTION_BLOCK, writer, debug);
}

static int write_mutex(pprof_writer writer, int debug)
{
    return write_view(PP_CONTENTION_MUTEX, writer, debug);
}

static int build_block(pp_arena *arena, pp_profile *profile)
{
    return pp_contention_profile_build(PP_CONTENTION_BLOCK, PP_CONTENTION_LABELS, arena, profile);
}

static int build_mutex(pp_arena *arena, pp_profile *profile)
{
    return pp_contention_profile_build(PP_CONTENTION_MUTEX, PP_CONTENTION_LABELS, arena, profile);
}

static pprof_profile profiles[] = {
    {.name = "block",
     .about = "Where threads waited for locks, conditions and each other, and how long.",
     .count = count_block,
     .write = write_block,
     .build = build_block,
     .set_rate = pprof_set_block_profile_rate},
    {.name = "mutex",
     .about = "Where locks were released for which others had waited, and how long these waited.",
     .count = count_mutex,
     .write = write_mutex,
     .build = build_mutex,
     .set_rate = pprof_set_mutex_profile_fraction},
    {.name = NULL}};

const pp_kind pp_kind_contention = {
    .name = "contention",
    .words = words,
    .flags = flags,
    .profiles = profiles,
    .sampler = &pp_contention_sampler,
    .forget = forget,
    .files = files,
    .take_flags = take_flags,
    .start = start,
    .is_on = pp_contention_control_is_on,
    .needs_calls = pp_contention_control_is_on,
    .find_real = pp_hook_waits_prepare_for_threads,
    .holds_addresses = pp_contention_control_is_on,
    .end = end,
    .confine = pp_contention_control_confine,
    .stops_at_deadline = true,
    .write_so_far = pp_contention_control_write_so_far,
    .after_fork_in_child = pp_contention_control_after_fork,
};
