/* SPDX-License-Identifier: MIT
 *
 * count.c: groups the rows, and encodes them.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: e2e.count_order, e2e.count_text, e2e.profiles
 */
#include "output/count.h"

#include "encode/legacy_count.h"
#include "encode/proto.h"
#include "output/symbolize.h"

int pp_count_write(const char *name, const pp_count_row *rows, size_t rows_count, int debug,
                   pprof_writer writer)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_profile profile;
    bool bare = debug == PPROF_DEBUG_BARE;
    int error = pp_count_profile_build(name, rows, rows_count, !bare, &arena, &profile);
    if (error == 0) {
        profile.symbolize = pp_symbolize_wanted();
        error = debug == 0 ? pp_proto_encode(&profile, &arena, writer)
                           : pp_legacy_count_encode(&profile, bare, &arena, writer);
    }
    pp_arena_release(&arena);
    return error;
}
