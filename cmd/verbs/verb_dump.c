/* SPDX-License-Identifier: MIT
 *
 * verb_dump.c: `cpprof dump`, which prints the stacks of all threads of a running process.
 *
 * Tested by: e2e.cpprof_dump.
 */
#include "verbs/verbs.h"

#include "ask/process_files.h"
#include "base/message.h"
#include "base/printable.h"
#include "import/profile_file.h"
#include "names/line_reader.h"
#include "profile/protobuf.h"
#include "verbs/command_line.h"

#include "remote/dump.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char cp_help_dump[] =
    "usage: cpprof dump -p PID [OPTIONS]\n"
    "\n"
    "Prints the stacks of all threads of a running process, which needs no\n"
    "preparation: nothing is loaded into it, it is not stopped, and no system call of\n"
    "it is interrupted. For a thread that waits for a mutex the holder is named, and\n"
    "threads that wait for each other in a circle are listed as a deadlock.\n"
    "\n"
    "Example: cpprof dump -p $(pgrep -n redis-server)\n"
    "\n"
    "Threads that run are sampled by perf events. Where the kernel grants none\n"
    "(kernel.perf_event_paranoid), only threads that wait have stacks.\n";

static int append(void *context, const void *data, size_t size)
{
    cp_bytes_append(context, data, size);
    return 0;
}

static void tell(const pp_remote_result *result)
{
    if (result->lines_error != 0) {
        cp_complain("some functions have no lines: %s",
                    result->lines_error == -EFBIG
                        ? "a file has more than 1 GiB of debug information"
                        : "there is no memory for a file's debug information");
    }
    if (result->not_seen > 0) {
        cp_complain("%zu of %zu threads %s no stack here: the kernel grants no perf event "
                    "(try as root, or sysctl kernel.perf_event_paranoid=2)",
                    result->not_seen, result->threads,
                    result->not_seen == 1 ? "runs, and has" : "run, and have");
    }
    if (result->not_whole > result->not_seen) {
        size_t cut = result->not_whole - result->not_seen;

        cp_complain("the %s of %zu of %zu threads lack%s outer frames",
                    cut == 1 ? "stack" : "stacks", cut, result->threads, cut == 1 ? "s" : "");
    }
}

/* Prints lines of names that other programs chose. */
static void print_lines(const cp_bytes *bytes)
{
    const char *at = (const char *)bytes->data, *end = at + bytes->length;

    for (const char *stop; at < end; at = stop + (stop < end)) {
        stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        cp_put_printable(at, (size_t)(stop - at), stdout);
        if (stop < end) {
            putchar('\n');
        }
    }
}

static int write_out(const char *out, const cp_bytes *bytes, cp_error *error)
{
    if (out != NULL) {
        return cp_file_put(out, bytes, error);
    }
    print_lines(bytes);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return cp_fail(error, "cannot write to standard output: %s", strerror(errno));
    }
    return 0;
}

static int dump(int pid, const char *out, bool explain, cp_error *error)
{
    cp_bytes bytes = {0};
    pp_remote_result result;
    pp_remote_error why;
    const pp_remote_wish wish = {.pid = pid,
                                 .as_profile = out != NULL,
                                 .explain = explain,
                                 .lines = cp_line_reader_plugin()};
    if (!wish.lines) {
        cp_line_reader_complain();
    }
    int status = pp_remote_dump(&wish, (pprof_writer){append, &bytes}, &result, &why);
    if (status < 0) {
        cp_fail(error, "%s", why.text);
    } else {
        status = write_out(out, &bytes, error);
    }
    if (status == 0) {
        tell(&result);
    }
    cp_bytes_release(&bytes);
    return status;
}

int cp_run_dump(int argc, char **argv)
{
    const char *process = NULL;
    const char *out = NULL;
    bool explain = false;
    const cp_option table[] = {
        {'p', "pid", NULL, CP_OPTION_TEXT, &process, 0, 0, "PID", "the process"},
        {'o', "output", NULL, CP_OPTION_TEXT, &out, 0, 0, "OUT",
         "write a profile instead, for `cpprof top`, `flame`, ..."},
        {0, "explain", NULL, CP_OPTION_FLAG, &explain, 0, 0, NULL,
         "say after a stack that lacks its outer frames why it ends: the place, and the unwind "
         "rule that failed"},
        {0},
    };

    cp_operands operands;
    cp_error error;
    int pid = 0;
    int status = CP_EXIT_OK;
    if (cp_options_parse("dump", table, false, argc, argv, &operands, &status) < 0) {
        return status;
    }
    if (process == NULL || operands.count > 0) {
        return cp_bad_usage("dump", "dump: expected -p PID and nothing else");
    }
    if (cp_process_parse(process, &pid, &error) < 0) {
        return cp_bad_usage("dump", "dump: %s", error.text);
    }
    if (dump(pid, out, explain, &error) < 0) {
        cp_complain("%s", error.text);
        return CP_EXIT_BAD_INPUT;
    }
    return CP_EXIT_OK;
}
