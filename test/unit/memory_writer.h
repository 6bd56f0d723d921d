/* SPDX-License-Identifier: MIT
 *
 * memory_writer.h: a pprof_writer for tests: keeps what it gets, fails at the n-th call, and
 * notices when it is called again after that.
 */
#ifndef PP_TEST_MEMORY_WRITER_H
#define PP_TEST_MEMORY_WRITER_H

#include "pprof.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct memory_writer {
    uint8_t *data;
    size_t size;
    long calls;
    long fail_at; /* 1 = the first call; 0 = never */
    int error;    /* what the failing call returns */
    bool called_after_error;
} memory_writer;

static inline int memory_write(void *ctx, const void *data, size_t size)
{
    memory_writer *w = ctx;
    w->calls++;
    if (w->fail_at != 0 && w->calls >= w->fail_at) {
        w->called_after_error |= w->calls > w->fail_at;
        return w->error;
    }
    w->data = realloc(w->data, w->size + size + 1);
    memcpy(w->data + w->size, data, size);
    w->size += size;
    return 0;
}

static inline pprof_writer memory_writer_of(memory_writer *w)
{
    return (pprof_writer){memory_write, w};
}

static inline void memory_writer_reset(memory_writer *w)
{
    free(w->data);
    *w = (memory_writer){0};
}

/* The gunzipped content, to be freed; NULL if it is not exactly one complete gzip stream. */
static inline uint8_t *gunzip(const uint8_t *data, size_t size, size_t *out_size)
{
    size_t room = size * 4 + 65536;
    uint8_t *out = malloc(room);
    z_stream stream = {.next_in = (uint8_t *)(uintptr_t)data, .avail_in = (uInt)size};
    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        return NULL;
    int status = Z_OK;
    while (status == Z_OK) {
        if (stream.total_out == room)
            out = realloc(out, room *= 2);
        stream.next_out = out + stream.total_out;
        stream.avail_out = (uInt)(room - stream.total_out);
        status = inflate(&stream, Z_NO_FLUSH);
    }
    *out_size = stream.total_out;
    bool complete = status == Z_STREAM_END && stream.avail_in == 0;
    inflateEnd(&stream);
    if (complete)
        return out;
    free(out);
    return NULL;
}

#endif
