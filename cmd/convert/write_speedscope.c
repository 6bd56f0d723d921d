/* SPDX-License-Identifier: MIT
 *
 * write_speedscope.c: profiles in the file format of speedscope; see convert.h.
 *
 * https://www.speedscope.app/file-format-schema.json: a table of frames, and a "sampled" profile
 * for each sample type, whose samples are stacks of indices, the root first.
 *
 * Owns: nothing after the call.
 * Tested by: e2e.cpprof_convert.
 */
#include "convert/convert.h"

#include "base/base_name.h"
#include "base/json.h"
#include "convert/stack_sums.h"
#include "profile/profile_model.h"
#include "report/report.h"

#include <string.h>

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

/* The format's units. Values in others are shown without one. */
static const char *unit_name(const char *unit)
{
    static const char *const known[] = {"nanoseconds", "microseconds", "milliseconds", "seconds",
                                        "bytes"};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i], unit) == 0) {
            return known[i];
        }
    }
    return "none";
}

static void put_frames(const cp_report *report, cp_json *json)
{
    const cp_profile *profile = report->profile;

    cp_json_open(json, "shared", '{');
    cp_json_open(json, "frames", '[');
    for (uint32_t i = 0; i < report->frames.count; i++) {
        const cp_frame *frame = &report->frames.frames[i];
        cp_string name = frame->key.name;

        cp_json_open(json, NULL, '{');
        if (name) {
            cp_json_bytes(json, "name", cp_profile_text(profile, name),
                          cp_strings_length(&profile->strings, name));
        } else {
            cp_json_bytes(json, "name", frame->label, frame->label_length);
        }
        if (frame->key.file) {
            cp_json_text(json, "file", cp_profile_text(profile, frame->key.file));
        }
        if (frame->key.line > 0) {
            cp_json_number(json, "line", frame->key.line);
        }
        cp_json_close(json, '}');
    }
    cp_json_close(json, ']');
    cp_json_close(json, '}');
}

static void put_stacks(const cp_stack_sums *sums, uint32_t type, cp_json *json)
{
    cp_json_open(json, "samples", '[');
    for (uint32_t i = 0; i < sums->count; i++) {
        const cp_stack_sum *stack = &sums->stacks[i];

        if (stack->values[type] <= 0) {
            continue;
        }
        cp_json_open(json, NULL, '[');
        for (uint32_t j = 0; j < stack->frame_count; j++) {
            cp_json_unsigned(json, NULL, stack->frames[j]);
        }
        cp_json_close(json, ']');
    }
    cp_json_close(json, ']');
}

/* Returns the sum. */
static uint64_t put_weights(const cp_stack_sums *sums, uint32_t type, cp_json *json)
{
    uint64_t sum = 0;

    cp_json_open(json, "weights", '[');
    for (uint32_t i = 0; i < sums->count; i++) {
        if (sums->stacks[i].values[type] > 0) {
            cp_json_number(json, NULL, sums->stacks[i].values[type]);
            sum += (uint64_t)sums->stacks[i].values[type];
        }
    }
    cp_json_close(json, ']');
    return sum;
}

static void put_profile(const cp_report *report, const cp_stack_sums *sums, uint32_t type,
                        cp_json *json)
{
    const cp_value_type *names = &report->profile->sample_types[type];

    cp_stack_sums_warn(sums, type);
    cp_json_open(json, NULL, '{');
    cp_json_text(json, "type", "sampled");
    cp_json_text(json, "name", cp_profile_text(report->profile, names->type));
    cp_json_text(json, "unit", unit_name(cp_profile_text(report->profile, names->unit)));
    cp_json_number(json, "startValue", 0);
    put_stacks(sums, type, json);
    cp_json_unsigned(json, "endValue", put_weights(sums, type, json));
    cp_json_close(json, '}');
}

/* With --sample only that type. Returns the index of the one to show. */
static uint32_t put_profiles(const cp_report *report, const cp_stack_sums *sums, cp_json *json)
{
    uint32_t first = 0, end = report->profile->sample_type_count;

    if (report->options->sample) {
        first = report->value_index;
        end = first + 1;
    }
    cp_json_open(json, "profiles", '[');
    for (uint32_t type = first; type < end; type++) {
        put_profile(report, sums, type, json);
    }
    cp_json_close(json, ']');
    return report->value_index - first;
}

static void put_name(const cp_report *report, cp_json *json)
{
    const cp_profile *profile = report->profile;
    size_t length = 0;
    const char *name = "";

    if (profile->mapping_count) {
        name = cp_base_name(cp_profile_text(profile, profile->mappings[0].file), &length);
    }
    cp_json_bytes(json, "name", length ? name : "profile", length ? length : strlen("profile"));
}

void cp_convert_speedscope(const cp_report *report, FILE *out)
{
    cp_json json = {.out = out};
    cp_stack_sums sums;

    cp_stack_sums_init(&sums, report);
    cp_json_open(&json, NULL, '{');
    cp_json_text(&json, "$schema", SCHEMA);
    put_name(report, &json);
    cp_json_text(&json, "exporter", "cpprof " CP_VERSION);
    put_frames(report, &json);
    cp_json_unsigned(&json, "activeProfileIndex", put_profiles(report, &sums, &json));
    cp_json_close(&json, '}');
    fputc('\n', out);
    cp_stack_sums_release(&sums);
}
