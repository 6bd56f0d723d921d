/* SPDX-License-Identifier: MIT
 *
 * transfers.c: a call that moves 8 MiB, and would end with a part of them if the thread were stopped in it. A second
 * process moves the first half, says "half", and goes on when SIGUSR1 comes.
 *
 *   transfers alone|beside|storm CALL     CALL: write writev send sendmsg recv recvmsg recvmmsg sendfile splice
 *
 * `beside`: another thread waits in nanosleep. `storm`: one transfer after the other, and a short read before each, until
 * standard input ends; the second process does not stop. The program says "whole", or "disturbed: ..." with the bytes that
 * were moved; then it waits for SIGUSR1, too, and ends with status 7.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STATUS = 7, TOTAL = 8 << 20, PIECE = 64 << 10, PIECES = TOTAL / PIECE, LONG_S = 1000 };

static const char *call;
static int ours, theirs, turns[2], file;
static char *bytes;

static bool is_call(const char *name)
{
    return strcmp(call, name) == 0;
}

static void say(const char *words)
{
    if (write(STDOUT_FILENO, words, strlen(words)) < 0) {
        _exit(1);
    }
}

/* ---- the program's call ---- */

static long splice_all(void)
{
    static int tube[2];
    if (tube[1] == 0 && (pipe(tube) != 0 || fcntl(tube[1], F_SETPIPE_SZ, 1 << 20) < 0)) {
        return -1;
    }
    /* A pipe holds less than all: what goes through it at once is whole. */
    long moved = 0;
    while (moved < TOTAL) {
        long size = splice(file, NULL, tube[1], NULL, 1 << 20, 0);
        long out = size > 0 ? splice(tube[0], NULL, ours, NULL, (size_t)size, 0) : -1;
        if (out != size) {
            return moved + out;
        }
        moved += out;
    }
    return moved;
}

static long receive_messages(void)
{
    static struct mmsghdr messages[PIECES];
    static struct iovec pieces[PIECES];
    for (int i = 0; i < PIECES; i++) {
        pieces[i] = (struct iovec){bytes + (size_t)i * PIECE, PIECE};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &pieces[i], .msg_iovlen = 1};
    }
    long count = recvmmsg(ours, messages, PIECES, 0, NULL);
    return count < 0 ? -1 : count * PIECE;
}

static long transfer(void)
{
    struct iovec halves[] = {{bytes, TOTAL / 2}, {bytes + TOTAL / 2, TOTAL / 2}};
    struct msghdr message = {.msg_iov = halves, .msg_iovlen = 2};
    lseek(file, 0, SEEK_SET);
    switch (strlen(call)) {
    case 4:
        return is_call("send") ? send(ours, bytes, TOTAL, MSG_NOSIGNAL)
                               : recv(ours, bytes, TOTAL, MSG_WAITALL);
    case 5:
        return write(ours, bytes, TOTAL);
    case 6:
        return is_call("writev") ? writev(ours, halves, 2) : splice_all();
    case 7:
        return is_call("sendmsg") ? sendmsg(ours, &message, MSG_NOSIGNAL)
                                  : recvmsg(ours, &message, MSG_WAITALL);
    default:
        return is_call("sendfile") ? sendfile(ours, file, NULL, TOTAL) : receive_messages();
    }
}

static bool receives(void)
{
    return strncmp(call, "recv", 4) == 0;
}

static void transfer_and_say(void)
{
    char line[96];
    errno = 0;
    long moved = transfer();
    if (moved != TOTAL) {
        snprintf(line, sizeof line, "disturbed: %s moved %ld of %d bytes: %s\n", call, moved, TOTAL,
                 strerror(errno));
        say(line);
    }
    for (long more = moved; more > 0 && moved < TOTAL;
         moved += more) { /* the second one counts on it */
        more = receives() ? read(ours, bytes, PIECE) : write(ours, bytes, (size_t)(TOTAL - moved));
    }
}

/* ---- the second process ---- */

static void move(char *piece, long size)
{
    while (size > 0) {
        size_t part = (size_t)(size < PIECE ? size : PIECE);
        long moved = receives() ? write(theirs, piece, part) : read(theirs, piece, part);
        if (moved <= 0) {
            _exit(0);
        }
        size -= moved;
    }
}

static void be_second(bool stops)
{
    char *piece = calloc(1, PIECE);
    sigset_t go_on;
    int signal = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigemptyset(&go_on);
    sigaddset(&go_on, SIGUSR1);
    close(ours);
    for (;;) {
        if (!stops && write(turns[1], "", 1) != 1) {
            _exit(0);
        }
        move(piece, TOTAL / 2);
        if (stops) {
            say("half\n");
            sigwait(&go_on, &signal);
        }
        move(piece, TOTAL / 2);
    }
}

/* ---- all ---- */

static void connect_both(void)
{
    int pair[2];
    int type = is_call("recvmmsg") ? SOCK_SEQPACKET : SOCK_STREAM;
    if (strncmp(call, "write", 5) == 0 ? pipe(pair) : socketpair(AF_UNIX, type, 0, pair)) {
        exit(1);
    }
    if (pipe(turns) != 0) {
        exit(1);
    }
    theirs = pair[0];
    ours = pair[1];
    file = memfd_create("transfers", MFD_CLOEXEC);
    bytes = calloc(1, TOTAL);
    if (write(file, bytes, TOTAL) != TOTAL) {
        exit(1);
    }
}

static bool input_is_over(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    char byte;
    return poll(&input, 1, 0) > 0 && read(STDIN_FILENO, &byte, 1) <= 0;
}

static void *sleep_long(void *unused)
{
    const struct timespec time = {.tv_sec = LONG_S};
    nanosleep(&time, NULL);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t sleeper;
    sigset_t usr1;
    int signal = 0;
    char byte;
    if (argc != 3) {
        return 2;
    }
    call = argv[2];
    bool storms = strcmp(argv[1], "storm") == 0;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, NULL);
    connect_both();
    pid_t second = fork();
    if (second == 0) {
        be_second(!storms);
    }
    printf("second %d\n", (int)second);
    fflush(stdout);
    close(theirs);
    if (strcmp(argv[1], "beside") == 0) {
        pthread_create(&sleeper, NULL, sleep_long, NULL);
    }
    unsigned long count = 0;
    do {
        if (storms && read(turns[0], &byte, 1) != 1) {
            return 1;
        }
        transfer_and_say();
        count++;
    } while (storms && !input_is_over());
    say("whole\n");
    if (storms) {
        fprintf(stderr, "%lu transfers\n", count);
    } else {
        sigwait(&usr1, &signal);
    }
    kill(second, SIGKILL);
    return STATUS;
}
