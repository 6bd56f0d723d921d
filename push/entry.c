/* SPDX-License-Identifier: MIT
 *
 * entry.c: see entry.h.
 *
 * Tested by: unit.cmd_push_spool
 */
#include "push/entry.h"

#include "push/body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* By its old name: with _GNU_SOURCE the headers of glibc 2.38 and newer declare a function that older ones lack. */
long long pp_strtoll(const char *text, char **rest, int base) __asm__("strtoll");

static const char magic[] = "libpprof-push 1";

static void add_time(push_body *body, int64_t ns)
{
    push_body_add_number(body, ns);
    push_body_add(body, "", 1);
}

push_entry *push_entry_new(const push_profile *profile)
{
    push_body body = PUSH_BODY_INIT;
    push_body_add_word(&body, magic);
    push_body_add_word(&body, profile->kind);
    add_time(&body, profile->begin_ns);
    add_time(&body, profile->end_ns);
    for (size_t i = 0; i < profile->label_count && i < PUSH_LABELS; i++) {
        if (*profile->labels[i].name != '\0') {
            push_body_add_word(&body, profile->labels[i].name);
            push_body_add_word(&body, profile->labels[i].value);
        }
    }
    push_body_add_word(&body, "");
    push_body_add(&body, profile->data, profile->size);
    if (body.failed) {
        push_body_release(&body);
        return NULL;
    }
    return push_entry_parse(body.data, body.size);
}

/* The word at *at, which moves on; NULL: there is none. */
static const char *next_word(const char **at, const char *end)
{
    const char *word = *at;
    const char *nul = word != NULL ? memchr(word, '\0', (size_t)(end - word)) : NULL;
    *at = nul != NULL ? nul + 1 : NULL;
    return nul != NULL ? word : NULL;
}

static bool read_time(const char *word, int64_t *ns)
{
    char *rest = NULL;
    if (word == NULL || *word == '\0') {
        return false;
    }
    errno = 0;
    *ns = pp_strtoll(word, &rest, 10);
    return *rest == '\0' && errno == 0;
}

static bool parse(push_entry *e)
{
    const char *at = (const char *)e->bytes;
    const char *end = at + e->size;
    const char *first = next_word(&at, end);
    push_profile *p = &e->profile;
    if (first == NULL || strcmp(first, magic) != 0) {
        return false;
    }
    p->kind = next_word(&at, end);
    if (p->kind == NULL || !read_time(next_word(&at, end), &p->begin_ns) ||
        !read_time(next_word(&at, end), &p->end_ns)) {
        return false;
    }
    const char *name = next_word(&at, end);
    while (name != NULL && *name != '\0' && p->label_count < PUSH_LABELS) {
        const char *value = next_word(&at, end);
        e->labels[p->label_count++] = (push_label){name, value};
        name = value != NULL ? next_word(&at, end) : NULL;
    }
    p->labels = e->labels;
    p->data = at;
    p->size = at != NULL ? (size_t)(end - at) : 0;
    return name != NULL && *name == '\0';
}

push_entry *push_entry_parse(uint8_t *bytes, size_t size)
{
    push_entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL) {
        free(bytes);
        return NULL;
    }
    entry->bytes = bytes;
    entry->size = size;
    if (!parse(entry)) {
        push_entry_free(entry);
        return NULL;
    }
    return entry;
}

void push_entry_free(push_entry *entry)
{
    if (entry != NULL) {
        free(entry->bytes);
        free(entry);
    }
}
