/* SPDX-License-Identifier: MIT
 *
 * code_counts.c: see code_counts.h. Discriminators are read as LLVM encodes them (DebugInfoMetadata.h): the base
 * discriminator, and by how much the code was multiplied, as by unrolling a loop.
 *
 * Owns: nothing.
 * Tested by: e2e.cpprof_pgo, e2e.cpprof_gcov
 */
#include "convert/code_counts.h"

#include <math.h>

#define MOST        1000000.0
#define PRIOR_BYTES 64.0
#define SURE        4.0 /* samples that would have to be there */
#define LENGTH      4.0 /* bytes of an instruction, about */

/* ---- LLVM's discriminators ---- */

/* A component: 5 bits, or 12 where bit 5 is set. An odd number says that it is 0. */
static uint32_t component(uint32_t encoded)
{
    if (encoded & 1) {
        return 0;
    }
    encoded >>= 1;
    return encoded & 0x20 ? ((encoded >> 1) & 0xfe0) | (encoded & 0x1f) : encoded & 0x1f;
}

static uint32_t after_component(uint32_t encoded)
{
    if (encoded & 1) {
        return encoded >> 1;
    }
    return encoded >> (encoded & 0x40 ? 14 : 7);
}

uint32_t cp_code_base_discriminator(uint32_t discriminator)
{
    return component(discriminator);
}

static uint32_t copies_of(const cp_code_counts *counts, uint32_t discriminator)
{
    uint32_t copies =
        counts->compiler == CP_CODE_OF_LLVM ? component(after_component(discriminator)) : 1;

    return copies ? copies : 1;
}

/* ---- counts ---- */

static double bytes_of(const cp_code_function *function)
{
    double bytes = 0;

    for (size_t i = 0; i < function->part_count; i++) {
        bytes += (double)function->parts[i].bytes;
    }
    for (const cp_code_function *f = function->inlined; f; f = f->next) {
        bytes += bytes_of(f);
    }
    return bytes;
}

void cp_code_counts_enter(cp_code_counts *counts, const cp_code_function *function)
{
    counts->mean = (double)function->samples / bytes_of(function);
}

static bool has_run(const cp_code_part *part)
{
    return part->samples > 0 || part->targets;
}

/* GCC's counts stay those of the samples: what the flow brings is known of clang only. */
static bool has_flow(const cp_code_counts *counts, double runs)
{
    return counts->compiler == CP_CODE_OF_LLVM && runs >= 0;
}

static double rate(const cp_code_counts *counts, const cp_code_part *part)
{
    uint32_t copies = copies_of(counts, part->place.discriminator);

    if (has_flow(counts, part->runs)) {
        return part->runs * copies;
    }
    if (!has_run(part)) {
        return 0;
    }
    return ((double)part->samples + PRIOR_BYTES * counts->mean) /
           ((double)part->bytes + PRIOR_BYTES) * LENGTH * copies;
}

static double highest_rate(const cp_code_counts *counts, const cp_code_function *function)
{
    double highest = 0;

    for (size_t i = 0; i < function->part_count; i++) {
        highest = fmax(highest, rate(counts, &function->parts[i]));
    }
    for (const cp_code_function *f = function->inlined; f; f = f->next) {
        highest = fmax(highest, highest_rate(counts, f));
    }
    return highest;
}

uint64_t cp_code_count(const cp_code_counts *counts, const cp_code_part *part)
{
    double count = round(rate(counts, part) * counts->scale);

    return (uint64_t)(has_run(part) ? fmax(1, count) : count);
}

bool cp_code_is_known(const cp_code_counts *counts, const cp_code_part *part)
{
    return has_flow(counts, part->runs) || has_run(part) ||
           counts->mean * (double)part->bytes >= SURE;
}

uint64_t cp_code_total(const cp_code_counts *counts, const cp_code_function *function)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < function->part_count; i++) {
        sum += cp_code_count(counts, &function->parts[i]);
    }
    for (const cp_code_function *f = function->inlined; f; f = f->next) {
        sum += cp_code_total(counts, f);
    }
    return sum;
}

uint64_t cp_code_entries(const cp_code_counts *counts, const cp_code_function *function)
{
    if (has_flow(counts, function->runs)) {
        return (uint64_t)round(function->runs * counts->scale);
    }
    for (size_t i = 0; i < function->part_count; i++) {
        const cp_code_part *part = &function->parts[i];
        if (part->place.line == function->entry.line &&
            part->place.discriminator == function->entry.discriminator) {
            return cp_code_count(counts, part);
        }
    }
    return 0;
}

uint64_t cp_code_target_count(const cp_code_counts *counts, const cp_code_part *part,
                              const cp_code_target *target)
{
    double sum = 0;

    for (const cp_code_target *t = part->targets; t; t = t->next) {
        sum += (double)t->samples;
    }
    double share = (double)target->samples / sum * (double)cp_code_count(counts, part);
    return (uint64_t)fmax(1, round(share));
}

void cp_code_counts_init(cp_code_counts *counts, const cp_code *code, cp_code_compiler compiler)
{
    double highest = 0;

    *counts = (cp_code_counts){.compiler = compiler};
    for (size_t i = 0; i < code->count; i++) {
        cp_code_counts_enter(counts, code->functions[i]);
        highest = fmax(highest, highest_rate(counts, code->functions[i]));
    }
    counts->scale = MOST / highest;
}
