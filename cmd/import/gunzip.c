/* SPDX-License-Identifier: MIT
 *
 * gunzip.c: see gunzip.h.
 *
 * Owns: one zlib stream for the time of each call.
 * Tested by: unit.cmd_decode, fuzz.profile.
 */
#include "import/gunzip.h"

#include "base/message.h"
#include "base/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* zlib: the largest window, with a gzip header and trailer */
#define STEP_BYTES  ((size_t)1 << 20)

bool cp_gzip_is(const uint8_t *data, size_t length)
{
    return length >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

/* Makes room for one more step, but for at most limit + 1 bytes in all. The one byte shows that
 * there are more than `limit`. */
static void make_room(cp_bytes *out, size_t limit)
{
    size_t wanted = out->capacity < STEP_BYTES ? STEP_BYTES : out->capacity * 2;

    if (out->length < out->capacity) {
        return;
    }
    if (wanted > limit + 1) {
        wanted = limit + 1;
    }
    out->data = cp_heap_resize(out->data, wanted, 1);
    out->capacity = wanted;
}

static int bad_data(const z_stream *stream, size_t length, int status, cp_error *error)
{
    size_t offset = length - stream->avail_in;

    if (status == Z_BUF_ERROR) {
        return cp_fail(error,
                       "byte %zu: expected more gzip data, found the end of the file; it is cut "
                       "short (is it still being written?)",
                       offset);
    }
    return cp_fail(error, "byte %zu: expected valid gzip data, found %s", offset,
                   stream->msg ? stream->msg : "something else");
}

/* Whether the data is made to fill the memory. What profiles consist of becomes some ten times as
 * large; the largest factor of the format is 1032. */
static bool is_bomb(size_t packed, size_t plain)
{
    return plain > CP_GZIP_BOMB_BYTES && plain / CP_GZIP_BOMB_FACTOR > packed;
}

static int expand(z_stream *stream, const uint8_t *data, size_t length, size_t limit, cp_bytes *out,
                  cp_error *error)
{
    stream->next_in = (Bytef *)(uintptr_t)data;
    stream->avail_in = (uInt)length; /* files are limited to 2 GiB */
    int status;
    for (;;) {
        make_room(out, limit);
        size_t room = out->capacity - out->length;
        stream->next_out = out->data + out->length;
        stream->avail_out = room > STEP_BYTES ? (uInt)STEP_BYTES : (uInt)room;
        room = stream->avail_out;
        status = inflate(stream, Z_NO_FLUSH);
        out->length += room - stream->avail_out;
        if (out->length > limit) {
            return cp_fail(error,
                           "byte %zu: expected a profile of at most %zu bytes, found more after "
                           "decompression; this is no profile",
                           length - stream->avail_in, limit);
        }
        if (is_bomb(length - stream->avail_in, out->length)) {
            return cp_fail(
                error,
                "byte %zu: expected a profile, found data that becomes more than %d times "
                "as large, %zu bytes so far; this is no profile",
                length - stream->avail_in, CP_GZIP_BOMB_FACTOR, out->length);
        }
        if (status == Z_STREAM_END) {
            if (!cp_gzip_is(stream->next_in, stream->avail_in)) {
                break;
            }
            inflateReset(stream);
        } else if (status != Z_OK) {
            return bad_data(stream, length, status, error);
        }
    }
    if (stream->avail_in) {
        return cp_fail(error,
                       "byte %zu: expected the end of the file, found %zu byte%s after the "
                       "gzip data",
                       length - stream->avail_in, (size_t)stream->avail_in,
                       stream->avail_in == 1 ? "" : "s");
    }
    return 0;
}

int cp_gzip_expand(const uint8_t *data, size_t length, size_t limit, cp_bytes *out, cp_error *error)
{
    z_stream stream = {0};

    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK) {
        return cp_fail(error, "byte 0: zlib cannot start: %s",
                       stream.msg ? stream.msg : "out of memory");
    }
    int result = expand(&stream, data, length, limit, out, error);
    inflateEnd(&stream);
    return result;
}

void cp_gzip_compress(const uint8_t *data, size_t length, cp_bytes *out)
{
    z_stream stream = {0};
    int status = Z_OK;

    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, MAX_MEM_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        cp_complain("out of memory while compressing a profile; end other programs");
        exit(CP_EXIT_BAD_INPUT);
    }
    stream.next_in = (Bytef *)(uintptr_t)data;
    uint8_t buffer[1 << 14];
    do {
        uInt step = length > STEP_BYTES ? (uInt)STEP_BYTES : (uInt)length;

        stream.avail_in = step;
        length -= step;
        do {
            stream.next_out = buffer;
            stream.avail_out = sizeof buffer;
            status = deflate(&stream, length ? Z_NO_FLUSH : Z_FINISH);
            cp_bytes_append(out, buffer, sizeof buffer - stream.avail_out);
        } while (stream.avail_out == 0);
    } while (status != Z_STREAM_END);
    deflateEnd(&stream);
}
