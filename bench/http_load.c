/* SPDX-License-Identifier: MIT
 *
 * http_load.c: requests of servers for /debug/pprof/, as they are measured.
 *
 *   http_load rate NAME CLIENTS SERVER...   CLIENTS ask without a pause, each by one connection that lasts:
 *                                           http.NAME_median, _p99 (ms), _rate (requests a second)
 *   http_load cpu NAME SERVER...            one client asks with pauses: the CPU time that the server's process takes
 *                                           for a request, http.NAME_cpu (ms)
 *   http_load idle NAME SERVER...           nobody asks: http.NAME_cpu (% of a processor)
 *
 * SERVER is four words: WHO PROCESS PORT PATH. The servers are asked in turns, for a short time each, so that what else
 * the machine does is the same for all.
 */
#include "measure.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    SERVERS_MAX = 4,
    CLIENTS_MAX = 64,
    TIMES_MAX = 1 << 20,
    TURNS = 10,
    TURN_MS = 500,
    QUICK_TURNS = 2,
    PAUSE_MS = 50,
    SCRAPES = 40,
    QUICK_SCRAPES = 10,
    IDLE_MS = 10000,
    QUICK_IDLE_MS = 3000
};

typedef struct server {
    const char *who, *path;
    int process, port;
    uint64_t before_ns; /* CPU time */
    double *times;      /* ms */
    size_t count;       /* of requests that were answered */
    double seconds;
} server;

static server servers[SERVERS_MAX];
static int server_count;

/* ---- one request ---- */

static int connect_to(const server *s)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)s->port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        bench_fail("%s does not answer", s->who);
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

/* The length of the body in a whole head that begins `data`; NULL: there is no length, or it comes in chunks. */
static const char *length_of(const char *data)
{
    const char *found = strcasestr(data, "\r\ncontent-length:");
    return found != NULL ? found + strlen("\r\ncontent-length:") : NULL;
}

/* Whether all of an answer is there: its length, or the last chunk, says so. */
static bool is_whole(const char *data, size_t size)
{
    const char *end = memmem(data, size, "\r\n\r\n", 4);
    if (end == NULL) {
        return false;
    }
    const char *length = length_of(data);
    size_t body = size - (size_t)(end + 4 - data);
    if (length != NULL && length < end) {
        return body >= strtoul(length, NULL, 10);
    }
    return body >= 5 && memcmp(data + size - 5, "0\r\n\r\n", 5) == 0;
}

/* Reads one answer, which must be 200. */
static void receive(int fd, char *answer, size_t capacity, const server *s)
{
    size_t size = 0;
    while (size == 0 || !is_whole(answer, size)) {
        ssize_t got = recv(fd, answer + size, capacity - 1 - size, 0);
        if (got <= 0) {
            bench_fail("%s: the answer to %s ends early", s->who, s->path);
        }
        size += (size_t)got;
        answer[size] = '\0';
    }
    if (strncmp(answer, "HTTP/1.1 200", 12) != 0) {
        bench_fail("%s: %s: %.40s", s->who, s->path, answer);
    }
}

static void ask(int fd, const server *s, char *answer, size_t capacity)
{
    char request[256];
    int length = snprintf(request, sizeof request,
                          "GET /debug/pprof/%s HTTP/1.1\r\nHost: localhost\r\n\r\n", s->path);
    if (send(fd, request, (size_t)length, MSG_NOSIGNAL) != length) {
        bench_fail("%s: the request was not taken", s->who);
    }
    receive(fd, answer, capacity, s);
}

/* ---- rate ---- */

typedef struct client {
    pthread_t thread;
    server *server;
    uint64_t end_ns;
} client;

enum { ANSWER_MAX = 16 << 20 };

static void *ask_until_end(void *argument)
{
    const double ms_ns = 1e6;
    const client *c = argument;
    char *answer = malloc(ANSWER_MAX);
    int fd = connect_to(c->server);
    uint64_t now_ns = bench_now_ns();
    while (answer != NULL && now_ns < c->end_ns) {
        ask(fd, c->server, answer, ANSWER_MAX);
        uint64_t done_ns = bench_now_ns();
        size_t place = __atomic_fetch_add(&c->server->count, 1, __ATOMIC_RELAXED);
        if (place < TIMES_MAX) {
            c->server->times[place] = (double)(done_ns - now_ns) / ms_ns;
        }
        now_ns = done_ns;
    }
    close(fd);
    free(answer);
    return NULL;
}

static void take_turn(server *s, unsigned clients)
{
    static client list[CLIENTS_MAX];
    uint64_t start_ns = bench_now_ns();
    for (unsigned i = 0; i < clients; i++) {
        list[i].server = s;
        list[i].end_ns = start_ns + (uint64_t)TURN_MS * 1000000;
        if (pthread_create(&list[i].thread, NULL, ask_until_end, &list[i]) != 0) {
            bench_fail("pthread_create");
        }
    }
    for (unsigned i = 0; i < clients; i++) {
        pthread_join(list[i].thread, NULL);
    }
    s->seconds += (double)(bench_now_ns() - start_ns) / 1e9;
}

static void print_of(const char *name, const char *what, const server *s, double value,
                     const char *unit)
{
    char full[128];
    snprintf(full, sizeof full, "http.%.64s_%s.%.15s", name, what, s->who);
    bench_print(full, value, unit);
}

static void print_rate(const char *name, server *s)
{
    size_t count = s->count < TIMES_MAX ? s->count : TIMES_MAX;
    print_of(name, "median", s, bench_median(s->times, count), "ms");
    print_of(name, "p99", s, s->times[count * 99 / 100], "ms");
    print_of(name, "rate", s, (double)s->count / s->seconds, "1/s");
}

static void measure_rate(const char *name, unsigned clients)
{
    unsigned turns = bench_quick() ? QUICK_TURNS : TURNS;
    for (int i = 0; i < server_count; i++) {
        servers[i].times = calloc(TIMES_MAX, sizeof *servers[i].times);
        if (servers[i].times == NULL) {
            bench_fail("no memory");
        }
    }
    for (unsigned turn = 0; turn < turns; turn++) {
        for (int i = 0; i < server_count; i++) {
            take_turn(&servers[i], clients);
        }
    }
    for (int i = 0; i < server_count; i++) {
        print_rate(name, &servers[i]);
    }
}

/* ---- CPU time ---- */

static uint64_t cpu_ns(const server *s)
{
    clockid_t clock = 0;
    struct timespec used;
    if (clock_getcpuclockid(s->process, &clock) != 0 || clock_gettime(clock, &used) != 0) {
        bench_fail("there is no process %d", s->process);
    }
    return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* Of the requests' times the median; a collector's work is in the mean, which is what the machine pays. */
static void measure_cpu(const char *name)
{
    static char answer[ANSWER_MAX];
    unsigned scrapes = bench_quick() ? QUICK_SCRAPES : SCRAPES;
    for (int i = 0; i < server_count; i++) {
        const server *s = &servers[i];
        int fd = connect_to(s);
        ask(fd, s, answer, sizeof answer);
        uint64_t before_ns = cpu_ns(s);
        for (unsigned k = 0; k < scrapes; k++) {
            poll(NULL, 0, PAUSE_MS);
            ask(fd, s, answer, sizeof answer);
        }
        print_of(name, "cpu", s, (double)(cpu_ns(s) - before_ns) / 1e6 / scrapes, "ms");
        close(fd);
    }
}

static void measure_idle(const char *name)
{
    int ms = bench_quick() ? QUICK_IDLE_MS : IDLE_MS;
    poll(NULL, 0, TURN_MS); /* the last connections end */
    for (int i = 0; i < server_count; i++) {
        servers[i].before_ns = cpu_ns(&servers[i]);
    }
    uint64_t start_ns = bench_now_ns();
    poll(NULL, 0, ms);
    double elapsed_ns = (double)(bench_now_ns() - start_ns);
    for (int i = 0; i < server_count; i++) {
        double used_ns = (double)(cpu_ns(&servers[i]) - servers[i].before_ns);
        print_of(name, "cpu", &servers[i], 100 * used_ns / elapsed_ns, "%");
    }
}

/* ---- arguments ---- */

static int number(const char *text)
{
    return (int)strtol(text, NULL, 10);
}

static void add_server(char **words)
{
    if (server_count == SERVERS_MAX) {
        bench_fail("at most %d servers", SERVERS_MAX);
    }
    servers[server_count++] = (server){
        .who = words[0], .process = number(words[1]), .port = number(words[2]), .path = words[3]};
}

int main(int argc, char **argv)
{
    const char *what = argc > 3 ? argv[1] : "";
    bool asks_much = strcmp(what, "rate") == 0;
    for (int i = asks_much ? 4 : 3; i + 3 < argc; i += 4) {
        add_server(&argv[i]);
    }
    if (asks_much) {
        int clients = number(argv[3]);
        measure_rate(argv[2], clients < CLIENTS_MAX ? (unsigned)clients : CLIENTS_MAX);
    } else if (strcmp(what, "cpu") == 0) {
        measure_cpu(argv[2]);
    } else if (strcmp(what, "idle") == 0) {
        measure_idle(argv[2]);
    } else {
        bench_fail("rate NAME CLIENTS SERVER..., cpu NAME SERVER..., idle NAME SERVER...");
    }
    return 0;
}
