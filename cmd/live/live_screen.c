/* SPDX-License-Identifier: MIT
 *
 * live_screen.c: see live_screen.h.
 */
#include "live/live_screen.h"

#include "base/columns.h"
#include "base/printable.h"
#include "profile/protobuf.h"
#include "src/base/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ELLIPSIS   "\u2026"
#define HOME       "\033[H"
#define PLAIN      "\033[m"
#define ERASE_LINE "\033[K"

static void put(cp_bytes *out, const char *text)
{
    cp_bytes_append(out, text, strlen(text));
}

/* ---- one line ---- */

/* The length of a colour that begins here, such as "\033[31m"; 0 if none does. */
static size_t color_bytes(const char *text, size_t length)
{
    size_t digits;

    if (length < 3 || text[0] != '\033' || text[1] != '[') {
        return 0;
    }
    for (digits = 2; digits < length && text[digits] >= '0' && text[digits] <= '9'; digits++) {
    }
    return digits < length && text[digits] == 'm' ? digits + 1 : 0;
}

/* One step through a line: a colour, or a character. */
typedef struct step {
    size_t bytes; /* of the line */
    const char *text;
    size_t length; /* of the text that is shown instead */
    unsigned columns;
} step;

static step next_step(const char *text, size_t length)
{
    size_t bytes = color_bytes(text, length);

    if (bytes) {
        return (step){bytes, text, bytes, 0};
    }
    bytes = pp_utf8_length(text, length);
    if (bytes == 0) {
        return (step){1, PP_UTF8_REPLACEMENT, strlen(PP_UTF8_REPLACEMENT), 1};
    }
    if (*text == '\t' || cp_is_control(text, bytes)) {
        return (step){bytes, "?", 1, 1};
    }
    return (step){bytes, text, bytes, cp_columns_of(text, bytes)};
}

static unsigned columns_of(const char *line, size_t length)
{
    unsigned columns = 0;

    for (size_t at = 0; at < length;) {
        step s = next_step(line + at, length - at);
        columns += s.columns;
        at += s.bytes;
    }
    return columns;
}

unsigned cp_live_clip(const char *line, size_t length, unsigned columns, cp_bytes *out)
{
    bool is_cut = columns_of(line, length) > columns;
    unsigned room = is_cut ? columns - (columns > 0) : columns, used = 0;

    for (size_t at = 0; at < length;) {
        step s = next_step(line + at, length - at);
        if (used + s.columns > room) {
            break;
        }
        cp_bytes_append(out, s.text, s.length);
        used += s.columns;
        at += s.bytes;
    }
    if (is_cut && columns > 0) {
        put(out, ELLIPSIS);
        used++;
    }
    return used;
}

/* ---- lines ---- */

size_t cp_live_lines(const char *text)
{
    size_t lines = 0;

    for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
        lines++;
    }
    return lines;
}

/* The beginning of a line, or the end of the text. */
static const char *skip_lines(const char *text, size_t count)
{
    const char *end;

    for (; count > 0 && (end = strchr(text, '\n')); count--) {
        text = end + 1;
    }
    return text;
}

size_t cp_live_room(const cp_live_frame *frame, cp_live_size size)
{
    size_t taken = cp_live_lines(frame->head) + cp_live_lines(frame->foot);

    return size.rows > taken ? size.rows - taken : 0;
}

/* ---- the screen ---- */

typedef struct painter {
    cp_live_size size;
    unsigned row; /* the next one */
    cp_bytes *out;
} painter;

/* A line that fills its row is not erased behind: the cursor still stands on its last character. */
static void paint_line(painter *p, const char *line, size_t length)
{
    if (p->row >= p->size.rows) {
        return;
    }
    put(p->out, p->row ? "\r\n" : HOME);
    unsigned used = cp_live_clip(line, length, p->size.columns, p->out);
    put(p->out, used < p->size.columns ? PLAIN ERASE_LINE : PLAIN);
    p->row++;
}

static void paint_lines(painter *p, const char *text, size_t count)
{
    const char *end;

    for (; count > 0 && (end = strchr(text, '\n')); count--) {
        paint_line(p, text, (size_t)(end - text));
        text = end + 1;
    }
}

void cp_live_paint(const cp_live_frame *frame, cp_live_size size, size_t first, cp_bytes *out)
{
    painter p = {.size = size, .out = out};
    size_t feet = cp_live_lines(frame->foot);

    paint_lines(&p, frame->head, size.rows > feet ? size.rows - feet : size.rows);
    paint_lines(&p, skip_lines(frame->body, first), cp_live_room(frame, size));
    while (p.row + feet < size.rows) {
        paint_line(&p, "", 0);
    }
    paint_lines(&p, frame->foot, feet);
}

static void print_lines(const char *text, size_t count, cp_bytes *out)
{
    const char *end;

    for (; count > 0 && (end = strchr(text, '\n')); count--) {
        cp_live_clip(text, (size_t)(end - text), UINT32_MAX, out);
        put(out, "\n");
        text = end + 1;
    }
}

void cp_live_print(const cp_live_frame *frame, size_t first, size_t count, cp_bytes *out)
{
    print_lines(frame->head, SIZE_MAX, out);
    print_lines(skip_lines(frame->body, first), count, out);
}
