/* SPDX-License-Identifier: MIT
 *
 * test_writer.c: the descriptor writer delivers everything through pipes that are full, interrupted
 * or broken; the stdio writer reports what fclose() would have lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pprof.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum { SIZE = 1 << 20 };

static uint8_t bytes[SIZE];

typedef struct reader {
    int fd;
    size_t size;
    int alarms_first; /* reads nothing before this many alarms have hit the writer */
    bool equal;
} reader;

static atomic_int alarms;

static void *drain(void *argument)
{
    reader *r = argument;
    uint8_t part[5000];
    ssize_t got;
    r->equal = true;
    while (atomic_load(&alarms) < r->alarms_first)
        sched_yield();
    while ((got = read(r->fd, part, sizeof(part))) > 0) {
        r->equal &=
            r->size + (size_t)got <= SIZE && memcmp(part, bytes + r->size, (size_t)got) == 0;
        r->size += (size_t)got;
    }
    return NULL;
}

static void on_alarm(int number)
{
    (void)number;
    atomic_fetch_add(&alarms, 1);
}

/* Alarms without SA_RESTART hit this thread alone: the reader's mask is set before it starts. */
static void through_a_pipe(int flags, bool interrupted)
{
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 31 >> 3);
    int fds[2];
    assert_int_equal(pipe2(fds, 0), 0);
    if (flags != 0)
        assert_int_equal(fcntl(fds[1], F_SETFL, flags), 0);

    sigset_t alarm_only, before;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm_only, &before);
    atomic_store(&alarms, 0);
    reader r = {.fd = fds[0], .alarms_first = interrupted ? 20 : 0};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, drain, &r), 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);

    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {{0, 100}, {0, 100}}, off = {{0, 0}, {0, 0}};
    if (interrupted)
        setitimer(ITIMER_REAL, &often, NULL);
    pprof_writer writer = pprof_writer_fd(fds[1]);
    errno = 1234;
    int error = writer.write(writer.ctx, bytes, SIZE);
    int errno_after = errno;
    setitimer(ITIMER_REAL, &off, NULL);

    close(fds[1]);
    pthread_join(thread, NULL);
    close(fds[0]);
    assert_int_equal(error, 0);
    assert_int_equal(errno_after, 1234);
    assert_true(r.equal);
    assert_int_equal(r.size, SIZE);
}

static void fd_delivers_everything(void **state)
{
    (void)state;
    through_a_pipe(0, false);
    through_a_pipe(0, true);
    through_a_pipe(O_NONBLOCK, false);
    through_a_pipe(O_NONBLOCK, true);
}

static void fd_errors(void **state)
{
    (void)state;
    pprof_writer writer = pprof_writer_fd(-1);
    assert_int_equal(writer.write(writer.ctx, "x", 1), -EBADF);
    assert_int_equal(writer.write(writer.ctx, "x", 0), 0);

    int fd = open("/dev/full", O_WRONLY);
    if (fd >= 0) {
        writer = pprof_writer_fd(fd);
        assert_int_equal(writer.write(writer.ctx, "x", 1), -ENOSPC);
        close(fd);
    }
    signal(SIGPIPE, SIG_IGN);
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    close(fds[0]);
    writer = pprof_writer_fd(fds[1]);
    assert_int_equal(writer.write(writer.ctx, "x", 1), -EPIPE);
    close(fds[1]);
}

static void stdio_writes_and_flushes(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    pprof_writer writer = pprof_writer_stdio(file);
    errno = 1234;
    assert_int_equal(writer.write(writer.ctx, "profile", 7), 0);
    assert_int_equal(errno, 1234);
    char found[8] = "";
    assert_int_equal(pread(fileno(file), found, sizeof(found), 0), 7);
    assert_string_equal(found, "profile");
    fclose(file);
}

static void stdio_errors(void **state)
{
    (void)state;
    pprof_writer writer = pprof_writer_stdio(NULL);
    assert_int_equal(writer.write(writer.ctx, "x", 1), -EINVAL);
    FILE *file = fopen("/dev/full", "w");
    if (file != NULL) {
        writer = pprof_writer_stdio(file);
        assert_int_equal(writer.write(writer.ctx, "x", 1), -ENOSPC);
        fclose(file);
    }
    file = fopen("/dev/null", "r");
    writer = pprof_writer_stdio(file);
#ifdef __GLIBC__
    assert_int_equal(writer.write(writer.ctx, "x", 1), -EBADF);
#else
    assert_int_equal(writer.write(writer.ctx, "x", 1), -EIO); /* musl does not say why */
#endif
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fd_delivers_everything),
        cmocka_unit_test(fd_errors),
        cmocka_unit_test(stdio_writes_and_flushes),
        cmocka_unit_test(stdio_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
