/* SPDX-License-Identifier: MIT
 *
 * shown_sources.h: the source files of a report's frames, and whether they are older than the
 * program.
 */
#ifndef CP_SHOWN_SOURCES_H
#define CP_SHOWN_SOURCES_H

#include "profile/source_age.h"

typedef struct cp_report cp_report;

/* Makes an object that knows the files of all frames; for cp_source_ages_release(). */
void cp_shown_sources_init(cp_source_ages *ages, const cp_report *report);

/* Complains of the files that are newer than the program, where a row is a line: those in the
 * report's graph, or all if the report has none. */
void cp_shown_sources_check(const cp_report *report);

#endif
