/* SPDX-License-Identifier: MIT
 *
 * code_counts.h: how often the places of the source code run, as numbers for a compiler.
 *
 * Counts are relative: the most frequent place has 1 000 000.
 *
 * For clang they are those of the flow of control (code_flow.h). For GCC, and where instructions cannot be read, they
 * are samples per byte. A place is often a few instructions, which few samples or none hit. So its samples per byte are
 * drawn to those of its function, as if 64 more bytes ran as often as the function's others.
 *
 * Owns: nothing.
 */
#ifndef CP_CODE_COUNTS_H
#define CP_CODE_COUNTS_H

#include "convert/code_weights.h"

#include <stdbool.h>
#include <stdint.h>

/* The compiler that has made the discriminators. GCC's are plain numbers. */
typedef enum cp_code_compiler { CP_CODE_OF_LLVM, CP_CODE_OF_GCC } cp_code_compiler;

typedef struct cp_code_counts {
    cp_code_compiler compiler;
    double mean;  /* samples per byte of the current function, with those that are inlined */
    double scale; /* from samples per byte to counts */
} cp_code_counts;

void cp_code_counts_init(cp_code_counts *counts, const cp_code *code, cp_code_compiler compiler);

/* Goes to a function that is not inlined. The functions below are about what is in it. */
void cp_code_counts_enter(cp_code_counts *counts, const cp_code_function *function);

uint64_t cp_code_count(const cp_code_counts *counts, const cp_code_part *part);

/* False: the part has no samples, and is too short to be sure that it does not run. */
bool cp_code_is_known(const cp_code_counts *counts, const cp_code_part *part);

/* How often the part calls one of its targets: a share of the part's count. */
uint64_t cp_code_target_count(const cp_code_counts *counts, const cp_code_part *part,
                              const cp_code_target *target);

/* The sum of all counts, with those of inlined functions. */
uint64_t cp_code_total(const cp_code_counts *counts, const cp_code_function *function);

/* How often the function is entered. */
uint64_t cp_code_entries(const cp_code_counts *counts, const cp_code_function *function);

/* The part of LLVM's discriminator that tells parts of a line apart. */
uint32_t cp_code_base_discriminator(uint32_t discriminator);

#endif
