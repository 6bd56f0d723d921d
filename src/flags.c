/* SPDX-License-Identifier: MIT
 *
 * flags.c: pprof_parse_flags(): the flags of `go test` that ask for profiles.
 *
 *   argv -> [take: ours go, the others close ranks] -> asked -> [apply: paths, rates] -> preload.h
 *
 * Zone: NORMAL.
 * Locks: none; a program reads its arguments in one thread.
 * Owns: nothing.
 */
#include "base/text.h"
#include "options.h"
#include "output.h"
#include "preload.h"
#include "sample/heap.h"
#include "sys/log.h"

#include "pprof.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* What the flags say. Files: NULL or "" if there is to be none. */
typedef struct asked {
    const char *cpu, *memory, *block, *mutex;
    int64_t memory_rate, block_rate, mutex_fraction;
} asked;

typedef struct flag {
    const char *name;
    size_t at;      /* its field of `asked` */
    bool is_number; /* else a file */
} flag;

static const flag table[] = {
    {"cpuprofile", offsetof(asked, cpu), false},
    {"memprofile", offsetof(asked, memory), false},
    {"memprofilerate", offsetof(asked, memory_rate), true},
    {"blockprofile", offsetof(asked, block), false},
    {"blockprofilerate", offsetof(asked, block_rate), true},
    {"mutexprofile", offsetof(asked, mutex), false},
    {"mutexprofilefraction", offsetof(asked, mutex_fraction), true},
};

/* ---- one flag ---- */

static void complain(const flag *f, const char *value)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, value == NULL ? "no value: flag '-" : "bad value: flag '-");
    pp_text_add(&text, f->name);
    if (value != NULL) {
        pp_text_add(&text, "=");
        pp_text_add(&text, value);
    }
    pp_text_add(&text, "' is ignored; write -");
    pp_text_add(&text, f->name);
    pp_text_add(&text, f->is_number ? "=NUMBER" : "=FILE");
    pp_log(&text);
}

/* In any base that C knows, as Go's flags. */
static bool parse_number(const char *text, int64_t *number)
{
    char *end = NULL;
    int saved_errno = errno;
    errno = 0;
    long long parsed = strtoll(text, &end, 0);
    bool good = errno == 0 && end != text && *end == '\0';
    errno = saved_errno;
    *number = parsed;
    return good;
}

static int take_value(const flag *f, const char *value, asked *a)
{
    char *field = (char *)a + f->at;
    int64_t number = 0;
    if (value == NULL || (f->is_number && !parse_number(value, &number))) {
        complain(f, value);
        return -EINVAL;
    }
    if (f->is_number) {
        memcpy(field, &number, sizeof number);
    } else {
        memcpy(field, &value, sizeof value);
    }
    return 0;
}

/* The flag that `word` is, NULL if none of ours; *value is what stands behind its '=', or NULL. */
static const flag *find_flag(const char *word, const char **value)
{
    if (*word != '-') {
        return NULL;
    }
    word += word[1] == '-' ? 2 : 1;
    size_t length = strcspn(word, "=");
    *value = word[length] == '=' ? word + length + 1 : NULL;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strlen(table[i].name) == length && memcmp(table[i].name, word, length) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

/* ---- all of them ---- */

static int take(int *argc, char **argv, asked *a)
{
    int error = 0;
    int kept = 1;
    int i = 1;
    for (; i < *argc && strcmp(argv[i], "--") != 0; i++) {
        const char *value = NULL;
        const flag *f = find_flag(argv[i], &value);
        if (f == NULL) {
            argv[kept++] = argv[i];
            continue;
        }
        if (value == NULL && i + 1 < *argc) {
            value = argv[++i];
        }
        int flag_error = take_value(f, value, a);
        error = error != 0 ? error : flag_error;
    }
    while (i < *argc) {
        argv[kept++] = argv[i++];
    }
    if (kept < *argc) {
        *argc = kept;
        argv[kept] = NULL;
    }
    return error;
}

static void fail(int *error, int new_error, const char *what, const char *subject)
{
    pp_log_error(what, subject, new_error, NULL);
    *error = *error != 0 ? *error : new_error;
}

/* Whether a file is wanted there; *error is the first one. */
static bool wants_file(const char *kind, const char *path, int *error)
{
    if (path == NULL || *path == '\0') {
        return false;
    }
    int path_error = pp_output_set_file(kind, path);
    if (path_error != 0) {
        fail(error, path_error, "no profile can be written to ", path);
    }
    return path_error == 0;
}

/* One that runs already keeps its file. */
static bool wants_cpu(const char *path, int *error)
{
    if (path != NULL && *path != '\0' && pp_cpu_control_is_running()) {
        fail(error, -EBUSY, "the CPU profile could not be started for ", path);
        return false;
    }
    return wants_file("cpu", path, error);
}

static int apply(const asked *a, int error)
{
    pp_options wanted;
    pp_preload_options(&wanted);
    wanted.cpu = wants_cpu(a->cpu, &error);
    wanted.heap = wants_file("allocs", a->memory, &error);
    if (wanted.heap) {
        int64_t present = pp_heap_rate();
        wanted.heap_request.allocs = true;
        wanted.heap_request.rate = a->memory_rate > 0 ? a->memory_rate
                                   : present > 0      ? present
                                                      : PP_HEAP_RATE_DEFAULT;
    } else if (a->memory_rate > 0) {
        pprof_set_mem_profile_rate(a->memory_rate);
    }
    if (wants_file("block", a->block, &error) && a->block_rate > 0) {
        wanted.contention_request.block_rate = a->block_rate;
    }
    if (wants_file("mutex", a->mutex, &error) && a->mutex_fraction > 0) {
        wanted.contention_request.mutex_fraction = a->mutex_fraction;
    }
    wanted.error = error;
    return pp_preload_apply(&wanted);
}

int pprof_parse_flags(int *argc, char **argv)
{
    if (argc == NULL || argv == NULL) {
        return -EINVAL;
    }
    pp_preload_link();
    asked a = {.block_rate = 1, .mutex_fraction = 1};
    int error = take(argc, argv, &a);
    /* Who starts a setuid program must not choose which files it writes. */
    return getauxval(AT_SECURE) != 0 ? -EPERM : apply(&a, error);
}
