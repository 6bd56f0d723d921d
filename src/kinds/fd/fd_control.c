/* SPDX-License-Identifier: MIT
 *
 * fd_control.c: switches the recording of descriptors on and off, and writes the fd profile.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: the file at the end.
 * Tested by: e2e.fd, e2e.fd_real
 */
#include "kinds/fd/fd_control.h"

#include "output/count.h"
#include "output/end_file.h"
#include "kinds/fd/fd_hooks.h"
#include "kinds/fd/fd_rows.h"
#include "kinds/fd/fd_opened.h"
#include "kinds/fd/fd_table.h"

static int write_file(pprof_writer writer)
{
    return pp_fd_control_write(writer, 0);
}

static struct {
    bool on; /* openings are recorded */
    pp_end_file file;
} state = {.file = {"fd", write_file, false, NULL}};

static void was_open(int fd, void *unused)
{
    (void)unused;
    pp_fd_was_open(fd);
}

/* Recording begins before the listing, so that a descriptor that is opened meanwhile is recorded
 * with its stack, and the listing finds it known. */
void pp_fd_control_start(void)
{
    state.file.wanted = true;
    if (!state.on) {
        pp_fd_hooks_record(true);
        pp_fd_each(was_open, NULL);
        state.on = true;
    }
}

bool pp_fd_control_is_on(void)
{
    return state.on;
}

size_t pp_fd_control_count(void)
{
    return pp_fd_rows_count();
}

int pp_fd_control_write(pprof_writer writer, int debug)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_value_rows rows = {.count = 0};
    int error = pp_fd_rows_read(&arena, &rows);
    if (error == 0) {
        error = pp_count_write("fd", rows.list, rows.count, debug, writer);
    }
    pp_value_rows_release(&rows);
    pp_arena_release(&arena);
    return error;
}

void pp_fd_control_end(bool fatal)
{
    pp_end_files_write(&state.file, 1, fatal);
}

void pp_fd_control_write_so_far(void)
{
    pp_end_files_write_so_far(&state.file, 1);
}

bool pp_fd_control_confine(void)
{
    bool wanted = state.file.wanted;
    pp_fd_control_end(false);
    pp_fd_hooks_record(false);
    state.on = false;
    return wanted;
}

void pp_fd_control_forget(void)
{
    pp_fd_table_clear(0, UINT32_MAX);
}

void pp_fd_control_after_fork(bool keep_file)
{
    pp_end_files_after_fork();
    state.file.wanted = state.file.wanted && keep_file;
}
