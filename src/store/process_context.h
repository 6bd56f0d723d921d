/* SPDX-License-Identifier: MIT
 *
 * process_context.h: publishes what the process is, for readers outside of it.
 *
 * OpenTelemetry's draft OTEP 4719 (version 2): a small mapping with a known name points to a message
 * of protocol buffers. A reader finds the mapping in /proc/PID/maps, and needs no help of the
 * process.
 *
 *   /memfd:OTEL_CTX or [anon_shmem:OTEL_CTX] or [anon:OTEL_CTX]
 *   [header|.....][resource ......][payload 0 ......][payload 1 ......]
 *       `--------------------------> the payload that is valid now
 *
 * An update writes the payload that is not valid, sets the header's time to 0, then the pointer, and
 * then a new time. A reader that sees the same time before and after its copy has a whole one.
 *
 * The child of fork does not have the mapping (MADV_DONTFORK).
 *
 * Zone: SIGNAL.
 * Locks: none. One thread writes at a time; a request that comes meanwhile is served by that
 *        thread, so nobody waits for another one but pp_process_context_withdraw().
 * Owns: the mapping.
 */
#ifndef PP_STORE_PROCESS_CONTEXT_H
#define PP_STORE_PROCESS_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_context_text {
    const char *data;
    size_t length;
} pp_context_text;

/*
 * Makes the mapping, which no reader takes for valid before pp_process_context_publish(). 0 or -errno;
 * -ENOTSUP: no reader could find it. Only after that may the next two functions be called. One thread
 * at a time calls them, while no context is published.
 */
int pp_process_context_begin(void);

/* Adds an attribute of the process's resource. Does nothing if it has one of the same key. Bytes
 * that are not UTF-8 become U+FFFD. False if there is no room. */
bool pp_process_context_add(pp_context_text key, pp_context_text value);

/* From now on readers see the resource and, `with_threads`, the keys of the labels of threads
 * (context_keys.h). */
void pp_process_context_publish(bool with_threads);

/* Unmaps it, if it is published. */
void pp_process_context_withdraw(void);

/* Publishes the keys of threads' labels anew, if the context is published. Any thread, at any time. */
void pp_process_context_update(void);

bool pp_process_context_is_published(void);

/* In the child of fork: it has none. */
void pp_process_context_after_fork_in_child(void);

#endif
