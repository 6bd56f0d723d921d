/* SPDX-License-Identifier: MIT
 *
 * legacy_contention.c: writes the text of a block or mutex profile; the header has the layout.
 *
 * Zone: NORMAL (no malloc, no stdio).
 * Tested by: e2e.contention_counts, e2e.text_forms
 */
#include "kinds/contention/legacy_contention.h"

#include "encode/frame_comments.h"
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

int pp_legacy_contention_encode(const pp_profile *profile, pp_contention_view view, bool bare,
                                pp_arena *arena, pprof_writer writer)
{
    pp_text_stream out;
    pp_text_stream_init(&out, writer);
    write_header(&out, profile, view);
    return pp_text_rows_and_maps_finish(&out, profile, write_row, bare, false, arena);
}
