/* SPDX-License-Identifier: MIT
 *
 * binutils.c: see binutils.h. A line of objdump:
 *
 *       11c9:	add    $0x1,%eax
 *
 * Owns: the process and the pipe, for the length of a call.
 * Tested by: e2e.cpprof_asm, unit.cmd_names.
 */
#include "names/binutils.h"

#include "base/message.h"
#include "base/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- any program ---- */

static int spawn(char *const *arguments, int out, pid_t *process)
{
    char *const environment[] = {"LC_ALL=C", "PATH=/usr/local/bin:/usr/bin:/bin", NULL};
    posix_spawn_file_actions_t actions;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(process, arguments[0], &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    return -error;
}

static void read_lines(int in, cp_binutils_line *found, void *context)
{
    FILE *text = fdopen(in, "r");
    char *line = NULL;
    size_t room = 0;

    for (ssize_t length; text && (length = getline(&line, &room, text)) > 0;) {
        if (line[length - 1] == '\n') {
            line[length - 1] = '\0';
            found(context, line);
        }
    }
    free(line);
    if (text) {
        fclose(text);
    }
}

static void limit(pid_t process, cp_binutils_limits limits)
{
    const struct rlimit cpu = {limits.cpu_seconds, limits.cpu_seconds};
    const struct rlimit memory = {limits.memory_bytes, limits.memory_bytes};

    if (limits.cpu_seconds) {
        prlimit(process, RLIMIT_CPU, &cpu, NULL);
    }
    if (limits.memory_bytes) {
        prlimit(process, RLIMIT_AS, &memory, NULL);
    }
}

int cp_binutils_run(char *const *arguments, cp_binutils_limits limits, cp_binutils_line *found,
                    void *context)
{
    int ends[2];
    pid_t process = 0;

    if (pipe2(ends, O_CLOEXEC) < 0) {
        return -errno;
    }
    int status = spawn(arguments, ends[1], &process);
    close(ends[1]);
    if (status != 0) {
        close(ends[0]);
        return status;
    }
    limit(process, limits);
    read_lines(ends[0], found, context);
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

/* ---- objdump ---- */

typedef struct listing {
    cp_instruction_found *found;
    void *context;
} listing;

/* Finds the address and the text of a line. */
static void read_line(void *context, char *line)
{
    const listing *to = context;
    char *end;
    uint64_t address = strtoull(line, &end, 16);

    if (end != line && end[0] == ':' && end[1] == '\t') {
        to->found(to->context, address, end + 2);
    }
}

int cp_disassemble(const char *path, uint64_t start, uint64_t stop, cp_instruction_found *found,
                   void *context, cp_error *error)
{
    char *from = cp_heap_printf("--start-address=0x%" PRIx64, start);
    char *to = cp_heap_printf("--stop-address=0x%" PRIx64, stop);
    char *const arguments[] = {"objdump", "-d", "-w",         "--no-show-raw-insn",
                               from,      to,   (char *)path, NULL};
    listing lines = {found, context};

    int status = cp_binutils_run(arguments, (cp_binutils_limits){0}, read_line, &lines);
    free(from);
    free(to);
    if (status == -EIO) {
        return cp_fail(error, "%s: objdump cannot read it", path);
    }
    if (status < 0) {
        return cp_fail(error, "--asm: expected objdump, found none (%s); install binutils",
                       strerror(-status));
    }
    return 0;
}
