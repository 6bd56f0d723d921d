/* SPDX-License-Identifier: MIT
 *
 * suggestion.c: see suggestion.h.
 *
 * Tested by: unit.cmd_suggestion.
 */
#include "base/suggestion.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* No verb, option or kind has more letters. */
enum { LONGEST = 32 };

/* The rows of the table of distances that are needed at a time: row i has the distances of the
 * first i letters of one word to each beginning of the other. */
typedef struct rows {
    size_t before[LONGEST + 1], last[LONGEST + 1], now[LONGEST + 1];
} rows;

static bool same(char left, char right)
{
    return tolower((unsigned char)left) == tolower((unsigned char)right);
}

static size_t least(size_t left, size_t right)
{
    return left < right ? left : right;
}

/* The distance of the first i letters of `left` to the first j letters of `right`. */
static size_t cell(const rows *r, const char *left, size_t i, const char *right, size_t j)
{
    size_t distance = r->last[j - 1] + !same(left[i - 1], right[j - 1]);

    distance = least(distance, least(r->last[j], r->now[j - 1]) + 1);
    if (i > 1 && j > 1 && same(left[i - 1], right[j - 2]) && same(left[i - 2], right[j - 1])) {
        distance = least(distance, r->before[j - 2] + 1);
    }
    return distance;
}

/* Both words have at most LONGEST letters. */
static size_t distance_of(const char *left, size_t left_length, const char *right,
                          size_t right_length)
{
    rows r = {.before = {0}};

    for (size_t j = 0; j <= right_length; j++) {
        r.now[j] = j;
    }
    for (size_t i = 1; i <= left_length; i++) {
        memcpy(r.before, r.last, sizeof r.before);
        memcpy(r.last, r.now, sizeof r.last);
        r.now[0] = i;
        for (size_t j = 1; j <= right_length; j++) {
            r.now[j] = cell(&r, left, i, right, j);
        }
    }
    return r.now[right_length];
}

void cp_suggestion_init(cp_suggestion *suggestion, const char *typed, size_t length)
{
    *suggestion = (cp_suggestion){.typed = typed, .length = length, .distance = LONGEST};
}

void cp_suggestion_offer(cp_suggestion *suggestion, const char *word)
{
    size_t length = word ? strlen(word) : 0;

    if (length == 0 || length > LONGEST || suggestion->length > LONGEST) {
        return;
    }
    size_t longer = length > suggestion->length ? length : suggestion->length;
    size_t distance = distance_of(suggestion->typed, suggestion->length, word, length);
    if (suggestion->length > 1 && strncasecmp(suggestion->typed, word, suggestion->length) == 0) {
        distance = least(distance, 1);
    }
    if (3 * distance <= longer && distance < suggestion->distance) {
        suggestion->word = word;
        suggestion->distance = distance;
    }
}

const char *cp_suggestion_text(const cp_suggestion *suggestion, const char *before,
                               char buffer[CP_SUGGESTION_BYTES])
{
    buffer[0] = '\0';
    if (suggestion->word) {
        snprintf(buffer, CP_SUGGESTION_BYTES, "; did you mean %s%s?", before, suggestion->word);
    }
    return buffer;
}
