/* SPDX-License-Identifier: MIT
 *
 * fd_kind.c: the kind "fd", whose profile shows the open descriptors by the stack that opened each.
 *
 * Zone: NORMAL.
 * Locks: those of kind.h.
 * Owns: whether the program or its user wants the file.
 * Tested by: e2e.fd, unit.options
 */
#include "kinds/fd/fd_control.h"
#include "kinds/fd/fd_hooks.h"
#include "host/kind.h"
#include "output/prepare.h"
#include "output/word_values.h"

static bool asked;

static int start(uint64_t duration_ns)
{
    (void)duration_ns;
    if (asked) {
        pp_prepare_recording();
        pp_fd_control_start();
    }
    return 0;
}

static void end(const void *interrupted)
{
    pp_fd_control_end(interrupted != NULL);
}

static const pp_word words[] = {{"fd", NULL, "fd, without a value"}, {.name = NULL}};

static pprof_profile profiles[] = {{.name = "fd",
                                    .about = "Where the open descriptors were opened.",
                                    .count = pp_fd_control_count,
                                    .write = pp_fd_control_write,
                                    .is_there = pp_fd_control_is_on},
                                   {.name = NULL}};

const pp_kind pp_kind_fd = {
    .name = "fd",
    .words = words,
    .profiles = profiles,
    .sampler = &pp_fd_sampler,
    .asked = &asked,
    .start = start,
    .is_on = pp_fd_control_is_on,
    .needs_calls = pp_fd_control_is_on,
    .find_real = pp_fd_hooks_find_real,
    .forget_calls = pp_fd_control_forget,
    .holds_addresses = pp_fd_control_is_on,
    .end = end,
    .confine = pp_fd_control_confine,
    .stop = pp_fd_control_confine,
    .stops_at_deadline = true,
    .write_so_far = pp_fd_control_write_so_far,
    .after_fork_in_child = pp_fd_control_after_fork,
};
