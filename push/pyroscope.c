/* SPDX-License-Identifier: MIT
 *
 * pyroscope.c: requests to Pyroscope's push service, one series for each profile.
 *
 * The label __delta__ says that values are those of the time of the profile: the server would subtract
 * one profile of allocations from the next otherwise.
 *
 * Tested by: unit.cmd_push_formats, e2e.push
 */
#include "push/format.h"
#include "push/names.h"

#include <pyroscope.pb-c.h>

#include <errno.h>
#include <stdlib.h>

enum { LABELS = 30 }; /* more are refused */

typedef struct series {
    Push__Pyroscope__Series message;
    Push__Pyroscope__Label labels[LABELS];
    Push__Pyroscope__Label *label_list[LABELS];
    char kind[PUSH_NAME_BYTES];
    char names[PUSH_LABELS][PUSH_NAME_BYTES];
    Push__Pyroscope__Sample sample;
    Push__Pyroscope__Sample *sample_list[1];
} series;

static void add_label(series *s, const char *name, const char *value)
{
    size_t i = s->message.n_labels++;
    s->labels[i] = (Push__Pyroscope__Label)PUSH__PYROSCOPE__LABEL__INIT;
    s->labels[i].name = (char *)(uintptr_t)name;
    s->labels[i].value = (char *)(uintptr_t)value;
    s->label_list[i] = &s->labels[i];
}

static void fill(series *s, const push_profile *p)
{
    s->message = (Push__Pyroscope__Series)PUSH__PYROSCOPE__SERIES__INIT;
    s->message.labels = s->label_list;
    push_name_of_kind(p->kind, s->kind);
    add_label(s, "__name__", s->kind);
    add_label(s, "__delta__", "false");
    for (size_t i = 0; i < p->label_count && s->message.n_labels < LABELS; i++) {
        if (!push_name_is_taken(p, i)) {
            push_name_of_label(p->labels[i].name, s->names[i]);
            add_label(s, s->names[i], p->labels[i].value);
        }
    }
    s->sample = (Push__Pyroscope__Sample)PUSH__PYROSCOPE__SAMPLE__INIT;
    s->sample.raw_profile.data = (uint8_t *)(uintptr_t)p->data;
    s->sample.raw_profile.len = p->size;
    s->sample_list[0] = &s->sample;
    s->message.samples = s->sample_list;
    s->message.n_samples = 1;
}

static int encode(const push_entry *first, size_t count, push_body *body, push_body *query)
{
    Push__Pyroscope__Request request = PUSH__PYROSCOPE__REQUEST__INIT;
    series *all = calloc(count, sizeof *all);
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): they are pointers */
    Push__Pyroscope__Series **list = calloc(count, sizeof *list);
    (void)query;
    if (all != NULL && list != NULL) {
        for (size_t i = 0; i < count; i++, first = first->next) {
            fill(&all[i], &first->profile);
            list[i] = &all[i].message;
        }
        request.series = list;
        request.n_series = count;
        uint8_t *place =
            push_body_extend(body, push__pyroscope__request__get_packed_size(&request));
        if (place != NULL) {
            push__pyroscope__request__pack(&request, place);
        }
    } else {
        body->failed = true;
    }
    free(list);
    free(all);
    return body->failed ? -ENOMEM : 0;
}

const push_format push_format_pyroscope = {
    .name = "pyroscope",
    .path = "/push.v1.PusherService/Push",
    .content_type = "application/proto",
    .probe = "",
    .probe_answer = "invalid_argument",
    .accepted = "application/proto",
    .entries = 16, /* it answers when it has stored all, which takes half a second */
    .keeps_good = true,
    .wants_plain_types = true,
    .final_failures = {"gzip", "invalid_argument"}, /* Alloy has 500 for what Pyroscope refuses */
    /* A profile of 4 MiB is allowed, but a tenant has 2 MB at once: what is larger is never taken. */
    .limits = {.bytes = 1 << 20, .samples = 16000},
    .plain_bytes = 3 << 19,
    .oldest_s = 3300,
    .encode = encode,
};
