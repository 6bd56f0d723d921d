/* SPDX-License-Identifier: MIT
 *
 * proto.h: writes a profile as gzipped profile.proto.
 *
 * Zone: NORMAL, and the fatal-signal writer: it calls no malloc, no stdio and no loader, and uses
 *       less than 4 KiB of stack.
 * Owns: nothing; its memory goes with the arena.
 */
#ifndef PP_ENCODE_PROTO_H
#define PP_ENCODE_PROTO_H

#include "base/arena.h"
#include "base/buffer.h"
#include "profile/model.h"

#include "pprof.h"

/*
 * Encodes `profile` (format: profile.proto of google/pprof) and hands the gzip stream to `writer`
 * in pieces. All working memory comes from `arena`. Returns 0, the writer's first error, or -ENOMEM
 * (it has then written nothing, unless memory ran out after the first piece).
 */
int pp_proto_encode(const pp_profile *profile, pp_arena *arena, pprof_writer writer);

/* The same into memory, where a lock is held and a writer may be slow. */
int pp_proto_encode_into(const pp_profile *profile, pp_arena *arena, pp_buffer *encoded);

#endif
