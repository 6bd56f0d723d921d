/* SPDX-License-Identifier: MIT
 *
 * json.h: a writer of JSON.
 *
 * It puts the commas. A key is NULL inside of an array. A text may have any bytes: those that are
 * no UTF-8 become U+FFFD. Numbers are printed in full, although some readers keep only 53 bits.
 */
#ifndef CP_JSON_H
#define CP_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cp_json {
    FILE *out;
    bool comma; /* the next element needs one before it */
} cp_json;

/* bracket: '{' or '['; cp_json_close() takes '}' or ']'. */
void cp_json_open(cp_json *json, const char *key, char bracket);
void cp_json_close(cp_json *json, char bracket);

void cp_json_bytes(cp_json *json, const char *key, const char *text, size_t length);
void cp_json_text(cp_json *json, const char *key, const char *text);
void cp_json_number(cp_json *json, const char *key, int64_t number);
void cp_json_unsigned(cp_json *json, const char *key, uint64_t number);
void cp_json_flag(cp_json *json, const char *key, bool flag);

#endif
