/* SPDX-License-Identifier: MIT
 *
 * own_files.c: opens and closes by bare system calls, and keeps a list of the open descriptors.
 *
 * Zone: SIGNAL.
 * Owns: the list.
 * Tested by: e2e.fd
 */
#include "sys/own_files.h"

#include "arch/system_call.h"
#include "sys/apart.h"

#include <fcntl.h>
#include <stddef.h>

enum { OPEN_MAX = 64 /* at a time; further files are opened, but not listed */ };

static struct {
    int numbers[OPEN_MAX];     /* descriptor + 1; 0 = free */
    bool (*has_other)(int fd); /* whether another part of the library has it open; NULL: none has */
} own;

static void replace(int from, int to)
{
    for (unsigned i = 0; i < OPEN_MAX; i++) {
        int expected = from;
        if (__atomic_compare_exchange_n(&own.numbers[i], &expected, to, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            return;
        }
    }
}

static int open_file(int folder, const char *path, int flags, unsigned mode)
{
    long fd = pp_system_call(SYS_openat, folder, path, flags | O_CLOEXEC, mode);
    if (fd >= 0 && !pp_apart_has_table()) {
        replace(0, (int)fd + 1);
    }
    return (int)fd;
}

int pp_own_open(const char *path, int flags, unsigned mode)
{
    return open_file(AT_FDCWD, path, flags, mode);
}

int pp_own_open_at(int folder, const char *path, int flags)
{
    return open_file(folder, path, flags, 0);
}

int pp_own_close(int fd)
{
    if (!pp_apart_has_table()) {
        replace(fd + 1, 0); /* first: after close() another thread may get the same number */
    }
    return (int)pp_system_call(SYS_close, fd);
}

void pp_own_files_ask(bool (*has)(int fd))
{
    __atomic_store_n(&own.has_other, has, __ATOMIC_RELEASE);
}

bool pp_own_has(int fd)
{
    for (unsigned i = 0; i < OPEN_MAX; i++) {
        if (__atomic_load_n(&own.numbers[i], __ATOMIC_RELAXED) == fd + 1) {
            return true;
        }
    }
    bool (*has)(int) = __atomic_load_n(&own.has_other, __ATOMIC_ACQUIRE);
    return has != NULL && has(fd);
}
