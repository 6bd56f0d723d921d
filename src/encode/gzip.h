/* SPDX-License-Identifier: MIT
 *
 * gzip.h: a writer that compresses its input and passes it on to another writer.
 *
 *   pp_gzip_writer -> deflate -> [32 KiB piece] -> inner writer
 *
 * zlib compresses; its state is in the arena, never on the host's heap. The stream contains no time
 * and no name, so equal profiles are equal files.
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc; zlib's own stack use is below 1 KiB).
 * Locks: none; a stream belongs to one thread at a time.
 * Owns: nothing; its memory goes with the arena.
 */
#ifndef PP_ENCODE_GZIP_H
#define PP_ENCODE_GZIP_H

#include "base/arena.h"
#include "pprof.h"

typedef struct pp_gzip pp_gzip;

/* Begins a stream whose output goes to `inner`. `level` is zlib's, 1 (fast) to 9. Writes nothing
 * yet. NULL if the arena has no memory (the stream needs about 300 KiB) or `level` is invalid. */
pp_gzip *pp_gzip_new(pp_arena *arena, pprof_writer inner, int level);

/* Returns the writer for the input; valid until the arena is released. Its errors are those of
 * `inner`, and sticky. */
pprof_writer pp_gzip_writer(pp_gzip *gzip);

/* Writes the rest and the trailer. Returns 0 or the first error of the stream; a second call writes
 * nothing. */
int pp_gzip_finish(pp_gzip *gzip);

#endif
