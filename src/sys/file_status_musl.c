/* SPDX-License-Identifier: MIT
 *
 * file_status_musl.c: where the kernel's structure has 64-bit times, musl calls fstat first.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.seccomp
 */
#include "sys/file_status.h"

bool pp_libc_asks_by_path(void)
{
    return false;
}
