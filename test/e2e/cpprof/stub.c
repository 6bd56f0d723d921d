/* SPDX-License-Identifier: MIT
 *
 * stub.c: stands in for libpprof.so in the tests of `cpprof record`.
 *
 * Loaded into a process, it writes down the options that it got and, at the end of the process,
 * copies $STUB_PROFILE to where the options want the profile. $STUB_SILENT: writes nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char target[4096];

static void append(const char *text)
{
    size_t length = strlen(target);

    snprintf(target + length, sizeof(target) - length, "%s", text);
}

static void expand(const char *path)
{
    char number[16], letter[2] = "";

    for (; *path && *path != ','; path++) {
        if (*path != '%') {
            letter[0] = *path;
            append(letter);
            continue;
        }
        path++;
        snprintf(number, sizeof(number), "%d", (int)getpid());
        append(*path == 'p'   ? number
               : *path == 'e' ? program_invocation_short_name
               : *path == 'n' ? "1"
                              : "%");
    }
}

__attribute__((constructor)) static void begin(void)
{
    const char *options = getenv("LIBPPROF"), *file, *note = getenv("STUB_NOTE");
    FILE *out = note ? fopen(note, "ae") : NULL;

    if (out) {
        fprintf(out, "LIBPPROF=%s\nLD_PRELOAD=%s\n", options ? options : "", getenv("LD_PRELOAD"));
        fclose(out);
    }
    file = options ? strstr(options, "file=") : NULL;
    if (file)
        expand(file + 5);
    if (options && !strstr(options, "subprocesses"))
        unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) static void end(void)
{
    const char *profile = getenv("STUB_PROFILE");
    char buffer[65536];
    ssize_t length;
    int in, out;

    if (!profile || !*target || getenv("STUB_SILENT"))
        return;
    in = open(profile, O_RDONLY | O_CLOEXEC);
    out = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    while ((length = read(in, buffer, sizeof(buffer))) > 0)
        if (write(out, buffer, (size_t)length) != length)
            abort();
    close(in);
    close(out);
}
