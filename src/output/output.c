/* SPDX-License-Identifier: MIT
 *
 * output.c: names, temporary files and renames. A profile that goes to `cpprof record` needs none.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: the templates.
 */
#include "output/output.h"

#include "arch/system_call.h"
#include "sys/apart.h"
#include "sys/clock.h"
#include "sys/file_calls.h"
#include "sys/own_files.h"
#include "sys/path_template.h"
#include "sys/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_TEMPORARY_NAMES = 100 /* nobody guesses one of them */
};

/* A kind with files of its own. */
typedef struct own_file {
    const char *kind; /* NULL: free, as are all later entries */
    bool is_numbered;
    unsigned next; /* number */
    char template[PP_OUTPUT_PATH_MAX];
} own_file;

enum { OWN_FILES = 5 }; /* the flags of pprof_parse_flags(), and HEAPPROFILE */

static const char recorder_name[] = "cpprof"; /* in messages */

static struct {
    char template[PP_OUTPUT_PATH_MAX];
    own_file own_files[OWN_FILES];
    unsigned counter; /* of profiles; %n */
    bool several_kinds;
    bool has_no_default;
} state;

void pp_output_init(void)
{
    pp_path_template_init(program_invocation_short_name);
}

/* ---- names ---- */

int pp_output_set_template(const char *name)
{
    return *name == '\0' || !pp_path_template_is_valid(name)
               ? -EINVAL
               : pp_path_template_complete(state.template, sizeof state.template, name, false);
}

/* The entry of this kind, else a free entry; NULL if there is neither. */
static own_file *find_own(const char *kind)
{
    for (unsigned i = 0; i < OWN_FILES; i++) {
        if (state.own_files[i].kind == NULL || strcmp(state.own_files[i].kind, kind) == 0) {
            return &state.own_files[i];
        }
    }
    return NULL;
}

static int set_own(const char *kind, const char *name, bool literally)
{
    own_file *own = find_own(kind);
    if (*name == '\0' || own == NULL) {
        return *name == '\0' ? -EINVAL : -ENOSPC;
    }
    int error = pp_path_template_complete(own->template, sizeof own->template, name, literally);
    if (error == 0) {
        own->kind = kind;
    }
    return error;
}

int pp_output_set_file(const char *kind, const char *path)
{
    return set_own(kind, path, true);
}

int pp_output_set_template_of(const char *kind, const char *name)
{
    return pp_path_template_is_valid(name) ? set_own(kind, name, false) : -EINVAL;
}

int pp_output_number_files(const char *kind)
{
    own_file *own = find_own(kind);
    if (own == NULL) {
        return -ENOSPC;
    }
    if (own->kind == NULL) {
        memcpy(own->template, state.template, sizeof state.template);
        own->kind = kind;
    }
    own->is_numbered = true;
    return 0;
}

int pp_output_has_template(void)
{
    return state.template[0] != '\0';
}

const char *pp_output_template(void)
{
    return state.template;
}

void pp_output_leave_out_default(void)
{
    state.has_no_default = true;
}

bool pp_output_has_default(void)
{
    return !state.has_no_default;
}

/* Whether profiles of this kind are written at all. */
static bool has_place(const char *kind)
{
    const own_file *own = find_own(kind);
    return !state.has_no_default || pp_output_has_template() || pp_recorder_is_there() ||
           (own != NULL && own->kind != NULL);
}

void pp_output_distinguish_kinds(void)
{
    state.several_kinds = true;
}

/* The place in the template where the kind is to be inserted; NULL: it is not. */
static const char *place_of_kind(void)
{
    static const char suffix[] = ".pb.gz";
    size_t length = strlen(state.template);
    if (!state.several_kinds || strncmp(state.template, "/dev/", 5) == 0 ||
        strncmp(state.template, "/proc/", 6) == 0) {
        return NULL;
    }
    for (const char *c = state.template; *c != '\0'; c++) {
        if (*c == '%' && *++c == 'k') {
            return NULL;
        }
    }
    const char *end = state.template + length;
    bool ends_with_suffix =
        length > sizeof suffix && strcmp(end - (sizeof suffix - 1), suffix) == 0;
    return ends_with_suffix ? end - (sizeof suffix - 1) : end;
}

static bool make_path(pp_output *output, const char *kind)
{
    pp_path b = pp_path_begin(output->path, sizeof output->path);
    own_file *own = find_own(kind);
    bool is_own = own != NULL && own->kind != NULL;
    const char *kind_at = is_own ? NULL : place_of_kind();
    state.counter++;
    const pp_path_values values = {kind, state.counter};
    for (const char *c = is_own ? own->template : state.template;; c++) {
        if (c == kind_at) {
            pp_path_add_char(&b, '.');
            pp_path_add(&b, kind);
        }
        if (*c == '\0') {
            break;
        }
        if (*c == '%') {
            pp_path_add_placeholder(&b, *++c, &values);
        } else {
            pp_path_add_char(&b, *c);
        }
    }
    if (is_own && own->is_numbered) {
        pp_path_add_char(&b, '.');
        pp_path_add_number(&b, own->next++);
    }
    return !b.overflow;
}

/* ---- files ---- */

/*
 * True for devices, FIFOs and sockets, also through a link, and for the kernel's links to open
 * files (/dev/fd/3, /dev/stdout). Any other link is replaced: if it were followed, a user who may
 * write to /tmp could choose which of this user's files is overwritten.
 */
static bool is_written_in_place(const char *path)
{
    struct stat status;
    if (pp_link_status(path, &status) != 0 || S_ISREG(status.st_mode)) {
        return false;
    }
    if (status.st_uid != (uid_t)pp_system_call(SYS_geteuid) && status.st_uid != 0) {
        return false; /* another user has guessed the name: the rename replaces the file */
    }
    if (!S_ISLNK(status.st_mode)) {
        return true;
    }
    bool kernel_link = strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
    return pp_path_status(path, &status) == 0 && (kernel_link || !S_ISREG(status.st_mode));
}

static int open_in_place(pp_output *output)
{
    output->in_place = 1;
    /* Without O_NONBLOCK a FIFO without a reader would block the program's exit, here and while
     * writing. */
    int fd = pp_own_open(output->path, O_WRONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0) {
        return fd;
    }
    output->fd = fd;
    return 0;
}

/* A number that another user cannot have made a file of. The first one is 0, which costs no system
 * call: that file exists if a killed process had the same id, or somebody is in the way. */
static uint64_t temporary_number(unsigned attempt)
{
    uint64_t number = 0;
    if (attempt > 0 &&
        pp_system_call(SYS_getrandom, &number, sizeof number, GRND_NONBLOCK) != sizeof number) {
        number = (uint64_t)pp_clock_ns(CLOCK_MONOTONIC);
    }
    return number;
}

static int open_temporary(pp_output *output)
{
    for (unsigned attempt = 0; attempt < MAX_TEMPORARY_NAMES; attempt++) {
        pp_path b = pp_path_begin(output->temporary, sizeof output->temporary);
        pp_path_add(&b, output->path);
        pp_path_add(&b, ".tmp.");
        pp_path_add_number(&b, (uint64_t)pp_system_call(SYS_getpid));
        pp_path_add_char(&b, '.');
        pp_path_add_number(&b, temporary_number(attempt));
        if (b.overflow) {
            return -ENAMETOOLONG;
        }
        output->fd = pp_own_open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        if (output->fd >= 0) {
            return 0;
        }
        if (output->fd != -EEXIST) {
            return output->fd;
        }
    }
    return -EEXIST;
}

int pp_output_open(pp_output *output, const char *kind)
{
    output->fd = -1;
    output->in_place = output->recorded = output->refused = 0;
    output->temporary[0] = '\0';
    if (pp_recorder_is_there()) {
        output->recorded = 1;
        memcpy(output->path, recorder_name, sizeof recorder_name);
        pp_recorder_begin(&output->part, kind, ++state.counter);
        return 0;
    }
    if (!make_path(output, kind)) {
        return -ENAMETOOLONG;
    }
    return is_written_in_place(output->path) ? open_in_place(output) : open_temporary(output);
}

static int write_piece(void *context, const void *data, size_t length)
{
    pp_output *output = context;
    if (output->recorded) {
        output->refused = pp_recorder_add(&output->part, data, length, output->give_up_ns);
        return output->refused;
    }
    return pp_write_all(output->fd, data, length, output->give_up_ns);
}

pprof_writer pp_output_writer(pp_output *output, uint64_t patience_ns)
{
    output->give_up_ns = pp_clock_ns(CLOCK_MONOTONIC) + patience_ns;
    return (pprof_writer){.write = write_piece, .ctx = output};
}

int pp_output_close(pp_output *output, int error)
{
    if (output->recorded) {
        if (error == 0) {
            error = output->refused = pp_recorder_end(&output->part, output->give_up_ns);
        }
        return error;
    }
    int closed = output->fd >= 0 ? pp_own_close(output->fd) : 0;
    if (closed != 0 && error == 0 && closed != -EINTR) {
        error = closed; /* a quota, or a network file system, may report an error as late as this */
    }
    output->fd = -1;
    if (output->in_place || output->temporary[0] == '\0') {
        return error;
    }
    if (error == 0) {
        error = pp_path_rename(output->temporary, output->path);
    }
    if (error != 0) {
        pp_path_remove(output->temporary);
    }
    return error;
}

static int put_once(pp_output *output, const char *kind, uint64_t patience_ns,
                    pp_output_source *source, const void *context)
{
    int error = pp_output_open(output, kind);
    if (error == 0) {
        error = pp_output_close(output, source(pp_output_writer(output, patience_ns), context));
    }
    return error;
}

typedef struct putting {
    pp_output *output;
    const char *kind;
    uint64_t patience_ns;
    pp_output_source *source;
    const void *context;
    int error;
} putting;

static void put(void *of_putting)
{
    putting *p = of_putting;
    p->error = put_once(p->output, p->kind, p->patience_ns, p->source, p->context);
    if (p->output->recorded && p->output->refused != 0) {
        pp_recorder_give_up();
        p->error = put_once(p->output, p->kind, p->patience_ns, p->source, p->context);
    }
}

int pp_output_put(pp_output *output, const char *kind, uint64_t patience_ns,
                  pp_output_source *source, const void *context)
{
    putting p = {output, kind, patience_ns, source, context, 0};
    if (!has_place(kind)) {
        return 0;
    }
    pp_apart(put, &p);
    return p.error;
}
