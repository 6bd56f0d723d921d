/* SPDX-License-Identifier: MIT
 *
 * file_status_glibc.c: from 2.33 to 2.38 glibc calls newfstatat.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.seccomp
 */
#include "sys/file_status.h"

#include <gnu/libc-version.h>

/* The version is "2.36", perhaps with a suffix. */
bool pp_libc_asks_by_path(void)
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
