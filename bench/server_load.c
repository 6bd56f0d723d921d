/* SPDX-License-Identifier: MIT
 *
 * server_load.c: requests a second of servers that run beside each other, in turns that are too short for the
 * machine to change.
 *
 *   server_load [-b BLOCKS COMMAND] PROTOCOL CLIENTS TURN_MS ROUNDS SOCKET...
 *
 * PROTOCOL: redis (GET), http (GET /index.html), postgres (one row of pgbench_accounts). CLIENTS connections of one
 * thread ask each server, each as soon as it has its answer. In a round each server has its turn, in an order by chance.
 * prints for each round a line: the requests in a second of each server. -b: all rounds are played BLOCKS times, each time
 * after COMMAND, which gets the block's number; and lines begin with that number.
 */
#include "measure.h"

#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SERVERS_MAX = 8, CLIENTS_MAX = 64, ANSWER_MAX = 65536, QUIET_MS = 100, TRIES = 5000 };

typedef struct client {
    int socket;
    size_t left; /* bytes of the answer */
} client;

typedef struct server {
    client clients[CLIENTS_MAX];
    int epoll;
    size_t answer; /* bytes */
} server;

static server servers[SERVERS_MAX];
static unsigned server_count, client_count;
static const char *request;
static size_t request_bytes;

static void ask(const client *c)
{
    if (send(c->socket, request, request_bytes, MSG_NOSIGNAL) != (ssize_t)request_bytes) {
        bench_fail("a server takes no request");
    }
}

/* What comes until nothing more does. */
static size_t drain(int socket)
{
    char some[ANSWER_MAX];
    size_t all = 0;
    struct pollfd wait = {.fd = socket, .events = POLLIN};
    while (poll(&wait, 1, all == 0 ? 10000 : QUIET_MS) > 0) {
        ssize_t got = recv(socket, some, sizeof some, 0);
        if (got <= 0) {
            bench_fail("a server has closed the connection");
        }
        all += (size_t)got;
    }
    return all;
}

static void log_in(int socket)
{
    static const char startup[] = "\0\0\0\0\0\3\0\0user\0postgres\0database\0postgres\0";
    char message[sizeof startup];
    memcpy(message, startup, sizeof startup);
    message[3] = (char)sizeof startup;
    if (send(socket, message, sizeof message, MSG_NOSIGNAL) < 0) {
        bench_fail("a server takes no login");
    }
    drain(socket);
}

static void connect_to(server *s, const char *path, bool login)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    for (unsigned i = 0; i < client_count; i++) {
        client *c = &s->clients[i];
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        c->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        unsigned tries = TRIES;
        while (connect(c->socket, (struct sockaddr *)&address, sizeof address) != 0) {
            if (--tries == 0) {
                bench_fail("%s: %s", path, strerror(errno));
            }
            usleep(1000); /* it may not listen yet */
        }
        if (login) {
            log_in(c->socket);
        }
        ask(c);
        s->answer = drain(c->socket);
        epoll_ctl(s->epoll, EPOLL_CTL_ADD, c->socket, &event);
    }
}

/* Takes what has come. Returns whether the answer is whole. */
static bool take(client *c)
{
    char some[ANSWER_MAX];
    ssize_t got = recv(c->socket, some, sizeof some, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) {
        return false;
    }
    if (got <= 0 || (size_t)got > c->left) {
        bench_fail("a server gives other answers than before");
    }
    c->left -= (size_t)got;
    return c->left == 0;
}

static double turn(server *s, uint64_t ns)
{
    struct epoll_event events[CLIENTS_MAX];
    uint64_t start = bench_now_ns();
    uint64_t end = start;
    uint64_t answers = 0;
    unsigned open = client_count;
    for (unsigned i = 0; i < client_count; i++) {
        s->clients[i].left = s->answer;
        ask(&s->clients[i]);
    }
    while (open > 0) {
        int count = epoll_wait(s->epoll, events, CLIENTS_MAX, -1);
        end = bench_now_ns();
        for (int i = 0; i < count; i++) {
            client *c = events[i].data.ptr;
            if (!take(c)) {
                continue;
            }
            answers++;
            if (end - start < ns) {
                c->left = s->answer;
                ask(c);
            } else {
                open--;
            }
        }
    }
    return (double)answers * 1e9 / (double)(end - start);
}

static void choose(const char *protocol)
{
    static const char query[] = "Q\0\0\0\0SELECT abalance FROM pgbench_accounts WHERE aid = 4711";
    static char message[sizeof query];
    memcpy(message, query, sizeof query);
    message[4] = (char)(sizeof query - 1);
    if (strcmp(protocol, "redis") == 0) {
        request = "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n";
    } else if (strcmp(protocol, "http") == 0) {
        request = "GET /index.html HTTP/1.1\r\nHost: localhost\r\n\r\n";
    } else {
        request = message;
    }
    request_bytes = request == message ? sizeof message : strlen(request);
}

static void play_round(unsigned turn_ms, uint64_t *state)
{
    double rate[SERVERS_MAX] = {0};
    unsigned order[SERVERS_MAX] = {0};
    for (unsigned i = 0; i < server_count; i++) {
        unsigned k = (unsigned)(bench_random(state) % (i + 1));
        order[i] = order[k];
        order[k] = i;
    }
    for (unsigned i = 0; i < server_count; i++) {
        rate[order[i]] = turn(&servers[order[i]], (uint64_t)turn_ms * 1000000);
    }
    for (unsigned i = 0; i < server_count; i++) {
        printf("%.1f%c", rate[i], i + 1 < server_count ? ' ' : '\n');
    }
}

static void run_command(char *command, unsigned block)
{
    char number[16];
    char *const words[] = {command, number, NULL};
    pid_t child = 0;
    int status = 0;
    snprintf(number, sizeof number, "%u", block);
    if (posix_spawn(&child, command, NULL, NULL, words, environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
        bench_fail("%s %u fails", command, block);
    }
}

int main(int argc, char **argv)
{
    unsigned blocks = 1;
    char *command = NULL;
    if (argc > 3 && strcmp(argv[1], "-b") == 0) {
        blocks = (unsigned)strtoul(argv[2], NULL, 10);
        command = argv[3];
        argc -= 3;
        argv += 3;
    }
    unsigned turn_ms = argc > 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    unsigned rounds = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 0;
    client_count = argc > 4 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    if (argc < 6 || argc - 5 > SERVERS_MAX || client_count > CLIENTS_MAX || client_count == 0) {
        bench_fail(
            "usage: server_load [-b BLOCKS COMMAND] PROTOCOL CLIENTS TURN_MS ROUNDS SOCKET...");
    }
    choose(argv[1]);
    for (int i = 5; i < argc; i++) {
        connect_to(&servers[server_count++], argv[i], strcmp(argv[1], "postgres") == 0);
    }
    uint64_t state = bench_now_ns();
    for (unsigned block = 0; block < blocks; block++) {
        if (command != NULL) {
            run_command(command, block);
        }
        for (unsigned round = 0; round < rounds; round++) {
            if (command != NULL) {
                printf("%u ", block);
            }
            play_round(turn_ms, &state);
        }
    }
    return 0;
}
