/* SPDX-License-Identifier: MIT
 *
 * why.c: see why.h.
 *
 *   (attach) -> wall, block, mutex, heap of the same seconds; then deadlock -> (detach) -> the page
 *
 * CPU time is the state `running` of the wall-clock profile.
 *
 * Owns: the answers, for the length of a call.
 * Tested by: e2e.cpprof_why
 */
#include "why/why.h"

#include "ask/control.h"
#include "ask/process_files.h"
#include "ask/source_root.h"
#include "attach/attachment.h"
#include "base/measurement.h"
#include "base/message.h"
#include "base/pool.h"
#include "base/printable.h"
#include "import/profile_file.h"
#include "import/source_requests.h"
#include "live/live_process.h"
#include "profile/idle_filter.h"
#include "profile/profile_model.h"
#include "report/report_load.h"
#include "why/why_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 8, WAIT_ROWS = 12, LOCK_LINES = 10, LINE_COLUMNS = 100 };

typedef enum part { WALL, BLOCK, MUTEX, HEAP, DEADLOCK, PARTS } part;

static const struct {
    const char *name, *parameters;
    bool takes_time;
} parts[PARTS] = {
    [WALL] = {"wall", "?seconds=%ld&labels=0", true},
    [BLOCK] = {"block", "?seconds=%ld&rate=1", true},
    [MUTEX] = {"mutex", "?seconds=%ld&rate=1", true},
    [HEAP] = {"heap", "?seconds=%ld", true},
    [DEADLOCK] = {"deadlock", "", false},
};

typedef struct why {
    const char *root;
    int pid; /* 0: a server */
    long seconds;
    cp_request requests[PARTS];
    cp_profile *profiles[PARTS]; /* NULL: there is none */
    cp_process_load load;
    char *on; /* the kinds that the process records by itself; NULL: not known */
} why;

/* ---- lines ---- */

/* Cuts a line, since names may be long. */
static void print_place(const char *text)
{
    size_t length = strlen(text);

    cp_put_printable(text, length < LINE_COLUMNS ? length : LINE_COLUMNS, stdout);
    fputs(length < LINE_COLUMNS ? "\n" : "...\n", stdout);
}

static void print_value(const cp_profile *profile, uint32_t index, int64_t value)
{
    const char *unit = cp_profile_text(profile, profile->sample_types[index].unit);
    char *text = cp_measure_label(value, unit, CP_UNIT_MINIMUM);

    printf("%10s  ", text);
    free(text);
}

static void print_rows(const cp_profile *profile, uint32_t index, const cp_places *places,
                       size_t most)
{
    for (size_t i = 0; i < places->count && i < most; i++) {
        print_value(profile, index, places->rows[i].value);
        print_place(places->rows[i].text);
    }
}

/* ---- time ---- */

/* How many threads that is, on average. */
static double threads(const cp_profile *profile, int64_t ns)
{
    return profile->duration_nanos > 0 ? (double)ns / (double)profile->duration_nanos : 0;
}

static bool is_waiting(const cp_place *place)
{
    return strcmp(place->state, "running") != 0 && strcmp(place->state, "preempted") != 0;
}

/* Rows by state: of running, or of all that waits. */
static void print_time_rows(const cp_profile *wall, const cp_places *places, bool waiting,
                            size_t most)
{
    size_t printed = 0;

    for (size_t i = 0; i < places->count && printed < most; i++) {
        const cp_place *row = &places->rows[i];
        bool is_running = strcmp(row->state, "running") == 0;

        if (waiting ? !is_waiting(row) : !is_running) {
            continue;
        }
        printf("%8.2f  ", threads(wall, row->value));
        if (waiting) {
            printf("%-6s ", row->state);
        }
        print_place(row->text);
        printed++;
    }
    if (printed == 0) {
        fputs("          nothing\n", stdout);
    }
}

static void print_time(const cp_profile *wall, uint32_t index, int64_t idle)
{
    cp_places leaves = cp_places_of(wall, index, true), texts = cp_places_of(wall, index, false);
    int64_t running = cp_places_sum(&leaves, "running");
    int64_t preempted = cp_places_sum(&leaves, "preempted");
    int64_t waiting = cp_places_sum(&leaves, NULL) - running - preempted;

    printf("Threads, on average: %.2f ran, %.2f wanted to run and had no processor, %.2f waited, "
           "%.2f were\n"
           "idle (they waited for work)\n",
           threads(wall, running), threads(wall, preempted), threads(wall, waiting),
           threads(wall, idle));
    fputs("\nWhat it does (threads that ran, by function):\n", stdout);
    print_time_rows(wall, &leaves, false, ROWS);
    fputs("\nWhat it waits for (threads that waited, and in what):\n", stdout);
    print_time_rows(wall, &texts, true, WAIT_ROWS);
    cp_places_release(&leaves);
    cp_places_release(&texts);
}

/* ---- locks ---- */

/* Prints a line without addresses: "waits for mutex 0x55.. held by" has one. */
static void print_without_addresses(const char *line, size_t length)
{
    char *text = cp_heap_copy(line, length), *to = text;

    for (const char *at = text; *at;) {
        size_t digits = strncmp(at, " 0x", 3) == 0 ? strspn(at + 3, "0123456789abcdef") : 0;

        if (digits) {
            at += 3 + digits;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
    cp_put_printable(text, strlen(text), stdout);
    putchar('\n');
    free(text);
}

/* The lines that say which thread waits for which; not the stacks. */
static void print_lock_waits(const cp_bytes *answer)
{
    const char *at = (const char *)answer->data, *end = at + answer->length;
    int printed = 0;

    for (const char *stop; at < end && printed < LOCK_LINES; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        size_t length = (size_t)(stop - at);
        bool is_wait = length > 8 && strncmp(at, "\tthread ", 8) == 0;

        if (is_wait ||
            (length > 9 && (strncmp(at, "deadlock:", 9) == 0 || strncmp(at, "waiting:", 8) == 0 ||
                            strncmp(at, "no deadlock", 11) == 0))) {
            fputs(is_wait ? "          " : "  ", stdout);
            print_without_addresses(at + is_wait, length - is_wait);
            printed++;
        }
    }
    if (at < end && printed == LOCK_LINES) {
        fputs("          ... (`cpprof dump` has all)\n", stdout);
    }
}

static int64_t sum_of(const cp_profile *profile, const char *type)
{
    int64_t index = cp_profile_sample_index(profile, type), sum = 0;

    for (uint32_t i = 0; index >= 0 && i < profile->sample_count; i++) {
        sum += profile->samples[i].values[index];
    }
    return sum;
}

/* Prints the heading, and where delays were caused, or suffered. */
static void print_delays(const cp_profile *profile, const char *heading)
{
    int64_t index = profile ? cp_profile_sample_index(profile, "delay") : -1;

    if (index < 0 || profile->sample_count == 0) {
        return;
    }
    cp_places places = cp_places_of(profile, (uint32_t)index, false);
    printf("  %s (%lld times):\n", heading, (long long)sum_of(profile, "contentions"));
    print_rows(profile, (uint32_t)index, &places, ROWS / 2);
    cp_places_release(&places);
}

static void print_locks(const why *w)
{
    fputs("\nWho holds what:\n", stdout);
    if (w->requests[DEADLOCK].status == 0) {
        print_lock_waits(&w->requests[DEADLOCK].answer);
    }
    print_delays(w->profiles[MUTEX], "threads that others waited for released a lock in");
    print_delays(w->profiles[BLOCK], "threads waited for each other in");
}

/* ---- memory ---- */

static bool records_heap(const why *w)
{
    return !w->on || strstr(w->on, "heap") != NULL;
}

static void print_growth(const why *w)
{
    const cp_profile *heap = w->profiles[HEAP];
    int64_t index = heap ? cp_profile_sample_index(heap, "inuse_space") : -1;

    fputs("\nWhat grows (memory that was allocated in this time and is in use):\n", stdout);
    if (index < 0 || !records_heap(w)) {
        fputs("  the heap is not recorded", stdout);
        if (w->pid) {
            printf("; to record it from now on: cpprof configure %d heap", w->pid);
        }
        putchar('\n');
        return;
    }
    cp_places places = cp_places_of(heap, (uint32_t)index, false);
    print_rows(heap, (uint32_t)index, &places, ROWS);
    if (places.count == 0) {
        fputs("  nothing that was sampled\n", stdout);
    }
    cp_places_release(&places);
}

/* ---- the page ---- */

static void print_head(const why *w)
{
    char *command = w->pid ? cp_process_command(w->pid) : NULL;

    if (w->pid) {
        printf("process %d ", w->pid);
    }
    print_place(command ? command : w->root);
    printf("%ld s", w->seconds);
    if (w->pid && w->load.cpu >= 0) {
        printf(", CPU %.1f%% of %ld processor%s", w->load.cpu * 100, sysconf(_SC_NPROCESSORS_ONLN),
               sysconf(_SC_NPROCESSORS_ONLN) == 1 ? "" : "s");
    }
    if (w->pid) {
        printf(", %zu busy thread%s", w->load.busy, w->load.busy == 1 ? "" : "s");
    }
    putchar('\n');
    free(command);
}

static void print_next(const why *w)
{
    if (w->pid) {
        printf("\nNext: cpprof dump -p %d                     all stacks\n"
               "      cpprof top -p %d -e wall              watch it\n"
               "      cpprof record -p %d -e wall,cpu,heap  files to look into\n",
               w->pid, w->pid, w->pid);
    }
}

static void print_page(const why *w)
{
    cp_profile *wall = w->profiles[WALL];
    int64_t index = cp_profile_sample_index(wall, "wall");

    print_head(w);
    if (index >= 0) {
        cp_idle idle = cp_profile_filter_idle(wall, (uint32_t)index);
        print_time(wall, (uint32_t)index, idle.value);
    }
    print_locks(w);
    print_growth(w);
    print_next(w);
}

/* ---- asking ---- */

static void make_requests(why *w)
{
    for (int i = 0; i < PARTS; i++) {
        char *parameters = parts[i].takes_time ? cp_heap_printf(parts[i].parameters, w->seconds)
                                               : cp_heap_printf("%s", "");
        w->requests[i] =
            (cp_request){.source = cp_source_address(w->root, parts[i].name, parameters),
                         .takes_time = parts[i].takes_time};
        free(parameters);
    }
}

/* Only the wall-clock profile is needed; a server may lack the others. */
static int read_answers(why *w, cp_error *error)
{
    const cp_sources sources = {.lines = {.wanted = CP_LINES_NAMELESS, .is_quiet = true}};

    for (int i = 0; i < DEADLOCK; i++) {
        cp_request *r = &w->requests[i];
        cp_error inner;
        if (r->status == 0 &&
            cp_profile_read_bytes(r->answer.data, r->answer.length, CP_PROFILE_MAX_BYTES,
                                  &w->profiles[i], &inner) == 0) {
            cp_profile_ensure_mapping(w->profiles[i]);
            cp_report_prepare(&sources, w->profiles[i]);
        } else if (i == WALL && r->status < 0) {
            return cp_fail(error, "%s", r->error.text); /* which begins with the source */
        } else if (i == WALL) {
            return cp_fail(error, "%.500s: %.500s", r->source, inner.text);
        }
    }
    return 0;
}

static char *what_is_on(int pid)
{
    cp_bytes status = {0};
    cp_error unheard;
    char *on = cp_control_say(pid, "status", NULL, &status, &unheard) == 0
                   ? cp_control_value(&status, "on")
                   : NULL;

    cp_bytes_release(&status);
    return on;
}

static void ask(why *w)
{
    cp_process_use before = {0}, after = {0};

    make_requests(w);
    if (w->pid) {
        w->on = what_is_on(w->pid);
        cp_process_use_read(w->pid, &before);
    }
    cp_requests_ask(w->requests, PARTS);
    if (w->pid) {
        cp_process_use_read(w->pid, &after);
        w->load = cp_process_load_between(&before, &after);
    }
    cp_process_use_release(&before);
    cp_process_use_release(&after);
}

static int ask_and_print(why *w, cp_attachment *attachment, cp_error *error)
{
    ask(w);
    const char *loss = w->requests[WALL].status < 0 ? cp_attachment_loss(attachment) : NULL;
    cp_attachment_end(attachment);
    if (loss) {
        return cp_fail(error, "%s: %s", w->root, loss);
    }
    if (read_answers(w, error) < 0) {
        return -1;
    }
    print_page(w);
    return fflush(stdout) == 0 ? 0 : cp_fail(error, "cannot write to standard output");
}

static void release(why *w)
{
    for (int i = 0; i < PARTS; i++) {
        cp_bytes_release(&w->requests[i].answer);
        free(w->requests[i].source);
        cp_profile_free(w->profiles[i]);
    }
    free(w->on);
}

static int reach(why *w, cp_attachment *attachment, cp_error *error)
{
    const char *rest;

    return !cp_control_is_process(w->root) ||
                   (cp_control_pid(w->root, &w->pid, &rest, error) == 0 &&
                    cp_attachment_begin(attachment, w->pid, false, error) == 0)
               ? 0
               : -1;
}

int cp_why_run(const char *source, long seconds)
{
    char *root = cp_source_root(source);
    why w = {.root = root, .seconds = seconds};
    cp_attachment attachment = {.holding = -1};
    cp_error error;

    if (!root) {
        return cp_bad_usage(
            "why", "why: %s: expected the address of a server, such as http://HOST:PORT", source);
    }
    int status = reach(&w, &attachment, &error);
    if (status == 0) {
        status = ask_and_print(&w, &attachment, &error);
    }
    if (status < 0) {
        cp_complain("why: %s", error.text);
    }
    release(&w);
    free(root);
    return status < 0 ? CP_EXIT_BAD_INPUT : CP_EXIT_OK;
}
