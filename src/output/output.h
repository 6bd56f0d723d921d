/* SPDX-License-Identifier: MIT
 *
 * output.h: the file that a preloaded profile is written to, or the socket of `cpprof record`.
 *
 * Zone: NORMAL, and the fatal-signal writer (system calls only).
 * Locks: none; one user at a time.
 * Owns: the template of the name; a temporary file while it is open.
 */
#ifndef PP_OUTPUT_OUTPUT_H
#define PP_OUTPUT_OUTPUT_H

#include "sys/recorder.h"

#include "pprof.h"

#include <stddef.h>
#include <stdint.h>

/* Called once when the library is loaded: remembers the program's name. */
void pp_output_init(void);

/*
 * Sets the template; %e program, %p process id, %k kind, %t time (seconds since 1970), %n counter,
 * %% percent. A relative one is completed with the present working directory at once, so that a
 * later chdir or chroot does not matter. -EINVAL for an unknown % or a trailing one, -ENAMETOOLONG.
 */
int pp_output_set_template(const char *name);

/*
 * Profiles of `kind` (a constant) go to this very file instead; a relative path is completed as
 * above, and % means nothing. -EINVAL for an empty path, -ENAMETOOLONG, -ENOSPC for a sixth kind.
 */
int pp_output_set_file(const char *kind, const char *path);

/* The same with a template; -EINVAL also for an unknown %. */
int pp_output_set_template_of(const char *kind, const char *name);

/* Profiles of `kind` go to files of their own from now on, each another one: what its template
 * says, or else that of all, with ".0", ".1", ... behind it. -ENOSPC for a sixth kind. */
int pp_output_number_files(const char *kind);

/* Whether a template was set. */
int pp_output_has_template(void);

/*
 * Profiles of several kinds will be written: where the template has no %k, the kind goes in front
 * of its ".pb.gz", or behind its end. Devices and open files keep their names.
 */
void pp_output_distinguish_kinds(void);

enum { PP_OUTPUT_PATH_MAX = 4096 };

typedef struct pp_output {
    int fd;
    uint64_t give_up_ns; /* monotonic; for the writer */
    int in_place;        /* a device, FIFO, or descriptor: written directly, nothing to rename */
    int recorded;        /* it goes to the socket of `cpprof record`; neither path is used */
    int refused;         /* why that socket did not take it: -errno, or 0 */
    pp_recorder_part part;
    char path[PP_OUTPUT_PATH_MAX];
    char temporary[PP_OUTPUT_PATH_MAX + 32];
} pp_output;

/*
 * Opens the file for a profile of `kind`. A regular or new file is written under a temporary name
 * beside it (mode 0600, never through a link); anything else that exists is written in place. While
 * the socket of `cpprof record` is there, all goes to it. 0 or -errno; the path is filled in either
 * way, for messages.
 */
int pp_output_open(pp_output *output, const char *kind);

/*
 * A writer on the file. A FIFO, terminal or socket whose reader stalls is given `patience_ns` in
 * all, then -ETIMEDOUT: the host's exit must not wait for it. Valid until the close.
 */
pprof_writer pp_output_writer(pp_output *output, uint64_t patience_ns);

/*
 * Opens, writes by source(), closes. What the socket of `cpprof record` does not take goes to the
 * file instead. 0 or -errno; the path is filled in, for messages.
 */
typedef int pp_output_source(pprof_writer writer, const void *context);
int pp_output_put(pp_output *output, const char *kind, uint64_t patience_ns,
                  pp_output_source *source, const void *context);

/* Closes; with `error` 0 the file gets its final name, else the temporary one is removed. Returns
 * `error`, or what went wrong here. */
int pp_output_close(pp_output *output, int error);

#endif
