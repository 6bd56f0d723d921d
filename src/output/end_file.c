/* SPDX-License-Identifier: MIT
 *
 * end_file.c: opens, writes and closes the files of a list.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: `writing`.
 * Owns: the output that is open.
 * Tested by: unit.end_file, e2e.exit, e2e.output, e2e.fatal_signals
 */
#include "output/end_file.h"

#include "base/text.h"
#include "output/output.h"
#include "sys/host_timers.h"
#include "sys/lock.h"
#include "sys/log.h"
#include "modules/late.h"
#include "modules/modules.h"
#include "sys/recorder.h"
#include "sys/tasks.h"
#include "sys/write_all.h"

#include <errno.h>
#include <pthread.h>

static const uint64_t write_patience_ns = 5000000000; /* for a FIFO whose reader stalls */
static const uint64_t fatal_patience_ns = 1000000000;

static struct {
    pp_lock writing;
    /* Too large for a stack that a fatal signal may have left. The holder of `writing` uses it. */
    pp_output output;
} state;

typedef struct attempt {
    const pp_end_file *file;
    pprof_writer writer;
    int writer_error;
    int own_error; /* the profile could not be made, wherever it is to go */
} attempt;

static void complain(const attempt *a, const char *path, int error)
{
    const pp_end_file *file = a->file;
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, "the ");
    pp_text_add(&text, file->name);
    pp_text_add(&text, a->own_error != 0 ? " profile" : " profile could not be written to ");
    text.data[text.length] = '\0';
    if (a->own_error != 0) {
        pp_log_error(text.data, " could not be made", a->own_error,
                     a->own_error == -ENOMEM ? NULL : file->needs);
    } else {
        pp_log_error(text.data, path, error, "choose another place with file=PATH");
    }
}

static int pass_on(void *of_attempt, const void *data, size_t length)
{
    attempt *a = of_attempt;
    a->writer_error = a->writer.write(a->writer.ctx, data, length);
    return a->writer_error;
}

static int write_by(pprof_writer writer, const void *of_attempt)
{
    attempt *a = *(attempt *const *)of_attempt;
    a->writer = writer;
    a->writer_error = 0;
    int error = a->file->write((pprof_writer){pass_on, a}, 0);
    a->own_error = a->writer_error == 0 ? error : 0;
    return error;
}

static void complain_of_other(const pp_end_file *files)
{
    for (const pp_end_file *file = files; file->name != NULL; file++) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(&text, "the ");
        pp_text_add(&text, file->name);
        pp_text_add(&text, " profile is lost: another thread still writes a profile, or has hung");
        if (file->wanted) {
            pp_log(&text);
        }
    }
}

/* `cpprof record` has ended before this process, and has removed its folder: it has said so. */
static bool is_too_late(int error)
{
    return error == -ENOENT && pp_recorder_was_there();
}

static int write_one(pp_end_file *file, uint64_t patience_ns)
{
    pp_write_signals held;
    pp_write_signals_hold(&held);
    attempt a = {.file = file};
    attempt *const by = &a;
    int error = pp_output_put(&state.output, file->name, patience_ns, write_by, &by);
    pp_write_signals_release(&held);
    if (error != 0 && (a.own_error != 0 || !is_too_late(error))) {
        complain(&a, state.output.path, error);
    }
    return error;
}

static bool is_left_out(const pp_end_file *file)
{
    return file->is_empty != NULL && pp_recorder_wants_samples_only() && file->is_empty();
}

void pp_end_files_forget(pp_end_file *files)
{
    for (; files->name != NULL; files++) {
        files->wanted = false;
    }
}

/* The caller holds `writing`. 0, or the first error. */
static int write_wanted(pp_end_file *files, bool fatal)
{
    bool refreshed = fatal;
    int first_error = 0;
    for (pp_end_file *file = files; file->name != NULL; file++) {
        if (!file->wanted || is_left_out(file)) {
            continue;
        }
        if (!refreshed) {
            pp_modules_refresh();
            refreshed = true;
        }
        int error = write_one(file, fatal ? fatal_patience_ns : write_patience_ns);
        first_error = first_error == 0 ? error : first_error;
    }
    return first_error;
}

static int lock_and_write(pp_end_file *files, bool so_far, bool fatal)
{
    int error = -EBUSY;
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    pp_host_timers held;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pp_host_timers_hold(&held);
    /* Another thread that ends the process may be writing: this one waits until it has written. */
    if (pp_lock_take_within(&state.writing, pp_task_self(),
                            fatal ? fatal_patience_ns : write_patience_ns)) {
        error = write_wanted(files, fatal);
        if (!so_far) {
            pp_end_files_forget(files);
        }
        pp_lock_release(&state.writing);
    } else {
        complain_of_other(files);
    }
    pp_host_timers_release(&held);
    pthread_setcancelstate(cancel_state, NULL);
    return error;
}

/* Nobody expects files of a program that was not started with us, unless `file` says where. */
int pp_end_files_write(pp_end_file *files, bool so_far, bool fatal)
{
    if (!pp_end_files_wanted(files)) {
        return 0;
    }
    if (!pp_late_is() || pp_output_has_template()) {
        return lock_and_write(files, so_far, fatal);
    }
    if (!so_far) {
        pp_end_files_forget(files);
    }
    return 0;
}

void pp_kind_write(const pp_kind *kind, bool so_far, const void *interrupted)
{
    if (kind->write != NULL) {
        kind->write(so_far, interrupted);
    } else if (kind->files != NULL) {
        pp_end_files_write(kind->files, so_far, interrupted != NULL);
    }
}

void pp_kind_stop(const pp_kind *kind, bool confined)
{
    pp_kind_write(kind, false, NULL);
    if (kind->stop != NULL) {
        kind->stop(confined);
    }
}

void pp_end_files_after_fork(void)
{
    pp_lock_release(&state.writing);
}
