/* SPDX-License-Identifier: MIT
 *
 * test_address.c: two processes that start a server at one path at the same time. Of bind, listen and a lock that is taken
 * the test has its own.
 *
 * Sources: http/address.c http/descriptor.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../http/address.h"

#include <errno.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static server_address address;
static char text[64];
static int told[2];  /* a pipe: the second one waits, or has its result */
static pid_t second; /* 0: there is none yet; -1: this is it */
static const char *path;

static void tell(char what)
{
    assert_int_equal(write(told[1], &what, 1), 1);
}

/* The lock that the first one holds. */
int flock(int fd, int operation)
{
    int result = (int)syscall(SYS_flock, fd, operation);
    if (result != 0 && second == -1) {
        int error = errno;
        tell('w');
        errno = error;
    }
    return result;
}

static void be_second(void)
{
    server_address same = address;
    second = -1;
    int fd = address_listen(&same);
    tell('d');
    _exit(fd == -EADDRINUSE ? 0 : 1);
}

/* The second one begins when the first one has bound its socket, and goes on as far as it can. */
int listen(int fd, int backlog)
{
    char what = 0;
    if (second == 0) {
        second = fork();
        assert_true(second >= 0);
        if (second == 0) {
            be_second();
        }
        assert_int_equal(read(told[0], &what, 1), 1);
    }
    return (int)syscall(SYS_listen, fd, backlog);
}

static void the_second_one_leaves_the_socket_of_the_first(void **state)
{
    struct stat before, after;
    int status = -1;
    (void)state;
    int fd = address_listen(&address);
    assert_true(fd >= 0);
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(waitpid(second, &status, 0), second);
    assert_int_equal(status, 0);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(client, &address.at.any, address.length), 0);
    close(client);
    close(fd);
}

/* As a process leaves it that is killed. */
static void a_socket_that_was_left_is_replaced(void **state)
{
    (void)state;
    assert_int_equal(access(path, F_OK), 0);
    int fd = address_listen(&address);
    assert_true(fd >= 0);
    close(fd);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(text, sizeof text, "unix:/tmp/test_address.%d", (int)getpid());
    path = text + 5;
    return pipe(told) == 0 ? address_read(&address, text) : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_second_one_leaves_the_socket_of_the_first),
        cmocka_unit_test(a_socket_that_was_left_is_replaced),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
