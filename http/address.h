/* SPDX-License-Identifier: MIT
 *
 * address.h: reads an address, listens there, and says where that is.
 */
#ifndef PP_HTTP_ADDRESS_H
#define PP_HTTP_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { ADDRESS_TEXT_MAX = sizeof(struct sockaddr_un) + 16 };

typedef struct server_address {
    union {
        struct sockaddr any;
        struct sockaddr_un local;
        struct sockaddr_storage room;
    } at;
    socklen_t length;
    bool is_local;    /* a unix socket */
    bool is_loopback; /* or that */
} server_address;

/* "127.0.0.1:6060", "localhost:0", ":6060", "[::1]:0", "unix:/path". 0 or -EINVAL. */
int address_read(server_address *a, const char *text);

/* Listens. Returns a non-blocking descriptor, or -errno; `a` then has the port that was given. */
int address_listen(server_address *a);

/* Whether the file of a unix socket, which had this status when it was bound, is still there. Async-signal-safe. */
bool address_has_file(const char *path, const struct stat *bound);

/* As address_read() takes it. */
void address_text(const server_address *a, char text[ADDRESS_TEXT_MAX]);

/* Whether the value of a request's Host means the loopback interface: localhost, 127.0.0.1, [::1],
 * with or without a port. */
bool address_host_is_loopback(const char *host);

#endif
