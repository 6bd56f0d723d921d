/* SPDX-License-Identifier: MIT
 *
 * record_diagnose.c: see record_diagnose.h.
 *
 * Owns: one open program file at a time.
 * Tested by: e2e.cpprof_record.
 */
#include "record/record_diagnose.h"

#include "base/base_name.h"
#include "base/message.h"
#include "record/record_child.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The kernel's limit: a script may be the interpreter of another script, and so on. */
#define MAX_INTERPRETERS 5

typedef struct program {
    const char *path;
    int fd;
    struct stat info;
    unsigned char head[256];
    size_t head_length;
} program;

/* ---- finding ---- */

static bool is_program(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* Searches as execvp() does: a name with a slash is a path. */
static bool find_along_path(const char *name, char *found, size_t size)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/')) {
        snprintf(found, size, "%s", name);
        return is_program(found);
    }
    for (path = path ? path : "/bin:/usr/bin"; path;) {
        size_t length = strcspn(path, ":");

        snprintf(found, size, "%.*s%s%s", (int)length, path, length ? "/" : "", name);
        if (is_program(found)) {
            return true;
        }
        path = path[length] ? path + length + 1 : NULL;
    }
    return false;
}

/* ---- scripts ---- */

/* Finds the interpreter of a script: "#!/usr/bin/env -S python3 -u" runs python3. */
static bool interpreter_of(const program *p, char *found, size_t size)
{
    char line[sizeof p->head + 1];
    memcpy(line, p->head, p->head_length);
    line[p->head_length] = '\0';
    line[strcspn(line, "\n")] = '\0';
    char *rest;
    char *word = strtok_r(line + 2, " \t\r", &rest);
    if (!word) {
        return false;
    }
    if (strcmp(strrchr(word, '/') ? strrchr(word, '/') + 1 : word, "env") == 0) {
        char *argument = strtok_r(NULL, " \t\r", &rest);
        while (argument && (argument[0] == '-' || strchr(argument, '='))) {
            argument = strtok_r(NULL, " \t\r", &rest);
        }
        word = argument ? argument : word;
    }
    return find_along_path(word, found, size);
}

/* ---- ELF ---- */

static int wrong_machine(const program *p, const ElfW(Ehdr) * own, cp_error *error)
{
    const unsigned char *head = p->head;
    unsigned machine =
        head[EI_DATA] == ELFDATA2MSB ? head[18] * 256u + head[19] : head[19] * 256u + head[18];

    if (head[EI_CLASS] != own->e_ident[EI_CLASS]) {
        return cp_fail(error, "%s is a %d-bit program: libpprof works in 64-bit programs only",
                       p->path, head[EI_CLASS] == ELFCLASS32 ? 32 : 64);
    }
    if (head[EI_DATA] != own->e_ident[EI_DATA] || machine != own->e_machine) {
        return cp_fail(error,
                       "%s is a program for another machine (ELF machine %u): this libpprof works "
                       "in programs of its own only",
                       p->path, machine);
    }
    return 0;
}

/* Reads the name of the program's dynamic loader; "" if it has none. */
static void read_loader(const program *p, const ElfW(Ehdr) * header, char *loader, size_t size)
{
    loader[0] = '\0';
    for (unsigned i = 0; i < header->e_phnum; i++) {
        off_t at = (off_t)(header->e_phoff + (size_t)i * header->e_phentsize);
        ElfW(Phdr) segment;

        if (pread(p->fd, &segment, sizeof segment, at) != (ssize_t)sizeof segment) {
            return;
        }
        if (segment.p_type != PT_INTERP) {
            continue;
        }
        ssize_t got = pread(p->fd, loader, size - 1, (off_t)segment.p_offset);
        loader[got > 0 ? got : 0] = '\0';
        return;
    }
}

/* Such a program would not start: its loader refuses the library. */
static int inspect_libc(const program *p, const char *loader, cp_error *error)
{
#if defined(__GLIBC__)
    static const char other[] = "the musl C library", ours[] = "glibc", that[] = "musl";
    const bool is_other = strstr(loader, "ld-musl") != NULL;
#else
    static const char other[] = "glibc", ours[] = "musl", that[] = "glibc";
    const bool is_other = strstr(loader, "ld-musl") == NULL;
#endif
    if (!is_other) {
        return 0;
    }
    cp_fail(error,
            "%s uses %s, and this libpprof is built for %s: record it with a cpprof that is built "
            "for %s",
            p->path, other, ours, that);
    return CP_DIAGNOSE_BREAKS;
}

static int inspect_elf(const program *p, cp_error *error)
{
    ElfW(Ehdr) header, own;
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    bool known = self >= 0 && read(self, &own, sizeof own) == (ssize_t)sizeof own;

    if (self >= 0) {
        close(self);
    }
    if (known && wrong_machine(p, &own, error) < 0) {
        return -1;
    }
    if (p->head_length < sizeof header) {
        return 0;
    }
    memcpy(&header, p->head, sizeof header);
    char loader[256];
    read_loader(p, &header, loader, sizeof loader);
    if (!loader[0]) {
        return cp_fail(error,
                       "%s is statically linked: no library can be preloaded into it; link it "
                       "dynamically, or link libpprof_static.a into it",
                       p->path);
    }
    return inspect_libc(p, loader, error);
}

/* ---- privileges ---- */

static int inspect_privileges(const program *p, cp_error *error)
{
    bool setuid = (p->info.st_mode & S_ISUID) && p->info.st_uid != getuid();
    bool setgid = (p->info.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
                  p->info.st_gid != getgid();

    if (setuid || setgid) {
        return cp_fail(error,
                       "%s is set%s: the system ignores LD_PRELOAD for it; record a copy without "
                       "that bit, or as the user that it switches to",
                       p->path, setuid ? "uid" : "gid");
    }
    if (geteuid() != 0 && fgetxattr(p->fd, "security.capability", NULL, 0) > 0) {
        return cp_fail(error,
                       "%s has file capabilities: the system ignores LD_PRELOAD for it; record a "
                       "copy without them (setcap -r), or as root",
                       p->path);
    }
    return 0;
}

/* ---- commands ---- */

static bool open_program(program *p, const char *path)
{
    memset(p, 0, sizeof *p);
    p->path = path;
    p->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (p->fd < 0) {
        return false;
    }
    ssize_t got = read(p->fd, p->head, sizeof p->head);
    p->head_length = got > 0 ? (size_t)got : 0;
    return fstat(p->fd, &p->info) == 0;
}

static bool is_script(const program *p)
{
    return p->head_length > 2 && memcmp(p->head, "#!", 2) == 0;
}

static int inspect(const char *path, int depth, cp_error *error)
{
    int status = 0;

    program p;
    if (!open_program(&p, path)) {
        return 0; /* nothing is certain: a program may be executable but not readable */
    }
    char interpreter[PATH_MAX];
    if (p.head_length >= SELFMAG && memcmp(p.head, ELFMAG, SELFMAG) == 0) {
        status = inspect_privileges(&p, error);
        if (status == 0) {
            status = inspect_elf(&p, error);
        }
    } else if (is_script(&p) && depth < MAX_INTERPRETERS &&
               interpreter_of(&p, interpreter, sizeof interpreter)) {
        cp_error inner;
        status = inspect(interpreter, depth + 1, &inner);
        if (status < 0) {
            cp_fail(error, "%s is a script, and its interpreter %.800s", path, inner.text);
        }
    }
    close(p.fd);
    return status;
}

bool cp_diagnose_find(const char *command, char *program_path, size_t size)
{
    char interpreter[PATH_MAX];

    if (!find_along_path(command, program_path, size)) {
        return false;
    }
    for (int i = 0; i < MAX_INTERPRETERS; i++) {
        program p;
        bool goes_on = open_program(&p, program_path) && is_script(&p) &&
                       interpreter_of(&p, interpreter, sizeof interpreter);
        if (p.fd >= 0) {
            close(p.fd);
        }
        if (!goes_on) {
            break;
        }
        snprintf(program_path, size, "%s", interpreter);
    }
    return true;
}

int cp_diagnose_command(const char *command, cp_error *error)
{
    char path[PATH_MAX];

    if (!find_along_path(command, path, sizeof path)) {
        return 0; /* the attempt to start it reports the error */
    }
    return inspect(path, 0, error);
}

char *cp_diagnose_other_name(const char *command)
{
    char path[PATH_MAX];
    size_t length, real_length;
    const char *name = cp_base_name(command, &length);
    char *real = find_along_path(command, path, sizeof path) ? realpath(path, NULL) : NULL;

    if (real && strncmp(cp_base_name(real, &real_length), name, length) == 0) {
        free(real);
        return NULL;
    }
    return real;
}

/* Whether the process has another name now. The kernel keeps 15 bytes of a name; that of a script
 * is the script's. */
static bool became_another(const char *command, const cp_child *child)
{
    const char *name = strrchr(command, '/') ? strrchr(command, '/') + 1 : command;

    return child->last_name[0] && strncmp(name, child->last_name, 15) != 0;
}

void cp_diagnose_ended(const char *command, const cp_child *child, bool alone, cp_error *error)
{
    int number = WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0;

    if (cp_diagnose_command(command, error) != CP_DIAGNOSE_FINE) {
        return;
    }
    if (number == SIGKILL) {
        cp_fail(error,
                "%s was killed by SIGKILL, which leaves no time to write a profile; end it "
                "with SIGTERM or SIGINT, or stop earlier with -d TIME",
                command);
    } else if (number) {
        cp_fail(error,
                "%s was ended by signal %d (%s) before it could write its profile; -d TIME "
                "writes it earlier",
                command, number, strsignal(number));
    } else if (alone && became_another(command, child)) {
        cp_fail(
            error,
            "%s replaced itself by another program (%s), which could not be followed; record that "
            "program, or leave out --no-subprocesses",
            command, child->last_name);
    } else {
        cp_fail(
            error,
            "%s ended without writing one; perhaps it clears LD_PRELOAD, or ends by a raw _exit "
            "system call (-d TIME writes a profile earlier); LIBPPROF=log=stderr prints the "
            "library's messages",
            command);
    }
}
