/* SPDX-License-Identifier: MIT
 *
 * verb_push.c: `cpprof push`, which sends profiles to a server that stores those of many hosts.
 *
 * Tested by: e2e.push.
 */
#include "verbs/verbs.h"

#include "ask/token_file.h"
#include "base/base_name.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/message.h"
#include "base/pool.h"
#include "import/gunzip.h"
#include "import/profile_file.h"
#include "profile/profile_encode.h"
#include "profile/profile_model.h"
#include "profile/protobuf.h"
#include "verbs/command_line.h"
#include "verbs/token_option.h"

#include "push/push.h"
#include "push/resource.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char cp_help_push[] =
    "usage: cpprof push [OPTIONS] URL FILE...\n"
    "\n"
    "Sends profiles to Grafana Pyroscope, Parca, or a receiver of OpenTelemetry's\n"
    "(OTLP, alpha) at http://HOST:PORT or https://HOST:PORT. The server is asked what\n"
    "it is, unless --to says it or URL ends with a server's own path.\n"
    "\n"
    "Example: cpprof push http://127.0.0.1:4040 prof.pb.gz\n"
    "\n"
    "The profiles belong to the service --service, or $OTEL_SERVICE_NAME, or the\n"
    "program of each profile; $OTEL_RESOURCE_ATTRIBUTES gives more labels. A server\n"
    "that does not answer is asked again for --wait. What it has not taken then goes\n"
    "to the folder --spool, and the next push with this folder sends it.\n"
    "A redirect is not followed, and proxies are not used.\n";

typedef struct request {
    push_settings settings;
    push_resource_source source;
    const char *kind; /* NULL: each profile's types say it */
    const char *wait;
    cp_text_list labels;
} request;

/* ---- one profile ---- */

/* Whether a word stands in a file's name by itself: "peak" in "speaker.7.peak.pb.gz". */
static bool has_word(const char *name, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = name; (at = strstr(at, word)); at += length) {
        if ((at == name || !isalnum((unsigned char)at[-1])) &&
            !isalnum((unsigned char)at[length])) {
            return true;
        }
    }
    return false;
}

/* Two kinds may have the same types: the file's name tells them apart, if it is ours. */
static const char *by_name(const char *kind, const char *path)
{
    static const struct {
        const char *kind, *other;
    } pairs[] = {{"block", "mutex"}, {"heap", "peak"}};

    size_t length;
    const char *name = cp_base_name(path, &length);

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (strcmp(kind, pairs[i].kind) == 0 && !has_word(name, kind) &&
            has_word(name, pairs[i].other)) {
            return pairs[i].other;
        }
    }
    return kind;
}

static const char *kind_of(const cp_profile *p, const char *path)
{
    static const struct {
        const char *type, *kind;
    } kinds[] = {{"cpu", "cpu"},
                 {"inuse_space", "heap"},
                 {"alloc_space", "heap"},
                 {"contentions", "block"},
                 {"wall", "wall"},
                 {"resident", "memory"},
                 {"leaked_space", "leak"},
                 {"freed_space", "lifetime"},
                 {"goroutine", "goroutine"},
                 {"thread", "goroutine"}};

    for (uint32_t i = 0; i < p->sample_type_count; i++) {
        const char *type = cp_profile_text(p, p->sample_types[i].type);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            if (strcmp(type, kinds[k].type) == 0) {
                return by_name(kinds[k].kind, path);
            }
        }
    }
    return p->sample_type_count ? cp_profile_text(p, p->sample_types[0].type) : "profile";
}

/* The program's name, or the file's. */
static char *program_of(const cp_profile *p, const char *path)
{
    const char *file = p->mapping_count ? cp_profile_text(p, p->mappings[0].file) : "";
    size_t length;
    const char *name = cp_base_name(*file == '/' ? file : path, &length);

    return cp_heap_copy(name, length);
}

/* Parca ends if a profile has no period type. Servers want a time. */
static void complete(cp_profile *p)
{
    struct timespec now;

    cp_profile_name_goroutines(p);
    if (!*cp_profile_text(p, p->period_type.type) && p->sample_type_count) {
        p->period_type = p->sample_types[p->sample_type_count - 1];
        p->period = p->period ? p->period : 1;
    }
    if (p->time_nanos <= 0) {
        clock_gettime(CLOCK_REALTIME, &now);
        p->time_nanos = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - p->duration_nanos;
    }
}

static int set_labels(const request *r, push_resource *resource, cp_error *error)
{
    for (size_t i = 0; i < r->labels.count; i++) {
        const char *equals = strchr(r->labels.values[i], '=');
        if (!equals || equals == r->labels.values[i]) {
            return cp_fail(error, "--label: expected NAME=VALUE, found %s", r->labels.values[i]);
        }
        char *name = cp_heap_copy(r->labels.values[i], (size_t)(equals - r->labels.values[i]));
        push_resource_set(resource, name, equals + 1);
        free(name);
    }
    return 0;
}

static int add(const request *r, push_sender *sender, const char *path, cp_profile *p,
               cp_error *error)
{
    push_resource resource;
    push_resource_source source = r->source;
    pp_buffer plain = PP_BUFFER_INIT;
    cp_bytes packed = {0};
    char *program = program_of(p, path);

    complete(p);
    source.program = program;
    push_resource_init(&resource, &source);
    int status = set_labels(r, &resource, error);
    if (status == 0) {
        cp_profile_encode(p, &plain);
        cp_gzip_compress(plain.data, plain.size, &packed);
        const push_profile profile = {.data = packed.data,
                                      .size = packed.length,
                                      .kind = r->kind ? r->kind : kind_of(p, path),
                                      .labels = resource.labels,
                                      .label_count = resource.count,
                                      .begin_ns = p->time_nanos,
                                      .end_ns = p->time_nanos + p->duration_nanos};
        if (push_add(sender, &profile) != 0) {
            status = cp_fail(error, "%s: expected a profile of at most 64 MiB, found more", path);
        }
    }
    pp_buffer_release(&plain);
    cp_bytes_release(&packed);
    free(program);
    return status;
}

/* ---- all ---- */

static int add_file(const request *r, push_sender *sender, const char *path, cp_error *error)
{
    cp_profile *profile;

    if (cp_profile_read_file(path, &profile, error) < 0) {
        return -1;
    }
    int status = add(r, sender, path, profile, error);
    cp_profile_free(profile);
    return status;
}

static void log_message(const char *message)
{
    cp_complain("%s", message);
}

static int push_files(const request *r, const cp_operands *files, double seconds, cp_error *error)
{
    push_sender *sender;
    char why[PUSH_WHY_BYTES];
    int status = 0;

    signal(SIGXFSZ, SIG_IGN); /* a limit of the size of files is a disk that is full */
    if (push_open(&r->settings, &sender, why) != 0) {
        return cp_fail(error, "push: %s", why);
    }
    uint64_t until_ns = (uint64_t)cp_now_ns() + (uint64_t)(seconds * 1e9);
    for (int i = 1; status == 0 && i < files->count; i++) {
        status = add_file(r, sender, files->values[i], error);
        push_flush(sender, until_ns);
    }
    push_flush(sender, until_ns); /* also what the spool has */
    push_counters counters = push_count(sender);
    push_close(sender);
    if (status == 0 && (counters.lost || counters.queued)) {
        status = cp_fail(error, "push: %llu of the profiles were not sent: %s",
                         (unsigned long long)counters.lost + counters.queued,
                         r->settings.spool && !counters.lost ? "the spool has them"
                                                             : "they are lost to the server");
    }
    return status;
}

int cp_run_push(int argc, char **argv)
{
    request r = {.settings = {.log = log_message},
                 .source = {.name = getenv("OTEL_SERVICE_NAME"),
                            .attributes = getenv("OTEL_RESOURCE_ATTRIBUTES")}};
    double seconds = 10;
    const cp_option table[] = {
        {0, "to", NULL, CP_OPTION_TEXT, &r.settings.to, 0, 0, "SERVER",
         "the kind of server: pyroscope, parca or otlp", "pyroscope parca otlp"},
        {0, "service", NULL, CP_OPTION_TEXT, &r.source.service, 0, 0, "NAME",
         "the service that the profiles belong to"},
        {0, "label", NULL, CP_OPTION_LIST, &r.labels, 0, 0, "NAME=VALUE",
         "one more label; may be given several times"},
        {0, "kind", NULL, CP_OPTION_TEXT, &r.kind, 0, 0, "KIND",
         "cpu, heap, block, mutex, ..., where the profile does not show it", .rare = true},
        {0, "wait", NULL, CP_OPTION_TEXT, &r.wait, 0, 0, "TIME",
         "how long to try: 10s unless given"},
        {0, "spool", NULL, CP_OPTION_TEXT, &r.settings.spool, 0, 0, "FOLDER",
         "keeps what the server has not taken"},
        {0, "tenant", NULL, CP_OPTION_TEXT, &r.settings.tenant, 0, 0, "ID", "sent as X-Scope-OrgID",
         .rare = true},
        {0, "ca", NULL, CP_OPTION_TEXT, &r.settings.ca_file, 0, 0, "FILE",
         "certificates (PEM) that servers are trusted by", .rare = true},
        CP_TOKEN_OPTION,
        {0},
    };

    cp_operands operands;
    int status = CP_EXIT_OK;
    if (cp_options_parse("push", table, false, argc, argv, &operands, &status) < 0) {
        return status;
    }
    if (operands.count < 1) {
        return cp_bad_usage("push", "push: expected URL FILE..., found none");
    }
    if (r.wait && !cp_duration_read(r.wait, &seconds)) {
        return cp_bad_usage("push", "push: --wait: expected a time such as 10s, found %s", r.wait);
    }
    r.settings.url = operands.values[0];
    r.settings.token_file = *cp_token_file() ? *cp_token_file() : getenv("CPPROF_TOKEN_FILE");
    cp_error error;
    if (push_files(&r, &operands, seconds, &error) < 0) {
        cp_complain("%s", error.text);
        status = CP_EXIT_BAD_INPUT;
    }
    free(r.labels.values);
    return status;
}
