/* SPDX-License-Identifier: MIT
 *
 * contention_control.c: sets the rates that were asked for, and writes the block and mutex profiles
 * as profile.proto.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: the files at the end.
 * Tested by: e2e.contention, e2e.flags
 */
#include "kinds/contention/contention_control.h"

#include "encode/proto.h"
#include "output/end_file.h"
#include "kinds/contention/waits.h"
#include "kinds/contention/contention.h"
#include "output/symbolize.h"

#include <errno.h>

static int write_block(pprof_writer writer)
{
    return pp_contention_control_write(PP_CONTENTION_BLOCK, writer);
}

static int write_mutex(pprof_writer writer)
{
    return pp_contention_control_write(PP_CONTENTION_MUTEX, writer);
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

enum { BLOCK, MUTEX, FILES };
static pp_end_file files[FILES] = {{"block", write_block, false, nobody_was_blocked},
                                   {"mutex", write_mutex, false, nobody_was_held_up}};

/* ---- rates ---- */

bool pp_contention_control_is_on(void)
{
    return pp_contention_block_rate() > 0 || pp_contention_mutex_fraction() > 0;
}

void pp_contention_control_aim(void)
{
    pp_hook_waits_count(pp_contention_control_is_on());
}

static int64_t rate_of(int64_t requested)
{
    return requested == PP_CONTENTION_OFF ? 0 : requested;
}

int pp_contention_control_start(const pp_contention_request *request)
{
    int error = 0;
    if (request->block_rate != 0) {
        files[BLOCK].wanted = pp_contention_set_block_rate(rate_of(request->block_rate)) >= 0;
        error = files[BLOCK].wanted ? error : -ENOMEM;
    }
    if (request->mutex_fraction != 0) {
        files[MUTEX].wanted =
            pp_contention_set_mutex_fraction(rate_of(request->mutex_fraction)) >= 0;
        error = files[MUTEX].wanted ? error : -ENOMEM;
    }
    pp_contention_control_aim();
    return error;
}

/* ---- writing ---- */

int pp_contention_control_write(pp_contention_view view, pprof_writer writer)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_profile profile;
    int error = pp_contention_profile_build(view, PP_CONTENTION_WAITING, &arena, &profile);
    if (error == 0) {
        profile.symbolize = pp_symbolize_wanted();
        error = pp_proto_encode(&profile, &arena, writer);
    }
    pp_arena_release(&arena);
    return error;
}

/* ---- the end ---- */

void pp_contention_control_end(bool fatal)
{
    pp_end_files_write(files, FILES, fatal);
}

void pp_contention_control_write_so_far(void)
{
    pp_end_files_write_so_far(files, FILES);
}

bool pp_contention_control_confine(void)
{
    bool wanted = files[BLOCK].wanted || files[MUTEX].wanted;
    pp_contention_control_end(false);
    pp_contention_set_block_rate(0);
    pp_contention_set_mutex_fraction(0);
    pp_contention_control_aim();
    return wanted;
}

void pp_contention_control_after_fork(bool keep_files)
{
    pp_contention_after_fork_in_child();
    pp_end_files_after_fork();
    for (unsigned i = 0; i < FILES; i++) {
        files[i].wanted = files[i].wanted && keep_files;
    }
}
