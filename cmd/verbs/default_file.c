/* SPDX-License-Identifier: MIT
 *
 * default_file.c: see default_file.h.
 *
 * Tested by: e2e.cpprof_terminal.
 */
#include "verbs/default_file.h"

#include "base/message.h"
#include "base/pool.h"
#include "profile/newest_profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether somebody gives the command something to read: a pipe, a file or a socket. */
static bool is_fed(void)
{
    struct stat info;

    return fstat(STDIN_FILENO, &info) == 0 &&
           (S_ISREG(info.st_mode) || S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode));
}

char *cp_default_file(const char *verb)
{
    if (is_fed()) {
        return cp_heap_copy("-", 1);
    }
    char *name = cp_newest_profile();
    if (name) {
        cp_complain("%s: %s, the newest profile in this folder", verb, name);
    } else {
        cp_bad_usage(verb,
                     "%s: expected FILE, found none, nor a *.pb.gz in this folder; `cpprof record "
                     "-- COMMAND` writes one",
                     verb);
    }
    return name;
}
