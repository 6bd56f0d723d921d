/* SPDX-License-Identifier: MIT
 *
 * fuzz_cfi.c: any bytes as a module's call-frame information: .eh_frame_hdr first, the rest behind
 * it.
 *
 * The rule of each PC at which a table entry begins is asked for, and of some behind it. A rule
 * must be one that the walk can apply, and must be the same when the module is read by safe copies
 * (unless there is no table: then it is read in place only).
 *
 * Sources: src/unwind/cfi.c src/unwind/expression.c src/unwind/image.c src/unwind/rebase.c
 * Sources: src/unwind/copies.c src/sys/safe_read.c src/sys/loader.c
 * Seeds: images as test/unit/cfi_image.h assembles them.
 */
#include "unwind/cfi.h"

#include "arch/registers.h"

#include <stdlib.h>
#include <string.h>

static pp_cfi_space space;

enum {
    HEADER_BYTES = 12,
    ENTRY_BYTES = 8,
    MAX_FUNCTIONS = 8,
    CODE_DISTANCE = 0x10000 /* where the seeds have their first function */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_where(const pp_where *where)
{
    if (where->kind > PP_WHERE_BEYOND)
        abort();
    if ((where->kind == PP_WHERE_MEMORY || where->kind == PP_WHERE_REGISTER) &&
        where->reg >= PP_REG_RA)
        abort();
}

static void check_rule(const pp_rule *rule)
{
    if (rule->kind < PP_RULE_FRAME || rule->kind > PP_RULE_NONE)
        abort();
    if (rule->kind != PP_RULE_FRAME)
        return;
    if (rule->cfa_reg >= PP_REG_RA || rule->ra.kind >= PP_WHERE_LOST ||
        (rule->cfa_scale != 0 && rule->cfa_index >= PP_REG_RA))
        abort();
    check_where(&rule->fp);
    check_where(&rule->bx);
    check_where(&rule->ra);
}

static int same_where(const pp_where *a, const pp_where *b)
{
    return a->kind == b->kind && a->reg == b->reg && a->offset == b->offset;
}

static int same_rule(const pp_rule *a, const pp_rule *b)
{
    if (a->kind != b->kind || a->kind != PP_RULE_FRAME)
        return a->kind == b->kind;
    return a->cfa_reg == b->cfa_reg && a->cfa_offset == b->cfa_offset &&
           a->cfa_addend == b->cfa_addend && a->cfa_read == b->cfa_read &&
           a->cfa_index == b->cfa_index && a->cfa_scale == b->cfa_scale &&
           same_where(&a->fp, &b->fp) && same_where(&a->bx, &b->bx) && same_where(&a->ra, &b->ra);
}

static void ask(pp_image image, uintptr_t pc, int by_copies)
{
    pp_rule rule, copied;
    image.permanent = true;
    pp_cfi_rule(&image, pc, &space, &rule);
    check_rule(&rule);
    if (by_copies) {
        image.permanent = false;
        pp_cfi_rule(&image, pc, &space, &copied);
        if (!same_rule(&rule, &copied))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uintptr_t offsets[] = {0, 1, 5, 16, 27, 64, 255, 4096};
    if (size == 0)
        return 0;
    uint8_t *bytes = malloc(size); /* exactly as long, and aligned */
    memcpy(bytes, data, size);
    uintptr_t lo = (uintptr_t)bytes;
    pp_image image = {
        .lo = lo, .hi = lo + size, .header = lo, .code_lo = 0, .code_hi = UINTPTR_MAX};
    int has_table = size >= 4 && bytes[0] == 1 && bytes[2] != 0xff && bytes[3] == 0x3b;
    for (size_t i = 0; i <= MAX_FUNCTIONS; i++) {
        size_t at = HEADER_BYTES + i * ENTRY_BYTES;
        int32_t start = CODE_DISTANCE;
        if (at + sizeof start <= size && i < MAX_FUNCTIONS)
            memcpy(&start, bytes + at, sizeof start);
        for (size_t j = 0; j < sizeof offsets / sizeof *offsets; j++)
            ask(image, lo + (uintptr_t)(intptr_t)start + offsets[j], has_table && j == 2);
    }
    free(bytes);
    return 0;
}
