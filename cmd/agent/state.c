/* SPDX-License-Identifier: MIT
 *
 * state.c: see state.h.
 *
 * A folder below last/ belongs to a user who may put anything there: links, FIFOs, what never ends. Only regular files of
 * that user are read, at most LAST_BYTES of each.
 *
 * Tested by: e2e.cpprof_agent_push, e2e.cpprof_agent_last.
 */
#include "agent/state.h"

#include "ask/control_target.h"
#include "base/message.h"
#include "base/pool.h"
#include "import/profile_file.h"
#include "profile/protobuf.h"

#include "remote/beneath.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LAST_BYTES = 16 << 20, NAME_BYTES = 256 };

const char *const cp_kind_names[CP_KINDS] = {"cpu",   "wall",   "heap", "block",
                                             "mutex", "thread", "fd"};

/* ---- the folder ---- */

static char *usual_path(void)
{
    const char *given = getenv("STATE_DIRECTORY"); /* systemd's StateDirectory= */
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

    if (given && *given == '/') {
        return cp_heap_copy(given, strcspn(given, ":"));
    }
    if (geteuid() == 0) {
        return cp_heap_printf("/var/lib/cpprof-agent");
    }
    return state && *state == '/'
               ? cp_heap_printf("%s/cpprof-agent", state)
               : cp_heap_printf("%s/.local/state/cpprof-agent", home ? home : "");
}

/* NULL: there is none. */
static char *usual_run(void)
{
    const char *given = getenv("RUNTIME_DIRECTORY"), *run = getenv("XDG_RUNTIME_DIR");

    if (given && *given == '/') {
        return cp_heap_copy(given, strcspn(given, ":"));
    }
    if (geteuid() == 0) {
        return cp_heap_printf("/run/cpprof-agent");
    }
    return run && *run == '/' ? cp_heap_printf("%s/cpprof-agent", run) : NULL;
}

/* Others may pass through it, to their own folder below last/, and not read it. */
static int make_folder(const char *path)
{
    enum { PASSABLE = 0711 };

    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    if (mkdir(path, PASSABLE) < 0 && errno != EEXIST) {
        return -1;
    }
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool is_safe(int folder)
{
    struct stat status;

    return fstat(folder, &status) == 0 && status.st_uid == geteuid() &&
           (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static int make_parts(const cp_state *s)
{
    bool made = (mkdirat(s->folder, "last", 0711) == 0 || errno == EEXIST) &&
                (mkdirat(s->folder, "spool", 0700) == 0 || errno == EEXIST) &&
                fchmod(s->folder, 0711) == 0;
    return made ? 0 : -1;
}

static void open_run(cp_state *s, bool is_named)
{
    char *path = is_named ? NULL : usual_run();

    s->run = path ? make_folder(path) : -1;
    free(path);
    if (s->run >= 0 && !is_safe(s->run)) {
        close(s->run);
        s->run = -1;
    }
    s->run = s->run >= 0 ? s->run : openat(s->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int cp_state_open(cp_state *s, const char *path, cp_error *error)
{
    *s = (cp_state){.folder = -1, .run = -1, .lock = -1};
    s->path = path ? realpath(path, NULL) : NULL;
    if (!s->path) {
        s->path = path ? *path == '/' ? cp_heap_printf("%s", path) : NULL : usual_path();
    }
    if (!s->path) {
        char *here = getcwd(NULL, 0);
        s->path = cp_heap_printf("%s/%s", here ? here : "", path);
        free(here);
    }
    s->folder = make_folder(s->path);
    if (s->folder < 0 || !is_safe(s->folder) || make_parts(s) < 0) {
        return cp_fail(error, "--state %s: expected a folder that only this user can write to%s%s",
                       s->path, s->folder < 0 ? ": " : "", s->folder < 0 ? strerror(errno) : "");
    }
    s->lock = openat(s->folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (s->lock < 0 || flock(s->lock, LOCK_EX | LOCK_NB) < 0) {
        return errno == EWOULDBLOCK
                   ? cp_fail(error, "--state %s: another agent uses it", s->path)
                   : cp_fail(error, "--state %s: cannot lock the file `lock` there: %s", s->path,
                             strerror(errno));
    }
    open_run(s, path != NULL);
    return 0;
}

void cp_state_close(cp_state *s)
{
    if (s->lock >= 0) {
        close(s->lock);
    }
    if (s->folder >= 0) {
        close(s->folder);
    }
    if (s->run >= 0) {
        close(s->run);
    }
    free(s->path);
    *s = (cp_state){.folder = -1, .run = -1, .lock = -1};
}

/* ---- tallies ---- */

static void name_of(const cp_program_id *id, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%d-%" PRIu64 "-%" PRIu64 ".tally", id->pid, id->start, id->loaded);
}

static bool read_name(const char *name, cp_program_id *id)
{
    int end = 0;

    /* NOLINTNEXTLINE(cert-err34-c): what it reads is compared with the name */
    return sscanf(name, "%d-%" SCNu64 "-%" SCNu64 ".tally%n", &id->pid, &id->start, &id->loaded,
                  &end) == 3 &&
           end > 0 && !name[end];
}

static int write_all(const cp_tally tallies[CP_KINDS], const char *labels, FILE *out)
{
    for (int i = 0; out && i < CP_KINDS; i++) {
        cp_tally_write(&tallies[i], out);
    }
    bool has_failed = !out || fputs(labels, out) == EOF || ferror(out);
    return (out && fclose(out) != 0) || has_failed ? -1 : 0;
}

int cp_state_put(const cp_state *s, const cp_program_id *id, const cp_tally tallies[CP_KINDS],
                 const char *labels, cp_error *error)
{
    static const char temporary[] = "new.tally";
    char name[NAME_BYTES];
    int fd = openat(s->run, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;

    name_of(id, name);
    if (write_all(tallies, labels, out) < 0 || renameat(s->run, temporary, s->run, name) < 0) {
        return cp_fail(error, "%s: cannot be written: %s", name, strerror(errno));
    }
    return 0;
}

/* The name of a tally of a program whose process's start is not known. */
static bool find_start(const cp_state *s, cp_program_id *id)
{
    int fd = openat(s->run, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    cp_program_id found = {0};

    while (folder && id->start == 0 && (entry = readdir(folder)) != NULL) {
        if (read_name(entry->d_name, &found) && found.loaded == id->loaded) {
            *id = found; /* a process in a container knows another number of itself */
        }
    }
    if (folder) {
        closedir(folder);
    }
    return id->start != 0;
}

/* The rest of the file. */
static char *read_labels(FILE *in)
{
    enum { LABELS_BYTES = 16 << 10 };
    char *text = cp_heap_alloc(1, LABELS_BYTES);

    text[fread(text, 1, LABELS_BYTES - 1, in)] = '\0';
    return text;
}

char *cp_state_get(const cp_state *s, cp_program_id *id, cp_tally tallies[CP_KINDS])
{
    char name[NAME_BYTES];

    if (id->start == 0 && !find_start(s, id)) {
        return NULL;
    }
    name_of(id, name);
    int fd = openat(s->run, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    FILE *in = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!in) {
        return NULL;
    }
    bool is_whole = true;
    for (int i = 0; is_whole && i < CP_KINDS; i++) {
        is_whole = cp_tally_read(&tallies[i], in);
    }
    char *labels = is_whole ? read_labels(in) : NULL;
    fclose(in);
    return labels;
}

void cp_state_remove(const cp_state *s, const cp_program_id *id)
{
    char name[NAME_BYTES];

    name_of(id, name);
    unlinkat(s->run, name, 0);
}

void cp_state_clean(const cp_state *s, bool (*lives)(const cp_program_id *id, void *context),
                    void *context)
{
    int fd = openat(s->run, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    cp_program_id id;

    while (folder && (entry = readdir(folder)) != NULL) {
        if (read_name(entry->d_name, &id) && !lives(&id, context)) {
            unlinkat(s->run, entry->d_name, 0);
        }
    }
    if (folder) {
        closedir(folder);
    }
}

/* ---- last profiles ---- */

char *cp_state_template(const cp_state *s, uid_t user)
{
    char name[64];

    snprintf(name, sizeof name, "last/%u", (unsigned)user);
    if (mkdirat(s->folder, name, 0700) == 0 && geteuid() == 0 &&
        fchownat(s->folder, name, user, (gid_t)-1, AT_SYMLINK_NOFOLLOW) < 0) {
        return NULL;
    }
    if (strpbrk(s->path, ",%")) { /* the option would read them as its own */
        return NULL;
    }
    return cp_heap_printf("%s/%s/%%p-%%s-%%k-%%e.pb.gz", s->path, name);
}

#define INSIDE "/tmp/cpprof-agent-"

/* Gives the folder to the user, if it was just made; refuses one that another user has made. */
static bool is_given(int folder, uid_t user, bool is_new)
{
    struct stat status;

    return (!is_new || geteuid() == user || fchown(folder, user, (gid_t)-1) == 0) &&
           fstat(folder, &status) == 0 && status.st_uid == user &&
           (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

int cp_state_folder_inside(const cp_target *target, char **template)
{
    char path[64];
    int root = cp_target_root(target);
    int parent = root >= 0 ? pp_open_beneath(root, "/tmp", O_PATH | O_DIRECTORY) : -1;

    snprintf(path, sizeof path, INSIDE "%u", (unsigned)target->inner_user);
    const char *name = strrchr(path, '/') + 1;
    bool is_new = parent >= 0 && mkdirat(parent, name, 0700) == 0;
    int folder =
        parent >= 0 ? openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (folder >= 0 && !is_given(folder, target->user, is_new)) {
        close(folder);
        folder = -1;
    }
    if (root >= 0) {
        close(root);
    }
    if (parent >= 0) {
        close(parent);
    }
    *template = folder >= 0 ? cp_heap_printf("%s/%%p-%%s-%%k-%%e.pb.gz", path) : NULL;
    return folder;
}

bool cp_state_is_template(const cp_state *s, const char *file)
{
    size_t length = strlen(s->path);

    return strncmp(file, INSIDE, sizeof INSIDE - 1) == 0 ||
           (strncmp(file, s->path, length) == 0 && file[length] == '/');
}

/* "PID-LOADED-KIND-PROGRAM.pb.gz" */
static bool read_last_name(const char *name, cp_last_file *file)
{
    static const char ending[] = ".pb.gz";
    size_t length = strlen(name);
    int at = 0;

    if (length < sizeof ending || strcmp(name + length - sizeof ending + 1, ending) != 0 ||
        /* NOLINTNEXTLINE(cert-err34-c): a name of another form is left out */
        sscanf(name, "%d-%" SCNu64 "-%31[a-z]-%n", &file->id.pid, &file->id.loaded, file->kind,
               &at) != 3 ||
        at == 0) {
        return false;
    }
    size_t program = length - (size_t)at - sizeof ending + 1;
    snprintf(file->program, sizeof file->program, "%.*s", (int)program, name + at);
    return true;
}

static void take_file(int folder, const char *name, cp_last_file *file,
                      void (*take)(const cp_last_file *file, const cp_bytes *bytes, void *context),
                      void *context)
{
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status = {.st_size = 0};
    cp_bytes bytes = {0};

    bool is_file = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                   status.st_uid == file->user && cp_file_get(fd, LAST_BYTES, &bytes) == 0;
    if (fd >= 0) {
        close(fd);
    }
    /* Gone before it is taken: so nothing takes it twice. */
    if (unlinkat(folder, name, 0) == 0 && is_file) {
        file->time_ns = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
        take(file, &bytes, context);
    }
    cp_bytes_release(&bytes);
}

void cp_state_take_from(int from, uid_t user,
                        void (*take)(const cp_last_file *file, const cp_bytes *bytes,
                                     void *context),
                        void *context)
{
    int fd = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;

    while (folder && (entry = readdir(folder)) != NULL) {
        cp_last_file file = {.user = user};
        if (read_last_name(entry->d_name, &file)) {
            take_file(dirfd(folder), entry->d_name, &file, take, context);
        }
    }
    if (folder) {
        closedir(folder);
    }
}

static void take_user(int last, const char *name,
                      void (*take)(const cp_last_file *file, const cp_bytes *bytes, void *context),
                      void *context)
{
    int folder = openat(last, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (folder >= 0) {
        cp_state_take_from(folder, (uid_t)strtoul(name, NULL, 10), take, context);
        close(folder);
    }
}

void cp_state_take_files(const cp_state *s,
                         void (*take)(const cp_last_file *file, const cp_bytes *bytes,
                                      void *context),
                         void *context)
{
    int fd = openat(s->folder, "last", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *last = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;

    while (last && (entry = readdir(last)) != NULL) {
        if (*entry->d_name >= '0' && *entry->d_name <= '9') {
            take_user(dirfd(last), entry->d_name, take, context);
        }
    }
    if (last) {
        closedir(last);
    }
}
