/* SPDX-License-Identifier: MIT
 *
 * live_screen.c: see live_screen.h.
 */
#include "live/live_screen.h"

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

typedef struct range {
    uint32_t first, last;
} range;

/* From Unicode's EastAsianWidth.txt (W and F) and UnicodeData.txt (Mn, Me and Cf), in whole blocks:
 * characters that no table names take one column. */
static const range wide[] = {
    {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
    {0x4e00, 0xa4cf},   {0xa960, 0xa97c},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};
static const range none[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f},   {0x0e34, 0x0e3a},
    {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x202a, 0x202e},   {0x2060, 0x2064},
    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
};

static int contains(const range *ranges, size_t count, uint32_t code)
{
    for (size_t i = 0; i < count; i++) {
        if (code >= ranges[i].first && code <= ranges[i].last) {
            return 1;
        }
    }
    return 0;
}

unsigned cp_columns_of(const char *character, size_t bytes)
{
    uint32_t code = pp_utf8_character(character, bytes);

    if (contains(none, sizeof none / sizeof *none, code)) {
        return 0;
    }
    return contains(wide, sizeof wide / sizeof *wide, code) ? 2 : 1;
}

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
