/* SPDX-License-Identifier: MIT
 *
 * record_kinds.h: the kinds of profiles that `cpprof record -e` names, and the file of each.
 *
 * A table has the facts of the usual kinds. Any other word may be a kind too: cpprof asks
 * the library (record_library.h), so that a new kind of the library needs no line here.
 */
#ifndef CP_RECORD_KINDS_H
#define CP_RECORD_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CP_RECORD_KINDS_MAX = 16, CP_RECORD_KIND_BYTES = 16 };

/* The facts that cpprof needs of a kind. A kind that is not in the table has NULL and false. */
typedef struct cp_record_traits {
    const char *name;
    const char *rate_ends; /* letters that may follow the digits of a rate; NULL: no rate */
    long most;             /* the largest rate; 0: there is none */
    const char *no_rate;   /* why the kind has no rate */
    bool has_heaps_rate;   /* it is made of the samples of heap, and has their rate */
    const char *empty;     /* why a profile of the kind may have no sample */
    bool adds_up;          /* a program's profiles add up; else the last one has all before */
    bool is_state;         /* a process has only the profile of its last program */
    bool is_by_flat;       /* leaves do the work; else they wait, or only allocate for callers */
} cp_record_traits;

const cp_record_traits *cp_record_traits_of(const char *kind);

/* The names of the kinds in the table, by their places from 0 on; then NULL. */
const char *cp_record_kind_name(size_t index);

typedef struct cp_record_kind {
    char name[CP_RECORD_KIND_BYTES]; /* as the library calls it: cpu, heap, block, mutex, ... */
    char rate[16];                   /* the text after the colon, or "" */
} cp_record_kind;

/* The kinds in the order of the list after -e, each once. */
typedef struct cp_record_kinds {
    size_t count;
    cp_record_kind list[CP_RECORD_KINDS_MAX];
} cp_record_kinds;

/* Whether `word` is the library's option for profiles of `kind`. */
typedef bool cp_record_asker(const char *kind, const char *word);

/* Reads the list after -e. `ask` is called for each kind that is not in the table. Returns 0, or
 * the exit status after a complaint. */
int cp_record_kinds_parse(const char *events, cp_record_asker *ask, cp_record_kinds *kinds);

/* The number that a rate is: "64k" is 65536. 0: `text` is empty, or too large. */
int64_t cp_record_rate_number(const char *text);

/* Adds the kinds of the table that a list of the library's options (LIBPPROF) has; if *hz is 0, it
 * becomes the rate of cpu there. Other words of the list are left to the library. */
void cp_record_kinds_inherit(const char *options, cp_record_kinds *kinds, long *hz);

/* Returns the words for the library's options, such as "cpu:100,heap"; to be freed. */
char *cp_record_kinds_words(const cp_record_kinds *kinds, long hz);

/* Returns the path of the file for a kind, to be freed. Each "%k" in `output` becomes the kind's
 * name. If there is no "%k" but several kinds, the name goes before the suffix (.pb.gz, .pb, .gz),
 * or to the end. A path in /dev or /proc stays as it is. */
char *cp_record_kind_output(const cp_record_kinds *kinds, size_t index, const char *output);

#endif
