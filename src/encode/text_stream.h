/* SPDX-License-Identifier: MIT
 *
 * text_stream.h: collects text for a writer and passes it on in larger pieces.
 *
 * The error is sticky: after a failure the stream ignores all input, and its owner checks the
 * result of finish.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: its buffer, until finish.
 */
#ifndef PP_ENCODE_TEXT_STREAM_H
#define PP_ENCODE_TEXT_STREAM_H

#include "base/buffer.h"
#include "pprof.h"

#include <stddef.h>
#include <stdint.h>

typedef struct pp_text_stream {
    pp_buffer buffer;
    pprof_writer writer;
    int error;
} pp_text_stream;

void pp_text_stream_init(pp_text_stream *stream, pprof_writer writer);

void pp_text_stream_bytes(pp_text_stream *stream, const char *bytes, size_t length);
void pp_text_stream_add(pp_text_stream *stream, const char *text);
void pp_text_stream_number(pp_text_stream *stream, int64_t number);
void pp_text_stream_unsigned(pp_text_stream *stream, uint64_t number);
void pp_text_stream_hex(pp_text_stream *stream, uint64_t number); /* with "0x" before it */

/* Writes `text` in double quotes (base/quoted.h). */
void pp_text_stream_quoted(pp_text_stream *stream, const char *text);

/* Writes what is between these quotes. */
void pp_text_stream_escaped(pp_text_stream *stream, const char *text);

/* Writes a stack as in rows: each address after a space. An empty stack gets a placeholder, since
 * readers need an address. */
void pp_text_stream_stack(pp_text_stream *stream, const uintptr_t *pcs, uint32_t depth);

/* Stops the output. finish returns `error`, unless the stream had an error before. */
void pp_text_stream_fail(pp_text_stream *stream, int error);

/* Writes the rest and frees the buffer. 0, -ENOMEM or the writer's first error. */
int pp_text_stream_finish(pp_text_stream *stream);

#endif
