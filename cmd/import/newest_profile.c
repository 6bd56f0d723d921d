/* SPDX-License-Identifier: MIT
 *
 * newest_profile.c: see newest_profile.h.
 *
 * Tested by: unit.cmd_newest_profile.
 */
#include "import/newest_profile.h"

#include "base/pool.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
