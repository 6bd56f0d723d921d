/* SPDX-License-Identifier: MIT
 *
 * file_calls.c: the system call for a descriptor's status, which the loader makes as well.
 *
 * Zone: SIGNAL.
 * Tested by: unit.elf, e2e.seccomp
 */
#include "sys/file_calls.h"

#include "sys/file_status.h"

int pp_file_status(int fd, struct stat *status)
{
    *status = (struct stat){.st_mode = 0};
    return pp_libc_asks_by_path()
               ? (int)pp_system_call(SYS_newfstatat, fd, "", status, AT_EMPTY_PATH)
               : (int)pp_system_call(SYS_fstat, fd, status);
}
