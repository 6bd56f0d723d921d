/* SPDX-License-Identifier: MIT
 *
 * classes.h: disagreements, sorted by the frame whose rule is to blame and by what went wrong.
 *
 * The frame to blame is the last one that is right: its rule led to the wrong caller. At report
 * time all PCs of a function are one class. A list of known classes (test/compare/known.txt) says
 * which are explained, and why:
 *
 *   MODULE FUNCTION KIND reason          patterns as of fnmatch(3); the module's last component
 *
 * Zone: tests.
 * Owns: the table of disagreements.
 */
#ifndef PP_COMPARE_CLASSES_H
#define PP_COMPARE_CLASSES_H

#include "places.h"
#include "protocol.h"

#include <stdio.h>

typedef enum disagreement {
    AGREED,
    ENDS_EARLY,      /* right so far, and then no more */
    GOES_ON,         /* frames beyond the outermost */
    SKIPS_A_FRAME,   /* the caller's caller in place of the caller */
    INVENTS_A_FRAME, /* something between the frame and its caller */
    OTHER_CALLER,
    OTHER_STOP,   /* all frames are right, but the walk does not know that this is the end */
    WAYS_DIFFER,  /* two walks of the same stack */
    AT_A_LANDING, /* beyond a frame that was entered by a jump (longjmp, a landing pad), not left by
                     a call: the instruction before its PC is somebody else's */
    IN_NO_MODULE, /* any of the above, where the loader does not know the library of the culprit yet */
    DISAGREEMENTS
} disagreement;

typedef enum opinion { OPINION_NONE, OPINION_OURS, OPINION_TRUTH, OPINION_THIRD } opinion;

typedef struct chain {
    const uint64_t *pcs;
    size_t depth;
    bool whole;
    /* The frame that control comes to by a jump, not back to from a call; 0 = none. A walk may give
     * its PC plus 1, as of an instruction. */
    size_t by_jump;
} chain;

/* Compares the walk's frames with the truth; *at is the first index that differs. */
disagreement classes_compare(const compare_answer *ours, const chain *truth, size_t *at);

/* What libunwind's frames say where ours and the truth differ. */
opinion classes_opinion(const chain *second, const compare_answer *ours, const chain *truth,
                        size_t at);

/* Notes a disagreement and returns its number: all of a kind at the same place have the same. */
unsigned classes_note(place culprit, disagreement kind, opinion second);

/* The text that shows the first of them; NULL until it was set. It is copied. */
const char *classes_example(unsigned number);
void classes_set_example(unsigned number, const char *text);

/* Reads the list of known classes; false, with a message, if it cannot be read. */
bool classes_read_known(const char *path);

/* Prints the table of classes. Returns how many are not explained. */
unsigned classes_report(FILE *out);

const char *classes_kind_name(disagreement kind);

#endif
