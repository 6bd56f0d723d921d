/* SPDX-License-Identifier: MIT
 *
 * report_growth.c: see report_growth.h.
 *
 * Samples of one stack are neighbours in the order of their locations; their values are added up
 * for both sides.
 *
 * Owns: the stacks, while they are printed.
 * Tested by: e2e.cpprof_diff.
 */
#include "report/report_growth.h"

#include "base/measurement.h"
#include "base/terminal.h"
#include "profile/profile_model.h"
#include "report/report.h"
#include "report/report_diff.h"
#include "report/report_text.h"

#include <stdlib.h>
#include <string.h>

enum { STACKS = 10, FRAMES = 6 /* of each, from the leaf */ };

typedef struct growth {
    const cp_sample *sample;
    uint64_t base, now;
} growth;

static int compare_stacks(const void *left, const void *right)
{
    const cp_sample *a = ((const growth *)left)->sample, *b = ((const growth *)right)->sample;

    if (a->location_count != b->location_count) {
        return a->location_count < b->location_count ? -1 : 1;
    }
    return a->location_count
               ? memcmp(a->locations, b->locations, a->location_count * sizeof *a->locations)
               : 0;
}

static int64_t change_of(const growth *stack)
{
    return (int64_t)(stack->now - stack->base);
}

static int compare_changes(const void *left, const void *right)
{
    int64_t x = change_of(left), y = change_of(right);

    return x != y ? (x > y ? -1 : 1) : compare_stacks(left, right);
}

static uint32_t collect(const cp_report *report, growth *stacks)
{
    const cp_profile *profile = report->profile;
    uint32_t count = 0;

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const cp_sample *sample = &profile->samples[i];
        uint64_t value = (uint64_t)cp_report_sample_value(report, i);
        bool base = cp_sample_is_of_base(profile, sample);

        if (value != 0) {
            stacks[count++] = (growth){sample, base ? 0 - value : 0, base ? 0 : value};
        }
    }
    qsort(stacks, count, sizeof *stacks, compare_stacks);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (kept && compare_stacks(&stacks[kept - 1], &stacks[i]) == 0) {
            stacks[kept - 1].base += stacks[i].base;
            stacks[kept - 1].now += stacks[i].now;
        } else {
            stacks[kept++] = stacks[i];
        }
    }
    qsort(stacks, kept, sizeof *stacks, compare_changes);
    return kept;
}

static void print_frames(const cp_report *report, const cp_sample *sample, FILE *out)
{
    const cp_frames *frames = &report->frames;
    uint32_t printed = 0;

    for (uint32_t i = 0; i < sample->location_count; i++) {
        uint32_t end = frames->first_of[sample->locations[i] + 1];

        for (uint32_t k = frames->first_of[sample->locations[i]]; k < end; k++, printed++) {
            if (printed < FRAMES) {
                fprintf(out, "%s%s", printed ? " < " : "",
                        frames->frames[frames->of_line[k]].label);
            }
        }
    }
    fputs(printed > FRAMES ? " < ...\n" : "\n", out);
}

static void print_stack(const cp_report *report, const growth *stack, FILE *out)
{
    char *change = cp_report_value(report, change_of(stack));
    char *grown = cp_heap_printf("+%s", change);

    cp_report_print_value(report, (int64_t)stack->base, 12, out);
    cp_report_print_value(report, (int64_t)stack->now, 12, out);
    cp_print_right(grown, 12, out);
    fputs("  ", out);
    print_frames(report, stack->sample, out);
    free(grown);
    free(change);
}

void cp_growth_print(const cp_report *report, FILE *out)
{
    if (strncmp(report->sample_type, "inuse_", strlen("inuse_")) != 0) {
        return;
    }
    growth *stacks = cp_heap_alloc(report->profile->sample_count + 1, sizeof *stacks);
    uint32_t count = collect(report, stacks);
    uint32_t grown = 0;

    while (grown < count && change_of(&stacks[grown]) > 0) {
        grown++;
    }
    if (grown > 0) {
        fprintf(out, "\nMemory in use has grown in %u of %u stacks", grown, count);
        fprintf(out, grown > STACKS ? "; the %d that grew most, leaf first:\n" : ", leaf first:\n",
                STACKS);
        cp_report_print_heading(report, "        base         now      change  stack", out);
    }
    for (uint32_t i = 0; i < grown && i < STACKS; i++) {
        print_stack(report, &stacks[i], out);
    }
    free(stacks);
}
