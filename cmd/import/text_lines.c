/* SPDX-License-Identifier: MIT
 *
 * text_lines.c: see text_lines.h.
 *
 * Tested by: unit.cmd_folded, unit.cmd_legacy_text.
 */
#include "import/text_lines.h"

#include "base/message.h"
#include "base/pool.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void cp_lines_init(cp_lines *lines, const uint8_t *data, size_t length)
{
    const char *text = (const char *)data;

    *lines = (cp_lines){.data = text, .at = text, .end = length ? text + length : text};
}

void cp_lines_release(cp_lines *lines)
{
    free(lines->line);
}

static void keep(cp_lines *lines, const char *begin, size_t length)
{
    if (length + 1 > lines->capacity) {
        lines->capacity = 2 * (length + 1);
        lines->line = cp_heap_resize(lines->line, lines->capacity, 1);
    }
    memcpy(lines->line, begin, length);
    lines->line[length] = '\0';
    lines->length = length;
}

bool cp_lines_next(cp_lines *lines)
{
    const char *begin = lines->at;
    size_t rest = (size_t)(lines->end - begin);
    const char *newline = rest ? memchr(begin, '\n', rest) : NULL;

    if (rest == 0) {
        return false;
    }
    const char *end = newline ? newline : lines->end;
    lines->at = newline ? newline + 1 : lines->end;
    lines->number++;
    lines->indented = begin < end && isspace((unsigned char)*begin);
    while (begin < end && isspace((unsigned char)*begin)) {
        begin++;
    }
    while (begin < end && isspace((unsigned char)end[-1])) {
        end--;
    }
    lines->offset = (size_t)(begin - lines->data);
    keep(lines, begin, (size_t)(end - begin));
    return true;
}

bool cp_lines_next_text(cp_lines *lines)
{
    while (cp_lines_next(lines)) {
        if (lines->length) {
            return true;
        }
    }
    return false;
}

int cp_lines_fail(const cp_lines *lines, const char *expected, cp_error *error)
{
    return cp_fail(error, "byte %zu: line %zu: expected %s, found '%.80s'", lines->offset,
                   lines->number, expected, lines->line ? lines->line : "");
}
