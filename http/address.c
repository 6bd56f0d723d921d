/* SPDX-License-Identifier: MIT
 *
 * address.c: see address.h.
 *
 * Tested by: e2e.http_server
 */
#include "address.h"

#include "descriptor.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BACKLOG = 512, HOST_MAX = 64, LOCK_TRIES = 500 /* a millisecond each */ };

/* ---- reading ---- */

static int read_local(server_address *a, const char *path)
{
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof a->at.local.sun_path) {
        return -EINVAL;
    }
    a->at.local.sun_family = AF_UNIX;
    memcpy(a->at.local.sun_path, path, length + 1);
    a->length = sizeof a->at.local;
    a->is_local = true;
    a->is_loopback = true;
    return 0;
}

static bool read_port(const char *text, uint16_t *port)
{
    unsigned number = 0;
    size_t digits = strspn(text, "0123456789");
    for (size_t i = 0; i < digits && number <= UINT16_MAX; i++) {
        number = 10 * number + (unsigned)(text[i] - '0');
    }
    *port = htons((uint16_t)number);
    return digits > 0 && text[digits] == '\0' && number <= UINT16_MAX;
}

static int read_ip4(server_address *a, const char *host, uint16_t port)
{
    struct sockaddr_in *ip = (struct sockaddr_in *)&a->at.room;
    bool is_name = *host == '\0' || strcasecmp(host, "localhost") == 0;
    ip->sin_family = AF_INET;
    ip->sin_port = port;
    a->length = sizeof *ip;
    if (inet_pton(AF_INET, is_name ? "127.0.0.1" : host, &ip->sin_addr) != 1) {
        return -EINVAL;
    }
    a->is_loopback = ntohl(ip->sin_addr.s_addr) >> 24 == 127;
    return 0;
}

static int read_ip6(server_address *a, const char *host, uint16_t port)
{
    struct sockaddr_in6 *ip = (struct sockaddr_in6 *)&a->at.room;
    ip->sin6_family = AF_INET6;
    ip->sin6_port = port;
    a->length = sizeof *ip;
    if (inet_pton(AF_INET6, host, &ip->sin6_addr) != 1) {
        return -EINVAL;
    }
    a->is_loopback = IN6_IS_ADDR_LOOPBACK(&ip->sin6_addr);
    return 0;
}

int address_read(server_address *a, const char *text)
{
    char host[HOST_MAX];
    uint16_t port = 0;
    memset(a, 0, sizeof *a);
    if (strncmp(text, "unix:", 5) == 0) {
        return read_local(a, text + 5);
    }
    const char *colon = strrchr(text, ':');
    bool is_ip6 = *text == '[';
    if (colon == NULL || (size_t)(colon - text) >= sizeof host || !read_port(colon + 1, &port)) {
        return -EINVAL;
    }
    size_t length = (size_t)(colon - text);
    if (is_ip6 && (length < 2 || colon[-1] != ']')) {
        return -EINVAL;
    }
    size_t brackets = is_ip6 ? 1 : 0;
    memcpy(host, text + brackets, length - 2 * brackets);
    host[length - 2 * brackets] = '\0';
    return is_ip6 ? read_ip6(a, host, port) : read_ip4(a, host, port);
}

/* ---- listening ---- */

/* Whether a process serves the unix socket. */
static bool is_served(const server_address *a)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool served = fd < 0 || connect(fd, &a->at.any, a->length) == 0 || errno != ECONNREFUSED;
    if (fd >= 0) {
        close(fd);
    }
    return served;
}

/* Removes a socket of this user that a process has left. */
static void remove_left(const server_address *a)
{
    struct stat status;
    const char *path = a->at.local.sun_path;
    if (lstat(path, &status) == 0 && S_ISSOCK(status.st_mode) && status.st_uid == geteuid() &&
        !is_served(a)) {
        unlink(path);
    }
}

static descriptor open_folder(const server_address *a)
{
    char folder[sizeof a->at.local.sun_path] = ".";
    const char *path = a->at.local.sun_path;
    const char *slash = strrchr(path, '/');
    descriptor opened = DESCRIPTOR_NONE;
    if (slash != NULL) {
        snprintf(folder, sizeof folder, "%.*s", slash > path ? (int)(slash - path) : 1, path);
    }
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        descriptor_keep(&opened, fd);
    }
    return opened;
}

/* Without the lock it goes on: the folder cannot be read, or another user keeps the lock. */
static void lock_folder(const descriptor *folder)
{
    for (int i = 0; i < LOCK_TRIES && descriptor_is_there(folder) &&
                    flock(folder->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
         i++) {
        poll(NULL, 0, 1);
    }
}

/* A child that was forked meanwhile has the descriptor, too. */
static void unlock_folder(descriptor *folder)
{
    if (descriptor_is_there(folder)) {
        flock(folder->fd, LOCK_UN);
    }
    descriptor_close(folder);
}

/* On Linux a unix socket in the file system has the mode of its descriptor at bind(), minus the
 * umask: there is no moment at which others can connect. */
static int prepare(int fd, const server_address *a)
{
    const int on = 1;
    if (a->is_local) {
        remove_left(a);
        return fchmod(fd, 0600);
    }
    return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
}

static int begin_to_listen(server_address *a)
{
    int fd = socket(a->at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -errno;
    }
    socklen_t length = sizeof a->at;
    if (prepare(fd, a) != 0 || bind(fd, &a->at.any, a->length) != 0 || listen(fd, BACKLOG) != 0 ||
        (!a->is_local && getsockname(fd, &a->at.any, &length) != 0)) {
        int error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

/* Before it listens, a unix socket looks like one that was left: the lock is held until it does. */
int address_listen(server_address *a)
{
    descriptor folder = DESCRIPTOR_NONE;
    if (a->is_local) {
        folder = open_folder(a);
        lock_folder(&folder);
    }
    int fd = begin_to_listen(a);
    unlock_folder(&folder);
    return fd;
}

bool address_has_file(const char *path, const struct stat *bound)
{
    struct stat present;
    return lstat(path, &present) == 0 && present.st_ino == bound->st_ino &&
           present.st_dev == bound->st_dev;
}

/* ---- saying ---- */

void address_text(const server_address *a, char text[ADDRESS_TEXT_MAX])
{
    char host[INET6_ADDRSTRLEN] = "";
    const struct sockaddr_in *ip = (const struct sockaddr_in *)&a->at.room;
    const struct sockaddr_in6 *ip6 = (const struct sockaddr_in6 *)&a->at.room;
    if (a->is_local) {
        snprintf(text, ADDRESS_TEXT_MAX, "unix:%.*s", (int)sizeof a->at.local.sun_path - 1,
                 a->at.local.sun_path);
    } else if (a->at.any.sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &ip6->sin6_addr, host, sizeof host);
        snprintf(text, ADDRESS_TEXT_MAX, "[%s]:%u", host, ntohs(ip6->sin6_port));
    } else {
        inet_ntop(AF_INET, &ip->sin_addr, host, sizeof host);
        snprintf(text, ADDRESS_TEXT_MAX, "%s:%u", host, ntohs(ip->sin_port));
    }
}

/* "" or ":6060" */
static bool is_port(const char *text)
{
    return *text == '\0' || (*text == ':' && text[1 + strspn(text + 1, "0123456789")] == '\0');
}

bool address_host_is_loopback(const char *host)
{
    char name[HOST_MAX];
    server_address a;
    size_t length = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    if (length + 2 >= sizeof name || length > strlen(host) || !is_port(host + length)) {
        return false;
    }
    memcpy(name, host, length);
    memcpy(name + length, ":0", 3);
    return length > 0 && address_read(&a, name) == 0 && a.is_loopback && !a.is_local;
}
