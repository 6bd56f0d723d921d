/* SPDX-License-Identifier: MIT
 *
 * record_kinds.h: the kinds of profiles that `cpprof record -e` names, and where each goes.
 *
 * A table has what cpprof knows of the usual kinds. A word that is not in it may still be a kind:
 * the library is asked (record_library.h), and so a new kind of the library needs no line here.
 */
#ifndef CP_RECORD_KINDS_H
#define CP_RECORD_KINDS_H

#include <stdbool.h>
#include <stddef.h>

enum { CP_RECORD_KINDS_MAX = 16, CP_RECORD_KIND_BYTES = 16 };

/* What cpprof knows of a kind. A kind that is not in the table has NULL and false. */
typedef struct cp_record_traits {
    const char *name;
    const char *rate_ends; /* the letters that may follow the digits of a rate; NULL: has no rate */
    const char *no_rate;   /* why it has none */
    const char *empty;     /* why a profile of it may have no sample */
    bool adds_up;          /* a program's profiles add up; else its last one holds all before */
    bool is_state;         /* only the last program of a process matters */
    bool is_by_leaf;       /* leaves are functions that matter, not one hook for all stacks */
} cp_record_traits;

const cp_record_traits *cp_record_traits_of(const char *kind);

typedef struct cp_record_kind {
    char name[CP_RECORD_KIND_BYTES]; /* as the library calls it: cpu, heap, block, mutex, ... */
    char rate[16];                   /* the text after the colon, or "" */
} cp_record_kind;

/* In the order in which they were named, each once. */
typedef struct cp_record_kinds {
    size_t count;
    cp_record_kind list[CP_RECORD_KINDS_MAX];
} cp_record_kinds;

/* Whether `word` is the library's option for profiles of `kind`. */
typedef bool cp_record_asker(const char *kind, const char *word);

/* Reads the list after -e. `ask` is called for each kind that is not in the table. Returns 0, or
 * the exit status after a complaint. */
int cp_record_kinds_parse(const char *events, cp_record_asker *ask, cp_record_kinds *kinds);

/* Adds the kinds of the table that a list of the library's options (LIBPPROF) has; if *hz is 0, it
 * becomes the rate of cpu there. Other words of the list are left to the library. */
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
