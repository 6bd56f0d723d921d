/* SPDX-License-Identifier: MIT
 *
 * fd_kind.c: the kind "fd", whose profile shows the open descriptors by the stack that opened each.
 *
 * Zone: NORMAL.
 * Locks: those of kind.h.
 * Owns: the file.
 * Tested by: unit.fd_kind, e2e.fd, e2e.fd_real, unit.options
 */
#include "host/kind.h"
#include "kinds/fd/fd_hooks.h"
#include "kinds/fd/fd_opened.h"
#include "kinds/fd/fd_rows.h"
#include "kinds/fd/fd_table.h"
#include "output/prepare.h"

static pp_end_file files[] = {{.name = "fd", .write = pp_fd_rows_write}, {.name = NULL}};

static void was_open(int fd, void *unused)
{
    (void)unused;
    pp_fd_was_open(fd);
}

/* Where descriptors were opened. */
static void forget(void)
{
    pp_fd_table_clear(0, UINT32_MAX);
}

/* What the table has of an earlier recording may have been closed since. Recording begins before the
 * listing, so that a descriptor that is opened meanwhile is recorded with its stack, and the listing
 * finds it known. */
static int start(uint64_t duration_ns)
{
    (void)duration_ns;
    if (pp_prepare_asked(files) && !pp_fd_hooks_are_recording()) {
        forget();
        pp_fd_hooks_record(true);
        pp_fd_each(was_open, NULL);
    }
    return 0;
}

static void stop(bool confined)
{
    (void)confined;
    pp_fd_hooks_record(false);
}

static const pp_word words[] = {{"fd", NULL, "fd, without a value"}, {.name = NULL}};

static const pprof_profile profiles[] = {{.name = "fd",
                                          .about = "Where the open descriptors were opened.",
                                          .count = pp_fd_rows_count,
                                          .write = pp_fd_rows_write,
                                          .is_there = pp_fd_hooks_are_recording},
                                         {.name = NULL}};

static const pp_kind_hooks hooks = {
    .record = pp_fd_hooks_are_recording, .find_real = pp_fd_hooks_find_real, .forget = forget};

const pp_kind pp_kind_fd = {
    .name = "fd",
    .words = words,
    .profiles = profiles,
    .files = files,
    .sampler = &pp_fd_sampler,
    .hooks = &hooks,
    .start = start,
    .stop = stop,
};
