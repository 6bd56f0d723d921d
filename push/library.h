/* SPDX-License-Identifier: MIT
 *
 * library.h: the interface between libpprof and libpprof-push.so.0, which it loads for the option push=.
 */
#ifndef PUSH_LIBRARY_H
#define PUSH_LIBRARY_H

#include "push/push.h"
#include "push/resource.h"

typedef struct push_library {
    /* push_open(). exit() calls `at_exit` before the handlers that were registered earlier: those of
     * TLS libraries must not run while something is sent. */
    push_sender *(*open)(const push_settings *settings, void (*at_exit)(void),
                         char why[PUSH_WHY_BYTES]);
    void (*set_labels)(push_resource *resource, const push_resource_source *source);
    int (*add)(push_sender *sender, const push_profile *profile);
    bool (*is_full)(const push_sender *sender);
    void (*pump)(push_sender *sender, uint64_t until_ns);
    bool (*drain)(push_sender *sender, uint64_t until_ns);
    void (*park)(push_sender *sender);
    void (*wake)(push_sender *sender);
    void (*close)(push_sender *sender);
} push_library;

/* The symbol's name changes with the interface. */
extern const push_library pprof_push_2;

#endif
