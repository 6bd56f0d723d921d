/* SPDX-License-Identifier: MIT
 *
 * contention_text.c: builds a block or mutex profile, and writes it as text.
 *
 * Zone: NORMAL.
 * Tested by: e2e.contention_counts, e2e.text_forms
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
