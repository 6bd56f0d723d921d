/* SPDX-License-Identifier: MIT
 *
 * legacy_count.c: header, rows, maps (layout in legacy_count.h).
 *
 * Zone: NORMAL, and the fatal-signal writer (no malloc, no stdio).
 * Locks: none.
 * Owns: nothing.
 */
#include "encode/legacy_count.h"

#include "base/sort.h"
#include "encode/frame_comments.h"
#include "encode/quoted.h"
#include "sys/maps.h"

#include <errno.h>
#include <string.h>

static void write_header(pp_text_stream *out, const pp_profile *profile)
{
    int64_t total = 0;
    for (size_t i = 0; i < profile->sample_count; i++)
        total += profile->samples[i].value[0];
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

/* ---- labels ---- */

static int by_quoted_key(const void *a, const void *b, void *context)
{
    (void)context;
    return pp_quoted_compare(((const pp_sample_label *)a)->key, ((const pp_sample_label *)b)->key);
}

/* In the order of their quoted keys, which nearly always is the one that they are in; NULL: no memory. */
static const pp_sample_label *in_order(const pp_profile_sample *sample, pp_arena *arena)
{
    uint32_t sorted = 1;
    while (sorted < sample->label_count &&
           by_quoted_key(&sample->labels[sorted - 1], &sample->labels[sorted], NULL) <= 0)
        sorted++;
    if (sorted >= sample->label_count)
        return sample->labels;
    pp_sample_label *copy = pp_arena_array(arena, sample->label_count, sizeof *copy);
    if (copy != NULL) {
        memcpy(copy, sample->labels, sample->label_count * sizeof *copy);
        pp_sort(copy, sample->label_count, sizeof *copy, by_quoted_key, NULL);
    }
    return copy;
}

/* Numeric labels are for profile.proto alone. */
static void write_labels(pp_text_stream *out, const pp_profile_sample *sample, pp_arena *arena)
{
    const char *before = "# labels: {";
    const pp_sample_label *labels = in_order(sample, arena);
    if (labels == NULL && sample->label_count > 0) {
        pp_text_stream_fail(out, -ENOMEM);
        return;
    }
    for (uint32_t i = 0; i < sample->label_count; i++) {
        if (labels[i].text == NULL)
            continue;
        pp_text_stream_add(out, before);
        pp_text_stream_quoted(out, labels[i].key);
        pp_text_stream_add(out, ":");
        pp_text_stream_quoted(out, labels[i].text);
        before = ", ";
    }
    if (before[0] == ',')
        pp_text_stream_add(out, "}\n");
}

/* ---- all of it ---- */

static int write_rows(pp_text_stream *out, const pp_profile *profile, bool bare, pp_arena *arena)
{
    pp_frame_comments comments;
    int error = bare ? 0 : pp_frame_comments_init(&comments, profile, true, arena);
    for (size_t i = 0; error == 0 && out->error == 0 && i < profile->sample_count; i++) {
        write_row(out, &profile->samples[i]);
        if (!bare) {
            write_labels(out, &profile->samples[i], arena);
            pp_frame_comments_write(&comments, &profile->samples[i], out);
        }
    }
    return error;
}

int pp_legacy_count_encode(const pp_profile *profile, bool bare, pp_arena *arena,
                           pprof_writer writer)
{
    pp_text_stream out;
    pp_text_stream_init(&out, writer);
    char *maps = NULL;
    size_t maps_length = 0;
    int maps_error = pp_maps_text(arena, &maps, &maps_length);
    write_header(&out, profile);
    int error = write_rows(&out, profile, bare, arena);
    if (error != 0)
        pp_text_stream_fail(&out, error);
    pp_text_stream_add(&out, "\n--- Memory map: ---\n");
    if (maps_error == 0)
        pp_text_stream_bytes(&out, maps, maps_length);
    int write_error = pp_text_stream_finish(&out);
    return write_error != 0 ? write_error : maps_error;
}
