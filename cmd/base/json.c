/* SPDX-License-Identifier: MIT
 *
 * json.c: see json.h.
 *
 * Tested by: unit.cmd_json, e2e.cpprof_reports.
 */
#include "base/json.h"

#include "base/printable.h"
#include "src/base/utf8.h"

#include <inttypes.h>
#include <string.h>

static void put_escaped(FILE *out, uint32_t code)
{
    switch (code) {
    case '"':
    case '\\':
        fputc('\\', out);
        fputc((int)code, out);
        break;
    case '\n':
        fputs("\\n", out);
        break;
    case '\t':
        fputs("\\t", out);
        break;
    default:
        fprintf(out, "\\u%04" PRIx32, code);
    }
}

static void put_string(FILE *out, const char *text, size_t length)
{
    const char *at = text, *end = at + length;

    fputc('"', out);
    while (at < end) {
        size_t bytes = pp_utf8_length(at, (size_t)(end - at));
        unsigned char first = (unsigned char)*at;

        if (bytes == 0) {
            fputs(PP_UTF8_REPLACEMENT, out);
            bytes = 1;
        } else if (first < ' ' || first == '"' || first == '\\' || cp_is_control(at, bytes)) {
            put_escaped(out, pp_utf8_character(at, bytes));
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

/* printf takes ten times as long, and there may be millions. */
static void put_digits(FILE *out, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    fwrite(digits + at, 1, sizeof digits - at, out);
}

void cp_json_number(cp_json *json, const char *key, int64_t number)
{
    begin(json, key);
    if (number < 0) {
        fputc('-', json->out);
    }
    put_digits(json->out, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void cp_json_unsigned(cp_json *json, const char *key, uint64_t number)
{
    begin(json, key);
    put_digits(json->out, number);
}

void cp_json_flag(cp_json *json, const char *key, bool flag)
{
    begin(json, key);
    fputs(flag ? "true" : "false", json->out);
}
