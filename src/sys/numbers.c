/* SPDX-License-Identifier: MIT
 *
 * numbers.c: reads the numbers in a folder by getdents64.
 *
 * Zone: SIGNAL.
 * Tested by: unit.tasks
 */
#include "sys/numbers.h"

#include "arch/system_call.h"
#include "sys/own_files.h"

#include <dirent.h>
#include <fcntl.h>

/* The number that a name consists of; -1 for other names, such as "." and "..". */
static int parse(const char *name)
{
    int number = *name >= '0' && *name <= '9' ? 0 : -1;
    for (; *name >= '0' && *name <= '9'; name++) {
        number = number * 10 + (*name - '0');
    }
    return *name == '\0' ? number : -1;
}

int pp_numbers_each(const char *folder, void *buffer, size_t size, pp_number_visit *visit,
                    void *context)
{
    int fd = pp_own_open(folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0) {
        return fd;
    }
    long got = 0;
    while ((got = pp_system_call(SYS_getdents64, fd, buffer, size)) > 0) {
        for (long at = 0; at < got;) {
            const struct dirent64 *entry = (const void *)((const char *)buffer + at);
            int number = parse(entry->d_name);
            if (number >= 0) {
                visit(number, context);
            }
            at += entry->d_reclen;
        }
    }
    pp_own_close(fd);
    return (int)got;
}
