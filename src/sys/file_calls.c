/* SPDX-License-Identifier: MIT
 *
 * file_calls.c: the system call for a descriptor's status, which the loader makes as well.
 *
 * glibc reads the status of a descriptor by fstat, from 2.33 to 2.38 by newfstatat. A filter that
 * is in force when a program begins need not permit the other call, and the library makes this call
 * before it has tested what the filter permits.
 *
 * Zone: SIGNAL.
 * Tested by: unit.elf, e2e.seccomp
 */
#include "sys/file_calls.h"

#include <gnu/libc-version.h>
#include <stdbool.h>

/* The version is "2.36", perhaps with a suffix. */
static bool libc_asks_by_path(void)
{
    enum { FIRST = 33, LIMIT = 39 };
    const char *version = gnu_get_libc_version();
    if (version[0] != '2' || version[1] != '.') {
        return false;
    }
    unsigned minor = 0;
    for (const char *c = version + 2; *c >= '0' && *c <= '9'; c++) {
        minor = 10 * minor + (unsigned)(*c - '0');
    }
    return minor >= FIRST && minor < LIMIT;
}

int pp_file_status(int fd, struct stat *status)
{
    *status = (struct stat){.st_mode = 0};
    return libc_asks_by_path() ? (int)pp_system_call(SYS_newfstatat, fd, "", status, AT_EMPTY_PATH)
                               : (int)pp_system_call(SYS_fstat, fd, status);
}
