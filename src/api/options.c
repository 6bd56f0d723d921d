/* SPDX-License-Identifier: MIT
 *
 * options.c: finds each word of a list in two tables: the words that belong to no kind (below), and
 * the words of the kinds (host/kind.h). A row of a table is a name, a function that takes the
 * value, and the usage for complaints.
 *
 * Zone: NORMAL.
 */
#include "api/options.h"

#include "api/otel.h"
#include "base/parse_number.h"
#include "base/text.h"
#include "host/kind.h"
#include "output/end_file.h"
#include "output/line_plugin.h"
#include "output/output.h"
#include "output/symbolize.h"
#include "output/word_values.h"
#include "sys/log.h"
#include "sys/recorder.h"
#include "web/control_option.h"
#include "web/http_option.h"
#include "web/push_option.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_WORD = 4096 };

/* `value` is the text after the word's '=' or ':', NULL if there is neither. */
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
    (void)options;
    static const struct {
        const char *name;
        pp_symbolize symbolize;
    } degrees[] = {
        {"none", PP_SYMBOLIZE_NONE}, {"names", PP_SYMBOLIZE_NAMES}, {"lines", PP_SYMBOLIZE_LINES}};
    for (size_t i = 0; value != NULL && i < sizeof degrees / sizeof *degrees; i++) {
        if (strcmp(value, degrees[i].name) == 0) {
            pp_symbolize_set(degrees[i].symbolize);
            if (degrees[i].symbolize == PP_SYMBOLIZE_LINES) {
                pp_line_plugin_begin();
            }
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
    return pp_log_set_path(strcmp(value, "stderr") == 0 ? NULL : value);
}

static int take_subprocesses(pp_options *options, const char *value)
{
    return pp_word_alone(value, &options->subprocesses);
}

static int take_follow_exec(pp_options *options, const char *value)
{
    return pp_word_alone(value, &options->follow_exec);
}

static int take_http(pp_options *options, const char *value)
{
    (void)options;
    return pp_http_option_take_address(value);
}

static int take_http_token(pp_options *options, const char *value)
{
    (void)options;
    return pp_http_option_take_token(value);
}

static int take_control(pp_options *options, const char *value)
{
    (void)options;
    return pp_control_option_take(value);
}

static int take_otel(pp_options *options, const char *value)
{
    (void)options;
    return pp_otel_take(value);
}

static int take_duration(pp_options *options, const char *value)
{
    return parse_duration(value, &options->duration_ns) ? 0 : -EINVAL;
}

static int take_interval(pp_options *options, const char *value)
{
    return parse_duration(value, &options->interval_ns) ? 0 : -EINVAL;
}

/* A name, with or without SIG, or a number. */
static int64_t signal_of(const char *text)
{
    static const struct {
        const char *name;
        int number;
    } names[] = {{"HUP", SIGHUP}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"WINCH", SIGWINCH}};
    int64_t number = 0;
    const char *name = strncmp(text, "SIG", 3) == 0 ? text + 3 : text;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i].name) == 0) {
            return names[i].number;
        }
    }
    return pp_word_number(text, &number) ? number : 0;
}

/* libc keeps the signals from 32 on that are below SIGRTMIN. */
static int take_signal(pp_options *options, const char *value)
{
    int64_t number = value != NULL ? signal_of(value) : 0;
    if (number < 1 || number > SIGRTMAX || number == SIGKILL || number == SIGSTOP ||
        (number >= 32 && number < SIGRTMIN)) {
        return -EINVAL;
    }
    options->dump_signal = (int)number;
    return 0;
}

/* Reads the number that ends at the character `end`. Returns the text after that; NULL if there is
 * no such number. */
static const char *read_part(const char *text, char end, uint64_t *number)
{
    char *rest = NULL;
    if (text == NULL || *text < '0' || *text > '9') {
        return NULL;
    }
    int saved_errno = errno;
    *number = pp_strtoull(text, &rest, 10);
    errno = saved_errno;
    return *rest == end ? rest + 1 : NULL;
}

/* "FD:DEVICE:INODE:PID". A descriptor that leads elsewhere is no error: profiles go to files then.
 */
static int take_recorder(pp_options *options, const char *value)
{
    uint64_t fd = 0;
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t process = 0;
    (void)options;
    const char *rest = read_part(value, ':', &fd);
    rest = read_part(rest, ':', &device);
    rest = read_part(rest, ':', &inode);
    rest = read_part(rest, '\0', &process);
    if (rest == NULL || fd > INT_MAX || process > INT_MAX) {
        return -EINVAL;
    }
    pp_recorder_set((int)fd, device, inode, (int)process);
    return 0;
}

static int take_until(pp_options *options, const char *value)
{
    return read_part(value, '\0', &options->until_ns) != NULL ? 0 : -EINVAL;
}

/* Files are for those who name them. */
static int take_push(pp_options *options, const char *value)
{
    (void)options;
    int error = pp_push_option_take(PP_PUSH_URL, value);
    if (error == 0) {
        pp_output_leave_out_default();
    }
    return error;
}

static int take_push_to(pp_options *options, const char *value)
{
    (void)options;
    return pp_push_option_take(PP_PUSH_TO, value);
}

static int take_push_token(pp_options *options, const char *value)
{
    (void)options;
    return pp_push_option_take(PP_PUSH_TOKEN, value);
}

static int take_push_tenant(pp_options *options, const char *value)
{
    (void)options;
    return pp_push_option_take(PP_PUSH_TENANT, value);
}

static int take_push_ca(pp_options *options, const char *value)
{
    (void)options;
    return pp_push_option_take(PP_PUSH_CA, value);
}

static int take_push_spool(pp_options *options, const char *value)
{
    (void)options;
    return pp_push_option_take(PP_PUSH_SPOOL, value);
}

static int take_service(pp_options *options, const char *value)
{
    (void)options;
    return pp_push_option_take(PP_PUSH_SERVICE, value);
}

static const option table[] = {
    {"file", take_file, "file=PATH, with %e %p %k %t %n %%"},
    {"symbolize", take_symbolize, "symbolize=none, names or lines"},
    {"log", take_log, "log=PATH or log=stderr"},
    {"subprocesses", take_subprocesses, "subprocesses, without a value"},
    {"follow-exec", take_follow_exec, "follow-exec, without a value"},
    {"duration", take_duration, "duration=30s, or ms, m, h"},
    {"until", take_until, "until=NANOSECONDS, as cpprof record does"},
    {"recorder", take_recorder, "recorder=FD:DEVICE:INODE:PID, as cpprof record does"},
    {"http", take_http, "http=127.0.0.1:6060, or [::1]:6060, unix:/PATH"},
    {"http-token", take_http_token, "http-token=FILE"},
    {"control", take_control, "control or control=PATH, with %p"},
    {"signal", take_signal, "signal=USR2, or USR1, HUP, a number"},
    {"interval", take_interval, "interval=60s, or ms, m, h"},
    {"otel", take_otel, "otel, otel=process or otel=thread"},
    {"push", take_push, "push=http://HOST:PORT or push=https://HOST:PORT"},
    {"push-to", take_push_to, "push-to=pyroscope, parca or otlp"},
    {"push-token", take_push_token, "push-token=FILE"},
    {"push-tenant", take_push_tenant, "push-tenant=ID"},
    {"push-ca", take_push_ca, "push-ca=FILE"},
    {"push-spool", take_push_spool, "push-spool=FOLDER"},
    {"service", take_service, "service=NAME"},
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

/* Returns the word, and its kind in *kind; NULL: no kind has the word. */
static const pp_word *find_word(const char *name, const pp_kind **kind)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        *kind = pp_kinds[i];
        const pp_word *w = pp_kinds[i]->words;
        for (; w != NULL && w->name != NULL; w++) {
            if (w->usage != NULL && strcmp(w->name, name) == 0) {
                return w;
            }
        }
    }
    return NULL;
}

/* `usage` shows how to write the word; NULL: the word is unknown. */
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
        if (options->complaint != NULL) {
            *options->complaint = text;
        }
    }
}

/* Stops what the word turns on: a profile that has a rate keeps what it has recorded, another kind
 * that records writes its files. */
static int turn_off(const pp_kind *kind, const char *name)
{
    for (const pprof_profile *p = kind->profiles; p != NULL && p->name != NULL; p++) {
        if (p->set_rate != NULL && strcmp(p->name, name) == 0) {
            return p->set_rate(0) < 0 ? -ENOMEM : 0;
        }
    }
    bool records = kind->hooks != NULL || kind->timed != NULL;
    if (strcmp(kind->name, name) != 0 || !records) {
        return -EINVAL;
    }
    pp_kind_stop(kind, false);
    return 0;
}

static pp_end_file *file_of(const pp_kind *kind, const char *name)
{
    pp_end_file *file = kind->files;
    while (strcmp(file->name, name) != 0) {
        file++;
    }
    return file;
}

/* 0 or -errno. Leaves *usage as it is if the word is unknown. */
static int apply_word(pp_options *options, const char *name, const char *value, const char **usage)
{
    const option *o = find_option(name);
    const pp_kind *kind = NULL;
    const pp_word *w = o == NULL ? find_word(name, &kind) : NULL;
    if (o == NULL && w == NULL) {
        return -EINVAL;
    }
    *usage = w != NULL ? w->usage : o->usage;
    if (w != NULL && value != NULL && strcmp(value, "off") == 0) {
        return turn_off(kind, name);
    }
    if (w != NULL && w->take == NULL) {
        return pp_word_alone(value, &file_of(kind, name)->asked);
    }
    if (value != NULL && *value == '\0') {
        return -EINVAL;
    }
    return w != NULL ? w->take(value) : o->take(options, value);
}

static void take_word(pp_options *options, char *word)
{
    char name[32] = "";
    size_t length = strcspn(word, "=:");
    if (length == 0 && *word == '\0') {
        return; /* two commas, or a comma at the end */
    }
    const char *value = word[length] != '\0' ? word + length + 1 : NULL;
    const char *usage = NULL;
    if (length < sizeof name) {
        memcpy(name, word, length);
    }
    int error = apply_word(options, name, value, &usage);
    if (error != 0) {
        bool may_be_secret = strncmp(name, "push", 4) == 0;
        complain(options, may_be_secret ? name : word, usage, error);
    }
}

static void forget_kinds(bool all)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        pp_end_file *file = pp_kinds[i]->files;
        for (; file != NULL && file->name != NULL; file++) {
            file->asked = false;
        }
        if (all && pp_kinds[i]->reset != NULL) {
            pp_kinds[i]->reset();
        }
    }
}

void pp_options_init(pp_options *options)
{
    *options = (pp_options){.subprocesses = false};
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
        const pp_word *w = pp_kinds[i]->words;
        for (; w != NULL && w->name != NULL; w++) {
            if (w->usage == NULL) {
                take_variable(options, w);
            }
        }
    }
}
