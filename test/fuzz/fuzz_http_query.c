/* SPDX-License-Identifier: MIT
 *
 * fuzz_http_query.c: any text as the query of a request, and as the addresses of `symbol`.
 *
 * Sources: src/web/http_query.c
 * Seeds: queries of readers of profiles.
 */
#include "web/http_query.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A value that was found is a text that fits, and so is the same value alone. */
static void look_for(const char *query, const char *key)
{
    char value[PP_HTTP_VALUE_MAX];
    char encoded[4 * PP_HTTP_VALUE_MAX] = "k=";
    char again[PP_HTTP_VALUE_MAX];
    char *at = encoded + 2;
    if (!pp_http_query_get(query, key, value)) {
        if (value[0] != '\0')
            abort();
        return;
    }
    for (const char *c = value; *c != '\0'; c++) {
        static const char digits[] = "0123456789abcdef";
        *at++ = '%';
        *at++ = digits[(unsigned char)*c >> 4];
        *at++ = digits[(unsigned char)*c & 15];
    }
    if (strlen(value) >= sizeof value || !pp_http_query_get(encoded, "k", again) ||
        strcmp(value, again) != 0)
        abort();
}

/* Numbers are what libc reads. */
static void read_number(const char *text)
{
    int64_t number = 77;
    bool good = pp_http_number(text, &number);
    char *end = NULL;
    if (good && (number != strtoll(text, &end, 10) || *end != '\0'))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* exactly as long */
    char *out = malloc(size + 1);
    uint64_t pc = 0;
    memcpy(text, data, size);
    text[size] = '\0';
    look_for(text, "seconds");
    look_for(text, "debug");
    look_for(text, "");
    read_number(text);
    if (pp_http_decode(text, strlen(text), false, out, size + 1) && strlen(out) > strlen(text))
        abort();
    pp_http_decode(text, strlen(text), true, out, size / 2 + 1);
    pp_http_parse_pc(text, size, &pc);
    free(text);
    free(out);
    return 0;
}
