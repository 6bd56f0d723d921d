/* SPDX-License-Identifier: MIT
 *
 * ingest.c: requests to Pyroscope's older path /ingest, for servers that have no other. The URL has to end with it.
 *
 * The server chooses the names of types itself, and has one for block and mutex.
 *
 * Tested by: unit.cmd_push_formats
 */
#include "push/format.h"
#include "push/names.h"

#include <errno.h>
#include <string.h>

static void add_encoded(push_body *query, const char *text)
{
    static const char digits[] = "0123456789ABCDEF";
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *text != '\0'; text++) {
        unsigned char byte = (unsigned char)*text;
        const char code[] = {'%', digits[byte >> 4], digits[byte & 15]};
        if (strchr(plain, *text) != NULL) {
            push_body_add(query, text, 1);
        } else {
            push_body_add(query, code, sizeof code);
        }
    }
}

/* A value, without the characters that end one. */
static void add_value(push_body *query, const char *value)
{
    for (; *value != '\0'; value++) {
        const char one[] = {(char)(strchr("{},=", *value) != NULL ? '_' : *value), '\0'};
        add_encoded(query, one);
    }
}

/* SERVICE{NAME=VALUE,NAME=VALUE} */
static void add_name(push_body *query, const push_profile *p)
{
    char name[PUSH_NAME_BYTES];
    const char *separator = "{";
    add_value(query, push_label_value(p, "service.name", "unknown_service"));
    for (size_t i = 0; i < p->label_count; i++) {
        if (strcmp(p->labels[i].name, "service.name") != 0 && !push_name_is_taken(p, i)) {
            push_name_of_label(p->labels[i].name, name);
            add_encoded(query, separator);
            add_encoded(query, name);
            add_encoded(query, "=");
            add_value(query, p->labels[i].value);
            separator = ",";
        }
    }
    add_encoded(query, *separator == ',' ? "}" : "");
}

static int encode(const push_entry *first, size_t count, push_body *body, push_body *query)
{
    const push_profile *p = &first->profile;
    (void)count;
    push_body_add_text(query, "?format=pprof&spyName=libpprof&from=");
    push_body_add_number(query, p->begin_ns / 1000000000);
    push_body_add_text(query, "&until=");
    push_body_add_number(query, p->end_ns / 1000000000);
    push_body_add_text(query, "&name=");
    add_name(query, p);
    push_body_add(body, p->data, p->size);
    return body->failed || query->failed ? -ENOMEM : 0;
}

const push_format push_format_ingest = {
    .name = "ingest",
    .path = "/ingest",
    .content_type = "application/octet-stream",
    .entries = 1,
    .wants_plain_types = true,
    .limits = {.bytes = 1 << 20, .samples = 16000},
    .encode = encode,
};
