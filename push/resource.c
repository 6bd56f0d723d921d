/* SPDX-License-Identifier: MIT
 *
 * resource.c: see resource.h.
 *
 * Tested by: unit.cmd_push_formats
 */
#include "push/resource.h"

#include <string.h>

static const char service_name[] = "service.name";

/* Copies a text of `length` bytes; NULL: there is no room. */
static const char *keep(push_resource *r, const char *text, size_t length)
{
    if (length >= sizeof r->memory - r->used) {
        return NULL;
    }
    char *place = r->memory + r->used;
    memcpy(place, text, length);
    place[length] = '\0';
    r->used += length + 1;
    return place;
}

static push_label *find(push_resource *r, const char *name, size_t length)
{
    for (size_t i = 0; i < r->count; i++) {
        if (strncmp(r->labels[i].name, name, length) == 0 && r->labels[i].name[length] == '\0') {
            return &r->labels[i];
        }
    }
    return NULL;
}

static bool set(push_resource *r, const char *name, size_t name_length, const char *value,
                size_t value_length)
{
    push_label *label = find(r, name, name_length);
    size_t used = r->used;
    const char *kept_value = keep(r, value, value_length);
    if (kept_value == NULL || (label == NULL && r->count == PUSH_RESOURCE_LABELS)) {
        r->used = used;
        return false;
    }
    if (label != NULL) {
        label->value = kept_value;
        return true;
    }
    const char *kept_name = keep(r, name, name_length);
    if (kept_name == NULL) {
        r->used = used;
        return false;
    }
    r->labels[r->count++] = (push_label){kept_name, kept_value};
    return true;
}

bool push_resource_set(push_resource *resource, const char *name, const char *value)
{
    return set(resource, name, strlen(name), value, strlen(value));
}

/* ---- OTEL_RESOURCE_ATTRIBUTES ---- */

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static size_t decode(const char *text, size_t length, char *to)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++) {
        int high = text[i] == '%' && i + 2 < length ? digit_of(text[i + 1]) : -1;
        int low = high >= 0 ? digit_of(text[i + 2]) : -1;
        bool is_code = low >= 0 && (high > 0 || low > 0);
        to[count++] = (char)(is_code ? high * 16 + low : text[i]);
        i += is_code ? 2 : 0;
    }
    return count;
}

static const char *skip_blanks(const char *text, const char *end)
{
    while (text < end && (*text == ' ' || *text == '\t')) {
        text++;
    }
    return text;
}

static size_t length_without_blanks(const char *text, const char *end)
{
    while (end > text && (end[-1] == ' ' || end[-1] == '\t')) {
        end--;
    }
    return (size_t)(end - text);
}

static void take_attribute(push_resource *r, const char *text, const char *end)
{
    char value[2048];
    const char *equals = memchr(text, '=', (size_t)(end - text));
    if (equals == NULL) {
        return;
    }
    text = skip_blanks(text, end);
    size_t name_length = text < equals ? length_without_blanks(text, equals) : 0;
    const char *coded = skip_blanks(equals + 1, end);
    size_t length = length_without_blanks(coded, end);
    if (name_length > 0 && length < sizeof value) {
        set(r, text, name_length, value, decode(coded, length, value));
    }
}

static void take_attributes(push_resource *r, const char *text)
{
    while (*text != '\0') {
        const char *end = text + strcspn(text, ",");
        take_attribute(r, text, end);
        text = *end == ',' ? end + 1 : end;
    }
}

static bool is_given(const char *text)
{
    return text != NULL && *text != '\0';
}

void push_resource_init(push_resource *r, const push_resource_source *source)
{
    r->count = 0;
    r->used = 0;
    push_resource_set(r, service_name,
                      is_given(source->program) ? source->program : "unknown_service");
    if (is_given(source->attributes)) {
        take_attributes(r, source->attributes);
    }
    if (is_given(source->name)) {
        push_resource_set(r, service_name, source->name);
    }
    if (is_given(source->service)) {
        push_resource_set(r, service_name, source->service);
    }
}
