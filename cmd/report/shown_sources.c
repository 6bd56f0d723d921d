/* SPDX-License-Identifier: MIT
 *
 * shown_sources.c: see shown_sources.h.
 *
 * Tested by: e2e.cpprof_list
 */
#include "report/shown_sources.h"

#include "report/report.h"

void cp_shown_sources_init(cp_source_ages *ages, const cp_report *report)
{
    const cp_profile *profile = report->profile;
    const cp_frames *frames = &report->frames;

    cp_source_ages_init(ages, profile);
    for (uint32_t i = 0; i < profile->location_count; i++) {
        for (uint32_t line = frames->first_of[i]; line < frames->first_of[i + 1]; line++) {
            cp_source_ages_note(ages, frames->frames[frames->of_line[line]].key.file,
                                profile->locations[i].mapping);
        }
    }
}

void cp_shown_sources_check(const cp_report *report)
{
    const cp_graph *graph = &report->graph;
    uint32_t count = graph->count ? graph->count : report->frames.count;
    cp_source_ages ages;

    if (report->options->granularity != CP_LINES) {
        return;
    }
    cp_shown_sources_init(&ages, report);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t frame = graph->count ? graph->order[i] : i;
        cp_string file = report->frames.frames[frame].key.file;
        struct stat found;

        if (file && stat(cp_strings_raw(&report->profile->strings, file), &found) == 0) {
            cp_source_ages_check(&ages, file, &found);
        }
    }
    cp_source_ages_release(&ages);
}
