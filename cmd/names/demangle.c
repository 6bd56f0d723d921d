/* SPDX-License-Identifier: MIT
 *
 * demangle.c: see demangle.h.
 *
 * The library's demangler (src/demangle) makes the short names. Names with more come from binutils'
 * c++filt, in a process of its own that has limits: a profile may come from a stranger, and a few
 * hundred bytes of a symbol can become gigabytes of text. A name that is no symbol but looks like
 * C++ (templates, ::) was demangled in full by the profile's writer: this file cuts its parentheses
 * and angle brackets.
 *
 * Owns: nothing; results belong to the caller.
 * Tested by: unit.cmd_names, e2e.cpprof_names.
 */
#include "names/demangle.h"

#include "base/message.h"
#include "base/pool.h"
#include "names/binutils.h"
#include "src/demangle/demangler.h"
#include "src/demangle/rust_name.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- short names ---- */

static bool is_mangled(const char *name)
{
    return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0;
}

/* Whether no byte of the name ends a line. */
static bool is_one_line(const char *name)
{
    return !strpbrk(name, "\n\r");
}

/* Makes the names that c++filt has not made. */
static void make_short_names(const char *const *symbols, size_t count, cp_demangle_mode mode,
                             char **names)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_demangler demangler = pp_demangler_begin(&arena);

    for (size_t i = 0; i < count; i++) {
        bool is_short = mode <= CP_DEMANGLE_GO_1_19 || pp_rust_is_first_scheme(symbols[i]);
        if (is_short && !names[i] && is_mangled(symbols[i])) {
            const char *name = pp_demangle(&demangler, symbols[i]);
            names[i] = name != symbols[i] ? cp_heap_copy(name, strlen(name)) : NULL;
        }
    }
    pp_arena_release(&arena);
}

/* ---- names with template arguments and parameters ---- */

enum {
    SYMBOL_BYTES = 8 * 1024,
    NAME_BYTES = 64 * 1024,
    BATCH_BYTES = 64 * 1024, /* every system takes 128 KiB of arguments */
    BATCH = 1000,
    FILTER_SECONDS = 1, /* a thousand symbols take 10 ms */
    FILTER_BYTES = 64 * 1024 * 1024
};

/* Symbols that c++filt gets as arguments. It prints a line for each. */
typedef struct batch {
    char *arguments[BATCH + 4];
    char **names[BATCH]; /* of each symbol, where its name goes */
    size_t options, count, answered, bytes;
} batch;

static void take_name(void *context, char *line)
{
    batch *b = context;

    if (b->answered < b->count) {
        size_t i = b->answered++;
        /* With parameters the name of a clone ends in " [clone .isra.0]". */
        char *clone = strstr(line, " [clone ");
        size_t length = clone ? (size_t)(clone - line) : strlen(line);
        if (length < NAME_BYTES && strcmp(line, b->arguments[b->options + i]) != 0) {
            *b->names[i] = cp_heap_copy(line, length);
        }
    }
}

static void complain_once(const char *what)
{
    static bool complained;

    if (!complained) {
        cp_complain("warning: %s", what);
        complained = true;
    }
}

static void run_batch(batch *b)
{
    b->arguments[b->options + b->count] = NULL;
    b->answered = 0;
    int error = b->count == 0 ? 0
                              : cp_binutils_run(b->arguments,
                                                (cp_binutils_limits){FILTER_SECONDS, FILTER_BYTES},
                                                take_name, b);
    if (error == -EIO) {
        complain_once("C++ symbols take too long to read; they are shown as they are");
    } else if (error < 0) {
        complain_once("--demangle: expected c++filt, found none; install binutils");
    }
    b->count = b->bytes = 0;
}

/* Whether the name has more in this mode than the short one. Rust's first scheme has no arguments. */
static bool has_more(const char *symbol, cp_demangle_mode mode)
{
    bool wanted = mode == CP_DEMANGLE_GO_1_19 ? strncmp(symbol, "_R", 2) == 0 : is_mangled(symbol);

    return wanted && mode != CP_DEMANGLE_SIMPLE && !pp_rust_is_first_scheme(symbol);
}

static void make_long_names(const char *const *symbols, size_t count, cp_demangle_mode mode,
                            char **names)
{
    batch *b = cp_heap_alloc(1, sizeof *b);

    b->arguments[b->options++] = "c++filt";
    b->arguments[b->options++] = "-i"; /* std::string, and no hashes of Rust */
    if (mode == CP_DEMANGLE_TEMPLATES) {
        b->arguments[b->options++] = "-p"; /* no parameters */
    }
    for (size_t i = 0; i < count; i++) {
        size_t bytes = strlen(symbols[i]) + 1;
        if (!has_more(symbols[i], mode) || !is_one_line(symbols[i]) || bytes > SYMBOL_BYTES) {
            continue;
        }
        if (b->count == BATCH || b->bytes + bytes > BATCH_BYTES) {
            run_batch(b);
        }
        b->arguments[b->options + b->count] = (char *)symbols[i];
        b->names[b->count++] = &names[i];
        b->bytes += bytes;
    }
    run_batch(b);
    free(b);
}

/* ---- names that are demangled already ---- */

/* Java's "Class.<init>" and Go's "pkg.(*Type[...]).Method" have brackets too, but are no C++. */
static bool reads_like_cplusplus(const char *name)
{
    if (strstr(name, ".<") || strstr(name, "]).")) {
        return false;
    }
    return strpbrk(name, "<>[]") || strstr(name, "::");
}

/* The closing bracket of the pair that opens at `at`; NULL if there is none. */
static const char *pair_end(const char *at, char open, char close)
{
    size_t depth = 0;

    for (; *at; at++) {
        depth += *at == open;
        if (*at == close && --depth == 0) {
            return at;
        }
    }
    return NULL;
}

/* Cuts every outermost pair; stops at the first bracket that has no partner. */
static void cut_pairs(char *name, char open, char close)
{
    const char *from = name;
    char *to = name;

    while (*from && *from != close) {
        const char *end = *from == open ? pair_end(from, open, close) : NULL;

        if (*from == open && !end) {
            break;
        }
        if (end) {
            from = end + 1;
        } else {
            *to++ = *from++;
        }
    }
    memmove(to, from, strlen(from) + 1);
}

/* ---- names ---- */

int cp_demangle_mode_named(const char *name, cp_demangle_mode *mode)
{
    static const struct {
        const char *name;
        cp_demangle_mode mode;
    } modes[] = {
        {"simple", CP_DEMANGLE_SIMPLE},       {"default", CP_DEMANGLE_SIMPLE},
        {"templates", CP_DEMANGLE_TEMPLATES}, {"full", CP_DEMANGLE_FULL},
        {"none", CP_DEMANGLE_NONE},
    };

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(modes[i].name, name) == 0) {
            *mode = modes[i].mode;
            return 0;
        }
    }
    return -1;
}

/* Shortens a name that was demangled in full before. */
static char *shorten(const char *name, cp_demangle_mode mode)
{
    char *result = cp_heap_copy(name, strlen(name));

    if (mode <= CP_DEMANGLE_TEMPLATES && reads_like_cplusplus(name)) {
        cut_pairs(result, '(', ')');
        if (mode <= CP_DEMANGLE_GO_1_19) {
            cut_pairs(result, '<', '>');
        }
    }
    return result;
}

void cp_demangle(const char *const *symbols, size_t count, cp_demangle_mode mode, char **names)
{
    memset(names, 0, count * sizeof *names);
    if (mode != CP_DEMANGLE_NONE) {
        make_long_names(symbols, count, mode, names);
        make_short_names(symbols, count, mode, names);
    }
    for (size_t i = 0; i < count; i++) {
        if (!names[i]) {
            names[i] = shorten(symbols[i], mode);
        }
    }
}
