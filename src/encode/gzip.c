/* SPDX-License-Identifier: MIT
 *
 * gzip.c: makes a writer of zlib's deflate (contract in gzip.h).
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc).
 * Owns: nothing; its memory goes with the arena.
 */
#include "encode/gzip.h"

#include "arch/shown_as.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <zlib.h>

enum {
    PIECE_SIZE = 32 * 1024, /* few system calls for a file, small enough for a cache */
    WINDOW_BITS = 15 + 16,  /* the largest window; + 16 makes zlib add the gzip wrapper */
    MEMORY_LEVEL = 8        /* zlib's default */
};

struct pp_gzip {
    z_stream stream;
    pprof_writer inner;
    int error; /* sticky; 0 or a negative errno */
    bool finished;
    unsigned char piece[PIECE_SIZE];
};

static void *arena_zalloc(void *arena, unsigned count, unsigned size)
{
    return pp_arena_array(arena, count, size);
}

static void arena_zfree(void *arena, void *piece)
{
    (void)arena;
    (void)piece;
}

pp_gzip *pp_gzip_new(pp_arena *arena, pprof_writer inner, int level)
{
    pp_gzip *gzip = pp_arena_alloc(arena, sizeof(*gzip));
    if (gzip == NULL) {
        return NULL;
    }
    gzip->inner = inner;
    gzip->stream.zalloc = arena_zalloc;
    gzip->stream.zfree = arena_zfree;
    gzip->stream.opaque = arena;
    gzip->stream.next_out = gzip->piece;
    gzip->stream.avail_out = PIECE_SIZE;
    if (level < 1 || deflateInit2(&gzip->stream, level, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
                                  Z_DEFAULT_STRATEGY) != Z_OK) {
        return NULL;
    }
    return gzip;
}
PP_OWN_WORK(pp_gzip_new);

static void pass_on(pp_gzip *gzip)
{
    size_t size = PIECE_SIZE - gzip->stream.avail_out;
    gzip->stream.next_out = gzip->piece;
    gzip->stream.avail_out = PIECE_SIZE;
    if (size > 0 && gzip->error == 0) {
        gzip->error = gzip->inner.write(gzip->inner.ctx, gzip->piece, size);
    }
}

/* A function of its own, because only deflate is the library's own work, not the inner writer. */
PP_ONLY_UNDER_ITS_NAME static int run_deflate(pp_gzip *gzip, int flush)
{
    int status = deflate(&gzip->stream, flush);
    __asm__ volatile(""); /* no tail call: deflate's caller must be a frame of this library */
    return status;
}
PP_OWN_WORK(run_deflate);

/* Runs deflate until it has consumed all input and, with Z_FINISH, has produced all output. */
static void deflate_all(pp_gzip *gzip, int flush)
{
    int status = Z_OK;
    while (gzip->error == 0 && status != Z_STREAM_END) {
        status = run_deflate(gzip, flush);
        if (status == Z_STREAM_ERROR) {
            gzip->error = -EIO;
        } else if (gzip->stream.avail_out == 0) {
            pass_on(gzip);
        } else if (flush == Z_NO_FLUSH) {
            break;
        }
    }
}

static int gzip_write(void *ctx, const void *data, size_t size)
{
    pp_gzip *gzip = ctx;
    if (gzip->finished && gzip->error == 0) {
        gzip->error = -EINVAL;
    }
    const unsigned char *from = data;
    while (size > 0 && gzip->error == 0) {
        unsigned now = size < UINT_MAX ? (unsigned)size : UINT_MAX;
        gzip->stream.next_in = (unsigned char *)(uintptr_t)from; /* zlib only reads it */
        gzip->stream.avail_in = now;
        deflate_all(gzip, Z_NO_FLUSH);
        from += now;
        size -= now;
    }
    return gzip->error;
}

pprof_writer pp_gzip_writer(pp_gzip *gzip)
{
    return (pprof_writer){gzip_write, gzip};
}

int pp_gzip_finish(pp_gzip *gzip)
{
    if (!gzip->finished) {
        gzip->finished = true;
        gzip->stream.next_in = NULL;
        gzip->stream.avail_in = 0;
        deflate_all(gzip, Z_FINISH);
        pass_on(gzip);
    }
    return gzip->error;
}
