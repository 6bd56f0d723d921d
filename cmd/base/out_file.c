/* SPDX-License-Identifier: MIT
 *
 * out_file.c: see out_file.h.
 *
 * Tested by: e2e.cpprof_convert, e2e.cpprof_top, e2e.cpprof_terminal.
 */
#include "base/out_file.h"

#include "base/message.h"
#include "base/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_in_place(cp_out_file *out, cp_error *error)
{
    int fd = open(out->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

    out->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out->file) {
        return cp_fail(error, "%s: cannot open for writing: %s", out->path, strerror(errno));
    }
    return 0;
}

/* The temporary file has the mode 0600 until here. */
static void set_mode(int fd, const char *target)
{
    struct stat replaced;
    mode_t mask = umask(0);

    umask(mask);
    fchmod(fd, stat(target, &replaced) == 0 ? replaced.st_mode & 07777 : 0666 & ~mask);
}

static int open_temporary(cp_out_file *out, cp_error *error)
{
    char *real = realpath(out->path, NULL);

    out->target = real ? real : cp_heap_copy(out->path, strlen(out->path));
    out->temporary = cp_heap_printf("%s.XXXXXX", out->target);
    int fd = mkostemp(out->temporary, O_CLOEXEC);
    if (fd >= 0) {
        set_mode(fd, out->target);
    }
    out->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out->file) {
        int status = cp_fail(error, "%s: cannot write: %s", out->path, strerror(errno));
        free(out->target);
        free(out->temporary);
        return status;
    }
    return 0;
}

int cp_out_check_binary(const char *path, cp_error *error)
{
    if (strcmp(path, "-") != 0 || !isatty(STDOUT_FILENO)) {
        return 0;
    }
    return cp_fail(error,
                   "-o -: expected a pipe or a file for a profile, which is no text, found a "
                   "terminal; redirect it, or write it there by -o /dev/stdout");
}

int cp_out_open(cp_out_file *out, const char *path, cp_error *error)
{
    struct stat info;

    *out = (cp_out_file){.path = path};
    if (strcmp(path, "-") == 0) {
        out->file = stdout;
        out->path = "standard output";
        return 0;
    }
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        return open_in_place(out, error);
    }
    return open_temporary(out, error);
}

void cp_out_write(cp_out_file *out, const void *data, size_t length)
{
    if (length && fwrite(data, 1, length, out->file) < length && !out->status) {
        out->status = -errno;
    }
}

/* Returns 0 or -errno. */
static int finish(cp_out_file *out)
{
    int status = out->status;

    if (!status && ferror(out->file)) {
        status = -EIO;
    }
    errno = EIO;
    if ((out->file == stdout ? fflush(stdout) : fclose(out->file)) != 0 && !status) {
        status = -errno;
    }
    return status;
}

int cp_out_close(cp_out_file *out, cp_error *error)
{
    int status = finish(out);

    if (out->target && status == 0 && rename(out->temporary, out->target) < 0) {
        status = -errno;
    }
    if (out->target && status < 0) {
        unlink(out->temporary);
    }
    free(out->target);
    free(out->temporary);
    return status < 0 ? cp_fail(error, "%s: cannot write: %s", out->path, strerror(-status)) : 0;
}

void cp_out_abandon(cp_out_file *out)
{
    finish(out);
    if (out->target) {
        unlink(out->temporary);
    }
    free(out->target);
    free(out->temporary);
}
