/* SPDX-License-Identifier: MIT
 *
 * connections.c FILE.pb.gz: a profile of open connections, which finds the ones that nobody closes.
 *
 * Each connection is added to a profile where it is opened and removed where it is closed. What is
 * in the profile at any time are the connections that are open, under the stacks that opened them:
 * a leak is a stack that grows. Two calls, some 100 ns together.
 *
 * Here a client fetches pages and asks for the status of a server, both of this program, over TCP.
 * Where the server is too busy to tell its status, the client forgets to close.
 *
 *   cc connections.c -lpprof -o connections && ./connections /tmp/connections.pb.gz
 *   go tool pprof -top -cum /tmp/connections.pb.gz
 */
#include <pprof.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAGES = 20, STATUS_REQUESTS = 10, BUSY_EVERY = 3, CONNECTIONS_MAX = 64 };

static pprof_profile *connections;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- connections, of either side ---- */

/* A value is compared, never looked at: the number of a descriptor will do. */
static const void *value_of(int connection)
{
    return (const void *)(intptr_t)connection; /* NOLINT(performance-no-int-to-ptr) */
}

/* skip 1: the stack begins at the caller of this function. */
static int conn_opened(int connection)
{
    pprof_profile_add(connections, value_of(connection), 1);
    return connection;
}

/* First out of the profile: behind close() the number may be another connection's. */
static void conn_close(int connection)
{
    pprof_profile_remove(connections, value_of(connection));
    close(connection);
}

static void say(int connection, const char *text)
{
    if (write(connection, text, strlen(text)) != (ssize_t)strlen(text)) {
        fail("write");
    }
}

/* What the other side says until it ends a line, or ends. */
static size_t hear(int connection, char *text, size_t capacity)
{
    size_t length = 0;
    ssize_t got = 0;
    while (length + 1 < capacity && (length == 0 || text[length - 1] != '\n') &&
           (got = read(connection, text + length, capacity - 1 - length)) > 0) {
        length += (size_t)got;
    }
    text[length] = '\0';
    return length;
}

/* ---- the server ---- */

static void answer(int connection, const char *request)
{
    static unsigned status_requests;
    if (strcmp(request, "STATUS\n") != 0) {
        say(connection, "200 a page\n");
    } else if (++status_requests % BUSY_EVERY == 0) {
        say(connection, "503 busy\n");
    } else {
        say(connection, "200 well\n");
    }
}

static int accept_connection(int listener)
{
    int connection = accept(listener, NULL, NULL);
    if (connection < 0) {
        fail("accept");
    }
    return conn_opened(connection);
}

/* Keeps each connection until the client ends it. */
static void *serve(void *listener)
{
    struct pollfd open[CONNECTIONS_MAX] = {{*(int *)listener, POLLIN, 0}};
    nfds_t count = 1;
    char request[64];
    while (poll(open, count, -1) > 0) {
        for (nfds_t i = count - 1; i > 0; i--) {
            if (open[i].revents == 0) {
                continue;
            }
            if (hear(open[i].fd, request, sizeof request) > 0) {
                answer(open[i].fd, request);
            } else {
                conn_close(open[i].fd);
                open[i] = open[--count];
            }
        }
        if ((open[0].revents & POLLIN) != 0 && count < CONNECTIONS_MAX) {
            open[count++] = (struct pollfd){accept_connection(open[0].fd), POLLIN, 0};
        }
    }
    return NULL;
}

/* ---- the client ---- */

static struct sockaddr_in server = {.sin_family = AF_INET};

static int connect_to_server(void)
{
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0 || connect(connection, (struct sockaddr *)&server, sizeof server) != 0) {
        fail("connect");
    }
    return conn_opened(connection);
}

/* Waits until the server has closed its end, so that the numbers of this example are exact. */
static void hang_up(int connection)
{
    char rest[16];
    shutdown(connection, SHUT_WR);
    while (hear(connection, rest, sizeof rest) > 0) {
    }
    conn_close(connection);
}

static void fetch_page(void)
{
    char page[64];
    int connection = connect_to_server();
    say(connection, "PAGE\n");
    hear(connection, page, sizeof page);
    hang_up(connection);
}

static int fetch_status(void)
{
    char status[64];
    int connection = connect_to_server();
    say(connection, "STATUS\n");
    hear(connection, status, sizeof status);
    if (strncmp(status, "200", 3) != 0) {
        return -1; /* the mistake: it stays open */
    }
    hang_up(connection);
    return 0;
}

int main(int argc, char **argv)
{
    socklen_t size = sizeof server;
    pthread_t thread;
    if (argc != 2) {
        fprintf(stderr, "usage: connections FILE.pb.gz\n");
        return 2;
    }
    connections = pprof_new_profile("example.connections");
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&server, size) != 0 ||
        getsockname(listener, (struct sockaddr *)&server, &size) != 0 || listen(listener, 8) != 0) {
        fail("listen");
    }
    if (pthread_create(&thread, NULL, serve, &listener) != 0) {
        fail("pthread_create");
    }

    for (unsigned i = 0; i < PAGES; i++) {
        fetch_page();
    }
    for (unsigned i = 0; i < STATUS_REQUESTS; i++) {
        fetch_status();
    }
    printf("%zu connections are open\n", pprof_profile_count(connections));

    int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    int error = pprof_profile_write(connections, pprof_writer_fd(fd), 0);
    if (fd < 0 || error != 0 || close(fd) != 0) {
        fprintf(stderr, "%s: %s\n", argv[1], strerror(-error));
        return 1;
    }
    return 0;
}
