/* SPDX-License-Identifier: MIT
 *
 * legacy_lines.h: what the readers of the textual formats share: lines, addresses, samples.
 *
 * Owns: the current line, and the index of locations, until cp_legacy_release().
 */
#ifndef CP_LEGACY_LINES_H
#define CP_LEGACY_LINES_H

#include "base/index_table.h"
#include "import/text_lines.h"
#include "profile/profile_model.h"

typedef struct cp_error cp_error;

typedef struct cp_legacy {
    cp_profile *profile;
    cp_error *error;
    cp_lines lines;
    const char *line;         /* lines.line */
    cp_index_table locations; /* by address */
    size_t sample_room, location_room;
} cp_legacy;

void cp_legacy_init(cp_legacy *legacy, cp_profile *profile, const uint8_t *data, size_t length,
                    cp_error *error);
void cp_legacy_release(cp_legacy *legacy);

/* Goes to the next line; false at the end. */
bool cp_legacy_next(cp_legacy *legacy);
/* Whether the line is empty or a comment. */
bool cp_legacy_is_blank(const cp_legacy *legacy);
/* Whether the list of mapped files begins after this line. */
bool cp_legacy_is_map(const cp_legacy *legacy);
bool cp_legacy_begins(const cp_legacy *legacy, const char *prefix);

/* Complains of the line. Always returns -1. */
int cp_legacy_fail(const cp_legacy *legacy, const char *expected);

/* Reads a decimal number, with or without a sign, and goes past it and the blanks around it. */
bool cp_legacy_number(const char **text, int64_t *number);
/* Goes past the text and the blanks after it if it stands there. */
bool cp_legacy_skip(const char **text, const char *expected);

/* Adds a sample without a stack; its values are 0. */
cp_sample *cp_legacy_add_sample(cp_legacy *legacy);

/* Makes each "0x..." in the text the stack of a sample. They are return addresses: one byte less is
 * inside the call. */
void cp_legacy_add_stack(cp_legacy *legacy, cp_sample *sample, const char *text);

/* Goes on to the list of mapped files, and reads it. */
void cp_legacy_finish(cp_legacy *legacy);

/* ---- the formats; the current line is the header ---- */

int cp_legacy_read_heap(cp_legacy *legacy);
int cp_legacy_read_jemalloc(cp_legacy *legacy);
int cp_legacy_read_contention(cp_legacy *legacy);

#endif
