/* SPDX-License-Identifier: MIT
 *
 * findings.h: what `cpprof doctor` finds, and how it says so.
 *
 *   subject          "this machine", the path of a program, "process 1234"
 *     state  topic   what was found
 *            -> what mends it
 */
#ifndef CP_FINDINGS_H
#define CP_FINDINGS_H

#include "base/pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum cp_finding_state {
    CP_WORKS,
    CP_LIMITED, /* something is less than it could be */
    CP_FAILS
} cp_finding_state;

typedef struct cp_finding {
    cp_finding_state state;
    const char *subject, *topic, *text;
    const char *remedy; /* or NULL */
    const char *kinds;  /* kinds of profiles, such as "heap mutex", that need it to work; NULL: all,
                           "": none */
} cp_finding;

typedef struct cp_findings {
    cp_pool pool; /* of all texts */
    const char *subject;
    cp_finding *list;
    size_t count, room;
} cp_findings;

void cp_findings_init(cp_findings *findings);
void cp_findings_release(cp_findings *findings);

/* All that is found from now on is about this subject; the text is copied. */
void cp_findings_about(cp_findings *findings, const char *subject);

/* Adds something that works, a printf text. */
void cp_found(cp_findings *findings, const char *topic, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds something that does not, or not in full. `kinds` is as in cp_finding, and stays where it is;
 * `remedy` is copied, and may be NULL. */
void cp_found_less(cp_findings *findings, cp_finding_state state, const char *kinds,
                   const char *topic, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Whether something fails that the kind of profile needs. */
bool cp_findings_prevent(const cp_findings *findings, const char *kind);

void cp_findings_print(const cp_findings *findings, bool colored, FILE *out);

/* One object: "findings", an array with state (works, limited, fails), subject, topic, text, and
 * remedy if there is one. */
void cp_findings_print_json(const cp_findings *findings, FILE *out);

#endif
