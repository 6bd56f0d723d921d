/* SPDX-License-Identifier: MIT
 *
 * old_file_status.c: fstat, lstat and fstatat of a library that is built for old glibcs, too.
 *
 * libc has these functions since 2.33. Programs that were compiled before call __fxstat and the like, which
 * every glibc has. Version 0 of struct stat is the kernel's, on x86-64 and aarch64.
 *
 * Zone: NORMAL.
 */
#include <sys/stat.h>

enum { KERNELS = 0 };

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): they are libc's */
extern int __fxstat(int version, int fd, struct stat *status);
extern int __lxstat(int version, const char *path, struct stat *status);
extern int __fxstatat(int version, int folder, const char *path, struct stat *status, int flags);
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

#pragma GCC visibility push(hidden)

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's parameters have reserved names */
int fstat(int fd, struct stat *status)
{
    return __fxstat(KERNELS, fd, status);
}

int lstat(const char *restrict path, struct stat *restrict status)
{
    return __lxstat(KERNELS, path, status);
}

int fstatat(int folder, const char *restrict path, struct stat *restrict status, int flags)
{
    return __fxstatat(KERNELS, folder, path, status, flags);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

#pragma GCC visibility pop
