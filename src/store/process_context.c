/* SPDX-License-Identifier: MIT
 *
 * process_context.c: see process_context.h.
 *
 *   ProcessContext  1: Resource  1: KeyValue ...               written once, into `resource`
 *                   2: KeyValue  threadlocal.schema_version    OTEP 4947
 *                   2: KeyValue  threadlocal.attribute_key_map
 *   KeyValue        1: key       2: AnyValue  1: text, or 5: ArrayValue  1: AnyValue ...
 *
 * Source: open-telemetry/opentelemetry-specification at 1377f53b, oteps/profiles/4719-process-ctx.md
 * and 4947-thread-ctx.md.
 *
 * Zone: SIGNAL.
 * Owns: the mapping.
 * Tested by: unit.thread_context, e2e.otel
 */
#include "store/process_context.h"

#include "arch/system_call.h"
#include "base/utf8.h"
#include "store/context_keys.h"
#include "sys/apart.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/safe_read.h"
#include "sys/signal_mask.h"

#include <errno.h>
#include <linux/memfd.h>
#include <linux/prctl.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* since Linux 6.3 */
#endif

#define NAME "OTEL_CTX"

enum {
    VERSION = 2,
    PAGE = 4096,
    RESOURCE_BYTES = 8192,
    PAYLOAD_BYTES = 65536, /* readers take no more */
    FIELD_BYTES = 4,       /* what open_field() writes */

    /* Numbers of fields. */
    LENGTH_DELIMITED = 2,
    CONTEXT_RESOURCE = 1,
    CONTEXT_ATTRIBUTE = 2,
    RESOURCE_ATTRIBUTE = 1,
    KEY = 1,
    VALUE = 2,
    ANY_TEXT = 1,
    ANY_ARRAY = 5,
    ARRAY_VALUE = 1
};

typedef struct header {
    char signature[8]; /* without a NUL */
    uint32_t version;
    uint32_t payload_size;
    uint64_t published_ns; /* CLOCK_BOOTTIME; 0: not to be read */
    uint64_t payload;      /* an address */
} header;

typedef struct area {
    header header;
    uint8_t resource[RESOURCE_BYTES];
    uint8_t payloads[2][PAYLOAD_BYTES];
} area;

static struct {
    area *prepared, *published; /* NULL: none */
    size_t resource_size;       /* bytes of area->resource */
    bool has_threads;
    uint32_t
        requests; /* not 0: a thread writes, and writes again if the number has grown meanwhile */
    uint64_t last_ns; /* the newest time of a header; that thread's */
} state;

/* ---- messages ---- */

typedef struct writer {
    uint8_t *to;
    size_t size, capacity;
    bool overflow;
} writer;

static void put(writer *w, const void *bytes, size_t count)
{
    if (count > w->capacity - w->size) {
        w->overflow = true;
        return;
    }
    memcpy(w->to + w->size, bytes, count);
    w->size += count;
}

/* Begins a field that has a length. The length takes three bytes, whatever it is: a number of the wire
 * format may be longer than it has to be, and its place is known before its value. */
static size_t open_field(writer *w, unsigned number)
{
    const uint8_t begin[] = {(uint8_t)(number << 3 | LENGTH_DELIMITED), 0x80, 0x80, 0};
    put(w, begin, sizeof begin);
    return w->size;
}

static void close_field(writer *w, size_t opened)
{
    size_t size = w->size - opened;
    if (!w->overflow) {
        w->to[opened - 3] = (uint8_t)(size | 0x80);
        w->to[opened - 2] = (uint8_t)(size >> 7 | 0x80);
        w->to[opened - 1] = (uint8_t)(size >> 14);
    }
}

static void put_text(writer *w, unsigned number, pp_context_text text)
{
    size_t field = open_field(w, number);
    for (size_t done = 0; done < text.length;) {
        size_t size = pp_utf8_length(text.data + done, text.length - done);
        if (size > 0) {
            put(w, text.data + done, size);
        } else {
            put(w, PP_UTF8_REPLACEMENT, sizeof PP_UTF8_REPLACEMENT - 1);
        }
        done += size > 0 ? size : 1;
    }
    close_field(w, field);
}

static void put_text_value(writer *w, unsigned number, pp_context_text text)
{
    size_t value = open_field(w, number);
    put_text(w, ANY_TEXT, text);
    close_field(w, value);
}

static pp_context_text text_of(const char *text)
{
    return (pp_context_text){text, strlen(text)};
}

static void put_attribute(writer *w, unsigned number, pp_context_text key, pp_context_text value)
{
    size_t attribute = open_field(w, number);
    put_text(w, KEY, key);
    put_text_value(w, VALUE, value);
    close_field(w, attribute);
}

static void put_key_map(writer *w)
{
    size_t attribute = open_field(w, CONTEXT_ATTRIBUTE);
    put_text(w, KEY, text_of("threadlocal.attribute_key_map"));
    size_t value = open_field(w, VALUE);
    size_t array = open_field(w, ANY_ARRAY);
    for (int i = 0; pp_context_key(i) != NULL; i++) {
        put_text_value(w, ARRAY_VALUE, text_of(pp_context_key(i)));
    }
    close_field(w, array);
    close_field(w, value);
    close_field(w, attribute);
}

static void put_context(writer *w, const area *a)
{
    size_t resource = open_field(w, CONTEXT_RESOURCE);
    put(w, a->resource, state.resource_size);
    close_field(w, resource);
    if (__atomic_load_n(&state.has_threads, __ATOMIC_RELAXED)) {
        put_attribute(w, CONTEXT_ATTRIBUTE, text_of("threadlocal.schema_version"),
                      text_of("tlsdesc_v1_dev")); /* what readers of the draft accept */
        put_key_map(w);
    }
}

/* ---- the protocol ---- */

/* Linux before 5.17, or without CONFIG_ANON_VMA_NAME, refuses. The draft wants the call
 * all the same at each update: a reader may watch for it. */
static bool name_mapping(area *a)
{
    return pp_system_call(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, a, sizeof *a, NAME) == 0;
}

static void write_payload(area *a)
{
    header *h = &a->header;
    uint64_t now_ns = pp_clock_ns(CLOCK_BOOTTIME);
    uint8_t *place = a->payloads[h->payload == (uintptr_t)a->payloads[0]];
    writer w = {.to = place, .capacity = PAYLOAD_BYTES};
    put_context(&w, a);
    if (w.overflow) {
        return; /* the sizes of the parts exclude it */
    }
    state.last_ns = now_ns > state.last_ns ? now_ns : state.last_ns + 1;
    __atomic_store_n(&h->published_ns, 0, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&h->payload, (uintptr_t)place, __ATOMIC_RELAXED);
    __atomic_store_n(&h->payload_size, (uint32_t)w.size, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&h->published_ns, state.last_ns, __ATOMIC_SEQ_CST);
    name_mapping(a);
}

/* A child of a bare clone() has our variables, but not the mapping. */
static bool is_there(const area *a)
{
    char signature[sizeof a->header.signature];
    return a != NULL && pp_safe_copy(signature, (uintptr_t)a, sizeof signature) &&
           memcmp(signature, NAME, sizeof signature) == 0;
}

void pp_process_context_update(void)
{
    uint32_t served = 1;
    if (!pp_process_context_is_published() ||
        __atomic_fetch_add(&state.requests, 1, __ATOMIC_SEQ_CST) != 0) {
        return;
    }
    do {
        area *a = __atomic_load_n(&state.published, __ATOMIC_SEQ_CST);
        if (is_there(a)) {
            write_payload(a);
        }
    } while (!__atomic_compare_exchange_n(&state.requests, &served, 0, false, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
}

/* ---- its life ---- */

typedef struct mapping {
    area *area; /* or -errno */
    bool is_file;
} mapping;

/* Runs by way of pp_apart(). */
static void map_file(void *of_mapping)
{
    mapping *m = of_mapping;
    const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    long fd = pp_system_call(SYS_memfd_create, NAME, flags | MFD_NOEXEC_SEAL);
    if (fd == -EINVAL) { /* before Linux 6.3 */
        fd = pp_system_call(SYS_memfd_create, NAME, flags);
    }
    m->is_file = fd >= 0 && pp_system_call(SYS_ftruncate, fd, sizeof(area)) == 0;
    if (m->is_file) {
        m->area = (area *)pp_system_call(SYS_mmap, NULL, sizeof(area), PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0) {
        pp_system_call(SYS_close, fd);
    }
}

static bool is_mapped(const mapping *m)
{
    return (uintptr_t)m->area < -(uintptr_t)PAGE;
}

int pp_process_context_begin(void)
{
    mapping m = {.area = (area *)-ENOSYS};
    pp_apart(map_file, &m);
    if (!is_mapped(&m)) {
        m.is_file = false;
        m.area = (area *)pp_system_call(SYS_mmap, NULL, sizeof(area), PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (!is_mapped(&m)) {
        return (int)(intptr_t)m.area;
    }
    long error = pp_system_call(SYS_madvise, m.area, sizeof(area), MADV_DONTFORK);
    if (error == 0 && !name_mapping(m.area) && !m.is_file) {
        error = -ENOTSUP;
    }
    if (error != 0) {
        pp_system_call(SYS_munmap, m.area, sizeof(area));
        return (int)error;
    }
    state.prepared = m.area;
    state.resource_size = 0;
    return 0;
}

/* The attributes of the resource that are already written, one after the other. */
static bool has_key(const writer *w, const writer *key)
{
    for (size_t at = 0; at < w->size;) {
        const uint8_t *field = w->to + at;
        if (memcmp(field + FIELD_BYTES, key->to, key->size) == 0) {
            return true;
        }
        at += FIELD_BYTES + (size_t)(field[1] & 0x7f) + ((size_t)(field[2] & 0x7f) << 7) +
              ((size_t)field[3] << 14);
    }
    return false;
}

bool pp_process_context_add(pp_context_text key, pp_context_text value)
{
    writer w = {state.prepared->resource, state.resource_size, RESOURCE_BYTES, false};
    /* The other parts of the area are still unused. */
    writer k = {state.prepared->payloads[1], 0, RESOURCE_BYTES, false};
    put_text(&k, KEY, key);
    if (k.overflow || has_key(&w, &k)) {
        return !k.overflow;
    }
    put_attribute(&w, RESOURCE_ATTRIBUTE, key, value);
    state.resource_size = w.overflow ? state.resource_size : w.size;
    return !w.overflow;
}

void pp_process_context_publish(bool with_threads)
{
    memcpy(state.prepared->header.signature, NAME, sizeof state.prepared->header.signature);
    state.prepared->header.version = VERSION;
    __atomic_store_n(&state.has_threads, with_threads, __ATOMIC_RELAXED);
    __atomic_store_n(&state.published, state.prepared, __ATOMIC_RELEASE);
    pp_process_context_update();
}

bool pp_process_context_is_published(void)
{
    return __atomic_load_n(&state.published, __ATOMIC_ACQUIRE) != NULL;
}

/* Signals are blocked: a handler that made labels would not find this thread at work. */
void pp_process_context_withdraw(void)
{
    pp_signal_mask old = 0;
    area *a = __atomic_exchange_n(&state.published, NULL, __ATOMIC_SEQ_CST);
    if (a == NULL) {
        return;
    }
    pp_signals_block(&old);
    for (unsigned attempt = 0; __atomic_load_n(&state.requests, __ATOMIC_SEQ_CST) != 0; attempt++) {
        pp_lock_pause(attempt);
    }
    pp_system_call(SYS_munmap, a, sizeof *a);
    pp_signals_restore(&old);
}

void pp_process_context_after_fork_in_child(void)
{
    state.published = NULL;
    state.requests = 0;
}
