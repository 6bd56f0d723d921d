/* SPDX-License-Identifier: MIT
 *
 * live_terminal.c: see live_terminal.h.
 *
 * Owns: one terminal, since a process has one.
 * Tested by: e2e.cpprof_live_terminal
 */
#include "live/live_terminal.h"

#include "base/terminal.h"
#include "profile/protobuf.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* The alternate screen without a cursor; a line that is too long is cut off. */
#define TAKE      "\033[?1049h\033[?25l\033[?7l\033[2J"
#define GIVE_BACK "\033[m\033[?7h\033[?25h\033[?1049l"

enum { DEFAULT_ROWS = 24, DEFAULT_COLUMNS = 80 };

static struct termios modes; /* before the terminal was taken */
static volatile sig_atomic_t is_taken;
static volatile sig_atomic_t is_ending; /* a signal wants cpprof to end */
static int pipe_ends[2] = {-1, -1};

bool cp_terminal_is_screen(void)
{
    return isatty(STDIN_FILENO) && cp_terminal_is_capable(STDOUT_FILENO);
}

bool cp_terminal_is_taken(void)
{
    return is_taken;
}

/* ---- taking it and giving it back ---- */

static void put_quickly(const char *text, size_t length)
{
    ssize_t ignored = write(STDOUT_FILENO, text, length);

    (void)ignored; /* there is no other way to reach the user */
}

/* Also called by handlers of signals. */
void cp_terminal_give_back(void)
{
    int error = errno;

    if (is_taken) {
        is_taken = 0;
        tcflush(STDIN_FILENO, TCIFLUSH); /* keys that nobody has read are not the shell's */
        tcsetattr(STDIN_FILENO, TCSANOW, &modes);
        put_quickly(GIVE_BACK, strlen(GIVE_BACK));
    }
    errno = error;
}

bool cp_terminal_take(void)
{
    if (is_taken || tcgetpgrp(STDIN_FILENO) != getpgrp() || tcgetattr(STDIN_FILENO, &modes) != 0) {
        return false;
    }
    struct termios live = modes;
    live.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    live.c_cc[VMIN] = 1;
    live.c_cc[VTIME] = 0;
    is_taken = 1;
    tcsetattr(STDIN_FILENO, TCSANOW, &live);
    put_quickly(TAKE, strlen(TAKE));
    return true;
}

/* ---- signals ---- */

static const int deadly[] = {SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static const int others[] = {SIGINT, SIGWINCH, SIGTSTP, SIGCONT};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool is_deadly(int number)
{
    for (size_t i = 0; i < COUNT(deadly); i++) {
        if (number == deadly[i]) {
            return true;
        }
    }
    return false;
}

/* The pipe may be full: then the loop has much to read, and the signals that end cpprof are in
 * is_ending. */
static void on_signal(int number)
{
    int error = errno;
    char byte = (char)number;

    if (is_deadly(number)) {
        is_ending = number;
    }
    ssize_t ignored = write(pipe_ends[1], &byte, 1);
    (void)ignored;
    errno = error;
}

static void on_crash(int number)
{
    cp_terminal_give_back();
    raise(number); /* the action is the default one again */
}

/* A signal that the user's shell ignores stays ignored. */
static void watch(const int *signals, size_t count, void (*handler)(int), int flags)
{
    for (size_t i = 0; i < count; i++) {
        struct sigaction old;
        struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
            sigaction(signals[i], &action, NULL);
        }
    }
}

void cp_terminal_open(void)
{
    if (pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) == 0) {
        watch(deadly, COUNT(deadly), on_signal, 0);
        watch(others, COUNT(others), on_signal, 0);
        watch(crashes, COUNT(crashes), on_crash, (int)(SA_RESETHAND | SA_NODEFER));
        atexit(cp_terminal_give_back);
        cp_terminal_take();
    }
}

int cp_terminal_signals(void)
{
    return pipe_ends[0];
}

static void end_by(int number)
{
    cp_terminal_give_back();
    signal(number, SIG_DFL);
    raise(number);
}

/* Returns when cpprof goes on. */
static void stop(void)
{
    struct sigaction action = {.sa_handler = on_signal};

    cp_terminal_give_back();
    signal(SIGTSTP, SIG_DFL);
    raise(SIGTSTP);
    sigaction(SIGTSTP, &action, NULL);
}

/* The signal that says more of two. */
static int first_of(int known, int number)
{
    static const int order[] = {SIGINT, SIGWINCH, SIGCONT};

    for (size_t i = 0; i < COUNT(order); i++) {
        if (known == order[i] || number == order[i]) {
            return order[i];
        }
    }
    return known;
}

int cp_terminal_take_signals(void)
{
    char bytes[64];
    ssize_t got;
    int known = 0;

    while ((got = read(pipe_ends[0], bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < got; i++) {
            known = first_of(known, bytes[i]);
            if (bytes[i] == SIGTSTP) {
                stop();
            }
        }
    }
    if (is_ending) {
        end_by(is_ending);
    }
    return known;
}

/* ---- the screen ---- */

cp_live_size cp_terminal_size(void)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
        return (cp_live_size){DEFAULT_ROWS, DEFAULT_COLUMNS};
    }
    return (cp_live_size){size.ws_row, size.ws_col};
}

bool cp_terminal_write(const cp_bytes *bytes)
{
    size_t done = 0;

    while (done < bytes->length && !is_ending) {
        ssize_t wrote = write(STDOUT_FILENO, bytes->data + done, bytes->length - done);
        if (wrote < 0 && errno != EINTR && errno != EAGAIN) {
            return false;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}
