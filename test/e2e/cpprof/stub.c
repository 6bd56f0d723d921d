/* SPDX-License-Identifier: MIT
 *
 * stub.c: replaces libpprof.so in the tests of `cpprof record`.
 *
 * In each process, the stub writes its options to $STUB_NOTE. At the end of the process it copies
 * $STUB_PROFILE to the file of each kind in the options; with $STUB_SILENT it copies nothing. It
 * closes the socket that it inherits: the profile then comes by files, and the command does not see
 * the socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const kinds[] = {"cpu", "heap", "block", "mutex", "thread", "fd", "peak"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static char targets[KINDS][4096]; /* "" where the kind is not wanted */

static void expand(char *target, const char *path, const char *kind)
{
    char letter[2] = "";
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    char number[16];
    snprintf(number, sizeof number, "%d", (int)getpid());
    char stamp[32];
    snprintf(stamp, sizeof stamp, "%lld%09ld", (long long)now.tv_sec, now.tv_nsec);
    for (; *path && *path != ','; path++) {
        const char *text = letter;
        size_t length = strlen(target);

        letter[0] = *path;
        if (*path == '%') {
            path++;
            text = *path == 'p'   ? number
                   : *path == 'e' ? program_invocation_short_name
                   : *path == 'k' ? kind
                   : *path == 'n' ? "1"
                   : *path == 's' ? stamp
                                  : "%";
        }
        snprintf(target + length, sizeof targets[0] - length, "%s", text);
    }
}

/* Whether one of the words is `kind`, with or without a value. */
static int is_wanted(const char *options, const char *kind)
{
    for (size_t length; *options; options += length + (options[length] == ',')) {
        length = strcspn(options, ",");
        if (strcspn(options, ",:") == strlen(kind) && strncmp(options, kind, strlen(kind)) == 0) {
            return 1;
        }
    }
    return 0;
}

__attribute__((constructor)) static void begin(void)
{
    const char *options = getenv("LIBPPROF"), *note = getenv("STUB_NOTE");
    FILE *out = note ? fopen(note, "ae") : NULL;

    if (out) {
        fprintf(out, "LIBPPROF=%s\nLD_PRELOAD=%s\n", options ? options : "", getenv("LD_PRELOAD"));
        fclose(out);
    }
    const char *file = options ? strstr(options, "recorder=") : NULL;
    if (file) {
        close(atoi(file + strlen("recorder=")));
    }
    file = options ? strstr(options, "file=") : NULL;
    for (int i = 0; file && i < KINDS; i++) {
        if (is_wanted(options, kinds[i])) {
            expand(targets[i], file + 5, kinds[i]);
        }
    }
    if (options && !strstr(options, "subprocesses")) {
        unsetenv("LD_PRELOAD");
    }
}

static void copy(const char *profile, const char *target)
{
    int in = open(profile, O_RDONLY | O_CLOEXEC);
    int out = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    char buffer[65536];
    ssize_t length;
    while ((length = read(in, buffer, sizeof buffer)) > 0) {
        if (write(out, buffer, (size_t)length) != length) {
            abort();
        }
    }
    close(in);
    close(out);
}

__attribute__((destructor)) static void end(void)
{
    const char *profile = getenv("STUB_PROFILE");

    for (int i = 0; profile && !getenv("STUB_SILENT") && i < KINDS; i++) {
        if (*targets[i]) {
            copy(profile, targets[i]);
        }
    }
}
