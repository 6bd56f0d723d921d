/* SPDX-License-Identifier: MIT
 *
 * default_file.c: see default_file.h.
 *
 * Tested by: unit.cmd_newest_profile, e2e.cpprof_terminal.
 */
#include "verbs/default_file.h"

#include "base/message.h"
#include "base/pool.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A user who has not typed the pipe, as with `ssh HOST cpprof top`, has to know what is waited for. */
enum { SILENCE_MS = 1000 };

static void say_what_is_read(const char *verb)
{
    cp_complain("%s: waiting for a profile at standard input, where nothing has come yet; with "
                "</dev/null the newest profile of the folder is taken",
                verb);
}

/* Waits for the first bytes of a pipe or a socket, or for its end. Returns whether there are any. */
static bool has_bytes(const char *verb)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    int bytes = 0;

    if (poll(&input, 1, SILENCE_MS) == 0) {
        say_what_is_read(verb);
    }
    while (poll(&input, 1, -1) < 0 && errno == EINTR) {
    }
    return ioctl(STDIN_FILENO, FIONREAD, &bytes) == 0 && bytes > 0;
}

/* Whether somebody gives the command something to read: a pipe, a socket or a file that is not
 * empty. Those who start commands with nothing to read often give them an empty one. */
static bool is_fed(const char *verb)
{
    struct stat info;

    if (fstat(STDIN_FILENO, &info) < 0) {
        return false;
    }
    if (S_ISREG(info.st_mode)) {
        return lseek(STDIN_FILENO, 0, SEEK_CUR) < info.st_size;
    }
    return (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)) && has_bytes(verb);
}

static bool has_name_of_profile(const char *name)
{
    static const char end[] = ".pb.gz";
    size_t length = strlen(name), end_length = sizeof end - 1;

    return name[0] != '.' && length > end_length && strcmp(name + length - end_length, end) == 0;
}

/* Files of one moment are ordered by their names, so that the choice is the same each time. */
static bool is_newer(const struct timespec *time, const char *name, const struct timespec *than,
                     const char *than_name)
{
    if (!than_name || time->tv_sec != than->tv_sec) {
        return !than_name || time->tv_sec > than->tv_sec;
    }
    if (time->tv_nsec != than->tv_nsec) {
        return time->tv_nsec > than->tv_nsec;
    }
    return strcmp(name, than_name) < 0;
}

char *cp_newest_profile(void)
{
    DIR *folder = opendir(".");
    struct timespec newest = {0};
    char *found = NULL;

    if (!folder) {
        return NULL;
    }
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        struct stat info;

        if (has_name_of_profile(entry->d_name) && stat(entry->d_name, &info) == 0 &&
            S_ISREG(info.st_mode) && is_newer(&info.st_mtim, entry->d_name, &newest, found)) {
            free(found);
            found = cp_heap_printf("%s", entry->d_name);
            newest = info.st_mtim;
        }
    }
    closedir(folder);
    return found;
}

char *cp_default_file(const char *verb)
{
    if (is_fed(verb)) {
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
