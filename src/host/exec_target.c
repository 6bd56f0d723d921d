/* SPDX-License-Identifier: MIT
 *
 * exec_target.c: reads the first bytes of a program, as the kernel will.
 *
 * Zone: NORMAL.
 * Owns: one descriptor at a time.
 * Tested by: e2e.cpprof_record_exec, e2e.other_libc
 */
#include "host/exec_target.h"

#include "modules/loader_state.h"
#include "sys/apart.h"
#include "sys/file_calls.h"
#include "sys/own_files.h"
#include "sys/path_template.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAD_BYTES = 256,
    MAX_INTERPRETERS = 4, /* the kernel's limit: a script's interpreter may be a script */
    PERMITS_EXECUTION = 0111
};

/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's name */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

typedef struct program {
    int fd;
    struct stat status;
    size_t length;
    char head[HEAD_BYTES + 1];
} program;

/* ---- ELF ---- */

static pp_exec_verdict inspect_loader(const program *p, const ElfW(Phdr) * segment)
{
    char loader[HEAD_BYTES];
    long length = pp_file_read_at(p->fd, loader, sizeof loader - 1, segment->p_offset);
    loader[length > 0 ? length : 0] = '\0';
    bool is_musl = strstr(loader, "ld-musl") != NULL;
    return is_musl != pp_loader_is_libc() ? PP_EXEC_OTHER_LIBC : PP_EXEC_OURS;
}

static pp_exec_verdict inspect_elf(const program *p)
{
    ElfW(Ehdr) header = {.e_phnum = 0};
    memcpy(&header, p->head, sizeof header);
    if (header.e_ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] ||
        header.e_machine != __ehdr_start.e_machine) {
        return PP_EXEC_FOREIGN;
    }
    for (unsigned i = 0; i < header.e_phnum; i++) {
        ElfW(Phdr) segment = {.p_type = PT_NULL};
        uint64_t at = header.e_phoff + (uint64_t)i * header.e_phentsize;
        if (pp_file_read_at(p->fd, &segment, sizeof segment, at) != (long)sizeof segment) {
            break;
        }
        if (segment.p_type == PT_INTERP) {
            return inspect_loader(p, &segment);
        }
    }
    return PP_EXEC_STATIC;
}

/* ---- files ---- */

static bool is_privileged(const struct stat *status)
{
    unsigned with_group = S_ISGID | S_IXGRP;
    bool user =
        (status->st_mode & S_ISUID) != 0 && status->st_uid != (uid_t)pp_system_call(SYS_getuid);
    bool group = (status->st_mode & with_group) == with_group &&
                 status->st_gid != (gid_t)pp_system_call(SYS_getgid);
    return user || group;
}

/* The word after "#!", ended in place; NULL if there is none. */
static char *interpreter_of(program *p)
{
    char *word = p->head + 2 + strspn(p->head + 2, " \t");
    word[strcspn(word, " \t\r\n")] = '\0';
    return *word != '\0' ? word : NULL;
}

static pp_exec_verdict open_and_inspect(int folder, const char *path, unsigned depth);

static pp_exec_verdict inspect_open(program *p, unsigned depth)
{
    int error = (int)pp_file_status(p->fd, &p->status);
    if (error != 0) {
        return error == -EBADF ? PP_EXEC_ABSENT : PP_EXEC_OURS;
    }
    if (!S_ISREG(p->status.st_mode) || (p->status.st_mode & PERMITS_EXECUTION) == 0) {
        return PP_EXEC_ABSENT;
    }
    if (is_privileged(&p->status)) {
        return PP_EXEC_PRIVILEGED;
    }
    long length = pp_file_read_at(p->fd, p->head, HEAD_BYTES, 0);
    p->length = length > 0 ? (size_t)length : 0;
    p->head[p->length] = '\0';
    if (p->length >= sizeof(ElfW(Ehdr)) && memcmp(p->head, ELFMAG, SELFMAG) == 0) {
        return inspect_elf(p);
    }
    char *next = p->length > 2 && memcmp(p->head, "#!", 2) == 0 ? interpreter_of(p) : NULL;
    return next != NULL && depth < MAX_INTERPRETERS ? open_and_inspect(AT_FDCWD, next, depth + 1)
                                                    : PP_EXEC_OURS;
}

static bool may_execute(int folder, const char *path)
{
    enum { EXECUTE = 1 };
    return pp_system_call(SYS_faccessat, folder, path, EXECUTE) == 0;
}

static pp_exec_verdict open_and_inspect(int folder, const char *path, unsigned depth)
{
    program p = {.fd = -1};
    if (path == NULL || *path == '\0') {
        p.fd = folder;
        return inspect_open(&p, depth);
    }
    if (!may_execute(folder, path)) {
        return PP_EXEC_ABSENT;
    }
    p.fd = pp_own_open_at(folder, path, O_RDONLY | O_NONBLOCK);
    if (p.fd < 0) {
        return PP_EXEC_OURS;
    }
    pp_exec_verdict verdict = inspect_open(&p, depth);
    pp_own_close(p.fd);
    return verdict;
}

/* ---- PATH ---- */

static pp_exec_verdict search(const char *name)
{
    char text[PATH_MAX];
    const char *folders = getenv("PATH");
    for (folders = folders != NULL ? folders : "/bin:/usr/bin"; folders != NULL;) {
        size_t length = strcspn(folders, ":");
        pp_path path = pp_path_begin(text, sizeof text);
        for (size_t i = 0; i < length; i++) {
            pp_path_add_char(&path, folders[i]);
        }
        pp_path_add(&path, length > 0 ? "/" : "");
        pp_path_add(&path, name);
        pp_exec_verdict verdict =
            path.overflow ? PP_EXEC_ABSENT : open_and_inspect(AT_FDCWD, text, 0);
        if (verdict != PP_EXEC_ABSENT) {
            return verdict;
        }
        folders = folders[length] != '\0' ? folders + length + 1 : NULL;
    }
    return PP_EXEC_ABSENT;
}

typedef struct question {
    const pp_exec_target *target;
    pp_exec_verdict verdict;
} question;

static void inspect(void *of_question)
{
    question *q = of_question;
    const char *path = q->target->path;
    bool is_searched =
        q->target->search && path != NULL && *path != '\0' && strchr(path, '/') == NULL;
    q->verdict = is_searched ? search(path) : open_and_inspect(q->target->folder, path, 0);
}

/* A folder is a descriptor of the program's. */
pp_exec_verdict pp_exec_inspect(const pp_exec_target *target)
{
    question q = {.target = target};
    if (target->folder == AT_FDCWD) {
        pp_apart(inspect, &q);
    } else {
        pp_apart_stay(inspect, &q);
    }
    return q.verdict;
}
