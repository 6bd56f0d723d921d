/* SPDX-License-Identifier: MIT
 *
 * text_stream.c: appends to a buffer, and writes the buffer once it is large enough.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#include "encode/text_stream.h"

#include "base/quoted.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

enum { PIECE_BYTES = 64 * 1024 }; /* a pipe's capacity: readers wait for no larger piece */

void pp_text_stream_init(pp_text_stream *stream, pprof_writer writer)
{
    *stream = (pp_text_stream){.buffer = PP_BUFFER_INIT, .writer = writer};
}

void pp_text_stream_stack(pp_text_stream *stream, const uintptr_t *pcs, uint32_t depth)
{
    for (uint32_t i = 0; i < depth; i++) {
        pp_text_stream_add(stream, " ");
        pp_text_stream_hex(stream, pcs[i]);
    }
    pp_text_stream_add(stream, depth == 0 ? " 0x1" : "");
}

void pp_text_stream_fail(pp_text_stream *stream, int error)
{
    stream->error = stream->error != 0 ? stream->error : error;
}

static void flush(pp_text_stream *stream)
{
    if (stream->error == 0 && stream->buffer.size > 0) {
        stream->error =
            stream->writer.write(stream->writer.ctx, stream->buffer.data, stream->buffer.size);
    }
    stream->buffer.size = 0;
}

void pp_text_stream_bytes(pp_text_stream *stream, const char *bytes, size_t length)
{
    if (stream->error != 0) {
        return;
    }
    pp_buffer_append(&stream->buffer, bytes, length);
    if (stream->buffer.failed) {
        pp_text_stream_fail(stream, -ENOMEM);
    } else if (stream->buffer.size >= PIECE_BYTES) {
        flush(stream);
    }
}

void pp_text_stream_add(pp_text_stream *stream, const char *text)
{
    pp_text_stream_bytes(stream, text, strlen(text));
}

void pp_text_stream_unsigned(pp_text_stream *stream, uint64_t number)
{
    char digits[PP_DECIMAL_BYTES];
    pp_text_stream_add(stream, pp_decimal(number, digits));
}

void pp_text_stream_number(pp_text_stream *stream, int64_t number)
{
    if (number < 0) {
        pp_text_stream_add(stream, "-");
    }
    pp_text_stream_unsigned(stream, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

void pp_text_stream_hex(pp_text_stream *stream, uint64_t number)
{
    char digits[PP_HEX_BYTES];
    pp_text_stream_add(stream, "0x");
    pp_text_stream_add(stream, pp_hex(number, digits));
}

void pp_text_stream_quoted(pp_text_stream *stream, const char *text)
{
    pp_text_stream_add(stream, "\"");
    pp_text_stream_escaped(stream, text);
    pp_text_stream_add(stream, "\"");
}

void pp_text_stream_escaped(pp_text_stream *stream, const char *text)
{
    char bytes[PP_QUOTED_MAX];
    size_t length = 0;
    for (size_t size; (size = pp_quoted_next(text, bytes, &length)) > 0; text += size) {
        pp_text_stream_bytes(stream, bytes, length);
    }
}

int pp_text_stream_finish(pp_text_stream *stream)
{
    flush(stream);
    pp_buffer_release(&stream->buffer);
    return stream->error;
}
