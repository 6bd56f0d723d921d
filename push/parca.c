/* SPDX-License-Identifier: MIT
 *
 * parca.c: requests to Parca's WriteRaw, in JSON: its gateway takes no other form over plain HTTP.
 *
 * Tested by: unit.cmd_push_formats, e2e.push
 */
#include "push/format.h"
#include "push/names.h"

#include <errno.h>

static void add_label(push_body *body, const char *separator, const char *name, const char *value)
{
    push_body_add_text(body, separator);
    push_body_add_text(body, "{\"name\":");
    push_body_add_json(body, name);
    push_body_add_text(body, ",\"value\":");
    push_body_add_json(body, value);
    push_body_add_text(body, "}");
}

static void add_series(push_body *body, const push_profile *p)
{
    char name[PUSH_NAME_BYTES];
    push_body_add_text(body, "{\"labels\":{\"labels\":[");
    push_name_of_kind(p->kind, name);
    add_label(body, "", "__name__", name);
    for (size_t i = 0; i < p->label_count; i++) {
        if (!push_name_is_taken(p, i)) {
            push_name_of_label(p->labels[i].name, name);
            add_label(body, ",", name, p->labels[i].value);
        }
    }
    push_body_add_text(body, "]},\"samples\":[{\"rawProfile\":\"");
    push_body_add_base64(body, p->data, p->size);
    push_body_add_text(body, "\"}]}");
}

static int encode(const push_entry *first, size_t count, push_body *body, push_body *query)
{
    (void)query;
    push_body_add_text(body, "{\"series\":[");
    for (size_t i = 0; i < count; i++, first = first->next) {
        push_body_add_text(body, i > 0 ? "," : "");
        add_series(body, &first->profile);
    }
    push_body_add_text(body, "]}");
    return body->failed ? -ENOMEM : 0;
}

const push_format push_format_parca = {
    .name = "parca",
    .path = "/api/profiles/writeraw",
    .content_type = "application/json",
    .probe = "{}",
    .probe_size = 2,
    .probe_answer = "\"code\"",
    .accepted = "application/json",
    .entries = 16,
    .wants_plain_types = true,
    .final_failures = {"invalid profile type", "decompressing"},
    .encode = encode,
};
