/* SPDX-License-Identifier: MIT
 *
 * thread_context.h: shows the labels of each thread to readers outside of the process.
 *
 * OpenTelemetry's draft OTEP 4947: a thread-local variable of a known name points to a record. A
 * reader stops the thread, or interrupts it as eBPF programs do, and reads the variable and the
 * record.
 *
 *   otel_thread_ctx_v1 -> [trace id 16|span id 8|valid 1|flags 1|size 2][key 1|length 1|value ...]...
 *                                                                         key: context_keys.h
 *
 * A record is part of a set of labels (labels.h), never changes, and is whole before any thread has
 * the set. So a change of labels is one store of a pointer, and a reader that stops the thread at any
 * instruction finds the record before the change or the record after it. The memory of a set is used
 * again only after the thread has another set.
 *
 * The labels "trace_id" (32 hexadecimal digits) and "span_id" (16 digits) together become the ids of
 * the record.
 *
 * Zone: SIGNAL.
 * Owns: 8 bytes of TLS.
 */
#ifndef PP_STORE_THREAD_CONTEXT_H
#define PP_STORE_THREAD_CONTEXT_H

#include "store/label.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PP_CONTEXT_HEAD_BYTES = 28,
    PP_CONTEXT_RECORD_MAX = 640, /* as the draft recommends */
    PP_CONTEXT_RECORD_ALIGN = 2
};

/* Whether sets have records, and threads show them. Only pp_thread_context_after_fork_in_child() sets
 * it back: another thread could go on showing the record of a set that is gone. */
extern bool pp_thread_context_is_on __attribute__((visibility("hidden")));

void pp_thread_context_begin(void);

/* The child has one thread, which shows nothing from now on. */
void pp_thread_context_after_fork_in_child(void);

/* Returns the bytes that the record of a set needs at most, with its alignment. `label_bytes`: of the
 * texts of all labels, and two for each label. */
static inline size_t pp_context_record_room(size_t label_bytes)
{
    size_t all = PP_CONTEXT_HEAD_BYTES + label_bytes;
    return (all < PP_CONTEXT_RECORD_MAX ? all : PP_CONTEXT_RECORD_MAX) + PP_CONTEXT_RECORD_ALIGN;
}

/*
 * Writes the record of `count` labels into `room` bytes at `memory`, and returns where it begins. A
 * value of more than 255 bytes is cut after a character. A label is left out that does not fit, or whose
 * key has no number.
 */
void *pp_context_record_write(void *memory, size_t room, const pp_label *labels, uint32_t count);

/* The calling thread shows this record from now on; NULL: none. */
void pp_thread_context_show(const void *shown);

#endif
