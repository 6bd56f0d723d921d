/* SPDX-License-Identifier: MIT
 *
 * record_kinds.h: the kinds of profiles that `cpprof record -e` names, and where each goes.
 */
#ifndef CP_RECORD_KINDS_H
#define CP_RECORD_KINDS_H

#include <stddef.h>

enum { CP_RECORD_KINDS_MAX = 7 };

typedef struct cp_record_kind {
    const char *name;  /* as the library calls it: cpu, heap, block, mutex, ... */
    const char *empty; /* why there may be no sample in it */
    char rate[16];     /* what was typed behind a colon, or "" */
} cp_record_kind;

/* In the order in which they were named, each once. */
typedef struct cp_record_kinds {
    size_t count;
    cp_record_kind list[CP_RECORD_KINDS_MAX];
} cp_record_kinds;

/* Returns 0, or the exit status after a complaint. */
int cp_record_kinds_parse(const char *events, cp_record_kinds *kinds);

/* Adds the kinds that a list of the library's options (LIBPPROF) asks for; *hz, if it is 0, is the
 * rate of cpu there. What else the list holds is the library's business. */
void cp_record_kinds_inherit(const char *options, cp_record_kinds *kinds, long *hz);

/* "cpu:100,heap": the words for the library's options; to be freed. */
char *cp_record_kinds_words(const cp_record_kinds *kinds, long hz);

/*
 * The file for a kind; to be freed. "%k" in `output` stands for it. Without, if there are several
 * kinds, it goes before the suffix (.pb.gz, .pb, .gz), or to the end; not for what is in /dev or
 * /proc.
 */
char *cp_record_kind_output(const cp_record_kinds *kinds, size_t index, const char *output);

#endif
