/* SPDX-License-Identifier: MIT
 *
 * contention_text.c: snapshot, encode, write.
 *
 * Zone: NORMAL.
 */
#include "kinds/contention/contention_text.h"

#include "kinds/contention/legacy_contention.h"
#include "output/symbolize.h"

int pp_contention_text_write(pp_contention_view view, bool bare, pprof_writer writer)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_profile profile;
    int error = pp_contention_profile_build(view, PP_CONTENTION_STACKS, &arena, &profile);
    if (error == 0) {
        profile.symbolize = pp_symbolize_wanted();
        error = pp_legacy_contention_encode(&profile, view, bare, &arena, writer);
    }
    pp_arena_release(&arena);
    return error;
}
