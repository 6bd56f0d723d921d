/* SPDX-License-Identifier: MIT
 *
 * contention_kind.c: the kind "contention": the profiles block and mutex.
 *
 * Zone: NORMAL.
 * Locks: those of kind.h.
 * Owns: the files; the rates that the program or its user asks for.
 * Tested by: unit.options, e2e.flags, e2e.contention
 */
#include "host/kind.h"
#include "kinds/contention/contention.h"
#include "kinds/contention/contention_profile.h"
#include "kinds/contention/legacy_contention.h"
#include "kinds/contention/waits.h"
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
    int64_t block_rate, mutex_fraction; /* that are asked for; 0: none is recorded */
    flag_values said;
} state = {.said = {.block_rate = 1, .mutex_fraction = 1}};

enum { BLOCK, MUTEX };

static int write_view(pp_contention_view view, pprof_writer writer, int debug)
{
    return debug == 0 ? pp_contention_profile_write(view, writer)
                      : pp_legacy_contention_write(view, debug == PPROF_DEBUG_BARE, writer);
}

static int write_block(pprof_writer writer, int debug)
{
    return write_view(PP_CONTENTION_BLOCK, writer, debug);
}

static int write_mutex(pprof_writer writer, int debug)
{
    return write_view(PP_CONTENTION_MUTEX, writer, debug);
}

static bool has_none(const pp_stack_counts *counts)
{
    return counts == NULL || pp_stack_counts_is_empty(counts);
}

static bool nobody_was_blocked(void)
{
    return has_none(pp_contention_blocked()) && pp_contention_count_waiting() == 0;
}

static bool nobody_was_held_up(void)
{
    return has_none(pp_contention_held_up());
}

static pp_end_file files[] = {
    {.name = "block", .write = write_block, .is_empty = nobody_was_blocked},
    {.name = "mutex", .write = write_mutex, .is_empty = nobody_was_held_up},
    {.name = NULL}};

/* ---- words and flags ---- */

/* Reads a number above 0; without a value it is 1. */
static int take_rate(const char *value, pp_end_file *file, int64_t *rate)
{
    int64_t number = 1;
    if (value != NULL && (!pp_word_number(value, &number) || number < 1)) {
        return -EINVAL;
    }
    *rate = number;
    file->asked = true;
    return 0;
}

static int take_block(const char *value)
{
    return take_rate(value, &files[BLOCK], &state.block_rate);
}

static int take_mutex(const char *value)
{
    return take_rate(value, &files[MUTEX], &state.mutex_fraction);
}

static const pp_word words[] = {{"block", take_block, "block or block:NS, 1 for every wait"},
                                {"mutex", take_mutex, "mutex or mutex:N, one release in N"},
                                {.name = NULL}};

static const pp_flag flags[] = {{"blockprofile", .file = &state.said.block},
                                {"blockprofilerate", .number = &state.said.block_rate},
                                {"mutexprofile", .file = &state.said.mutex},
                                {"mutexprofilefraction", .number = &state.said.mutex_fraction},
                                {.name = NULL}};

/* A rate of 0 stops the recording, and the file is still written. */
static void take_flag(int64_t said, const char *path, pp_end_file *file, int64_t *rate, int *error)
{
    if (said >= 0 && pp_flag_file(file->name, path, error)) {
        file->asked = true;
        *rate = said;
    }
}

static int take_flags(void)
{
    int error = 0;
    take_flag(state.said.block_rate, state.said.block, &files[BLOCK], &state.block_rate, &error);
    take_flag(state.said.mutex_fraction, state.said.mutex, &files[MUTEX], &state.mutex_fraction,
              &error);
    state.said = unsaid;
    return error;
}

/* ---- start and stop ---- */

/* False if there is no memory for the table. */
static bool start_file(pp_end_file *file, int64_t (*set_rate)(int64_t rate), int64_t rate)
{
    if (file->asked) {
        file->wanted = set_rate(rate) >= 0;
    }
    return !file->asked || file->wanted;
}

static int start(uint64_t duration_ns)
{
    (void)duration_ns;
    if (!pp_prepare_asked(files)) {
        return 0;
    }
    pp_call_slots_give_back();
    bool started = start_file(&files[BLOCK], pp_contention_set_block_rate, state.block_rate);
    started &= start_file(&files[MUTEX], pp_contention_set_mutex_fraction, state.mutex_fraction);
    pp_hook_waits_count(pp_contention_is_on());
    if (!started) {
        pp_log_error("the block and mutex profiles", " could not be started", -ENOMEM, NULL);
    }
    return started ? 0 : -ENOMEM;
}

static void stop(bool confined)
{
    (void)confined;
    pp_contention_set_block_rate(0);
    pp_contention_set_mutex_fraction(0);
    pp_hook_waits_count(pp_contention_is_on());
}

static void after_fork(bool goes_on)
{
    (void)goes_on;
    pp_contention_after_fork_in_child();
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

static int build_block(pp_arena *arena, pp_profile *profile)
{
    return pp_contention_profile_build(PP_CONTENTION_BLOCK, PP_CONTENTION_LABELS, arena, profile);
}

static int build_mutex(pp_arena *arena, pp_profile *profile)
{
    return pp_contention_profile_build(PP_CONTENTION_MUTEX, PP_CONTENTION_LABELS, arena, profile);
}

static const pprof_profile profiles[] = {
    {.name = "block",
     .alias = "contention",
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

static const pp_kind_hooks hooks = {.record = pp_contention_is_on,
                                    .find_real = pp_hook_waits_prepare_for_threads,
                                    .list_called = pp_hook_waits_list_called};

const pp_kind pp_kind_contention = {
    .name = "contention",
    .words = words,
    .flags = flags,
    .profiles = profiles,
    .files = files,
    .sampler = &pp_contention_sampler,
    .hooks = &hooks,
    .take_flags = take_flags,
    .start = start,
    .stop = stop,
    .after_fork = after_fork,
};
