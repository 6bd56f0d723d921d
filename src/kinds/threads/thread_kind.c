/* SPDX-License-Identifier: MIT
 *
 * thread_kind.c: the kind "thread": the profile of all threads' stacks, and the profile of the
 * stacks that created the threads; and the option `crash`.
 *
 * Zone: NORMAL.
 * Locks: those of kind.h.
 * Owns: the file; whether the user wants dumps.
 * Tested by: e2e.thread_profile, e2e.crash, unit.options
 */
#include "host/dispositions.h"
#include "host/kind.h"
#include "output/end_file.h"
#include "output/prepare.h"
#include "modules/modules.h"
#include "kinds/threads/crash_dump.h"
#include "kinds/threads/deadlocks.h"
#include "kinds/threads/thread_control.h"
#include "sys/log.h"
#include "threads/coroutines.h"
#include "threads/kept_threads.h"
#include "threads/thread_answers.h"
#include "threads/thread_creation.h"

#include <errno.h>
#include <string.h>

/* The option `crash`. */
static struct {
    bool asked, quit;
} crash;

static int start_dumps(void)
{
    int error = -EPERM;
    if (pp_crash_dump_prepare()) {
        pp_modules_refresh();
        error = pp_hook_crashes(crash.quit, pp_crash_dump_write);
    }
    if (error != 0) {
        pp_log_error("crashes", " will not be shown", error,
                     error == -EPERM ? "a seccomp filter forbids it" : NULL);
    }
    return error;
}

static int write_thread(pprof_writer writer, int debug)
{
    return pp_thread_control_write("thread", writer, debug);
}

static pp_end_file files[] = {{.name = "thread", .write = write_thread}, {.name = NULL}};

static int start(uint64_t duration_ns)
{
    int error = crash.asked ? start_dumps() : 0;
    (void)duration_ns;
    if (pp_prepare_asked(files)) {
        pp_thread_control_prepare();
    }
    return error;
}

static void write_files(bool so_far, const void *interrupted)
{
    pp_thread_control_interrupted(interrupted);
    pp_end_files_write(files, so_far, interrupted != NULL);
    pp_thread_control_interrupted(NULL);
}

/* There is nothing to stop: a snapshot is taken when it is written. */
static void stop(bool confined)
{
    if (confined) {
        pp_thread_control_confine();
    }
}

static int write_goroutine(pprof_writer writer, int debug)
{
    return pp_thread_control_write("goroutine", writer, debug);
}

static int take_crash(const char *value)
{
    if (value != NULL && strcmp(value, "quit") != 0) {
        return -EINVAL;
    }
    crash.asked = true;
    crash.quit = crash.quit || value != NULL;
    return 0;
}

static const pp_word words[] = {{"thread", NULL, "thread, without a value"},
                                {"crash", take_crash, "crash, or crash=quit"},
                                {.name = NULL}};

/* "goroutine" is for readers that know only Go's name. */
static int build_thread(pp_arena *arena, pp_profile *profile)
{
    return pp_thread_control_build("thread", false, arena, profile);
}

static int build_goroutine(pp_arena *arena, pp_profile *profile)
{
    return pp_thread_control_build("goroutine", false, arena, profile);
}

static int build_threadcreate(pp_arena *arena, pp_profile *profile)
{
    return pp_thread_control_build("threadcreate", true, arena, profile);
}

static const pprof_profile profiles[] = {
    {.name = "thread",
     .about =
         "Where each thread is now, and each task of a runtime. debug=2 shows every stack in full.",
     .full = "full stacks of all threads",
     .count = pp_thread_control_count_all,
     .write = write_thread,
     .build = build_thread},
    {.name = "threadcreate",
     .about = "Where each thread was created.",
     .count = pp_thread_control_count,
     .write = pp_threadcreate_control_write,
     .build = build_threadcreate},
    {.name = "goroutine",
     .about = "Another name of thread.",
     .count = pp_thread_control_count_all,
     .write = write_goroutine,
     .build = build_goroutine,
     .unlisted = true},
    {.name = NULL}};

static void reset(void)
{
    crash.asked = crash.quit = false;
}

static void after_fork(bool goes_on)
{
    pp_thread_creation_after_fork_in_child();
    pp_answers_after_fork_in_child();
    pp_kept_after_fork_in_child();
    pp_coroutines_after_fork_in_child();
    if (!goes_on) {
        pp_hook_give_crashes_back();
    }
}

static const pp_kind_text deadlock = {
    .name = "deadlock", .about = "threads that wait for each other", .write = pp_deadlocks_write};

const pp_kind pp_kind_thread = {
    .name = "thread",
    .words = words,
    .profiles = profiles,
    .files = files,
    .text = &deadlock,
    .reset = reset,
    .start = start,
    .write = write_files,
    .stop = stop,
    .after_fork = after_fork,
};
