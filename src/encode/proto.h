/* SPDX-License-Identifier: MIT
 *
 * proto.h: writes a profile as gzipped profile.proto.
 *
 * Zone: NORMAL, and the fatal-signal writer: it calls neither malloc nor stdio nor the loader, and
 *       keeps its stack below 4 KiB.
 * Owns: nothing; its memory goes with the arena.
 */
#ifndef PP_ENCODE_PROTO_H
#define PP_ENCODE_PROTO_H

#include "base/arena.h"
#include "profile/model.h"

#include "pprof.h"

/*
 * Encodes `profile` (format: profile.proto of google/pprof) and hands the gzip stream to `writer`
 * in pieces. All working memory comes from `arena`. Returns 0, the writer's first error, or -ENOMEM
 * (then nothing was written if it happened before the first piece).
 */
int pp_proto_encode(const pp_profile *profile, pp_arena *arena, pprof_writer writer);

#endif
