/* SPDX-License-Identifier: MIT
 *
 * perf_lines.c: see perf_lines.h.
 *
 * Tested by: unit.cmd_perf_script, fuzz.perf_script.
 */
#include "import/perf_lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

static bool ends_word(char character)
{
    return character == '\0' || character == ' ' || character == '\t';
}

/* ---- headers ---- */

/* Reads a whole number, and goes past it. */
static bool read_number(const char **at, int64_t *number)
{
    char *end;

    if (!isdigit((unsigned char)**at)) {
        return false;
    }
    errno = 0;
    *number = strtoll(*at, &end, 10);
    *at = end;
    return errno == 0;
}

/* Reads "PID/TID", or a TID. */
static bool read_ids(const char **at, cp_perf_header *header)
{
    header->pid = -1;
    if (!read_number(at, &header->tid)) {
        return false;
    }
    if (**at == '/') {
        ++*at;
        header->pid = header->tid;
        if (!read_number(at, &header->tid)) {
            return false;
        }
    }
    return ends_word(**at);
}

/* Goes past "[CPU]" and "TIME:", if they are there. */
static const char *skip_place(const char *at, cp_perf_header *header)
{
    size_t digits;

    at = skip_blanks(at);
    if (*at == '[' && at[1 + strspn(at + 1, DIGITS)] == ']') {
        at = skip_blanks(at + 2 + strspn(at + 1, DIGITS));
    }
    digits = strspn(at, DIGITS ".");
    header->has_time = digits > 0 && at[digits] == ':' && ends_word(at[digits + 1]);
    return header->has_time ? skip_blanks(at + digits + 1) : at;
}

/* "cycles:ppp" is cycles; "sched:sched_switch" stays. */
static size_t without_modifiers(const char *event, size_t length)
{
    size_t at = length;

    while (at > 0 && event[at - 1] != ':') {
        at--;
    }
    if (at < 2 || at == length || strspn(event + at, "ukhHGpPSDIeWb") < length - at) {
        return length;
    }
    return at - 1;
}

/* Reads the event: a word that ends in a colon. */
static bool read_event(const char *at, cp_perf_header *header)
{
    size_t length = strcspn(at, " \t");

    if (length < 2 || at[length - 1] != ':' || isdigit((unsigned char)*at)) {
        return false;
    }
    header->event = (cp_span){at, without_modifiers(at, length - 1)};
    header->rest = skip_blanks(at + length);
    return header->event.length > 0;
}

/* Reads everything after the command's name. */
static bool read_tail(const char *at, cp_perf_header *header)
{
    if (!read_ids(&at, header)) {
        return false;
    }
    at = skip_place(at, header);
    header->period = 1;
    const char *word = at;
    if (read_number(&word, &header->period) && ends_word(*word)) {
        at = skip_blanks(word);
    } else {
        header->period = 1;
    }
    return read_event(at, header);
}

/* A command's name may have blanks and numbers: the first number that all the rest fits to ends it. */
bool cp_perf_parse_header(const char *line, cp_perf_header *header)
{
    for (const char *at = strpbrk(line, " \t"); at; at = strpbrk(at, " \t")) {
        const char *end = at;

        at = skip_blanks(at);
        if (isdigit((unsigned char)*at) && read_tail(at, header)) {
            header->comm = (cp_span){line, (size_t)(end - line)};
            return header->comm.length > 0;
        }
    }
    return false;
}

/* ---- frames ---- */

/* Splits "SYMBOL (FILE)" at the last " (". FILE may itself be "NAME (deleted)". */
static void split_file(cp_span text, cp_perf_frame *frame)
{
    static const char deleted[] = " (deleted))";
    size_t end = text.length, mark = sizeof deleted - 1;

    frame->symbol = text;
    if (!end || text.at[end - 1] != ')') {
        return;
    }
    if (end > mark && memcmp(text.at + end - mark, deleted, mark) == 0) {
        end -= mark;
    }
    const char *open = end ? memrchr(text.at, '(', end) : NULL;
    if (!open || (open > text.at && open[-1] != ' ')) {
        return;
    }
    size_t before = (size_t)(open - text.at);
    frame->file = (cp_span){open + 1, text.length - before - 2};
    frame->symbol.length = before ? before - 1 : 0;
}

/* Cuts "+0x1f" off. */
static void cut_offset(cp_span *symbol)
{
    size_t at = symbol->length;

    while (at > 0 && isxdigit((unsigned char)symbol->at[at - 1])) {
        at--;
    }
    if (at > 3 && at < symbol->length && memcmp(symbol->at + at - 3, "+0x", 3) == 0) {
        symbol->length = at - 3;
    }
}

static bool is_text(cp_span span, const char *text)
{
    return span.length == strlen(text) && memcmp(span.at, text, span.length) == 0;
}

bool cp_perf_parse_frame(const char *line, cp_perf_frame *frame)
{
    char *end;

    if (!isxdigit((unsigned char)*line)) {
        return false;
    }
    errno = 0;
    uint64_t address = strtoull(line, &end, 16);
    if (errno || !ends_word(*end) || (line[0] == '0' && tolower((unsigned char)line[1]) == 'x')) {
        return false;
    }
    const char *text = skip_blanks(end);
    *frame = (cp_perf_frame){.address = address};
    split_file((cp_span){text, strlen(text)}, frame);
    frame->inlined = is_text(frame->file, "inlined");
    if (frame->inlined || is_text(frame->file, "[unknown]")) {
        frame->file.length = 0;
    }
    cut_offset(&frame->symbol);
    if (is_text(frame->symbol, "[unknown]")) {
        frame->symbol.length = 0;
    }
    return true;
}

bool cp_perf_parse_source(const char *line, cp_perf_source *source)
{
    const char *colon = strrchr(line, ':');
    const char *digits = colon ? colon + 1 : NULL;

    if (!colon || !read_number(&digits, &source->line)) {
        return false;
    }
    source->inlined = strcmp(digits, " (inlined)") == 0;
    source->file = (cp_span){line, (size_t)(colon - line)};
    if (is_text(source->file, "??")) {
        source->file.length = 0;
    }
    return source->inlined || *digits == '\0';
}
