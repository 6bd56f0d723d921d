/* SPDX-License-Identifier: MIT
 *
 * task_state.c: reads small files of /proc in one piece.
 *
 * Formats: proc_pid_syscall(5), proc_pid_stat(5), proc_pid_comm(5).
 *
 * Zone: SIGNAL.
 */
#include "sys/task_state.h"

#include "arch/call_names.h"
#include "arch/system_call.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 56, FILE_BYTES = 512 /* `stat` has 52 numbers, many of them small */ };

int pp_task_open(void)
{
    return (int)pp_system_call(SYS_openat, AT_FDCWD, "/proc/self/task",
                               O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void pp_task_close(int folder)
{
    if (folder >= 0) {
        pp_system_call(SYS_close, folder);
    }
}

/* Appends `text` to a path of `length` bytes, and returns the new length. */
static size_t append(char path[PATH_BYTES], size_t length, const char *text)
{
    while (*text != '\0' && length < PATH_BYTES - 1) {
        path[length++] = *text++;
    }
    path[length] = '\0';
    return length;
}

/* "TID/file". Returns the length. */
static size_t make_path(char path[PATH_BYTES], int folder, int tid, const char *file)
{
    char digits[PP_DECIMAL_BYTES];
    size_t length = append(path, 0, folder == PP_TASK_ANY_FOLDER ? "/proc/self/task/" : "");
    length = append(path, length, pp_decimal((uint64_t)tid, digits));
    length = append(path, length, "/");
    return append(path, length, file);
}

static long open_file(int folder, int tid, const char *file)
{
    char path[PATH_BYTES];
    make_path(path, folder, tid, file);
    return pp_system_call(SYS_openat, folder, path, O_RDONLY | O_CLOEXEC);
}

static long terminate(char *text, long got)
{
    text[got > 0 ? got : 0] = '\0';
    return got;
}

/* Reads the beginning of a file into text[size], NUL-terminated. The length, or -errno. */
static long read_text(int folder, int tid, const char *file, char *text, size_t size)
{
    long fd = open_file(folder, tid, file);
    if (fd < 0) {
        return fd;
    }
    long got = pp_system_call(SYS_read, fd, text, size - 1);
    pp_system_call(SYS_close, fd);
    return terminate(text, got);
}

static long read_file(int folder, int tid, const char *file, char text[FILE_BYTES])
{
    return read_text(folder, tid, file, text, FILE_BYTES);
}

/* ---- files that stay open ---- */

typedef struct pp_task_kept kept_files;

static void close_kept(kept_files *kept)
{
    if (kept->tid != 0) {
        pp_task_close(kept->syscall);
        pp_task_close(kept->schedstat);
    }
    kept->tid = 0;
}

void pp_task_files_close(pp_task_files *files)
{
    for (unsigned i = 0; i < PP_TASK_KEPT; i++) {
        close_kept(&files->kept[i]);
    }
}

/* The thread's place; or one that was not used in this look and the one before, for its files. NULL: there is none. */
static kept_files *kept_of(pp_task_files *files, int tid)
{
    kept_files *spare = NULL;
    for (unsigned i = 0; files != NULL && i < PP_TASK_KEPT; i++) {
        kept_files *kept = &files->kept[i];
        if (kept->tid == tid) {
            kept->look = files->look;
            return kept;
        }
        if (kept->tid == 0 || files->look - kept->look > 1) {
            spare = kept;
        }
    }
    if (spare != NULL) {
        close_kept(spare);
        *spare = (kept_files){.tid = tid, .look = files->look, .syscall = -1, .schedstat = -1};
    }
    return spare;
}

/* As read_file(). An open file says that its thread is gone, also if another one has the id by now. */
static long read_again(int *fd, int folder, int tid, const char *file, char text[FILE_BYTES])
{
    if (fd == NULL) {
        return read_file(folder, tid, file, text);
    }
    long got = *fd >= 0 ? pp_system_call(SYS_pread64, *fd, text, FILE_BYTES - 1, 0) : -ESRCH;
    if (got == -ESRCH) {
        pp_task_close(*fd);
        *fd = (int)open_file(folder, tid, file);
        got = *fd >= 0 ? pp_system_call(SYS_pread64, *fd, text, FILE_BYTES - 1, 0) : *fd;
    }
    return terminate(text, got);
}

/* ---- syscall ---- */

static const char *skip_word(const char *text)
{
    while (*text != '\0' && *text != ' ' && *text != '\n') {
        text++;
    }
    return *text == ' ' ? text + 1 : text;
}

static long parse_decimal(const char *text)
{
    long number = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        number = number * 10 + (*text - '0');
    }
    return number;
}

static uint64_t parse_digits(const char *text)
{
    uint64_t number = 0;
    for (;; text++) {
        if (*text >= '0' && *text <= '9') {
            number = number * 16 + (uint64_t)(*text - '0');
        } else if (*text >= 'a' && *text <= 'f') {
            number = number * 16 + (uint64_t)(*text - 'a' + 10);
        } else {
            return number;
        }
    }
}

/* Parses "0x7ffe...". */
static uintptr_t parse_hex(const char *text)
{
    return text[0] == '0' && text[1] == 'x' ? parse_digits(text + 2) : 0;
}

/* Parses "NR 6 arguments SP PC", or "-1 SP PC". */
static bool parse_place(const char *text, pp_task_place *place)
{
    bool in_call = *text != '-';
    *place = (pp_task_place){.call = in_call ? parse_decimal(text) : -1};
    text = skip_word(text);
    for (unsigned i = 0; in_call && i < PP_TASK_ARGUMENTS; i++) {
        place->argument[i] = parse_hex(text);
        text = skip_word(text);
    }
    place->sp = parse_hex(text);
    place->pc = parse_hex(skip_word(text));
    return place->sp != 0 && place->pc != 0;
}

pp_task_activity pp_task_look_again(pp_task_files *files, int folder, int tid, pp_task_place *place)
{
    char text[FILE_BYTES];
    kept_files *kept = kept_of(files, tid);
    long got = read_again(kept != NULL ? &kept->syscall : NULL, folder, tid, "syscall", text);
    if (got == -EACCES || got == -EPERM) {
        return PP_TASK_UNKNOWN;
    }
    if (got < 0) { /* the thread is gone, or the kernel has no such file */
        return pp_task_letter(folder, tid) == 0 ? PP_TASK_GONE : PP_TASK_UNKNOWN;
    }
    if (*text == 'r') {
        return PP_TASK_RUNS;
    }
    return parse_place(text, place) ? PP_TASK_WAITS : PP_TASK_UNKNOWN;
}

/* ---- schedstat, fd ---- */

/* "RAN DELAY TIMES", in decimal. */
int64_t pp_task_delay_ns(pp_task_files *files, int folder, int tid)
{
    char text[FILE_BYTES];
    kept_files *kept = kept_of(files, tid);
    if (read_again(kept != NULL ? &kept->schedstat : NULL, folder, tid, "schedstat", text) <= 0) {
        return -1;
    }
    return parse_decimal(skip_word(text));
}

bool pp_task_has_socket(int folder, int tid, uintptr_t fd)
{
    char path[PATH_BYTES];
    char digits[PP_DECIMAL_BYTES];
    struct stat status = {.st_mode = 0};
    append(path, make_path(path, folder, tid, "fd/"), pp_decimal(fd, digits));
    return pp_system_call(SYS_newfstatat, folder, path, &status, 0) == 0 &&
           S_ISSOCK(status.st_mode);
}

/* ---- stat ---- */

/* Returns `stat` from its letter on, or "". The name before the letter may have blanks and
 * brackets. */
static const char *read_stat(int folder, int tid, char text[FILE_BYTES])
{
    if (read_file(folder, tid, "stat", text) <= 0) {
        return "";
    }
    const char *end = strrchr(text, ')');
    return end != NULL && end[1] == ' ' ? end + 2 : "";
}

char pp_task_letter(int folder, int tid)
{
    char text[FILE_BYTES];
    return *read_stat(folder, tid, text);
}

/* ---- status ---- */

/* The digits after `label`, as a hexadecimal number; 0 if there are none. */
static uint64_t status_number(int folder, int tid, const char *label,
                              char text[PP_TASK_STATUS_BYTES])
{
    long got = read_text(folder, tid, "status", text, PP_TASK_STATUS_BYTES);
    const char *line = got > 0 ? strstr(text, label) : NULL;
    return line != NULL ? parse_digits(line + strlen(label)) : 0;
}

/* Whether the set of signals after `label` has `signal`. */
static bool has_signal(int folder, int tid, const char *label, int signal,
                       char text[PP_TASK_STATUS_BYTES])
{
    return (status_number(folder, tid, label, text) >> (signal - 1) & 1) != 0;
}

bool pp_task_blocks(int folder, int tid, int signal, char text[PP_TASK_STATUS_BYTES])
{
    return has_signal(folder, tid, "\nSigBlk:\t", signal, text);
}

bool pp_task_has_pending(int tid, int signal, char text[PP_TASK_STATUS_BYTES])
{
    return has_signal(PP_TASK_ANY_FOLDER, tid, "\nSigPnd:\t", signal, text);
}

uint64_t pp_task_filters(int tid, char text[PP_TASK_STATUS_BYTES])
{
    bool any = status_number(PP_TASK_ANY_FOLDER, tid, "\nSeccomp:\t", text) != 0;
    return any ? 1 + status_number(PP_TASK_ANY_FOLDER, tid, "\nSeccomp_filters:\t", text) : 0;
}

/* ---- comm ---- */

/* The file ends with a newline. The name itself may contain newlines, also at its end. */
void pp_task_name(int folder, int tid, char name[PP_TASK_NAME_BYTES])
{
    char text[FILE_BYTES];
    long got = read_file(folder, tid, "comm", text);
    size_t length = got > 0 ? (size_t)got - 1 : 0;
    length = length < PP_TASK_NAME_BYTES - 1 ? length : PP_TASK_NAME_BYTES - 1;
    memcpy(name, text, length);
    name[length] = '\0';
}

/* ---- names of calls ---- */

const char *pp_task_call_name(long call)
{
    for (size_t i = 0; i < sizeof pp_call_names / sizeof *pp_call_names; i++) {
        if (pp_call_names[i].number == call) {
            return pp_call_names[i].name;
        }
    }
    return NULL;
}
