/* SPDX-License-Identifier: MIT
 *
 * options.c: a table of words, each with the function that takes its value.
 *
 * Zone: NORMAL.
 * Locks: none.
 * Owns: nothing.
 */
#include "options.h"

#include "base/text.h"
#include "output.h"
#include "sample/heap.h"
#include "sys/log.h"
#include "sys/recorder.h"
#include "sys/sampling_signal.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
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

static bool parse_number(const char *text, int64_t *number)
{
    char *end = NULL;
    if (text == NULL || *text < '0' || *text > '9') {
        return false;
    }
    int saved_errno = errno;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    bool good = errno == 0 && *end == '\0';
    errno = saved_errno;
    *number = parsed;
    return good;
}

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
            if (!parse_number(digits, &number) || number <= 0 ||
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

static int take_cpu(pp_options *options, const char *value)
{
    int64_t hz = 0;
    if (value != NULL && (!parse_number(value, &hz) || hz < 1 || hz > 1000000)) {
        return -EINVAL;
    }
    options->cpu = true;
    if (value != NULL) {
        options->cpu_request.hz = (int)hz;
    }
    return 0;
}

static int take_heap(pp_options *options, const char *value)
{
    if (!pp_heap_rate_of_text(value, value != NULL ? strlen(value) : 0,
                              &options->heap_request.rate)) {
        return -EINVAL;
    }
    options->heap = true;
    return 0;
}

/* Without `heap` it means that, too. */
static int take_peak(pp_options *options, const char *value)
{
    options->heap |= value == NULL;
    options->heap_request.peak |= value == NULL;
    return value == NULL ? 0 : -EINVAL;
}

/* A number above 0; 1 if there is none. */
static int take_rate(const char *value, int64_t *rate)
{
    int64_t number = 1;
    if (value != NULL && (!parse_number(value, &number) || number < 1)) {
        return -EINVAL;
    }
    *rate = number;
    return 0;
}

static int take_block(pp_options *options, const char *value)
{
    return take_rate(value, &options->contention_request.block_rate);
}

static int take_mutex(pp_options *options, const char *value)
{
    return take_rate(value, &options->contention_request.mutex_fraction);
}

static int take_thread(pp_options *options, const char *value)
{
    options->thread |= value == NULL;
    return value == NULL ? 0 : -EINVAL;
}

static int take_file(pp_options *options, const char *value)
{
    (void)options;
    return value == NULL ? -EINVAL : pp_output_set_template(value);
}

static int take_engine(pp_options *options, const char *value)
{
    static const struct {
        const char *name;
        int engine;
    } engines[] = {
        {"auto", PPROF_ENGINE_AUTO}, {"timer", PPROF_ENGINE_TIMER}, {"perf", PPROF_ENGINE_PERF}};
    for (size_t i = 0; value != NULL && i < sizeof engines / sizeof *engines; i++) {
        if (strcmp(value, engines[i].name) == 0) {
            options->cpu_request.engine = engines[i].engine;
            return 0;
        }
    }
    return -EINVAL;
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
    options->subprocesses |= value == NULL;
    return value == NULL ? 0 : -EINVAL;
}

static int take_follow_exec(pp_options *options, const char *value)
{
    options->follow_exec |= value == NULL;
    return value == NULL ? 0 : -EINVAL;
}

static int take_fd(pp_options *options, const char *value)
{
    options->fd |= value == NULL;
    return value == NULL ? 0 : -EINVAL;
}

static int take_alloctrace(pp_options *options, const char *value)
{
    options->alloctrace |= value == NULL;
    return value == NULL ? 0 : -EINVAL;
}

static int take_duration(pp_options *options, const char *value)
{
    return parse_duration(value, &options->cpu_request.duration_ns) ? 0 : -EINVAL;
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
    {"cpu", take_cpu, "cpu or cpu:HZ, HZ from 1 to 1000000"},
    {"heap", take_heap, "heap or heap:BYTES, 0 for off, 1 for every block, 512k"},
    {"peak", take_peak, "peak, without a value"},
    {"block", take_block, "block or block:NS, 1 for every wait"},
    {"mutex", take_mutex, "mutex or mutex:N, one release in N"},
    {"thread", take_thread, "thread, without a value"},
    {"fd", take_fd, "fd, without a value"},
    {"file", take_file, "file=PATH, with %e %p %k %t %n %%"},
    {"engine", take_engine, "engine=auto, timer or perf"},
    {"symbolize", take_symbolize, "symbolize=none, names or lines"},
    {"log", take_log, "log=PATH or log=stderr"},
    {"subprocesses", take_subprocesses, "subprocesses, without a value"},
    {"follow-exec", take_follow_exec, "follow-exec, without a value"},
    {"duration", take_duration, "duration=30s, or ms, m, h"},
    {"alloctrace", take_alloctrace, "alloctrace, without a value"},
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

static void complain(pp_options *options, const char *word, const option *o, int error)
{
    pp_text text = PP_TEXT_INIT;
    if (o == NULL) {
        pp_text_add(&text, "unknown option '");
    } else if (error == -ENOTSUP) {
        pp_text_add(&text, "not in this version: option '");
    } else {
        pp_text_add(&text, "bad value: option '");
    }
    pp_text_add(&text, word);
    pp_text_add(&text, "' is ignored");
    if (o != NULL && error != -ENOTSUP && o->usage != NULL) {
        pp_text_add(&text, "; write ");
        pp_text_add(&text, o->usage);
    }
    pp_log(&text);
    if (options->error == 0) {
        options->error = error;
    }
}

static void take_word(pp_options *options, char *word)
{
    char name[32];
    size_t length = strcspn(word, "=:");
    if (length == 0 && *word == '\0') {
        return; /* two commas, or one at the end */
    }
    const char *value = word[length] != '\0' ? word + length + 1 : NULL;
    const option *o = NULL;
    if (length < sizeof name) {
        memcpy(name, word, length);
        name[length] = '\0';
        o = find_option(name);
    }
    bool empty = value != NULL && *value == '\0';
    int error = o != NULL && !empty ? o->take(options, value) : -EINVAL;
    if (error != 0) {
        complain(options, word, o, error);
    }
}

void pp_options_init(pp_options *options)
{
    *options = (pp_options){
        .cpu_request = {.to_file = true},
        .heap_request = {.rate = PP_HEAP_RATE_DEFAULT},
        .symbolize = PP_SYMBOLIZE_NAMES,
    };
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

static void take_variable(pp_options *options, const char *variable, take_function *take)
{
    const char *value = secure_getenv(variable);
    int error = value != NULL && *value != '\0' ? take(options, value) : 0;
    if (error != 0) {
        pp_text text = PP_TEXT_INIT;
        pp_text_add(&text, "bad value: variable '");
        pp_text_add(&text, variable);
        pp_text_add(&text, "=");
        pp_text_add(&text, value);
        pp_text_add(&text, "' is ignored");
        pp_log(&text);
        options->error = options->error != 0 ? options->error : error;
    }
}

static bool is_set(const char *variable)
{
    const char *value = secure_getenv(variable);
    return value != NULL && *value != '\0';
}

static int take_cpu_file(pp_options *options, const char *value)
{
    (void)options;
    return pp_output_set_template_of("cpu", value);
}

/* A prefix there, to which a number and ".heap" are added. */
static int take_heap_prefix(pp_options *options, const char *value)
{
    static const char suffix[] = ".heap";
    char name[MAX_WORD];
    size_t length = strlen(value);
    (void)options;
    if (length + sizeof suffix > sizeof name) {
        return -ENAMETOOLONG;
    }
    memcpy(name, value, length + 1);
    memcpy(name + length, suffix, sizeof suffix);
    return pp_output_set_template_of("heap", name);
}

/* Nobody can have a handler for these. */
static bool is_of_libc(int signal)
{
    return signal >= PP_SAMPLING_SIGNAL && signal < SIGRTMIN;
}

/* A number, as there. The profile waits for the signal, and its files are numbered. */
static int take_signal(pp_options *options, const char *value)
{
    int64_t number = 0;
    if (!parse_number(value, &number) || number < 1 || number > SIGRTMAX || number == SIGKILL ||
        number == SIGSTOP || is_of_libc((int)number)) {
        return -EINVAL;
    }
    options->toggle_signal = (int)number;
    options->cpu = false;
    return pp_output_number_files("cpu");
}

void pp_options_from_gperftools(pp_options *options)
{
    if (is_set("HEAPPROFILE")) {
        take_variable(options, "HEAPPROFILE", take_heap_prefix);
        options->heap = true;
    }
    if (is_set("CPUPROFILE")) {
        take_variable(options, "CPUPROFILE", take_cpu_file);
        options->cpu = true;
        take_variable(options, "CPUPROFILE_FREQUENCY", take_cpu);
        take_variable(options, "CPUPROFILESIGNAL", take_signal);
    }
}
