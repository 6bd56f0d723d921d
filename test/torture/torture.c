/* SPDX-License-Identifier: MIT
 *
 * torture.c: has each system call of the library fail once, and looks whether the program notices.
 *
 *   torture --library FILE --options LIBPPROF [--deep] [--part K/N] [--server] [--list] [--verbose] -- COMMAND...
 *
 * Runs the command without the library first: what it writes and its status are right. Then once with
 * the library, traced, which gives the places that call the kernel: a place is the instruction and the
 * calls of the library on the stack. Then once for each place and error (errors.h): the first call from
 * there fails. The command has to write the same and to end with the same status; one that takes two minutes hangs.
 *
 * Of the library are the calls by instructions in its own text, and those that libc and the loader make
 * for it: the library has called them by its global offset table. Other calls from libc are the
 * program's, also where the library's hook has passed them on.
 *
 *   --deep     all errors of a call instead of one, and the last call from each place, too
 *   --part     only each N-th place, from the K-th on (1 to N)
 *   --server   COMMAND is a script that starts the program itself, by $TORTURE_PRELOAD
 *   --list     prints the places, and fails nothing
 *   --touched  prints, sorted, which files the library opens, changes or removes, which sockets it makes,
 *              and what it executes, and fails nothing (test_security.sh)
 *
 * %D in the options stands for a folder that is empty at the beginning of each run. The profiles in it
 * (NAME.pb.gz) have to be whole; there is one for each that is there without a failure, or a message on stderr or in
 * %D/log.
 *
 * Zone: tests.
 */
#include "torture/tracee.h"
#include "torture/errors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

enum { PLACES_MAX = 8192, LIMIT_SECONDS = 120, PATH_BYTES = 4096 };

static struct {
    const char *library;
    const char *options;
    bool deep, server, list, touched, verbose;
    unsigned part, parts;
    char **command;
    char folder[64]; /* the output of a run, and its profiles */
} settings = {.part = 1, .parts = 1};

typedef struct result {
    int status; /* of wait(2) */
    bool late;
    uint32_t sum; /* of standard output */
    unsigned profiles, broken;
    bool message;
} result;

static struct {
    place places[PLACES_MAX];
    size_t count;
    unsigned long runs, injected, missed, failures, silent;
} found;

static void fail(const char *what)
{
    fprintf(stderr, "torture: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* ---- a run ---- */

static const char *in_folder(const char *name)
{
    static char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", settings.folder, name);
    return path;
}

static void each_profile(void (*function)(const char *path, result *r), result *r)
{
    DIR *folder = opendir(in_folder("profiles"));
    struct dirent *entry = NULL;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char path[PATH_BYTES];
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/profiles/%s", settings.folder, entry->d_name);
            function(path, r);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
}

static void remove_profile(const char *path, result *r)
{
    (void)r;
    unlink(path);
}

/* A file under a name for the time of its writing may be left over where its removal fails. */
static void check_profile(const char *path, result *r)
{
    char buffer[16384];
    int got = 0;
    if (strstr(path, ".tmp.") != NULL || strstr(path, ".pb.gz") == NULL) {
        return;
    }
    gzFile file = gzopen(path, "rb");
    while (file != NULL && (got = gzread(file, buffer, sizeof buffer)) > 0) {
    }
    r->profiles++;
    r->broken += file == NULL || got < 0 || gzeof(file) == 0 || gzdirect(file) != 0;
    if (file != NULL) {
        gzclose(file);
    }
}

static uint32_t sum_of(const char *path)
{
    unsigned char buffer[16384];
    ssize_t got = 0;
    uLong sum = crc32(0, NULL, 0);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while ((got = read(fd, buffer, sizeof buffer)) > 0) {
        sum = crc32(sum, buffer, (uInt)got);
    }
    close(fd);
    return (uint32_t)sum;
}

/* The library's messages begin a line with its name. */
static bool has_message(const char *path)
{
    char line[1024];
    bool has = false;
    FILE *file = fopen(path, "re");
    while (file != NULL && !has && fgets(line, sizeof line, file) != NULL) {
        has = strstr(line, "libpprof: ") != NULL;
    }
    if (file != NULL) {
        fclose(file);
    }
    return has;
}

/* The options, with the folder of the profiles in them. */
static char *filled_options(void)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    for (const char *c = settings.options; *c != '\0'; c++) {
        if (c[0] == '%' && c[1] == 'D') {
            fprintf(stream, "%s/profiles", settings.folder);
            c++;
        } else {
            fputc(*c, stream);
        }
    }
    fclose(stream);
    return text;
}

static void become_command(bool with_library)
{
    int in = open("/dev/null", O_RDONLY);
    int out = open(in_folder("out"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int err = open(in_folder("err"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (in < 0 || out < 0 || err < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) {
        _exit(126);
    }
    for (int fd = 3; fd < 64; fd++) {
        close(fd);
    }
    setpgid(0, 0);
    if (settings.server) {
        char preload[PATH_BYTES];
        snprintf(preload, sizeof preload, "env LIBPPROF=%s LD_PRELOAD=%s",
                 with_library ? filled_options() : "", with_library ? settings.library : "");
        setenv("TORTURE_PRELOAD", preload, 1);
    } else if (with_library) {
        setenv("LIBPPROF", filled_options(), 1);
        setenv("LD_PRELOAD", settings.library, 1);
    }
    if (with_library) {
        tracee_begin();
    }
    execvp(settings.command[0], settings.command);
    _exit(127);
}

static volatile sig_atomic_t process_group;

static void on_alarm(int signal)
{
    (void)signal;
    kill(-process_group, SIGKILL);
    process_group = 0;
}

/* Runs the command. `wanted` is the call that fails, or NULL. */
static result run(bool with_library, wanted_failure *wanted)
{
    const struct itimerval limit = {.it_value.tv_sec = LIMIT_SECONDS}, none = {0};
    result r = {0};
    found.runs++;
    each_profile(remove_profile, &r);
    pid_t child = fork();
    if (child < 0) {
        fail("fork");
    }
    if (child == 0) {
        become_command(with_library);
    }
    setpgid(child, child);
    process_group = child;
    setitimer(ITIMER_REAL, &limit, NULL);
    r.status = tracee_follow(child, wanted);
    setitimer(ITIMER_REAL, &none, NULL);
    r.late = process_group == 0;
    kill(-child, SIGKILL); /* what a failed script leaves */
    tracee_drain();
    r.sum = sum_of(in_folder("out"));
    r.message = has_message(in_folder("err")) || has_message(in_folder("profiles/log"));
    each_profile(check_profile, &r);
    return r;
}

/* ---- what a failure changes ---- */

static void note_place(const place *p)
{
    size_t i = 0;
    while (i < found.count && found.places[i].key != p->key) {
        i++;
    }
    if (i == PLACES_MAX) {
        return;
    }
    if (i == found.count) {
        found.places[found.count++] = *p;
        found.places[i].calls = 0;
    }
    found.places[i].calls++;
}

static void print_place(FILE *to, const place *p)
{
    fprintf(to, "%s", errors_call_name(p->number));
    for (unsigned i = 0; i < p->depth; i++) {
        fprintf(to, "%s%s+0x%lx", i == 0 ? " at " : " < ", p->frames[i].file, p->frames[i].offset);
    }
}

static void report(const place *p, const wanted_failure *wanted, const char *what, const result *r)
{
    printf("FAIL: call %u of %s, -%s: %s (", wanted->call, errors_call_name(p->number),
           strerrorname_np(wanted->error), what);
    if (WIFSIGNALED(r->status)) {
        printf("signal %d", WTERMSIG(r->status));
    } else {
        printf("status %d", WEXITSTATUS(r->status));
    }
    printf(")\n    ");
    print_place(stdout, p);
    printf("\n");
    fflush(stdout);
}

static bool is_accepted(const place *p, const wanted_failure *wanted, const result *right,
                        const result *without, const result *r)
{
    if (r->late) {
        report(p, wanted, "does not end", r);
    } else if (r->status != without->status) {
        report(p, wanted, "another status", r);
    } else if (r->sum != without->sum) {
        report(p, wanted, "another output", r);
    } else if (r->broken != 0) {
        report(p, wanted, "a profile that is not whole", r);
    } else if (r->profiles < right->profiles && !r->message) {
        report(p, wanted, "a profile is missing, without a message", r);
        found.silent++;
    } else {
        return true;
    }
    return false;
}

static void try_failure(const place *p, unsigned call, int error, const result *right,
                        const result *without)
{
    wanted_failure wanted = {.key = p->key, .call = call, .error = error};
    result r = run(true, &wanted);
    if (!wanted.done) {
        found.missed++;
        return;
    }
    found.injected++;
    if (settings.verbose) {
        printf("call %u, -%s: ", call, strerrorname_np(error));
        print_place(stdout, p);
        printf("\n");
    }
    if (!is_accepted(p, &wanted, right, without, &r)) {
        found.failures++;
    }
}

static void try_place(const place *p, const result *right, const result *without)
{
    const int *errors = errors_of(p->number);
    for (unsigned i = 0; errors[i] != 0 && (i == 0 || settings.deep); i++) {
        try_failure(p, 1, errors[i], right, without);
        if (settings.deep && i == 0 && p->calls > 1) {
            try_failure(p, p->calls, errors[i], right, without);
        }
    }
}

/* ---- main ---- */

static void usage(void)
{
    fprintf(
        stderr,
        "usage: torture --library FILE --options OPTIONS [--deep] [--part K/N] [--server] [--list] "
        "[--touched] [--verbose] -- COMMAND...\n");
    exit(2);
}

static void read_arguments(int argc, char **argv)
{
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--library") == 0 && i + 1 < argc) {
            settings.library = argv[++i];
        } else if (strcmp(argv[i], "--options") == 0 && i + 1 < argc) {
            settings.options = argv[++i];
        } else if (strcmp(argv[i], "--part") == 0 && i + 1 < argc) {
            char *end = NULL;
            settings.part = (unsigned)strtoul(argv[++i], &end, 10);
            settings.parts = *end == '/' ? (unsigned)strtoul(end + 1, NULL, 10) : 0;
        } else if (strcmp(argv[i], "--deep") == 0) {
            settings.deep = true;
        } else if (strcmp(argv[i], "--server") == 0) {
            settings.server = true;
        } else if (strcmp(argv[i], "--list") == 0) {
            settings.list = true;
        } else if (strcmp(argv[i], "--touched") == 0) {
            settings.touched = true;
        } else if (strcmp(argv[i], "--verbose") == 0) {
            settings.verbose = true;
        } else {
            usage();
        }
    }
    settings.command = argv + i + 1;
    if (i + 1 >= argc || settings.library == NULL || settings.options == NULL ||
        settings.parts == 0) {
        usage();
    }
}

static void prepare(void)
{
    const struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    snprintf(settings.folder, sizeof settings.folder, "/tmp/torture-XXXXXX");
    if (mkdtemp(settings.folder) == NULL || mkdir(in_folder("profiles"), 0700) != 0) {
        fail("a folder");
    }
}

static void clean(void)
{
    result r = {0};
    each_profile(remove_profile, &r);
    rmdir(in_folder("profiles"));
    unlink(in_folder("out"));
    unlink(in_folder("err"));
    rmdir(settings.folder);
}

int main(int argc, char **argv)
{
    read_arguments(argc, argv);
    prepare();
    result without = run(false, NULL);
    wanted_failure none = {.note = note_place,
                           .touches = settings.touched ? settings.folder : NULL};
    result right = run(true, &none);
    if (right.status != without.status || right.sum != without.sum || right.broken != 0) {
        printf("FAIL: the library alone changes the program: status %x, %x without it\n",
               right.status, without.status);
        clean();
        return 1;
    }
    if (settings.touched) {
        clean();
        return 0;
    }
    unsigned long calls = 0;
    for (size_t i = 0; i < found.count; i++) {
        const place *p = &found.places[i];
        calls += p->calls;
        if (settings.list) {
            printf("%6u ", p->calls);
            print_place(stdout, p);
            printf("\n");
        } else if (i % settings.parts + 1 == settings.part) {
            try_place(p, &right, &without);
        }
    }
    printf("%s, %s: %zu places, %lu calls, %u profiles; %lu failed, %lu not reached; %lu faults\n",
           settings.command[0], settings.options, found.count, calls, right.profiles,
           found.injected, found.missed, found.failures);
    clean();
    return found.failures != 0;
}
