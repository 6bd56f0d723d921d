/* SPDX-License-Identifier: MIT
 *
 * record_socket.c: see record_socket.h.
 *
 * Tested by: e2e.cpprof_record_arrives.
 */
#include "record/record_socket.h"

#include "record/record_parts.h"
#include "record/record_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIRST_NUMBER = 500,        /* above the numbers that programs expect, and shells' 10 and 255 */
    SOCKET_BYTES = 1024 * 1024 /* the system usually grants 208 KiB of this */
};

/* Some programs close the lowest numbers in a loop, and some expect to get the lowest one: a high
 * number disturbs neither. */
static int to_high_number(int fd)
{
    int first = FIRST_NUMBER;

    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur <= FIRST_NUMBER) {
        first = (int)(limit.rlim_cur / 2);
    }
    int high = fcntl(fd, F_DUPFD, first);
    close(fd);
    return high;
}

/* The command's end does not block: the library waits for room itself, for a limited time. */
static void prepare_end_of_command(int fd)
{
    int bytes = SOCKET_BYTES;

    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void cp_record_socket_open(cp_record_socket *sock)
{
    *sock = (cp_record_socket){.own = -1, .command = -1};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
        return;
    }
    sock->own = ends[0];
    sock->command = to_high_number(ends[1]);
    struct stat info;
    if (sock->command < 0 || fstat(sock->command, &info) < 0) {
        cp_record_socket_close(sock);
        return;
    }
    prepare_end_of_command(sock->command);
    snprintf(sock->word, sizeof sock->word, ",recorder=%d:%llu:%llu:%d", sock->command,
             (unsigned long long)info.st_dev, (unsigned long long)info.st_ino, (int)getpid());
}

void cp_record_socket_started(cp_record_socket *sock)
{
    if (sock->command >= 0) {
        close(sock->command);
    }
    sock->command = -1;
}

void cp_record_socket_take(cp_record_socket *sock, cp_parts *parts, cp_tree *tree)
{
    static char message[CP_PART_MESSAGE_MAX];
    ssize_t got = 1;

    while (sock->own >= 0 && got > 0) {
        do {
            got = recv(sock->own, message, sizeof message, MSG_DONTWAIT);
        } while (got < 0 && errno == EINTR);
        if (got > 0 && !(tree && cp_tree_take_message(tree, message, (size_t)got))) {
            cp_parts_take_message(parts, message, (size_t)got);
        }
    }
    if (got == 0) {
        cp_record_socket_close(sock); /* no process has the other end any more */
    }
}

void cp_record_socket_close(cp_record_socket *sock)
{
    cp_record_socket_started(sock);
    if (sock->own >= 0) {
        close(sock->own);
    }
    *sock = (cp_record_socket){.own = -1, .command = -1};
}
