/* SPDX-License-Identifier: MIT
 *
 * thread_context.c: see thread_context.h.
 *
 * Source: open-telemetry/opentelemetry-specification at 1377f53b, oteps/profiles/4947-thread-ctx.md.
 *
 * Zone: SIGNAL.
 * Owns: the variable.
 * Tested by: unit.thread_context, e2e.otel, e2e.otel_storm
 */
#include "store/thread_context.h"

#include "base/compiler.h"
#include "base/utf8.h"
#include "store/context_keys.h"
#include "store/process_context.h"

#include <string.h>

enum { TRACE_ID_BYTES = 16, SPAN_ID_BYTES = 8, VALUE_MAX = 255, VALID = 1 };

typedef struct record {
    uint8_t trace_id[TRACE_ID_BYTES];
    uint8_t span_id[SPAN_ID_BYTES];
    uint8_t valid;
    uint8_t trace_flags;
    uint16_t size; /* of what follows */
    uint8_t labels[];
} record;

_Static_assert(sizeof(record) == PP_CONTEXT_HEAD_BYTES, "the draft's layout");

bool pp_thread_context_is_on;

/* A reader finds the variable by its name in .dynsym. Another library may define it, too: the loader
 * then gives both the same one, and so does the linker in a program with libpprof.a. A TLS descriptor,
 * which the draft prefers, may allocate at the first use; so the model is that of all variables here,
 * which the draft permits. */
extern PP_TLS const record *otel_thread_ctx_v1 __attribute__((weak, visibility("default")));
PP_TLS const record *otel_thread_ctx_v1;

void pp_thread_context_show(const void *shown)
{
    *(const record *volatile *)&otel_thread_ctx_v1 = shown;
}

void pp_thread_context_begin(void)
{
    __atomic_store_n(&pp_thread_context_is_on, true, __ATOMIC_RELEASE);
}

void pp_thread_context_after_fork_in_child(void)
{
    if (pp_thread_context_is_on) {
        pp_thread_context_is_on = false;
        pp_thread_context_show(NULL);
    }
}

/* ---- writing ---- */

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* False, and zeros, if the text is not this number of digits, or if all are 0. */
static bool read_id(uint8_t *id, size_t bytes, const char *text)
{
    uint8_t any = 0;
    if (strlen(text) != 2 * bytes) {
        return false;
    }
    for (size_t i = 0; i < bytes; i++) {
        int high = digit_of(text[2 * i]);
        int low = digit_of(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        id[i] = (uint8_t)(high << 4 | low);
        any |= id[i];
    }
    return any != 0;
}

/* Half a pair of ids would make the record invalid. */
static bool write_ids(record *r, const pp_label *trace, const pp_label *span)
{
    if (trace != NULL && span != NULL && read_id(r->trace_id, sizeof r->trace_id, trace->value) &&
        read_id(r->span_id, sizeof r->span_id, span->value)) {
        return true;
    }
    memset(r->trace_id, 0, sizeof r->trace_id);
    memset(r->span_id, 0, sizeof r->span_id);
    return false;
}

static bool is_ascii(const char *text, size_t length)
{
    uint8_t bits = 0;
    for (size_t i = 0; i < length; i++) {
        bits |= (uint8_t)text[i];
    }
    return bits < 0x80;
}

/* Writes whole characters of the text, and '?' for a byte that belongs to none. Returns their bytes. */
static size_t write_value(uint8_t *to, size_t room, const char *text)
{
    size_t length = strlen(text);
    size_t done = 0;
    if (length <= room && is_ascii(text, length)) {
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): values have a length */
        memcpy(to, text, length);
        return length;
    }
    while (done < length) {
        size_t size = pp_utf8_length(text + done, length - done);
        size_t whole = size > 0 ? size : 1;
        if (done + whole > room) {
            break;
        }
        if (size > 0) {
            memcpy(to + done, text + done, size);
        } else {
            to[done] = '?';
        }
        done += whole;
    }
    return done;
}

/* `room`: of the labels. */
static void write_label(record *r, size_t room, const pp_label *label, bool *grown)
{
    enum { BEFORE_VALUE = 2 };
    size_t length = strnlen(label->value, VALUE_MAX);
    bool is_new = false;
    if (r->size + BEFORE_VALUE + length > room) {
        return;
    }
    int key = pp_context_key_number(label->key, &is_new);
    *grown |= is_new;
    if (key != PP_CONTEXT_KEY_NONE) {
        uint8_t *to = r->labels + r->size;
        to[0] = (uint8_t)key;
        to[1] = (uint8_t)write_value(to + BEFORE_VALUE, VALUE_MAX, label->value);
        r->size = (uint16_t)(r->size + BEFORE_VALUE + to[1]);
    }
}

void *pp_context_record_write(void *memory, size_t room, const pp_label *labels, uint32_t count)
{
    uintptr_t at = ((uintptr_t)memory + PP_CONTEXT_RECORD_ALIGN - 1) &
                   ~(uintptr_t)(PP_CONTEXT_RECORD_ALIGN - 1);
    record *r = (record *)at;
    size_t label_room = room - PP_CONTEXT_RECORD_ALIGN - sizeof *r;
    const pp_label *trace = NULL;
    const pp_label *span = NULL;
    bool grown = false;
    for (uint32_t i = 0; i < count; i++) {
        trace = strcmp(labels[i].key, "trace_id") == 0 ? &labels[i] : trace;
        span = strcmp(labels[i].key, "span_id") == 0 ? &labels[i] : span;
    }
    bool has_ids = write_ids(r, trace, span);
    r->trace_flags = 0;
    r->size = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!has_ids || (&labels[i] != trace && &labels[i] != span)) {
            write_label(r, label_room, &labels[i], &grown);
        }
    }
    r->valid = VALID;
    if (grown) {
        pp_process_context_update();
    }
    return r;
}
