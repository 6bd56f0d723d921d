/* SPDX-License-Identifier: MIT
 *
 * code_weights.h: how often the places of the source code run, for compilers that optimise by a profile.
 *
 *   sampled address -> its function -> all bytes of the function, each with its inlined functions:
 *
 *     function --- place: samples, bytes
 *        '-- inlined function at a place --- place: samples, bytes
 *
 * How often code runs is told by the flow of control that is nearest to the samples (code_flow.h), and where
 * there is none, and for GCC, by its samples per byte: of two loops that run equally often, the longer one has
 * more samples. A place is a line, counted from the line where the function begins, and DWARF's
 * discriminator, which tells several parts of a line apart. So a profile holds when code around the function
 * has changed.
 *
 * Whole stacks tell what is called from a place, also through pointers.
 *
 * Where an address is read as it was sampled: only samples with addresses count, and only of files that are
 * of the build that was profiled, which their build ids tell.
 *
 * Owns: everything in the pool of a collection, until cp_code_release().
 */
#ifndef CP_CODE_WEIGHTS_H
#define CP_CODE_WEIGHTS_H

#include "base/pool.h"

#include <stddef.h>
#include <stdint.h>

typedef struct cp_error cp_error;
typedef struct cp_report cp_report;

typedef struct cp_code_place {
    uint32_t line; /* from the function's first one, modulo 65536 */
    uint32_t discriminator;
} cp_code_place;

/* A function that was called from a place, by the samples that were taken while the call was on the stack. */
typedef struct cp_code_target {
    const char *name;
    int64_t samples;
    struct cp_code_target *next;
} cp_code_target;

typedef struct cp_code_part {
    cp_code_place place;
    int64_t samples;
    uint64_t bytes;
    double runs; /* how often it runs, by the flow of control (code_flow.h); negative: not known */
    cp_code_target *targets; /* so it has run, maybe without a sample of its own */
} cp_code_part;

typedef struct cp_code_function {
    const char *name;                 /* the linkage name */
    cp_code_place at;                 /* of an inlined one: the place of the call */
    struct cp_code_function *inlined; /* the first one */
    struct cp_code_function *last;    /* of these */
    struct cp_code_function *next;    /* inlined into the same function */
    cp_code_part *parts;
    size_t part_count, part_room;
    cp_code_place entry; /* where it begins; of one that is not inlined */
    double runs;         /* how often it is entered; negative: not known */
    int64_t samples;     /* with those of inlined functions */
} cp_code_function;

typedef struct cp_code {
    cp_pool pool;
    cp_code_function **functions; /* that are not inlined, those with most samples first */
    size_t count, room;
} cp_code;

/* The sample type that counts the samples; else that of the report. */
uint32_t cp_code_count_type(const cp_report *report);

/* Returns 0, or -1 with a sentence if the samples do not say where a processor was. */
int cp_code_check(const cp_report *report, cp_error *error);

/* Counts the report's samples that are in lines of the source code, and says how many are not. Returns 0, or -1 with a
 * sentence if almost none are, or if a file has more that is of another build, or has no build id. */
int cp_code_collect(const cp_report *report, cp_code *code, cp_error *error);
void cp_code_release(cp_code *code);

#endif
