/* SPDX-License-Identifier: MIT
 *
 * server.c: see server.h.
 *
 * Tested by: e2e.http_server, e2e.http_guest, e2e.http_slow
 */
#include "server.h"

#include <pprof_http_door.h>

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)

/* Answers that are made and not sent yet, beside the largest of them; one more may exceed it. */
static const size_t answers_max = (size_t)64 << 20;
/* A client may take its answer for so long, if another one waits for the memory. */
static const uint64_t slow_ns = 30 * SECOND;
static const uint64_t accept_pause_ns = SECOND / 10;
/* A client may be silent for so long before another one can take its place. */
static const uint64_t silence_ns = SECOND / 4;

enum { TICK_MS = 2000, OTHERS = 2 /* descriptors that are no connections: bell, listener */ };

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

void server_init(server *s)
{
    s->listener = s->link = s->bell = DESCRIPTOR_NONE;
    s->is_apart = s->is_parked = false;
    s->rules = (connection_rules){.now_ns = now};
    s->stops = s->is_over = false;
    s->accept_at_ns = 0;
    for (unsigned i = 0; i < SERVER_CONNECTIONS; i++) {
        s->connections[i].socket = DESCRIPTOR_NONE;
    }
}

/* ---- parking ---- */

/* The descriptors that are parked, in the order of the message. Returns how many there are. */
static unsigned list_parked(server *s, descriptor **list)
{
    unsigned count = 0;
    list[count++] = &s->listener;
    list[count++] = &s->bell;
    for (unsigned i = 0; i < SERVER_CONNECTIONS; i++) {
        if (s->connections[i].state != CONNECTION_FREE) {
            list[count++] = &s->connections[i].socket;
        }
    }
    return count;
}

typedef union message_room {
    struct cmsghdr head;
    char bytes[CMSG_SPACE((OTHERS + SERVER_CONNECTIONS) * sizeof(int))];
} message_room;

/* Puts all descriptors but `link` into a message, and closes them. */
static int park(server *s)
{
    descriptor *list[OTHERS + SERVER_CONNECTIONS];
    int numbers[OTHERS + SERVER_CONNECTIONS] = {-1};
    message_room room;
    unsigned count = list_parked(s, list);
    for (unsigned i = 0; i < count; i++) {
        numbers[i] = list[i]->fd;
    }
    memset(&room, 0, sizeof room);
    room.head = (struct cmsghdr){.cmsg_len = (unsigned)CMSG_LEN(count * sizeof *numbers),
                                 .cmsg_level = SOL_SOCKET,
                                 .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&room.head), numbers, count * sizeof *numbers);
    struct iovec byte = {.iov_base = "", .iov_len = 1};
    const struct msghdr message = {.msg_iov = &byte,
                                   .msg_iovlen = 1,
                                   .msg_control = &room,
                                   .msg_controllen = (unsigned)CMSG_SPACE(count * sizeof *numbers)};
    if (sendmsg(s->bell.fd, &message, MSG_NOSIGNAL) < 0) {
        return -errno;
    }
    for (unsigned i = 0; i < count; i++) {
        descriptor_close(list[i]);
    }
    s->is_parked = true;
    return 0;
}

/* Takes them out again, into the table of the calling thread. */
static int unpark(server *s)
{
    descriptor *list[OTHERS + SERVER_CONNECTIONS];
    message_room room;
    unsigned count = list_parked(s, list);
    char byte = 0;
    struct iovec into = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {
        .msg_iov = &into, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
    s->is_apart = pprof_http_door_5.leave_table(s->link.fd);
    if (!descriptor_is_there(&s->link) ||
        recvmsg(s->link.fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) <= 0) {
        return -EBADF; /* the program has closed it */
    }
    s->is_parked = false;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    unsigned found = head != NULL ? (unsigned)((head->cmsg_len - CMSG_LEN(0)) / sizeof(int)) : 0;
    for (unsigned i = 0; i < found && i < count; i++) {
        int fd = -1;
        memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
        descriptor_keep(list[i], fd);
    }
    return found == count ? 0 : -EMFILE;
}

int server_open(server *s, int listener)
{
    int ends[2];
    descriptor_keep(&s->listener, listener);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
        return -errno;
    }
    descriptor_keep(&s->link, ends[0]);
    descriptor_keep(&s->bell, ends[1]);
    return !s->rules.is_control && pprof_http_door_5.may_leave_table() ? park(s) : 0;
}

/* ---- clients ---- */

static connection *find_free(server *s)
{
    for (unsigned i = 0; i < SERVER_CONNECTIONS; i++) {
        if (s->connections[i].state == CONNECTION_FREE) {
            return &s->connections[i];
        }
    }
    return NULL;
}

static bool is_idle(const connection *c)
{
    return c->state == CONNECTION_READS || c->state == CONNECTION_LINGERS;
}

static bool is_due(const connection *c)
{
    return c->state == CONNECTION_IS_DUE;
}

/* The connection that has been in this state for the longest time; NULL: there is none. */
static connection *find_oldest(server *s, bool (*is_in_state)(const connection *c))
{
    connection *oldest = NULL;
    for (unsigned i = 0; i < SERVER_CONNECTIONS; i++) {
        connection *c = &s->connections[i];
        if (is_in_state(c) && (oldest == NULL || c->since_ns < oldest->since_ns)) {
            oldest = c;
        }
    }
    return oldest;
}

/* When a client can be accepted: now (0), or when another one has been silent for long enough. */
static uint64_t room_at_ns(server *s)
{
    const connection *idle = find_free(s) == NULL ? find_oldest(s, is_idle) : NULL;
    return find_free(s) != NULL ? 0 : idle != NULL ? idle->since_ns + silence_ns : UINT64_MAX;
}

static uint64_t later(uint64_t x, uint64_t y)
{
    return x > y ? x : y;
}

/* The kernel says who has connected: no client can pretend. */
static bool is_admitted(const connection_rules *rules, int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return !rules->is_control || (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
                                  (peer.uid == rules->user || peer.uid == 0));
}

/* If all places are taken, the client that has been silent for the longest time loses its own. */
static void accept_one(server *s, uint64_t now_ns)
{
    connection *place = find_free(s);
    place = place != NULL ? place : find_oldest(s, is_idle);
    bool has_room = room_at_ns(s) <= now_ns;
    /* cppcheck-suppress nullPointer ; nobody wants the client's address */
    int fd = has_room ? accept4(s->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;
    if (fd < 0) {
        bool is_exhausted =
            has_room && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS);
        s->accept_at_ns = is_exhausted ? now_ns + accept_pause_ns : s->accept_at_ns;
        return;
    }
    if (!is_admitted(&s->rules, fd)) {
        close(fd);
        return;
    }
    connection_end(place);
    connection_begin(place, fd, now_ns, &s->rules);
}

/* The largest does not count: nobody waits for one client that takes a long answer slowly. */
static bool has_memory(const server *s)
{
    size_t size = 0;
    size_t largest = 0;
    for (unsigned i = 0; i < SERVER_CONNECTIONS; i++) {
        size_t length = s->connections[i].out.length;
        size += length;
        largest = length > largest ? length : largest;
    }
    return size - largest < answers_max;
}

/* The one that waits for the longest time; NULL: none is due, or there is no memory. */
static connection *find_due(server *s)
{
    return has_memory(s) ? find_oldest(s, is_due) : NULL;
}

/* Ends the largest answer of a slow client, if another one waits for the memory. */
static void make_room(server *s, uint64_t now_ns)
{
    connection *largest = NULL;
    for (unsigned i = 0; i < SERVER_CONNECTIONS; i++) {
        connection *c = &s->connections[i];
        bool is_slow = c->state == CONNECTION_WRITES && c->since_ns + slow_ns <= now_ns;
        if (is_slow && (largest == NULL || c->out.length > largest->out.length)) {
            largest = c;
        }
    }
    if (largest != NULL && !has_memory(s) && find_oldest(s, is_due) != NULL) {
        connection_end(largest);
    }
}

/* Clients that ask again and again leave no place for others: then this is their last answer. */
static void send_answer(server *s, connection *c, uint64_t now_ns)
{
    struct pollfd others = {.fd = s->listener.fd, .events = POLLIN};
    if (find_free(s) == NULL && poll(&others, 1, 0) > 0) {
        c->keeps_alive = false;
    }
    connection_send_answer(c, now_ns);
}

/* Makes the answer, for all who wait for the same, as far as there is room. That may take long: the
 * clients' time begins after it. */
static void answer(server *s, connection *due)
{
    connection *twins[SERVER_CONNECTIONS];
    unsigned count = 0;
    for (unsigned i = 0; i < SERVER_CONNECTIONS; i++) {
        if (connection_is_twin(due, &s->connections[i])) {
            twins[count++] = &s->connections[i];
        }
    }
    connection_make_answer(due);
    uint64_t now_ns = now();
    for (unsigned i = 0; i < count && has_memory(s); i++) {
        connection_copy_answer(twins[i], due);
        send_answer(s, twins[i], now_ns);
    }
    send_answer(s, due, now_ns);
}

/* ---- one round ---- */

/* Milliseconds until something is due; at most a tick. */
static int time_to_next(server *s, uint64_t now_ns)
{
    uint64_t next_ns = now_ns + TICK_MS * (SECOND / 1000);
    if (find_due(s) != NULL) {
        return 0;
    }
    uint64_t accept_at_ns = later(s->accept_at_ns, room_at_ns(s));
    if (accept_at_ns > now_ns && accept_at_ns < next_ns) {
        next_ns = accept_at_ns;
    }
    for (unsigned i = 0; i < SERVER_CONNECTIONS; i++) {
        const connection *c = &s->connections[i];
        if (c->state != CONNECTION_FREE && c->deadline_ns < next_ns) {
            next_ns = c->deadline_ns;
        }
    }
    return next_ns > now_ns ? (int)((next_ns - now_ns + 999999) / 1000000) : 0;
}

/* How many connections have to be looked at to see all that there are. */
static unsigned count_places(const server *s)
{
    unsigned count = SERVER_CONNECTIONS;
    while (count > 0 && s->connections[count - 1].state == CONNECTION_FREE) {
        count--;
    }
    return count;
}

/* Negative descriptors are ignored by poll(). What a place without a connection shows is not
 * looked at. */
static int wait_for_events(server *s, struct pollfd *polled, uint64_t now_ns)
{
    bool accepts = later(s->accept_at_ns, room_at_ns(s)) <= now_ns;
    polled[0] = (struct pollfd){.fd = s->bell.fd, .events = POLLIN};
    polled[1] = (struct pollfd){.fd = accepts ? s->listener.fd : -1, .events = POLLIN};
    unsigned places = count_places(s);
    for (unsigned i = 0; i < places; i++) {
        const connection *c = &s->connections[i];
        polled[OTHERS + i] = (struct pollfd){.fd = c->state != CONNECTION_FREE ? c->socket.fd : -1,
                                             .events = connection_events(c)};
    }
    pprof_http_door_5.waits(true);
    int events = poll(polled, OTHERS + places, time_to_next(s, now_ns));
    pprof_http_door_5.waits(false);
    return events;
}

/* A connection may have come to the place since the poll. */
static short events_of(const struct pollfd *polled, const connection *c)
{
    if (polled->fd != c->socket.fd) {
        return 0;
    }
    return polled->revents;
}

static void go_on_all(server *s, const struct pollfd *polled, uint64_t now_ns)
{
    for (unsigned i = 0; i < SERVER_CONNECTIONS; i++) {
        connection *c = &s->connections[i];
        if (c->state != CONNECTION_FREE) {
            connection_go_on(c, events_of(&polled[OTHERS + i], c), now_ns);
        }
    }
}

static void drain_wake(const server *s)
{
    char dregs[64];
    if (descriptor_is_there(&s->bell)) {
        (void)!recv(s->bell.fd, dregs, sizeof dregs, MSG_DONTWAIT);
    }
}

static void run_round(server *s)
{
    struct pollfd polled[OTHERS + SERVER_CONNECTIONS];
    int found = wait_for_events(s, polled, now());
    uint64_t now_ns = now();
    if (found < 0) { /* EINTR: the program changes its user; ENOMEM */
        memset(polled, 0, sizeof polled);
    }
    if (polled[0].revents != 0) {
        drain_wake(s);
    }
    go_on_all(s, polled, now_ns);
    make_room(s, now_ns);
    connection *due = find_due(s);
    if (due != NULL) {
        answer(s, due);
    }
    if (polled[1].revents != 0 && descriptor_is_there(&s->listener)) {
        accept_one(s, now_ns);
    }
}

/* ---- the loop ---- */

/* A bell that the program has closed would make each round as short as it can be. */
static bool is_intact(server *s)
{
    if (!descriptor_is_there(&s->listener)) {
        return false;
    }
    if (s->bell.fd >= 0 && !descriptor_is_there(&s->bell)) {
        s->bell.fd = -1;
    }
    return true;
}

static bool goes_on(server *s)
{
    return !__atomic_load_n(&s->stops, __ATOMIC_ACQUIRE) && is_intact(s);
}

/* True: it is over. False: it has to pause. */
static bool serve(server *s)
{
    while (goes_on(s)) {
        if (pprof_http_door_5.pauses()) {
            return s->is_apart && park(s) != 0;
        }
        if (pprof_http_door_5.is_alone()) { /* last: it takes another thread to see that */
            break;
        }
        run_round(s);
    }
    return true;
}

bool server_run(server *s)
{
    if ((!s->is_parked || unpark(s) == 0) && !serve(s)) {
        return false;
    }
    if (!descriptor_is_there(&s->listener)) {
        pprof_http_door_5.log(
            s->rules.is_control
                ? "control: the program has closed the socket: nobody listens any more"
                : "http: the program has closed the server's socket: the server ends");
    }
    return true;
}

static void close_others(server *s)
{
    for (unsigned i = 0; i < SERVER_CONNECTIONS; i++) {
        connection_end(&s->connections[i]);
    }
    descriptor_close(&s->listener);
    descriptor_close(&s->bell);
}

void server_end(server *s)
{
    close_others(s);
    if (!s->is_apart) {
        descriptor_close(&s->link);
    }
    __atomic_store_n(&s->is_over, true, __ATOMIC_RELEASE);
}

void server_wake(const server *s)
{
    if (descriptor_is_there(&s->link)) {
        (void)!send(s->link.fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

bool server_has(const server *s, int fd)
{
    bool has = fd == s->link.fd || (!s->is_apart && (fd == s->listener.fd || fd == s->bell.fd));
    for (unsigned i = 0; i < SERVER_CONNECTIONS && !has && !s->is_apart; i++) {
        has = s->connections[i].state != CONNECTION_FREE && s->connections[i].socket.fd == fd;
    }
    return fd >= 0 && has;
}

void server_close(server *s)
{
    close_others(s);
    descriptor_close(&s->link);
}

void server_forget(server *s)
{
    for (unsigned i = 0; i < SERVER_CONNECTIONS; i++) {
        if (s->is_apart) {
            s->connections[i].socket = DESCRIPTOR_NONE;
        }
        connection_forget(&s->connections[i]);
    }
    if (s->is_apart) {
        s->listener = s->bell = DESCRIPTOR_NONE;
    }
    server_close(s);
}
