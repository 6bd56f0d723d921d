/* SPDX-License-Identifier: MIT
 *
 * disassembler.c: runs objdump and reads what it prints, such as
 *
 *       11c9:	add    $0x1,%eax
 *
 * docs/DECISIONS.md has the reason for a process in the place of a library.
 *
 * Owns: the process and the pipe, for the length of a call.
 * Tested by: e2e.cpprof_asm
 */
#include "names/disassembler.h"

#include "base/message.h"
#include "base/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int spawn(const char *path, uint64_t start, uint64_t stop, int out, pid_t *process)
{
    char *from = cp_heap_printf("--start-address=0x%" PRIx64, start);
    char *to = cp_heap_printf("--stop-address=0x%" PRIx64, stop);
    char *const arguments[] = {"objdump", "-d", "-w",         "--no-show-raw-insn",
                               from,      to,   (char *)path, NULL};
    char *const environment[] = {"LC_ALL=C", "PATH=/usr/local/bin:/usr/bin:/bin", NULL};
    posix_spawn_file_actions_t actions;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(process, "objdump", &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    free(from);
    free(to);
    return error;
}

/* Finds the address and the text of a line. Cuts the end of the line. */
static void read_line(char *line, cp_instruction_found *found, void *context)
{
    char *end;
    uint64_t address = strtoull(line, &end, 16);

    if (end == line || end[0] != ':' || end[1] != '\t') {
        return;
    }
    end[strcspn(end, "\n")] = '\0';
    found(context, address, end + 2);
}

static void read_all(int in, cp_instruction_found *found, void *context)
{
    FILE *text = fdopen(in, "r");
    char *line = NULL;
    size_t room = 0;

    while (text && getline(&line, &room, text) >= 0) {
        read_line(line, found, context);
    }
    free(line);
    if (text) {
        fclose(text);
    }
}

int cp_disassemble(const char *path, uint64_t start, uint64_t stop, cp_instruction_found *found,
                   void *context, cp_error *error)
{
    int ends[2];
    pid_t process = 0;

    if (pipe2(ends, O_CLOEXEC) < 0) {
        return cp_fail(error, "%s: cannot disassemble: %s", path, strerror(errno));
    }
    int status = spawn(path, start, stop, ends[1], &process);
    close(ends[1]);
    if (status != 0) {
        close(ends[0]);
        return cp_fail(error, "--asm: expected objdump, found none (%s); install binutils",
                       strerror(status));
    }
    read_all(ends[0], found, context);
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        return cp_fail(error, "%s: objdump cannot read it", path);
    }
    return 0;
}
