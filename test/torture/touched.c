/* SPDX-License-Identifier: MIT
 *
 * touched.c: see touched.h.
 *
 * Zone: tests.
 */
#include "torture/touched.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>

enum { PATH_BYTES = 1024, PAGE_BYTES = 4096 };

/* A text of the process, up to the end of its page at least. */
static void read_text(pid_t tid, uint64_t address, char text[PATH_BYTES])
{
    size_t first = PAGE_BYTES - address % PAGE_BYTES;
    struct iovec local = {text, PATH_BYTES - 1};
    struct iovec remote[2] = {{(void *)address, first < PATH_BYTES - 1 ? first : PATH_BYTES - 1},
                              {NULL, 0}};
    remote[1].iov_base = (void *)(address + remote[0].iov_len);
    remote[1].iov_len = PATH_BYTES - 1 - remote[0].iov_len;
    ssize_t got = process_vm_readv(tid, &local, 1, remote, 2, 0);
    text[got > 0 ? got : 0] = '\0';
}

/* The path, with PID for each folder or file in it whose name is a number, and %D. */
static void print_path(const char *verb, const char *path, const char *folder)
{
    size_t length = strlen(folder);
    char before = '/';
    if (*path == '\0') {
        return; /* fstat(2) */
    }
    printf("%s ", verb);
    if (strncmp(path, folder, length) == 0) {
        printf("%%D");
        path += length;
    }
    while (*path != '\0') {
        size_t digits = strspn(path, "0123456789");
        if (digits > 0 && before == '/' && (path[digits] == '/' || path[digits] == '\0')) {
            printf("PID");
            path += digits;
            before = ' ';
        } else {
            before = *path;
            putchar(*path++);
        }
    }
    putchar('\n');
}

static const char *opens_as(uint64_t flags)
{
    if ((flags & O_CREAT) != 0) {
        return "creates";
    }
    if ((flags & O_DIRECTORY) != 0) {
        return "lists";
    }
    return (flags & O_ACCMODE) == O_RDONLY ? "reads" : "writes";
}

static void print_address(pid_t tid, const char *verb, uint64_t at, const char *folder)
{
    char text[PATH_BYTES] = "";
    char number[INET6_ADDRSTRLEN] = "";
    read_text(tid, at, text);
    int family = ((const struct sockaddr *)text)->sa_family;
    if (family == AF_UNIX) {
        print_path(verb, text + offsetof(struct sockaddr_un, sun_path), folder);
        return;
    }
    size_t offset = family == AF_INET ? offsetof(struct sockaddr_in, sin_addr)
                                      : offsetof(struct sockaddr_in6, sin6_addr);
    inet_ntop(family, text + offset, number, sizeof number);
    printf("%s %s\n", verb, number);
}

void touched_print(pid_t tid, const struct __ptrace_syscall_info *entry, const char *folder)
{
    const uint64_t *a = (const uint64_t *)entry->entry.args;
    char path[PATH_BYTES] = "";
    const char *verb = NULL;
    uint64_t at = a[0];
    switch (entry->entry.nr) {
    case SYS_openat:
        verb = opens_as(a[2]);
        at = a[1];
        break;
    case SYS_newfstatat:
    case SYS_readlinkat:
        verb = "looks";
        at = a[1];
        break;
    case SYS_renameat:
    case SYS_renameat2:
        verb = "renames";
        at = a[3];
        break;
    case SYS_unlinkat:
        verb = "removes";
        at = a[1];
        break;
    case SYS_mkdirat:
        verb = "creates";
        at = a[1];
        break;
    case SYS_fchmodat:
        verb = "chmods";
        at = a[1];
        break;
#ifdef SYS_open /* what only older architectures have */
    case SYS_open:
        verb = opens_as(a[1]);
        break;
    case SYS_readlink:
        verb = "looks";
        break;
    case SYS_rename:
        verb = "renames";
        at = a[1];
        break;
    case SYS_unlink:
        verb = "removes";
        break;
    case SYS_mkdir:
        verb = "creates";
        break;
    case SYS_chmod:
        verb = "chmods";
        break;
#endif
    case SYS_execve:
        verb = "executes";
        break;
    case SYS_socket:
    case SYS_socketpair:
        printf("socket %s\n", a[0] == AF_UNIX    ? "unix"
                              : a[0] == AF_INET  ? "inet"
                              : a[0] == AF_INET6 ? "inet6"
                                                 : "other");
        return;
    case SYS_bind:
        print_address(tid, "binds", a[1], folder);
        return;
    case SYS_connect:
        print_address(tid, "connects", a[1], folder);
        return;
    default:
        return;
    }
    read_text(tid, at, path);
    print_path(verb, path, folder);
}
