/* SPDX-License-Identifier: MIT
 *
 * flags.c: pprof_parse_flags(), which takes the flags of `go test` that ask for profiles.
 *
 *   argv -> remove_flags() -> values in the kinds -> take_flags() -> preload.h
 *
 * Zone: NORMAL.
 * Locks: none; a program reads its arguments in one thread.
 * Tested by: e2e.flags
 */
#include "api/options.h"
#include "api/preload.h"
#include "base/parse_number.h"
#include "base/text.h"
#include "host/kind.h"
#include "sys/log.h"

#include "pprof.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* ---- one flag ---- */

static void complain(const pp_flag *f, const char *value)
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
    pp_text_add(&text, f->number != NULL ? "=NUMBER" : "=FILE");
    pp_log(&text);
}

/* Reads a number in any base that C knows, as Go's flags do. */
static bool parse_number(const char *text, int64_t *number)
{
    char *end = NULL;
    int saved_errno = errno;
    errno = 0;
    long long parsed = pp_strtoll(text, &end, 0);
    bool good = errno == 0 && end != text && *end == '\0';
    errno = saved_errno;
    *number = parsed;
    return good;
}

static int take_value(const pp_flag *f, const char *value)
{
    int64_t number = 0;
    if (value == NULL || (f->number != NULL && !parse_number(value, &number))) {
        complain(f, value);
        return -EINVAL;
    }
    if (f->number != NULL) {
        *f->number = number;
    } else {
        *f->file = value;
    }
    return 0;
}

static const pp_flag *find_name(const char *name, size_t length)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_flag *f = pp_kinds[i]->flags;
        for (; f != NULL && f->name != NULL; f++) {
            if (strlen(f->name) == length && memcmp(f->name, name, length) == 0) {
                return f;
            }
        }
    }
    return NULL;
}

/* The flag that `word` names; NULL if it is none of ours. *value is the text after its '=', or
 * NULL. */
static const pp_flag *find_flag(const char *word, const char **value)
{
    if (*word != '-') {
        return NULL;
    }
    word += word[1] == '-' ? 2 : 1;
    size_t length = strcspn(word, "=");
    *value = word[length] == '=' ? word + length + 1 : NULL;
    return find_name(word, length);
}

/* ---- all of them ---- */

static int remove_flags(int *argc, char **argv)
{
    int error = 0;
    int kept = 1;
    int i = 1;
    for (; i < *argc && strcmp(argv[i], "--") != 0; i++) {
        const char *value = NULL;
        const pp_flag *f = find_flag(argv[i], &value);
        if (f == NULL) {
            argv[kept++] = argv[i];
            continue;
        }
        if (value == NULL && i + 1 < *argc) {
            value = argv[++i];
        }
        int flag_error = take_value(f, value);
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

static int apply(int error)
{
    pp_options wanted;
    int busy = pp_preload_begin(&wanted);
    if (busy != 0) {
        return busy;
    }
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        int kind_error = pp_kinds[i]->take_flags != NULL ? pp_kinds[i]->take_flags() : 0;
        error = error != 0 ? error : kind_error;
    }
    wanted.error = error;
    return pp_preload_apply(&wanted);
}

int pprof_parse_flags(int *argc, char **argv)
{
    if (argc == NULL || argv == NULL) {
        return -EINVAL;
    }
    int error = remove_flags(argc, argv);
    /* The user who starts a setuid program must not choose the files that it writes. */
    return getauxval(AT_SECURE) != 0 ? -EPERM : apply(error);
}
