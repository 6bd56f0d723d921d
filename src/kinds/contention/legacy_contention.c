/* SPDX-License-Identifier: MIT
 *
 * legacy_contention.c: builds a block or mutex profile, and writes its text; the header has the
 * layout.
 *
 * Zone: NORMAL (no malloc, no stdio).
 * Tested by: e2e.contention_counts, e2e.text_forms
 */
#include "kinds/contention/legacy_contention.h"

#include "encode/text_rows.h"
#include "output/symbolize.h"
#include "sys/clock.h"

static void write_header(pp_text_stream *out, const pp_profile *profile, pp_contention_view view)
{
    bool mutex = view == PP_CONTENTION_MUTEX;
    pp_text_stream_add(out, mutex ? "--- mutex:\n" : "--- contention:\n");
    pp_text_stream_add(out, "cycles/second=");
    pp_text_stream_number(out, PP_NS_PER_S);
    pp_text_stream_add(out, mutex ? "\nsampling period=1\n" : "\n");
    for (size_t i = 0; i < profile->comment_count; i++) {
        pp_text_stream_add(out, "# ");
        pp_text_stream_add(out, profile->comments[i]);
        pp_text_stream_add(out, "\n");
    }
}

static void write_row(pp_text_stream *out, const pp_profile_sample *sample)
{
    pp_text_stream_number(out, sample->value[PP_CONTENTION_DELAY]);
    pp_text_stream_add(out, " ");
    pp_text_stream_number(out, sample->value[PP_CONTENTION_COUNT]);
    pp_text_stream_add(out, " @");
    pp_text_stream_stack(out, sample->pc, sample->depth);
    pp_text_stream_add(out, "\n");
}

int pp_legacy_contention_write(pp_contention_view view, bool bare, pprof_writer writer)
{
    pp_arena arena = PP_ARENA_INIT;
    pp_profile profile;
    int error = pp_contention_profile_build(view, PP_CONTENTION_STACKS, &arena, &profile);
    if (error == 0) {
        pp_text_stream out;
        profile.symbolize = pp_symbolize_wanted();
        pp_text_stream_init(&out, writer);
        write_header(&out, &profile, view);
        error = pp_text_rows_and_maps_finish(&out, &profile, write_row, bare, false, &arena);
    }
    pp_arena_release(&arena);
    return error;
}
