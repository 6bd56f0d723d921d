/* SPDX-License-Identifier: MIT
 *
 * verb_configure.c: `cpprof configure`, which changes what a running process records.
 *
 * Tested by: e2e.control.
 */
#include "verbs/verbs.h"

#include "ask/control.h"
#include "attach/attachment.h"
#include "base/message.h"
#include "profile/protobuf.h"
#include "verbs/command_line.h"

#include <stdio.h>
#include <string.h>

const char cp_help_configure[] =
    "usage: cpprof configure PID [OPTIONS]\n"
    "\n"
    "Changes what a running process records, or only says what it records. OPTIONS\n"
    "are those of LIBPPROF, with commas between them; KIND=off stops a kind.\n"
    "\n"
    "Example: cpprof configure 1234 heap:64k,block=off\n"
    "         cpprof top pid:1234/heap\n"
    "\n"
    "A profile that is turned on in this way is written when the process ends, as if\n"
    "the process had been started with it.\n"
    "\n"
    "If the process has no control socket (see `cpprof help ps`), OPTIONS attach to\n"
    "it: one of its threads loads libpprof, which then records what was asked for,\n"
    "and writes no files. `cpprof configure 1234 detach` ends that.\n";

enum { ATTACHING_TURNS = 5 };

static bool answers(int pid)
{
    cp_error why;

    return cp_control_say(pid, "status", NULL, NULL, &why) == 0;
}

/* Has the process take `options`; NULL: say what is on. With options it is made reachable, and once
 * more if another cpprof's attachment has ended meanwhile, and taken the socket with it. */
static int ask(int pid, const char *options, cp_bytes *answer, cp_error *error)
{
    cp_attachment attachment;

    for (int turn = 1;; turn++) {
        if (options && cp_attachment_begin(&attachment, pid, true, error) < 0) {
            return -1;
        }
        if (cp_control_say(pid, options ? "configure" : "status", options, answer, error) == 0) {
            return 0;
        }
        if (!options || turn == ATTACHING_TURNS || answers(pid)) {
            return -1;
        }
        answer->length = 0;
    }
}

static int configure(int pid, const char *options, cp_error *error)
{
    cp_bytes answer = {0};

    if (options && strcmp(options, "detach") == 0) {
        return cp_attachment_detach(pid, error);
    }
    int status = ask(pid, options, &answer, error);
    if (status == 0 && answer.length) {
        fwrite(answer.data, 1, answer.length, stdout);
    }
    cp_bytes_release(&answer);
    return status;
}

int cp_run_configure(int argc, char **argv)
{
    const cp_option table[] = {{0}};
    cp_operands operands;
    cp_error error;
    const char *rest = "";
    int status = CP_EXIT_OK, pid = 0;

    if (cp_options_parse("configure", table, false, argc, argv, &operands, &status) < 0) {
        return status;
    }
    if (operands.count < 1 || operands.count > 2) {
        return cp_bad_usage("configure", "configure: expected PID and OPTIONS");
    }
    if (cp_control_pid(operands.values[0], &pid, &rest, &error) < 0 || *rest) {
        return cp_bad_usage("configure", "configure: %s: expected the number of a process",
                            operands.values[0]);
    }
    if (configure(pid, operands.values[1], &error) < 0) {
        cp_complain("%s", error.text);
        return CP_EXIT_BAD_INPUT;
    }
    return fflush(stdout) == 0 ? CP_EXIT_OK : CP_EXIT_BAD_INPUT;
}
