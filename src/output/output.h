/* SPDX-License-Identifier: MIT
 *
 * output.h: writes a profile to a file, or to the socket of `cpprof record`.
 *
 * Zone: NORMAL, and the fatal-signal writer (system calls only).
 * Locks: none; one user at a time.
 * Owns: the template of the name; a temporary file while it is open.
 */
#ifndef PP_OUTPUT_OUTPUT_H
#define PP_OUTPUT_OUTPUT_H

#include "sys/recorder.h"

#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called once, when the library is loaded: remembers the program's name. */
void pp_output_init(void);

/*
 * Sets the template of file names: %e program, %p process id, %k kind, %t time (seconds since
 * 1970), %n counter, %% percent. A relative template is completed with the present working
 * directory at once, so that a later chdir or chroot does not matter. -EINVAL for an unknown % or a
 * trailing one, -ENAMETOOLONG.
 */
int pp_output_set_template(const char *name);

/*
 * Sends profiles of `kind` (a constant) to the file `path` instead. A relative path is completed in
 * the same way; % has no meaning. -EINVAL for an empty path, -ENAMETOOLONG, -ENOSPC for a sixth
 * kind.
 */
int pp_output_set_file(const char *kind, const char *path);

/* Sends profiles of `kind` to files of a template of their own. The errors are those of
 * pp_output_set_file(); -EINVAL also for an unknown %. */
int pp_output_set_template_of(const char *kind, const char *name);

/* From now on each profile of `kind` goes to another file: ".0", ".1", ... follow the name of its
 * own template, or else of the common one. -ENOSPC for a sixth kind. */
int pp_output_number_files(const char *kind);

/* Whether a template was set. */
int pp_output_has_template(void);

/* The template; "": none was set. */
const char *pp_output_template(void);

/* From now on, profiles that no file was named for are not written to any: another way was chosen for
 * them. */
void pp_output_leave_out_default(void);
bool pp_output_has_default(void);

/*
 * Profiles of several kinds will be written: if the template has no %k, the kind is inserted before
 * its ".pb.gz", or else added at its end. Devices and open files keep their names.
 */
void pp_output_distinguish_kinds(void);

enum { PP_OUTPUT_PATH_MAX = 4096 };

typedef struct pp_output {
    int fd;
    uint64_t give_up_ns; /* monotonic; for the writer */
    int in_place;        /* a device, FIFO, or descriptor: written directly, nothing to rename */
    int recorded;        /* goes to the socket of `cpprof record`; neither path is used */
    int refused;         /* the error of that socket: -errno, or 0 */
    pp_recorder_part part;
    char path[PP_OUTPUT_PATH_MAX];
    char temporary[PP_OUTPUT_PATH_MAX + 32];
} pp_output;

/*
 * Opens the file for a profile of `kind`. A regular or new file is written under a temporary name
 * beside it (mode 0600, never through a link); anything else that exists is written in place. While
 * the socket of `cpprof record` is open, all profiles go to it. 0 or -errno; the path is filled in
 * either way, for messages.
 */
int pp_output_open(pp_output *output, const char *kind);

/*
 * Makes a writer on the file, which is valid until the close. If the reader of a FIFO, terminal or
 * socket stalls, the writer waits `patience_ns` in all, and then returns -ETIMEDOUT: the program's
 * exit must not wait for ever.
 */
pprof_writer pp_output_writer(pp_output *output, uint64_t patience_ns);

/*
 * Opens, calls source() to write, and closes. If the socket of `cpprof record` does not take the
 * profile, it goes to the file. 0 or -errno; the path is filled in, for messages. 0 and no call where
 * profiles of this kind are not written.
 */
typedef int pp_output_source(pprof_writer writer, const void *context);
int pp_output_put(pp_output *output, const char *kind, uint64_t patience_ns,
                  pp_output_source *source, const void *context);

/* Closes. With `error` 0 the file gets its final name, else the temporary file is removed. Returns
 * `error`, or the error of closing and renaming. */
int pp_output_close(pp_output *output, int error);

#endif
