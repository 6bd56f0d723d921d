/* SPDX-License-Identifier: MIT
 *
 * http_page.c: decompresses the page for each request: it is asked for rarely, and by people.
 *
 * Zone: NORMAL.
 * Owns: where the page is.
 * Tested by: e2e.http_contract, page.browser
 */
#include "web/http_paths.h"

#include "web/http_query.h"

#include <errno.h>
#include <limits.h>
#include <zlib.h>

enum {
    PIECE_SIZE = 32 * 1024,
    WINDOW_BITS = 15 + 16 /* the largest window; + 16: a gzip wrapper is expected */
};

static struct {
    const void *gzip;
    size_t size;
} page;

void pp_http_page_set(const void *gzip, size_t size)
{
    page.size = size;
    __atomic_store_n(&page.gzip, gzip, __ATOMIC_RELEASE);
}

static void *allocate(void *arena, unsigned count, unsigned size)
{
    return pp_arena_array(arena, count, size);
}

static void release(void *arena, void *memory)
{
    (void)arena;
    (void)memory;
}

static int decompress(z_stream *stream, unsigned char *piece, pprof_writer writer)
{
    int status = Z_OK;
    int error = 0;
    while (status == Z_OK && error == 0) {
        stream->next_out = piece;
        stream->avail_out = PIECE_SIZE;
        status = inflate(stream, Z_NO_FLUSH);
        error = writer.write(writer.ctx, piece, PIECE_SIZE - stream->avail_out);
    }
    return error != 0 ? error : status == Z_STREAM_END ? 0 : -EIO;
}

static int write_page(pprof_http_answer *answer, pprof_writer writer)
{
    unsigned char *piece = pp_arena_array(&answer->arena, PIECE_SIZE, 1);
    z_stream stream = {.zalloc = allocate, .zfree = release, .opaque = &answer->arena};
    stream.next_in = (unsigned char *)(uintptr_t)page.gzip; /* zlib only reads it */
    stream.avail_in = page.size < UINT_MAX ? (unsigned)page.size : UINT_MAX;
    if (piece == NULL || inflateInit2(&stream, WINDOW_BITS) != Z_OK) {
        return -ENOMEM;
    }
    return decompress(&stream, piece, writer);
}

/* The page asks for its profile by itself, as one of this server: whoever leads there collects. */
void pp_http_page(pprof_http_answer *answer)
{
    char profile[PP_HTTP_VALUE_MAX];
    if (pp_http_refuses_site(answer)) {
        return;
    }
    if (__atomic_load_n(&page.gzip, __ATOMIC_ACQUIRE) == NULL) {
        pp_http_fail(answer, 501,
                     "the page is in libpprof-http, which the program has not loaded; fetch the "
                     "profile, and run cpprof web");
        return;
    }
    if (!pp_http_query_get(answer->query, "profile", profile)) {
        answer->status = 302;
        answer->error = "Found";
        answer->type = PP_HTTP_TEXT;
        answer->header_name = "Location";
        answer->header_value = "flame?profile=profile&seconds=10";
        return;
    }
    pp_http_succeed(answer, PP_HTTP_HTML, write_page);
}
