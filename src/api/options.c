/* SPDX-License-Identifier: MIT
 *
 * options.c: tables of words, each with the function that takes its value: the kinds' own, and
 * those of all.
 *
 * Zone: NORMAL.
 */
#include "api/options.h"

#include "base/text.h"
#include "host/kind.h"
#include "output/output.h"
#include "output/word_values.h"
#include "sys/log.h"
#include "sys/recorder.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_WORD = 4096 };

/* `value` is what follows the word's '=' or ':', NULL if there is nothing. */
typedef int take_function(pp_options *options, const char *value);

typedef struct option {
    const char *name;
    take_function *take;
    const char *usage;
} option;

/* ---- values ---- */

/* "10", "10s", "500ms", "2m", "1h" */
static bool parse_duration(const char *text, uint64_t *ns)
{
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = {{"", 1000000000},
                 {"s", 1000000000},
                 {"ms", 1000000},
                 {"m", 60000000000},
                 {"h", 3600000000000u}};
    char digits[16];
    size_t length = text != NULL ? strspn(text, "0123456789") : 0;
    int64_t number = 0;
    if (length == 0 || length >= sizeof digits) {
        return false;
    }
    memcpy(digits, text, length);
    digits[length] = '\0';
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(text + length, units[i].unit) == 0) {
            uint64_t product = 0;
            if (!pp_word_number(digits, &number) || number <= 0 ||
                __builtin_mul_overflow((uint64_t)number, units[i].ns, &product)) {
                return false;
            }
            *ns = product;
            return true;
        }
    }
    return false;
}

/* ---- words ---- */

static int take_file(pp_options *options, const char *value)
{
    (void)options;
    return value == NULL ? -EINVAL : pp_output_set_template(value);
}

static int take_symbolize(pp_options *options, const char *value)
{
    static const struct {
        const char *name;
        pp_symbolize symbolize;
    } degrees[] = {
        {"none", PP_SYMBOLIZE_NONE}, {"names", PP_SYMBOLIZE_NAMES}, {"lines", PP_SYMBOLIZE_LINES}};
    for (size_t i = 0; value != NULL && i < sizeof degrees / sizeof *degrees; i++) {
        if (strcmp(value, degrees[i].name) == 0) {
            options->symbolize = degrees[i].symbolize;
            return 0;
        }
    }
    return -EINVAL;
}

static int take_log(pp_options *options, const char *value)
{
    (void)options;
    if (value == NULL) {
        return -EINVAL;
    }
    if (strcmp(value, "stderr") == 0) {
        return pp_log_set_path(NULL);
    }
    return pp_log_set_path(value);
}

static int take_subprocesses(pp_options *options, const char *value)
{
    return pp_word_alone(value, &options->subprocesses);
}

static int take_follow_exec(pp_options *options, const char *value)
{
    return pp_word_alone(value, &options->follow_exec);
}

static int take_duration(pp_options *options, const char *value)
{
    return parse_duration(value, &options->duration_ns) ? 0 : -EINVAL;
}

/* "FD:DEVICE:INODE". A descriptor that leads elsewhere is no error: files are written then. */
static int take_recorder(pp_options *options, const char *value)
{
    uint64_t numbers[3] = {0};
    (void)options;
    for (unsigned i = 0; i < 3; i++) {
        char *end = NULL;
        if (value == NULL || *value < '0' || *value > '9') {
            return -EINVAL;
        }
        int saved_errno = errno;
        numbers[i] = strtoull(value, &end, 10);
        errno = saved_errno;
        if (*end != (i < 2 ? ':' : '\0')) {
            return -EINVAL;
        }
        value = end + 1;
    }
    if (numbers[0] > INT_MAX) {
        return -EINVAL;
    }
    pp_recorder_set((int)numbers[0], numbers[1], numbers[2]);
    return 0;
}

static int take_later(pp_options *options, const char *value)
{
    (void)options;
    (void)value;
    return -ENOTSUP;
}

static const option table[] = {
    {"file", take_file, "file=PATH, with %e %p %k %t %n %%"},
    {"symbolize", take_symbolize, "symbolize=none, names or lines"},
    {"log", take_log, "log=PATH or log=stderr"},
    {"subprocesses", take_subprocesses, "subprocesses, without a value"},
    {"follow-exec", take_follow_exec, "follow-exec, without a value"},
    {"duration", take_duration, "duration=30s, or ms, m, h"},
    {"recorder", take_recorder, "recorder=FD:DEVICE:INODE, as cpprof record does"},
    {"http", take_later, NULL},
    {"signal", take_later, NULL},
    {"interval", take_later, NULL},
    {"push", take_later, NULL},
};

static const option *find_option(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

static const pp_word *find_word(const char *name)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_word *w = pp_kinds[i]->words;
        while (w != NULL && w->name != NULL && strcmp(w->name, name) != 0) {
            w++;
        }
        if (w != NULL && w->name != NULL) {
            return w;
        }
    }
    return NULL;
}

/* `usage`: how it is written; NULL: the word is unknown. */
static void complain(pp_options *options, const char *word, const char *usage, int error)
{
    pp_text text = PP_TEXT_INIT;
    if (error == -ENOTSUP) {
        pp_text_add(&text, "not in this version: option '");
    } else {
        pp_text_add(&text, usage == NULL ? "unknown option '" : "bad value: option '");
    }
    pp_text_add(&text, word);
    pp_text_add(&text, "' is ignored");
    if (usage != NULL && error != -ENOTSUP) {
        pp_text_add(&text, "; write ");
        pp_text_add(&text, usage);
    }
    pp_log(&text);
    if (options->error == 0) {
        options->error = error;
    }
}

/* 0 or -errno; *usage is left alone if the word is unknown. */
static int take(pp_options *options, const char *name, const char *value, const char **usage)
{
    bool empty = value != NULL && *value == '\0';
    const option *o = find_option(name);
    if (o != NULL) {
        *usage = o->usage;
        return empty ? -EINVAL : o->take(options, value);
    }
    const pp_word *w = find_word(name);
    if (w != NULL) {
        *usage = w->usage;
        return empty ? -EINVAL : w->take(value);
    }
    return -EINVAL;
}

static void take_word(pp_options *options, char *word)
{
    char name[32] = "";
    size_t length = strcspn(word, "=:");
    if (length == 0 && *word == '\0') {
        return; /* two commas, or one at the end */
    }
    const char *value = word[length] != '\0' ? word + length + 1 : NULL;
    const char *usage = NULL;
    if (length < sizeof name) {
        memcpy(name, word, length);
    }
    int error = take(options, name, value, &usage);
    if (error != 0) {
        complain(options, word, usage, error);
    }
}

static void forget_kinds(bool all)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        if (pp_kinds[i]->forget != NULL) {
            pp_kinds[i]->forget(all);
        }
    }
}

void pp_options_init(pp_options *options)
{
    *options = (pp_options){.symbolize = PP_SYMBOLIZE_NAMES};
    forget_kinds(true);
}

void pp_options_forget_kinds(void)
{
    forget_kinds(false);
}

void pp_options_parse(pp_options *options, const char *text)
{
    char word[MAX_WORD];
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        if (length < sizeof word) {
            memcpy(word, text, length + 1); /* with the comma or the end */
            word[length] = '\0';
            take_word(options, word);
        } else {
            complain(options, "(longer than 4095 characters)", NULL, -EINVAL);
        }
        text += length + (text[length] == ',');
    }
}

static void take_variable(pp_options *options, const pp_word *variable)
{
    const char *value = secure_getenv(variable->name);
    int error = value != NULL && *value != '\0' ? variable->take(value) : 0;
    if (error != 0) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(&text, "bad value: variable '");
        pp_text_add(&text, variable->name);
        pp_text_add(&text, "=");
        pp_text_add(&text, value);
        pp_text_add(&text, "' is ignored");
        pp_log(&text);
        options->error = options->error != 0 ? options->error : error;
    }
}

void pp_options_from_gperftools(pp_options *options)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_word *v = pp_kinds[i]->variables;
        for (; v != NULL && v->name != NULL; v++) {
            take_variable(options, v);
        }
    }
}
