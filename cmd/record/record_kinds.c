/* SPDX-License-Identifier: MIT
 *
 * record_kinds.c: see record_kinds.h.
 */
#include "record/record_kinds.h"

#include "base/message.h"
#include "base/pool.h"
#include "base/suggestion.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cp_record_traits table[] = {
    {"cpu", .no_rate = "cpu takes its rate from -F", .adds_up = true, .is_by_flat = true},
    {"heap", .rate_ends = "kmgKMG",
     .empty = "the command allocated too little to be sampled; try -e heap:1, which takes every "
              "block"},
    {"block", .rate_ends = "", .empty = "no thread of the command had to wait"},
    {"mutex", .rate_ends = "",
     .empty = "no lock was released that a thread waited for; waits that never ended are in the "
              "profile of -e block"},
    {"thread", .no_rate = "thread has no rate", .is_state = true},
    {"fd", .no_rate = "fd has no rate", .empty = "the command had no descriptor open",
     .is_state = true},
    {"wall", .rate_ends = "", .most = 1000, .empty = "the command ended at once", .adds_up = true},
    {"peak", .no_rate = "peak takes its rate from heap:BYTES",
     .empty = "the command allocated too little to be sampled; try -e heap:1,peak"},
    {"leak", .rate_ends = "kmgKMG", .has_heaps_rate = true,
     .empty = "nothing is lost among the sampled blocks", .is_state = true},
    {"lifetime", .rate_ends = "kmgKMG", .has_heaps_rate = true,
     .empty = "no sampled block was freed"},
    {"memory", .rate_ends = "kmgKMG", .has_heaps_rate = true, .is_state = true},
};

static const cp_record_traits *find_traits(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

const cp_record_traits *cp_record_traits_of(const char *kind)
{
    static const cp_record_traits unknown = {.name = ""};
    const cp_record_traits *traits = find_traits(kind);

    return traits ? traits : &unknown;
}

const char *cp_record_kind_name(size_t index)
{
    return index < sizeof table / sizeof *table ? table[index].name : NULL;
}

/* ---- words ---- */

/* A word of the list after -e. */
typedef struct word {
    char text[2 * CP_RECORD_KIND_BYTES]; /* the user's text; cut if it is too long for any kind */
    cp_record_kind kind;
    bool has_rate;
    bool fits; /* name and rate are not cut */
} word;

static word read_word(const char *text, size_t length)
{
    word w = {.has_rate = false};
    size_t name_length = strcspn(text, ":,");
    size_t rate_length = name_length < length ? length - name_length - 1 : 0;

    snprintf(w.text, sizeof w.text, "%.*s", (int)length, text);
    snprintf(w.kind.name, sizeof w.kind.name, "%.*s", (int)name_length, text);
    w.has_rate = name_length < length;
    if (w.has_rate) {
        snprintf(w.kind.rate, sizeof w.kind.rate, "%.*s", (int)rate_length, text + name_length + 1);
    }
    w.fits = name_length < sizeof w.kind.name && rate_length < sizeof w.kind.rate;
    return w;
}

/* Whether the text is a number other than 0, with or without one of the letters after it. */
static bool is_rate(const char *text, const char *ends)
{
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || strspn(text, "0") >= digits) {
        return false;
    }
    return !text[digits] || (!text[digits + 1] && strchr(ends, text[digits]));
}

int64_t cp_record_rate_number(const char *text)
{
    char *end = NULL;
    long long number = strtoll(text, &end, 10);
    int shift = *end == 'k' || *end == 'K'   ? 10
                : *end == 'm' || *end == 'M' ? 20
                : *end == 'g' || *end == 'G' ? 30
                                             : 0;

    return number < 0 || number > INT64_MAX >> shift ? 0 : (int64_t)number << shift;
}

static bool is_good(const word *w, const cp_record_traits *traits)
{
    return w->fits &&
           (!w->has_rate || (traits->rate_ends && is_rate(w->kind.rate, traits->rate_ends) &&
                             (!traits->most || strtol(w->kind.rate, NULL, 10) <= traits->most)));
}

static cp_record_kind *find_kind(cp_record_kinds *kinds, const char *name)
{
    for (size_t i = 0; i < kinds->count; i++) {
        if (strcmp(kinds->list[i].name, name) == 0) {
            return &kinds->list[i];
        }
    }
    return NULL;
}

/* False if there is no room. */
static bool add(cp_record_kinds *kinds, const cp_record_kind *kind)
{
    cp_record_kind *place = find_kind(kinds, kind->name);

    if (!place && kinds->count == CP_RECORD_KINDS_MAX) {
        return false;
    }
    if (!place) {
        place = &kinds->list[kinds->count++];
    }
    *place = *kind;
    return true;
}

/* Whether the library is to be asked: not for its other options, such as "file=" or "log=". */
static bool is_like_a_kind(const word *w)
{
    return w->fits && w->kind.name[0] && !strpbrk(w->text, "=%/, ");
}

static const char *suggest(const char *name, char near[CP_SUGGESTION_BYTES])
{
    cp_suggestion suggestion;

    cp_suggestion_init(&suggestion, name, strlen(name));
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        cp_suggestion_offer(&suggestion, table[i].name);
    }
    return cp_suggestion_text(&suggestion, "", near);
}

/* `typed` begins with the word, which has `length` bytes. */
static int refuse(const word *w, const char *typed, size_t length)
{
    const cp_record_traits *traits = find_traits(w->kind.name);
    const char *rate = strchr(typed, ':');
    char near[CP_SUGGESTION_BYTES];
    int rate_length = rate ? (int)(typed + length - rate - 1) : 0;

    if (strcmp(w->kind.name, "allocs") == 0) {
        return cp_bad_usage("record",
                            "record: -e: the heap profile has the allocations too: -e heap, "
                            "then cpprof top --sample alloc_space");
    }
    if (!traits || !w->has_rate) {
        return cp_bad_usage("record",
                            "record: -e: expected cpu, heap, peak, leak, lifetime, memory, wall, "
                            "block, mutex, thread or fd, found '%.*s'%s",
                            (int)length, typed, suggest(w->kind.name, near));
    }
    if (traits->no_rate) {
        return cp_bad_usage("record", "record: -e: %s, found '%.*s'", traits->no_rate, rate_length,
                            rate + 1);
    }
    if (traits->most) {
        return cp_bad_usage("record",
                            "record: -e: expected a number from 1 to %ld after %s:, found '%.*s'",
                            traits->most, traits->name, rate_length, rate + 1);
    }
    return cp_bad_usage("record", "record: -e: expected a number after %s:, found '%.*s'",
                        traits->name, rate_length, rate + 1);
}

static int take_event(cp_record_kinds *kinds, cp_record_asker *ask, const char *typed,
                      size_t length)
{
    word w = read_word(typed, length);
    const cp_record_traits *traits = find_traits(w.kind.name);
    bool good = traits ? is_good(&w, traits) : is_like_a_kind(&w) && ask(w.kind.name, w.text);

    if (!good) {
        return refuse(&w, typed, length);
    }
    if (!add(kinds, &w.kind)) {
        return cp_bad_usage("record", "record: -e: expected at most %d kinds, found more",
                            CP_RECORD_KINDS_MAX);
    }
    return 0;
}

int cp_record_kinds_parse(const char *events, cp_record_asker *ask, cp_record_kinds *kinds)
{
    memset(kinds, 0, sizeof *kinds);
    for (;;) {
        size_t length = strcspn(events, ",");
        int status = take_event(kinds, ask, events, length);

        if (status || !events[length]) {
            return status;
        }
        events += length + 1;
    }
}

/* LIBPPROF may have "cpu:500". -e does not take that, so the rate becomes *hz. */
static void take_cpu_rate(word *w, long *hz)
{
    if (strcmp(w->kind.name, "cpu") == 0 && w->fits && w->has_rate && is_rate(w->kind.rate, "")) {
        *hz = *hz ? *hz : strtol(w->kind.rate, NULL, 10);
        w->has_rate = false;
        w->kind.rate[0] = '\0';
    }
}

void cp_record_kinds_inherit(const char *options, cp_record_kinds *kinds, long *hz)
{
    for (size_t length; *options; options += length + (options[length] == ',')) {
        length = strcspn(options, ",");
        word w = read_word(options, length);
        const cp_record_traits *traits = find_traits(w.kind.name);

        if (!traits || find_kind(kinds, w.kind.name)) {
            continue;
        }
        take_cpu_rate(&w, hz);
        if (is_good(&w, traits)) {
            add(kinds, &w.kind);
        }
    }
}

char *cp_record_kinds_words(const cp_record_kinds *kinds, long hz)
{
    enum { WORD_BYTES = 32 };
    char *words = cp_heap_alloc(kinds->count * WORD_BYTES + 1, 1), *to = words;

    for (size_t i = 0; i < kinds->count; i++) {
        const cp_record_kind *kind = &kinds->list[i];
        const char *comma = i > 0 ? "," : "";

        if (strcmp(kind->name, "cpu") == 0) {
            to += sprintf(to, "%scpu:%ld", comma, hz);
        } else {
            to += sprintf(to, "%s%s%s%s", comma, kind->name, kind->rate[0] ? ":" : "", kind->rate);
        }
    }
    return words;
}

/* ---- files ---- */

static size_t length_without_suffix(const char *name)
{
    static const char *const suffixes[] = {".pb.gz", ".pb", ".gz"};
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t suffix = strlen(suffixes[i]);
        if (length > suffix && name[length - suffix - 1] != '/' &&
            strcmp(name + length - suffix, suffixes[i]) == 0) {
            return length - suffix;
        }
    }
    return length;
}

static bool is_place_of_the_system(const char *path)
{
    return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/* Every "%k" of `output` becomes `kind`. */
static char *replace(const char *output, const char *kind)
{
    char *path = cp_heap_alloc(strlen(output) * (strlen(kind) + 1) + 1, 1), *to = path;

    while (*output) {
        if (output[0] == '%' && output[1] == 'k') {
            to = stpcpy(to, kind);
            output += 2;
        } else {
            *to++ = *output++;
        }
    }
    return path;
}

char *cp_record_kind_output(const cp_record_kinds *kinds, size_t index, const char *output)
{
    const char *kind = kinds->list[index].name;

    if (strstr(output, "%k") || kinds->count == 1 || is_place_of_the_system(output)) {
        return replace(output, kind);
    }
    int stem = (int)length_without_suffix(output);
    return cp_heap_printf("%.*s.%s%s", stem, output, kind, output + stem);
}
