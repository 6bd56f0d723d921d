/* SPDX-License-Identifier: MIT
 *
 * record_library.c: see record_library.h.
 *
 * Tested by: e2e.cpprof_record.
 */
#include "record/record_library.h"

#include "base/beside.h"
#include "base/message.h"
#include "base/pool.h"
#include "record/record_parts.h"
#include "record/record_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- where it is ---- */

static char *beside_command(void)
{
    char *path = cp_beside_command("libpprof.so.0");
    char *real = path ? realpath(path, NULL) : NULL;

    free(path);
    return real;
}

char *cp_record_library_find(cp_error *error)
{
    const char *given = getenv("LIBPPROF_LIBRARY");
    bool is_given = given && *given;
    char *path = is_given ? realpath(given, NULL) : beside_command();

    if (!path && is_given) {
        cp_fail(error, "LIBPPROF_LIBRARY=%s: %s", given, strerror(errno));
    } else if (!path) {
        cp_fail(error, "libpprof.so.0: expected it in ../lib beside cpprof, found none; build or "
                       "install it, or name it with LIBPPROF_LIBRARY=/path");
    }
    return path;
}

/* ---- what it has ---- */

/* Profiles go to the socket, and none to a file. The library's complaint of an unknown word goes
 * nowhere: cpprof has its own. */
static _Noreturn void run_true(const char *library, const char *word, const char *recorder)
{
    char *options = cp_heap_printf("log=/dev/null,file=/dev/null,%s%s", word, recorder);

    if (setenv("LD_PRELOAD", library, 1) == 0 && setenv("LIBPPROF", options, 1) == 0) {
        execlp("true", "true", (char *)NULL);
    }
    _exit(127);
}

static void take_until_end(cp_record_socket *socket, cp_parts *parts)
{
    while (socket->own >= 0) {
        struct pollfd arrival = {.fd = socket->own, .events = POLLIN};

        if (poll(&arrival, 1, -1) < 0 && errno != EINTR) {
            return;
        }
        cp_record_socket_take(socket, parts, NULL);
    }
}

static bool has_profile(const cp_parts *parts, const char *kind)
{
    for (size_t i = 0; i < parts->count; i++) {
        if (parts->list[i].complete && strcmp(parts->list[i].kind, kind) == 0) {
            return true;
        }
    }
    return false;
}

static bool ask(const char *library, const char *kind, const char *word)
{
    cp_parts parts = {0};
    cp_record_socket socket;

    cp_record_socket_open(&socket);
    pid_t process = fork();
    if (process == 0) {
        run_true(library, word, socket.word);
    }
    cp_record_socket_started(&socket);
    if (process > 0) {
        take_until_end(&socket, &parts);
        while (waitpid(process, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    bool has = has_profile(&parts, kind);
    cp_record_socket_close(&socket);
    cp_parts_release(&parts);
    return has;
}

bool cp_record_library_has(const char *kind, const char *word)
{
    cp_error ignored;
    char *library = cp_record_library_find(&ignored);
    /* Blanks and colons separate the names in LD_PRELOAD. */
    bool has = library && !strpbrk(library, " :") && ask(library, kind, word);

    free(library);
    return has;
}
