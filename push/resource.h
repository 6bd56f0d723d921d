/* SPDX-License-Identifier: MIT
 *
 * resource.h: the labels of a service, from where OpenTelemetry has them.
 *
 *   service=NAME > OTEL_SERVICE_NAME > service.name of OTEL_RESOURCE_ATTRIBUTES > the program's name
 */
#ifndef PUSH_RESOURCE_H
#define PUSH_RESOURCE_H

#include "push/push.h"

enum { PUSH_RESOURCE_LABELS = 32, PUSH_RESOURCE_BYTES = 8192 };

typedef struct push_resource {
    push_label labels[PUSH_RESOURCE_LABELS]; /* the first one is "service.name" */
    size_t count;
    size_t used;
    char memory[PUSH_RESOURCE_BYTES];
} push_resource;

/* Where the labels come from; NULL: nowhere. `attributes` is "NAME=VALUE,NAME=VALUE", with values in
 * percent encoding. What has no room is left out. */
typedef struct push_resource_source {
    const char *service;    /* the option */
    const char *name;       /* OTEL_SERVICE_NAME */
    const char *attributes; /* OTEL_RESOURCE_ATTRIBUTES */
    const char *program;
} push_resource_source;

/* The labels point into the resource, which must stay where it is. */
void push_resource_init(push_resource *resource, const push_resource_source *source);

/* Adds a label, or gives it another value. False: there is no room. */
bool push_resource_set(push_resource *resource, const char *name, const char *value);

#endif
