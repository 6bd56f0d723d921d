/* SPDX-License-Identifier: MIT
 *
 * format.h: what the servers want to be sent, one constant each.
 */
#ifndef PUSH_FORMAT_H
#define PUSH_FORMAT_H

#include "push/body.h"
#include "push/entry.h"
#include "push/rename.h"
#include "push/split.h"
#include "push/transport.h"

typedef struct push_format {
    const char *name; /* as in push_settings.to */
    const char *path; /* of the server; a URL may end with it */
    const char *content_type;
    const char
        *probe; /* the body of a request that changes nothing; NULL: the server is not asked */
    size_t probe_size;
    const char *probe_answer; /* the text of an answer 400 to the probe; NULL: it is accepted */
    const char *accepted;     /* the content type of an answer that has accepted all; NULL: any */
    size_t entries;           /* at most, in a request */
    /* Of a request that it refuses, the server keeps the profiles that are good: they are not sent again. */
    bool keeps_good;
    bool wants_plain_types;        /* push_rename_types() */
    const char *final_failures[2]; /* one is in an answer 500 that will be the same later */
    push_limits limits;            /* of a profile; larger ones are split */
    size_t plain_bytes;            /* at most, of all profiles of a request, without gzip; 0: any */
    int64_t oldest_s; /* what is older is likely to be refused, and goes alone; 0: no age is */
    /* Writes the request for the entries of the list, `count` of them. What follows `path` in the
     * request's own path goes to `query`. 0, -EBADMSG: the first one's profile cannot be read, or
     * -ENOMEM. */
    int (*encode)(const push_entry *first, size_t count, push_body *body, push_body *query);
} push_format;

extern const push_format push_format_pyroscope, push_format_ingest, push_format_parca,
    push_format_otlp;

/* All, in the order in which a server is asked. The list ends with NULL. */
extern const push_format *const push_formats[];

#endif
