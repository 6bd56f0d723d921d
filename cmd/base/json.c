/* SPDX-License-Identifier: MIT
 *
 * json.c: see json.h.
 *
 * Tested by: unit.cmd_json, e2e.cpprof_reports.
 */
#include "base/json.h"

#include <inttypes.h>
#include <string.h>

/* The length of the character that begins at text[0]; 0 if it is no valid UTF-8. */
static size_t character(const unsigned char *text, size_t length)
{
    size_t bytes = *text < 0x80 ? 1 : *text < 0xc2 ? 0 : *text < 0xe0 ? 2 : *text < 0xf0 ? 3 : 4;

    if (bytes == 0 || *text > 0xf4 || bytes > length) {
        return 0;
    }
    for (size_t i = 1; i < bytes; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if ((*text == 0xe0 && text[1] < 0xa0) || (*text == 0xed && text[1] > 0x9f) ||
        (*text == 0xf0 && text[1] < 0x90) || (*text == 0xf4 && text[1] > 0x8f)) {
        return 0; /* longer than it has to be, a surrogate, or above U+10FFFF */
    }
    return bytes;
}

static void put_escaped(FILE *out, unsigned char byte)
{
    switch (byte) {
    case '"':
    case '\\':
        fputc('\\', out);
        fputc(byte, out);
        break;
    case '\n':
        fputs("\\n", out);
        break;
    case '\t':
        fputs("\\t", out);
        break;
    default:
        fprintf(out, "\\u%04x", byte);
    }
}

static void put_string(FILE *out, const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + length;

    fputc('"', out);
    while (at < end) {
        size_t bytes = character(at, (size_t)(end - at));

        if (bytes == 0) {
            fputs("\xef\xbf\xbd", out);
            bytes = 1;
        } else if (*at < ' ' || *at == '"' || *at == '\\' || *at == 0x7f) {
            put_escaped(out, *at);
        } else {
            fwrite(at, 1, bytes, out);
        }
        at += bytes;
    }
    fputc('"', out);
}

static void begin(cp_json *json, const char *key)
{
    if (json->comma) {
        fputc(',', json->out);
    }
    json->comma = true;
    if (key) {
        put_string(json->out, key, strlen(key));
        fputc(':', json->out);
    }
}

void cp_json_open(cp_json *json, const char *key, char bracket)
{
    begin(json, key);
    fputc(bracket, json->out);
    json->comma = false;
}

void cp_json_close(cp_json *json, char bracket)
{
    fputc(bracket, json->out);
    json->comma = true;
}

void cp_json_bytes(cp_json *json, const char *key, const char *text, size_t length)
{
    begin(json, key);
    put_string(json->out, text, length);
}

void cp_json_text(cp_json *json, const char *key, const char *text)
{
    cp_json_bytes(json, key, text, strlen(text));
}

void cp_json_number(cp_json *json, const char *key, int64_t number)
{
    begin(json, key);
    fprintf(json->out, "%" PRId64, number);
}

void cp_json_unsigned(cp_json *json, const char *key, uint64_t number)
{
    begin(json, key);
    fprintf(json->out, "%" PRIu64, number);
}

void cp_json_flag(cp_json *json, const char *key, bool flag)
{
    begin(json, key);
    fputs(flag ? "true" : "false", json->out);
}
