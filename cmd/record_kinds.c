/* SPDX-License-Identifier: MIT
 *
 * record_kinds.c: see record_kinds.h.
 */
#include "record_kinds.h"

#include "message.h"
#include "pool.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct kind {
    const char *name, *rate_ends; /* what may follow the digits of a rate; NULL: takes none */
    const char *empty;
    const char *no_rate; /* why, where it takes none */
} known[] = {
    {"cpu", NULL, NULL, "cpu takes its rate from -F"},
    {"heap", "kmgKMG",
     "the command allocated too little to be sampled; try -e heap:1, which takes every block",
     NULL},
    {"block", "", "no thread of the command had to wait", NULL},
    {"mutex", "",
     "no lock was released that a thread waited for; waits that never ended are in the profile of "
     "-e block",
     NULL},
    {"thread", NULL, NULL, "thread has no rate"},
    {"fd", NULL, "the command had no descriptor open", "fd has no rate"},
    {"peak", NULL, "the command allocated too little to be sampled; try -e heap:1,peak",
     "peak takes its rate from heap:BYTES"},
};

/* ---- Words --------------------------------------------------------------------------------- */

static bool is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && strncmp(word, text, length) == 0;
}

static bool is_rate(const char *text, size_t length, const char *ends)
{
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > length || strspn(text, "0") >= digits) {
        return false;
    }
    return digits == length || (digits + 1 == length && strchr(ends, text[digits]));
}

static cp_record_kind *find(cp_record_kinds *kinds, const char *name)
{
    for (size_t i = 0; i < kinds->count; i++) {
        if (strcmp(kinds->list[i].name, name) == 0) {
            return &kinds->list[i];
        }
    }
    return NULL;
}

static int take(cp_record_kinds *kinds, const char *word, size_t length)
{
    size_t name_length = strcspn(word, ":,");
    const char *rate = word + name_length + 1;
    size_t rate_length = name_length < length ? length - name_length - 1 : 0;
    const struct kind *kind = NULL;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (is_word(known[i].name, word, name_length)) {
            kind = &known[i];
        }
    }
    if (is_word("allocs", word, name_length)) {
        return cp_bad_usage("record",
                            "record: -e: the heap profile has the allocations too: -e heap, "
                            "then cpprof top --sample alloc_space");
    }
    if (!kind) {
        return cp_bad_usage(
            "record",
            "record: -e: expected cpu, heap, peak, block, mutex, thread or fd, found '%.*s'",
            (int)length, word);
    }
    if (name_length < length && !kind->rate_ends) {
        return cp_bad_usage("record", "record: -e: %s, found '%.*s'", kind->no_rate,
                            (int)rate_length, rate);
    }
    cp_record_kind *taken;
    if (name_length < length &&
        (rate_length >= sizeof taken->rate || !is_rate(rate, rate_length, kind->rate_ends))) {
        return cp_bad_usage("record", "record: -e: expected a number behind %s:, found '%.*s'",
                            kind->name, (int)rate_length, rate);
    }
    taken = find(kinds, kind->name);
    if (!taken) {
        taken = &kinds->list[kinds->count++];
    }
    taken->name = kind->name;
    taken->empty = kind->empty;
    snprintf(taken->rate, sizeof taken->rate, "%.*s", (int)rate_length, rate);
    return 0;
}

int cp_record_kinds_parse(const char *events, cp_record_kinds *kinds)
{
    memset(kinds, 0, sizeof *kinds);
    for (;;) {
        size_t length = strcspn(events, ",");
        int status = take(kinds, events, length);

        if (status || !events[length]) {
            return status;
        }
        events += length + 1;
    }
}

/* Whether the word is a kind with a rate that `-e` would take, or cpu:HZ. */
static bool is_good_word(const char *word, size_t length, long *hz)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t name = strlen(known[i].name);
        bool bare = is_word(known[i].name, word, length);
        bool rated =
            length > name + 1 && word[name] == ':' && strncmp(word, known[i].name, name) == 0;

        if (rated && i == 0 && is_rate(word + name + 1, length - name - 1, "")) {
            *hz = strtol(word + name + 1, NULL, 10);
        }
        if (bare || (rated && known[i].rate_ends &&
                     is_rate(word + name + 1, length - name - 1, known[i].rate_ends))) {
            return true;
        }
        if (rated && i == 0 && *hz > 0) {
            return true;
        }
    }
    return false;
}

void cp_record_kinds_inherit(const char *options, cp_record_kinds *kinds, long *hz)
{
    for (size_t length; *options; options += length + (options[length] == ',')) {
        long rate = 0;

        length = strcspn(options, ",");
        char name[16];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(options, ":,"), options);
        if (find(kinds, name) || !is_good_word(options, length, &rate)) {
            continue;
        }
        take(kinds, options, rate ? strlen(name) : length);
        if (*hz == 0) {
            *hz = rate;
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

/* ---- Files --------------------------------------------------------------------------------- */

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
    char *path;
    if (asprintf(&path, "%.*s.%s%s", (int)length_without_suffix(output), output, kind,
                 output + length_without_suffix(output)) < 0) {
        cp_complain("out of memory");
        exit(CP_EXIT_BAD_INPUT);
    }
    return path;
}
