/* SPDX-License-Identifier: MIT
 *
 * legacy_count.c: writes the header, the rows and the memory map (layout in legacy_count.h).
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no stdio).
 */
#include "encode/legacy_count.h"

#include "encode/text_rows.h"
#include "profile/samples.h"

static void write_header(pp_text_stream *out, const pp_profile *profile)
{
    int64_t total = 0;
    for (size_t i = 0; i < profile->sample_count; i++) {
        total += profile->samples[i].value[0];
    }
    pp_text_stream_add(out, profile->sample_type[0].type);
    pp_text_stream_add(out, " profile: total ");
    pp_text_stream_number(out, total);
    pp_text_stream_add(out, "\n");
    for (size_t i = 0; i < profile->comment_count; i++) {
        pp_text_stream_add(out, "# ");
        pp_text_stream_add(out, profile->comments[i]);
        pp_text_stream_add(out, "\n");
    }
}

static void write_row(pp_text_stream *out, const pp_profile_sample *sample)
{
    pp_text_stream_number(out, sample->value[0]);
    pp_text_stream_add(out, " @");
    pp_text_stream_stack(out, sample->pc, sample->depth);
    pp_text_stream_add(out, "\n");
}

static void write_labels(pp_text_stream *out, const pp_profile_sample *sample)
{
    const pp_sample_label *label = pp_sample_next_label(sample, NULL);
    const char *before = "# labels: {";
    if (label == NULL) {
        return;
    }
    for (; label != NULL; label = pp_sample_next_label(sample, label)) {
        pp_text_stream_add(out, before);
        pp_text_stream_quoted(out, label->key);
        pp_text_stream_add(out, ":");
        pp_text_stream_quoted(out, label->text);
        before = ", ";
    }
    pp_text_stream_add(out, "}\n");
}

static void write_row_and_labels(pp_text_stream *out, const pp_profile_sample *sample)
{
    write_row(out, sample);
    write_labels(out, sample);
}

int pp_legacy_count_encode(const pp_profile *profile, bool bare, pp_arena *arena,
                           pprof_writer writer)
{
    pp_text_stream out;
    pp_text_stream_init(&out, writer);
    write_header(&out, profile);
    pp_text_row *row = bare ? write_row : write_row_and_labels;
    return pp_text_rows_and_maps_finish(&out, profile, row, bare, true, arena);
}
