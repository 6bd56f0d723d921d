/* SPDX-License-Identifier: MIT
 *
 * live.c: see live.h.
 *
 *   timer -> ask -> answer -> history -> table -> screen, or standard output
 *   keys  -> state ----------------------^
 *
 * Owns: everything of a run, until it ends. The threads of the source end with the process.
 * Tested by: e2e.cpprof_live, e2e.cpprof_live_terminal
 */
#include "live/live.h"

#include "ask/process_files.h"
#include "base/clock.h"
#include "base/message.h"
#include "base/pool.h"
#include "base/regex.h"
#include "live/live_history.h"
#include "live/live_keys.h"
#include "live/live_process.h"
#include "live/live_screen.h"
#include "live/live_source.h"
#include "live/live_state.h"
#include "live/live_table.h"
#include "live/live_target.h"
#include "live/live_terminal.h"
#include "live/live_views.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ENDING_MS = 5000, /* for a process that ends; the screen does not wait for that */
    ESCAPE_MS = 50,   /* after which the byte of Escape begins no other key */
    LATE_MS = 3000    /* an answer that takes longer is said to be waited for */
};

typedef enum outcome { GOES_ON, IS_OVER, HAS_ENDED, HAS_FAILED } outcome;

typedef struct live {
    const cp_live_options *options;
    cp_live_source *source;
    cp_live_target target;
    int watch; /* readable when the process has ended; -1: nothing is */
    char *name;
    cp_live_state state;
    cp_live_history histories[CP_LIVE_VIEWS];
    cp_process_use use;
    cp_process_load load;
    cp_regex *focus;
    char compiled[CP_LIVE_TEXT_BYTES]; /* the text of `focus` */
    cp_live_table table;
    char *hint;
    cp_error complaint; /* shown in the last line; "": none */
    bool waits_for_key; /* the complaint is about what was typed: it stays until the next key */
    cp_key_reader keys;
    bool has_screen, is_asked;
    int64_t asked_ns, due_ns;
    long answers, tables;
    outcome outcome;
} live;

static void fail(live *l, const char *sentence)
{
    snprintf(l->complaint.text, sizeof l->complaint.text, "%s", sentence);
    l->outcome = HAS_FAILED;
}

/* ---- the screen ---- */

static char *foot_of(const live *l)
{
    if (l->state.is_typing) {
        return cp_heap_printf("focus (RE, Enter): %s_\n", l->state.typed);
    }
    if (*l->complaint.text) {
        return cp_heap_printf("\033[1m%.*s\033[m\n", (int)strcspn(l->complaint.text, "\n"),
                              l->complaint.text);
    }
    if (l->is_asked && cp_now_ns() - l->asked_ns > LATE_MS * 1000000LL) {
        return cp_heap_printf("waiting for the process for %lld s\n",
                              (long long)((cp_now_ns() - l->asked_ns) / 1000000000));
    }
    return cp_heap_printf("\033[2mq quit  c flat/cum  t profile  a all  / focus  space pause  "
                          "+ -  ? help\033[m\n");
}

static cp_live_frame table_of(const live *l, const char *foot)
{
    const char *head = l->table.head, *body = l->table.body;

    return (cp_live_frame){head ? head : "", body ? body : "", foot};
}

static void draw(live *l)
{
    cp_bytes bytes = {0};
    cp_live_size size = cp_terminal_size();
    char *foot = foot_of(l);
    const cp_live_frame help = {"", cp_live_help, foot};
    const cp_live_frame frame = l->state.shows_help ? help : table_of(l, foot);

    l->state.row_count = cp_live_lines(frame.body);
    l->state.room = cp_live_room(&frame, size);
    cp_live_limit_rows(&l->state);
    cp_live_paint(&frame, size, l->state.shows_help ? 0 : l->state.first_row, &bytes);
    if (cp_terminal_is_taken() && !cp_terminal_write(&bytes)) {
        l->outcome = IS_OVER;
    }
    cp_bytes_release(&bytes);
    free(foot);
}

/* Leaves the last table on the screen that the user had before. */
static void print_last(const live *l)
{
    cp_bytes bytes = {0};
    const cp_live_frame frame = table_of(l, "");

    cp_live_print(&frame, l->state.first_row, l->state.room, &bytes);
    fwrite(bytes.data, 1, bytes.length, stdout);
    fflush(stdout);
    cp_bytes_release(&bytes);
}

/* ---- tables ---- */

/* The user's interval, or a longer one, if answers would cost the process more than a hundredth of
 * it. */
static int64_t pace_ns(const live *l)
{
    int64_t least = cp_live_history_pace(&l->histories[l->state.view]);

    return least > l->state.interval_ns ? least : l->state.interval_ns;
}

/* An expression that is wrong leaves the last one in force. */
static void compile_focus(live *l)
{
    cp_error error;

    if (strcmp(l->state.focus, l->compiled) == 0) {
        return;
    }
    cp_regex *regex = *l->state.focus ? cp_regex_compile(l->state.focus, &error) : NULL;
    if (*l->state.focus && !regex) {
        cp_fail(&l->complaint, "%s", error.text);
        l->waits_for_key = true;
        memcpy(l->state.focus, l->compiled, sizeof l->compiled);
        return;
    }
    cp_regex_free(l->focus);
    l->focus = regex;
    memcpy(l->compiled, l->state.focus, sizeof l->compiled);
}

/* Returns what cp_live_table_make() does. */
static int make_table(live *l)
{
    cp_live_table table;
    cp_error error;

    compile_focus(l);
    const cp_live_matter matter = {
        .state = &l->state,
        .history = &l->histories[l->state.view],
        .report = l->options->report,
        .sources = l->options->sources,
        .focus = l->focus,
        .pace_ns = pace_ns(l),
        .name = l->name,
        .load = l->target.pid ? &l->load : NULL,
        .hint = l->hint ? l->hint : "Nothing was counted in this time.",
    };
    int status = cp_live_table_make(&matter, l->options->json, &table, &error);
    if (status < 0) {
        cp_fail(&l->complaint, "%s", error.text);
        return status;
    }
    cp_live_table_release(&l->table);
    l->table = table;
    return status;
}

/* Without a screen. */
static void print_table(live *l)
{
    cp_bytes bytes = {0};
    bool is_first = l->tables == 1;

    if (l->table.json) {
        fputs(l->table.json, stdout);
    } else {
        const cp_live_frame frame = table_of(l, "");
        cp_live_print(&frame, 0, SIZE_MAX, &bytes);
        fputs(is_first ? "" : "\n", stdout);
        fwrite(bytes.data, 1, bytes.length, stdout);
        cp_bytes_release(&bytes);
    }
    if (fflush(stdout) != 0) {
        fail(l, "cannot write to standard output");
    }
}

static bool has_ended(const live *l, int wait_ms)
{
    struct pollfd polled = {.fd = l->watch, .events = POLLIN};

    if (l->target.pid == 0) {
        return false;
    }
    return l->watch >= 0 ? poll(&polled, 1, wait_ms) > 0 : !cp_process_lives(l->target.pid);
}

static void show_table(live *l)
{
    int status = make_table(l);

    if (status < 0 && !l->has_screen) {
        l->outcome = has_ended(l, ENDING_MS) ? HAS_ENDED : HAS_FAILED;
        return;
    }
    l->tables += status == 0;
    if (l->has_screen) {
        draw(l);
    } else if (status == 0) {
        print_table(l);
    }
    if (l->options->tables > 0 && l->tables >= l->options->tables) {
        l->outcome = l->outcome == GOES_ON ? IS_OVER : l->outcome;
    }
}

/* ---- answers ---- */

/* Whether the words that the process says of itself have the one that begins the remedy. */
static bool is_on(const char *on, const char *remedy)
{
    size_t length = strcspn(remedy, ":");

    for (const char *word = on; *word; word += strcspn(word, " ")) {
        word += strspn(word, " ");
        if (strncmp(word, remedy, length) == 0 && strchr(": ", word[length])) {
            return true;
        }
    }
    return false;
}

static void take_hint(live *l, const cp_live_answer *answer)
{
    const char *remedy = cp_live_views[answer->view].remedy;

    free(l->hint);
    l->hint = answer->on && !is_on(answer->on, remedy)
                  ? cp_heap_printf("The process does not record this profile. To switch it on: "
                                   "cpprof configure %d %s",
                                   l->target.pid, remedy)
                  : NULL;
}

static void take_load(live *l)
{
    cp_process_use use;

    if (l->target.pid == 0) {
        return;
    }
    cp_process_use_read(l->target.pid, &use);
    l->load = cp_process_load_between(&l->use, &use);
    cp_process_use_release(&l->use);
    l->use = use;
}

static void open_screen(live *l)
{
    l->has_screen = !l->options->is_batch && !l->options->json && cp_terminal_is_screen();
    if (l->has_screen) {
        cp_terminal_open();
    }
}

static void take_profile(live *l, cp_live_answer *answer)
{
    const cp_live_view *view = &cp_live_views[answer->view];

    if (cp_live_history_add(&l->histories[answer->view], view->kind, &answer->bytes, answer->at_ns,
                            &answer->error) < 0) {
        answer->status = -1;
        return;
    }
    if (!l->waits_for_key) {
        l->complaint.text[0] = '\0';
    }
    take_load(l);
    take_hint(l, answer);
    if (l->answers++ == 0) {
        open_screen(l);
    }
}

/* A process that does not answer any more may do so again; or it is about to end, and has given up
 * its socket. */
static void take_failure(live *l, const cp_live_answer *answer)
{
    if (has_ended(l, l->has_screen ? 0 : ENDING_MS)) {
        l->outcome = HAS_ENDED;
    } else if (l->has_screen) {
        l->complaint = answer->error;
        draw(l);
    } else {
        fail(l, answer->error.text);
    }
}

/* The user may look at another view by now. */
static void take_answer(live *l)
{
    cp_live_answer answer;

    if (!cp_live_source_take(l->source, &answer)) {
        return;
    }
    l->is_asked = false;
    if (answer.status == 0) {
        take_profile(l, &answer);
    }
    if (answer.status < 0) {
        take_failure(l, &answer);
    } else if (answer.view == l->state.view) {
        show_table(l);
    } else {
        l->due_ns = 0;
    }
    cp_bytes_release(&answer.bytes);
    free(answer.on);
}

static void ask_if_due(live *l)
{
    int64_t now = cp_now_ns();

    if (l->is_asked || l->state.is_paused || now < l->due_ns) {
        return;
    }
    l->is_asked = true;
    l->asked_ns = now;
    l->due_ns += pace_ns(l);
    if (l->due_ns <= now) {
        l->due_ns = now + pace_ns(l);
    }
    cp_live_source_ask(l->source, l->state.view);
}

/* ---- keys and signals ---- */

static void press(live *l, int key)
{
    unsigned needs = cp_live_press(&l->state, key);

    if (key != CP_KEY_NONE) {
        l->complaint.text[0] = '\0';
        l->waits_for_key = false;
    }
    if (needs & CP_LIVE_ASK) {
        l->due_ns = 0;
        free(l->hint);
        l->hint = NULL;
    }
    if (needs & CP_LIVE_TABLE) {
        make_table(l);
    }
    if (needs & CP_LIVE_DRAW) {
        draw(l);
    }
    if (l->state.quits) {
        l->outcome = IS_OVER;
    }
}

static void read_keys(live *l)
{
    char bytes[256];
    ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);

    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) {
        l->outcome = IS_OVER; /* the terminal is gone */
    }
    for (ssize_t i = 0; i < got && l->outcome == GOES_ON; i++) {
        press(l, cp_key_next(&l->keys, bytes[i]));
    }
}

static void read_signals(live *l)
{
    int number = cp_terminal_take_signals();

    if (number == SIGINT) {
        l->outcome = IS_OVER;
    } else if (number != 0) {
        cp_terminal_take();
        draw(l);
    }
}

/* ---- the loop ---- */

static int patience_ms(const live *l)
{
    int64_t left = l->due_ns - cp_now_ns();

    if (cp_key_is_pending(&l->keys)) {
        return ESCAPE_MS;
    }
    if (l->is_asked || l->state.is_paused) {
        return 1000;
    }
    left = left < 0 ? 0 : left;
    return left > 1000000000LL ? 1000 : (int)((left + 999999) / 1000000);
}

/* Descriptors below 0 are left out. */
static void wait_for_something(live *l)
{
    struct pollfd polled[] = {
        {.fd = cp_live_source_ready(l->source), .events = POLLIN},
        {.fd = l->watch, .events = POLLIN},
        {.fd = l->has_screen ? cp_terminal_signals() : -1, .events = POLLIN},
        {.fd = l->has_screen && cp_terminal_is_taken() ? STDIN_FILENO : -1, .events = POLLIN},
    };
    int count = poll(polled, sizeof polled / sizeof *polled, patience_ms(l));

    if (count == 0 && cp_key_is_pending(&l->keys)) {
        press(l, cp_key_give_up(&l->keys));
    } else if (count == 0 && l->has_screen) {
        cp_terminal_take();
        draw(l);
    }
    if (count <= 0) {
        return;
    }
    if (polled[2].revents) {
        read_signals(l);
    }
    if (polled[3].revents && l->outcome == GOES_ON) {
        read_keys(l);
    }
    if (polled[0].revents && l->outcome == GOES_ON) {
        take_answer(l);
    }
    if (polled[1].revents && l->outcome == GOES_ON) {
        l->outcome = HAS_ENDED;
    }
}

static int finish(live *l)
{
    if (l->has_screen) {
        cp_terminal_give_back();
    }
    if (l->outcome == HAS_ENDED) {
        if (l->has_screen) {
            print_last(l);
        }
        cp_complain("%s: process %d has ended", l->options->verb, l->target.pid);
        return l->tables > 0 ? CP_EXIT_OK : CP_EXIT_BAD_INPUT;
    }
    if (l->outcome == HAS_FAILED) {
        cp_complain("%s: %s", l->options->verb, l->complaint.text);
        return CP_EXIT_BAD_INPUT;
    }
    return CP_EXIT_OK;
}

static int run(live *l)
{
    l->due_ns = cp_now_ns();
    if (l->target.pid) {
        cp_process_use_read(l->target.pid, &l->use);
    }
    while (l->outcome == GOES_ON) {
        ask_if_due(l);
        wait_for_something(l);
    }
    return finish(l);
}

/* ---- the beginning ---- */

static void release(live *l)
{
    for (size_t i = 0; i < CP_LIVE_VIEWS; i++) {
        cp_live_history_release(&l->histories[i]);
    }
    cp_process_use_release(&l->use);
    cp_live_table_release(&l->table);
    cp_live_target_release(&l->target);
    cp_regex_free(l->focus);
    free(l->name);
    free(l->hint);
}

static void begin_state(live *l)
{
    const char *focus = l->options->report->filters.texts[CP_FOCUS];

    l->state.view = l->target.view;
    l->state.by_cum = l->options->report->by_cum;
    l->state.interval_ns = (int64_t)(l->options->seconds * 1e9);
    snprintf(l->state.focus, sizeof l->state.focus, "%s", focus ? focus : "");
}

static int watch(live *l)
{
    const cp_filters *filters = &l->options->report->filters;
    bool with_labels = filters->tag_focus || filters->tag_ignore;
    cp_error error;

    l->source = cp_live_source_open(l->target.root, with_labels, &error);
    if (!l->source) {
        cp_complain("%s: %s", l->options->verb, error.text);
        return CP_EXIT_BAD_INPUT;
    }
    l->watch = l->target.pid ? cp_process_watch(l->target.pid) : -1;
    l->name = cp_live_target_name(&l->target);
    int status = run(l);
    if (l->watch >= 0) {
        close(l->watch);
    }
    return status;
}

int cp_live_run(const cp_live_options *options)
{
    live l = {.options = options, .watch = -1};
    int status;

    cp_error error;
    if (cp_live_target_read(options->source, options->profile, options->report->sample, &l.target,
                            &error) < 0) {
        status = cp_bad_usage(options->verb, "%s: -p: %s", options->verb, error.text);
    } else {
        begin_state(&l);
        status = watch(&l);
    }
    release(&l);
    return status;
}
