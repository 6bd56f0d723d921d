/* SPDX-License-Identifier: MIT
 *
 * record_session.c: see record_session.h.
 *
 * Owns: the folder, the environment's strings.
 * Tested by: e2e.cpprof_record.
 */
#include "record/record_session.h"

#include "base/clock.h"
#include "base/message.h"
#include "base/pool.h"
#include "import/profile_file.h"
#include "profile/profile_merge.h"
#include "profile/profile_model.h"
#include "profile/protobuf.h"
#include "record/record_library.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX       ".pb.gz"
#define FOLDER_STEM  ".cpprof-"
#define LIBRARY_LINK "libpprof.so.0"

enum { PATIENCE_MS = 500, LONGEST_MS = 10000, TURN_MS = 20 };

extern char **environ;

/* ---- the library ---- */

/* Blanks and colons separate the names in LD_PRELOAD. A path with one gets a link in the folder. */
static int make_preloadable(cp_session *session, cp_error *error)
{
    if (!strpbrk(session->library, " :")) {
        return 0;
    }
    char *link_name = cp_heap_printf("%s/%s", session->folder, LIBRARY_LINK);
    if (strpbrk(link_name, " :") || symlink(session->library, link_name) < 0) {
        cp_fail(error, "%s: a path with blanks or colons cannot be preloaded; move the library",
                session->library);
        free(link_name);
        return -1;
    }
    free(session->library);
    session->library = link_name;
    return 0;
}

/* ---- the folder ---- */

/* The folder of the output, after symbolic links. NULL with errno. */
static char *output_folder(const char *output)
{
    char *real = realpath(output, NULL);
    char *copy = real ? real : strdup(output);
    char *slash = copy ? strrchr(copy, '/') : NULL;
    if (slash) {
        slash[slash == copy] = '\0';
    }
    real = realpath(slash ? copy : ".", NULL);
    free(copy);
    return real;
}

/* Commas separate the words of the list of options. */
static bool can_be_an_option(const char *folder)
{
    return !strpbrk(folder, ", :");
}

/* Such a file is PID.KIND.STAMP.N.pb.gz, also with the end of a temporary name, or the link to the
 * library. */
static bool is_our_file(const char *name)
{
    return (isdigit((unsigned char)*name) && strstr(name, SUFFIX)) ||
           strcmp(name, LIBRARY_LINK) == 0;
}

/* Removes the session's files, and the folder if no other files are in it. */
static void remove_folder(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);

    for (int i = 0; i < count; i++) {
        char *file = cp_heap_printf("%s/%s", path, entries[i]->d_name);

        if (is_our_file(entries[i]->d_name)) {
            unlink(file);
        }
        free(file);
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    rmdir(path);
}

static int open_locked(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static int is_our_name(const struct dirent *entry)
{
    return strncmp(entry->d_name, FOLDER_STEM, sizeof FOLDER_STEM - 1) == 0 &&
           strlen(entry->d_name) == sizeof FOLDER_STEM - 1 + 6;
}

/* A folder with such a name that no process has locked is left from a cpprof that was killed. */
static void remove_if_left_over(const char *folder)
{
    int fd = open_locked(folder);

    if (fd < 0) {
        return;
    }
    struct stat info;
    if (fstat(fd, &info) == 0 && info.st_uid == geteuid()) {
        remove_folder(folder);
    }
    close(fd);
}

static void remove_left_over(const char *parent)
{
    struct dirent **entries;
    int count = parent ? scandir(parent, &entries, is_our_name, alphasort) : 0;

    if (!parent) {
        return;
    }
    for (int i = 0; i < count; i++) {
        char *folder = cp_heap_printf("%s/%s", parent, entries[i]->d_name);

        remove_if_left_over(folder);
        free(folder);
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
}

/* The folder gets its name after it is locked: else another cpprof could take it for one that is
 * left. NULL with errno. */
static char *make_locked_folder(const char *parent, int *lock)
{
    char *fresh = cp_heap_printf("%s/" FOLDER_STEM "new-XXXXXX", parent), *folder = NULL;

    if (mkdtemp(fresh)) {
        *lock = open_locked(fresh);
        folder = cp_heap_printf("%s/" FOLDER_STEM "%s", parent, fresh + strlen(fresh) - 6);
        if (rename(fresh, folder) < 0) {
            free(folder);
            return fresh;
        }
    }
    free(fresh);
    return folder;
}

static int make_folder(cp_session *session, const char *parent, const char *why, cp_error *error)
{
    remove_left_over(parent);
    session->folder = make_locked_folder(parent, &session->lock);
    if (!session->folder) {
        return cp_fail(error, "%s: cannot make a folder for the recording in this directory: %s%s",
                       parent, strerror(errno), why);
    }
    return 0;
}

/* Checks that the output can be written. Returns its folder; NULL if not. *apart: the session's
 * folder cannot be in that folder. */
static char *check_output(const char *output, bool *apart, cp_error *error)
{
    struct stat info;
    bool exists = stat(output, &info) == 0;
    char *parent = NULL;

    if (exists && S_ISDIR(info.st_mode)) {
        cp_fail(error, "%s: expected the name of a file to write, found a directory", output);
    } else if (exists && access(output, W_OK) < 0) {
        cp_fail(error, "%s: cannot write: %s", output, strerror(errno));
    } else if (!(parent = output_folder(output))) {
        cp_fail(error, "%s: cannot find the directory for this file: %s", output, strerror(errno));
    }
    *apart = parent && ((exists && !S_ISREG(info.st_mode)) || !can_be_an_option(parent));
    return parent;
}

static int place_folder(cp_session *session, cp_error *error)
{
    const char *temporary = getenv("TMPDIR");
    bool apart = false;
    char *parent = NULL;

    for (size_t i = session->options->kinds.count; i-- > 0;) {
        free(parent);
        parent = check_output(session->outputs[i], &apart, error);
        if (!parent) {
            return -1;
        }
    }
    int status;
    if (apart) {
        status = make_folder(session, temporary && *temporary ? temporary : "/tmp",
                             "; set TMPDIR to another one", error);
    } else {
        status = make_folder(session, parent, "; choose another place with -o", error);
    }
    free(parent);
    return status;
}

/* ---- the environment ---- */

/* A per cent sign begins a placeholder in the library's file names. */
static char *escape_percents(const char *path)
{
    char *escaped = cp_heap_alloc(2 * strlen(path) + 1, 1), *to = escaped;

    for (; *path; path++) {
        *to++ = *path;
        if (*path == '%') {
            *to++ = '%';
        }
    }
    return escaped;
}

/* The time at which all processes stop recording. */
static unsigned long long end_of(long duration_ms)
{
    return (unsigned long long)cp_now_ns() + (unsigned long long)duration_ms * 1000000;
}

static char *option_list(const cp_session *session)
{
    const cp_record_options *options = session->options;
    const char *inherited = getenv("LIBPPROF");
    char *folder = escape_percents(session->folder);
    char *kinds = cp_record_kinds_words(&options->kinds, options->hz);
    char duration[64] = "";

    if (options->duration_ms && options->alone) {
        snprintf(duration, sizeof duration, ",duration=%ldms", options->duration_ms);
    } else if (options->duration_ms) {
        snprintf(duration, sizeof duration, ",until=%llu", end_of(options->duration_ms));
    }
    char *list =
        cp_heap_printf("LIBPPROF=%s%s%s,file=%s/%%p.%%k.%%s.%%n%s%s,follow-exec%s%s%s%s%s",
                       inherited ? inherited : "", inherited && *inherited ? "," : "", kinds,
                       folder, SUFFIX, session->socket.word, options->alone ? "" : ",subprocesses",
                       duration, options->thread_label ? ",thread-label" : "",
                       options->engine ? ",engine=" : "", options->engine ? options->engine : "");
    free(kinds);
    free(folder);
    return list;
}

static char *preload_list(const cp_session *session)
{
    const char *inherited = getenv("LD_PRELOAD");

    if (inherited && *inherited) {
        return cp_heap_printf("LD_PRELOAD=%s:%s", session->library, inherited);
    }
    return cp_heap_printf("LD_PRELOAD=%s", session->library);
}

static bool is_ours(const char *variable)
{
    return strncmp(variable, "LIBPPROF=", 9) == 0 || strncmp(variable, "LD_PRELOAD=", 11) == 0;
}

/* The last two strings are the session's, to be freed. */
static void make_environment(cp_session *session)
{
    size_t count = 0, kept = 0;

    while (environ[count]) {
        count++;
    }
    session->environment = cp_heap_alloc(count + 3, sizeof *session->environment);
    for (size_t i = 0; i < count; i++) {
        if (!is_ours(environ[i])) {
            session->environment[kept++] = environ[i];
        }
    }
    session->environment[kept++] = preload_list(session);
    session->environment[kept] = option_list(session);
}

static void free_environment(cp_session *session)
{
    size_t count = 0;

    if (!session->environment) {
        return;
    }
    while (session->environment[count]) {
        count++;
    }
    free(session->environment[count - 1]);
    free(session->environment[count - 2]);
    free(session->environment);
}

int cp_session_open(cp_session *session, const cp_record_options *options, cp_error *error)
{
    memset(session, 0, sizeof *session);
    session->options = options;
    session->lock = -1;
    session->socket.own = session->socket.command = -1;
    cp_tree_init(&session->tree);
    for (size_t i = 0; i < options->kinds.count; i++) {
        session->outputs[i] = cp_record_kind_output(&options->kinds, i, options->output);
    }
    session->library = cp_record_library_find(error);
    if (!session->library || place_folder(session, error) < 0 ||
        make_preloadable(session, error) < 0) {
        cp_session_close(session);
        return -1;
    }
    cp_record_socket_open(&session->socket);
    make_environment(session);
    return 0;
}

/* ---- the profiles ---- */

/* A pipeline's shell may end before its last command does. While a process has the other end of the
 * socket, there may be more; one that has closed it may be about to write a file. What starts processes without an end
 * in the background always has more. */
static bool may_be_more(const cp_session *session)
{
    return session->socket.own >= 0 || cp_tree_goes_on(&session->tree);
}

static void wait_for_the_last(cp_session *session)
{
    const int64_t limit_ns = cp_now_ns() + LONGEST_MS * INT64_C(1000000);
    int waited = 0;

    while (!session->options->alone && waited < PATIENCE_MS && cp_now_ns() < limit_ns &&
           may_be_more(session)) {
        struct pollfd news = {.fd = session->socket.own, .events = POLLIN};

        if (session->socket.own < 0 || poll(&news, 1, TURN_MS) == 0) {
            waited += TURN_MS;
        }
        if (session->socket.own < 0) {
            cp_sleep_ms(TURN_MS);
        }
        cp_record_socket_take(&session->socket, &session->parts, &session->tree);
    }
}

void cp_session_take_rest(cp_session *session)
{
    cp_record_socket_take(&session->socket, &session->parts, &session->tree);
    wait_for_the_last(session);
    cp_parts_take_folder(&session->parts, session->folder);
    for (size_t i = 0; i < session->parts.count; i++) {
        cp_tree_wrote(&session->tree, session->parts.list[i].process, session->parts.list[i].stamp);
    }
}

/* ---- labels ---- */

/* The file of a profile's first mapping is the program's. */
static const char *main_program(const cp_profile *profile)
{
    const char *file =
        profile->mapping_count ? cp_profile_text(profile, profile->mappings[0].file) : "";
    const char *slash = strrchr(file, '/');

    return slash ? slash + 1 : file;
}

static bool has_label(const cp_sample *sample, cp_string key)
{
    for (uint32_t i = 0; i < sample->label_count; i++) {
        if (sample->labels[i].key == key) {
            return true;
        }
    }
    return false;
}

/* A label that the program itself has set under that key stays. */
static void add_label(cp_profile *profile, const char *key, const char *value)
{
    const cp_label label = {.key = cp_strings_put(&profile->strings, key),
                            .text = cp_strings_put(&profile->strings, value)};

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        cp_sample *sample = &profile->samples[i];

        if (has_label(sample, label.key)) {
            continue;
        }
        cp_label *labels = CP_POOL_ARRAY(&profile->pool, cp_label, sample->label_count + 1);
        if (sample->label_count) {
            memcpy(labels, sample->labels, sample->label_count * sizeof *labels);
        }
        labels[sample->label_count] = label;
        sample->labels = labels;
        sample->label_count++;
        cp_profile_sort_labels(profile, sample->labels, sample->label_count);
    }
}

static void add_labels(const cp_session *session, const cp_part *part, cp_profile *profile)
{
    const char *name = cp_tree_name(&session->tree, part->process, part->stamp);

    char pid[16];
    snprintf(pid, sizeof pid, "%d", (int)part->process);
    add_label(profile, "process", name ? name : main_program(profile));
    if (session->options->pid_label) {
        add_label(profile, "pid", pid);
    }
}

/* ---- the sum ---- */

/* The time from the first start to the last end. */
typedef struct span {
    int64_t begin, end;
} span;

static void extend(span *whole, const cp_profile *profile)
{
    int64_t end = profile->time_nanos + profile->duration_nanos;

    if (profile->duration_nanos == 0) {
        return;
    }
    if (whole->begin == 0 || profile->time_nanos < whole->begin) {
        whole->begin = profile->time_nanos;
    }
    whole->end = end > whole->end ? end : whole->end;
}

static cp_profile *read_part(const cp_session *session, const cp_part *part)
{
    cp_profile *profile = NULL;

    cp_error error;
    if (cp_profile_read_bytes(part->bytes.data, part->bytes.length, CP_PROFILE_MAX_BYTES, &profile,
                              &error) < 0) {
        cp_complain("warning: the %s profile of process %d is left out: %s", part->kind,
                    (int)part->process, error.text);
        return NULL;
    }
    if (!session->options->alone) {
        add_labels(session, part, profile);
    }
    return profile;
}

/* Adds one part after the other: not all of them are in memory at once. Bytes that are no profile
 * are left out, and so are profiles without samples, except for the first one, which has the
 * types. Returns NULL if there is nothing. */
static cp_profile *sum_of(cp_session *session, const cp_part **parts, size_t count)
{
    cp_merger *merger = cp_merger_new();
    span whole = {0, 0};
    size_t good = 0;

    cp_error error;
    for (size_t i = 0; i < count; i++) {
        cp_profile *profile = read_part(session, parts[i]);

        if (profile && (good == 0 || profile->sample_count > 0)) {
            if (cp_merger_add(merger, profile, &error) < 0) {
                cp_complain("warning: the %s profile of process %d is left out: %s", parts[i]->kind,
                            (int)parts[i]->process, error.text);
            } else {
                good++;
                extend(&whole, profile);
            }
        }
        cp_profile_free(profile);
    }
    if (good == 0) {
        cp_merger_free(merger);
        return NULL;
    }
    cp_profile *sum = cp_merger_finish(merger);
    if (whole.end > 0) {
        sum->time_nanos = whole.begin;
        sum->duration_nanos = whole.end - whole.begin;
    }
    return sum;
}

static unsigned count_processes(const cp_part **parts, size_t count)
{
    unsigned processes = 0;

    for (size_t i = 0; i < count; i++) {
        processes += i == 0 || parts[i]->process != parts[i - 1]->process;
    }
    return processes;
}

static void warn_of_incomplete(const cp_session *session, const char *kind, pid_t command)
{
    size_t count = cp_parts_incomplete(&session->parts, kind, command);

    if (count > 0) {
        cp_complain("warning: %zu %s profile%s arrived incomplete and %s left out", count, kind,
                    count == 1 ? "" : "s", count == 1 ? "is" : "are");
    }
}

/* Moves the command's parts to the front: the profile's first mapping is its program. */
static void put_first(const cp_part **parts, size_t count, pid_t command)
{
    size_t first = 0;

    while (first < count && parts[first]->process != command) {
        first++;
    }
    for (size_t i = first; i < count && parts[i]->process == command; i++) {
        const cp_part *part = parts[i];

        /* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
        memmove(parts + (i - first) + 1, parts + (i - first), first * sizeof *parts);
        parts[i - first] = part;
    }
}

/* Of one process alone the output is what the process wrote. */
static int put(const cp_session *session, const cp_part **parts, size_t count, const char *output,
               const cp_profile *profile, cp_error *error)
{
    if (session->options->alone && count == 1) {
        return cp_file_put(output, &parts[0]->bytes, error);
    }
    return cp_profile_write_file(output, profile, error);
}

int cp_session_collect(cp_session *session, size_t kind, pid_t command, cp_profile **out,
                       cp_error *error)
{
    const char *name = session->options->kinds.list[kind].name;
    pid_t only = session->options->alone ? command : 0;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
    const cp_part **parts = cp_heap_alloc(session->parts.count, sizeof *parts);
    size_t count = cp_parts_select(&session->parts, name, only, parts);
    unsigned followed = (unsigned)cp_tree_followed(&session->tree);
    int status = 0;

    warn_of_incomplete(session, name, only);
    session->processes = count_processes(parts, count);
    session->processes = session->processes > followed ? session->processes : followed;
    put_first(parts, count, command);
    *out = sum_of(session, parts, count);
    if (*out && put(session, parts, count, session->outputs[kind], *out, error) < 0) {
        cp_profile_free(*out);
        *out = NULL;
        status = -1;
    }
    free(parts);
    return status;
}

/* ---- the end ---- */

void cp_session_close(cp_session *session)
{
    if (session->folder) {
        remove_folder(session->folder);
    }
    if (session->lock >= 0) {
        close(session->lock);
    }
    cp_record_socket_close(&session->socket);
    cp_parts_release(&session->parts);
    cp_tree_release(&session->tree);
    free_environment(session);
    for (size_t i = 0; i < CP_RECORD_KINDS_MAX; i++) {
        free(session->outputs[i]);
    }
    free(session->folder);
    free(session->library);
    memset(session, 0, sizeof *session);
}
