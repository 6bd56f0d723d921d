/* SPDX-License-Identifier: MIT
 *
 * fuzz_cfi.c: any bytes as a module's call-frame information: .eh_frame_hdr first, the rest behind
 * it.
 *
 * The rule of each PC at which a table entry begins is asked for, and of some behind it. A rule
 * must be one that the walk can apply. If the search table is sorted it must be the same when the
 * module is read by safe copies, and, of a module whose second half is unmapped meanwhile, be the
 * same or be none. A space that has served for other rules must give the same rule as an empty one.
 *
 * Sources: src/unwind/cfi.c src/unwind/cfi_entry.c src/unwind/expression.c src/unwind/image.c
 * Sources: src/unwind/rebase.c src/unwind/copies.c src/sys/safe_read.c src/modules/loader.c src/modules/loader_state_glibc.c
 * Sources: src/sys/apart.c src/sys/own_threads.c src/arch/x86_64_apart.S
 * Seeds: images as test/unit/cfi_image.h assembles them, and of real libraries (seeds.c).
 */
#include "unwind/cfi.h"

#include "arch/registers.h"

#include "cfi_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    HEADER_BYTES = 12,
    ENTRY_BYTES = 8,
    MAX_FUNCTIONS = 8,
    CODE_DISTANCE = 0x10000, /* where the seeds have their first function */
    HALF_BYTES = 1 << 16
};

static const uintptr_t offsets[] = {0, 1, 5, 16, 27, 64, 255, 4096};
enum { OFFSETS = sizeof offsets / sizeof *offsets };

static pp_cfi_space space;
static pp_cfi_space space_of_walk; /* serves for all rules of an input, as in a walk */

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

static bool table_is_sound;

static void compute_rule(const pp_image *image, uintptr_t pc, pp_rule *rule)
{
    pp_cfi_open(&space);
    pp_cfi_rule(image, pc, &space, rule);
}

/* With kept copies the second time meets what the first has left behind. */
static void ask_by_copies(pp_image image, uintptr_t pc, const pp_rule *rule)
{
    pp_rule copied;
    image.permanent = false;
    for (int i = 0; i < 3; i++) {
        image.keep = i > 0;
        compute_rule(&image, pc, &copied);
        check_rule(&copied);
        if (table_is_sound && !same_rule(rule, &copied))
            abort();
    }
}

static void ask(pp_image image, uintptr_t pc, bool by_copies)
{
    pp_rule rule;
    image.permanent = true;
    compute_rule(&image, pc, &rule);
    check_rule(&rule);
    pp_rule next;
    pp_cfi_rule(&image, pc, &space_of_walk, &next);
    if (!same_rule(&rule, &next))
        abort();
    if (by_copies)
        ask_by_copies(image, pc, &rule);
}

static uintptr_t function_of(const uint8_t *bytes, size_t size, size_t index)
{
    size_t at = HEADER_BYTES + index * ENTRY_BYTES;
    int32_t start = CODE_DISTANCE;
    if (at + sizeof start <= size && index < MAX_FUNCTIONS)
        memcpy(&start, bytes + at, sizeof start);
    return (uintptr_t)bytes + (uintptr_t)(intptr_t)start;
}

static pp_image image_of(const uint8_t *bytes, size_t size)
{
    uintptr_t lo = (uintptr_t)bytes;
    return (pp_image){
        .lo = lo, .hi = lo + size, .header = lo, .code_lo = 0, .code_hi = UINTPTR_MAX};
}

/* The same with an image that begins before a page that can go, and ends in it. */
static void ask_while_it_goes(const uint8_t *data, size_t size, uint8_t chance)
{
    static uint8_t *halves;
    pp_rule whole, half;
    if (halves == NULL)
        halves =
            mmap(NULL, 2 * HALF_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (halves == MAP_FAILED || size > HALF_BYTES)
        return;
    uint8_t *going = halves + HALF_BYTES;
    uint8_t *bytes = going - size * (chance >> 4) / 16;
    memcpy(bytes, data, size);
    pp_image image = image_of(bytes, size);
    uintptr_t pc = function_of(bytes, size, chance & 7) + offsets[chance / 8 % OFFSETS];
    compute_rule(&image, pc, &whole);
    mprotect(going, HALF_BYTES, PROT_NONE);
    compute_rule(&image, pc, &half);
    mprotect(going, HALF_BYTES, PROT_READ | PROT_WRITE);
    check_rule(&half);
    if (table_is_sound && half.kind != PP_RULE_NONE && !same_rule(&half, &whole))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pp_rule rule;
    if (size == 0)
        return 0;
    uint8_t chance = 0;
    for (size_t i = 0; i < size; i++)
        chance = (uint8_t)(chance * 31 + data[i]);
    uint8_t *bytes = malloc(size); /* exactly as long, and aligned */
    memcpy(bytes, data, size);
    pp_image image = image_of(bytes, size);
    table_is_sound = cfi_table_is_sound(bytes, size);
    pp_copies_clear();
    pp_cfi_open(&space_of_walk);
    for (size_t i = 0; i <= MAX_FUNCTIONS; i++) {
        for (size_t j = 0; j < OFFSETS; j++)
            ask(image, function_of(bytes, size, i) + offsets[j], j == (chance + i) % OFFSETS);
    }
    image.header = 0;
    compute_rule(&image, image.lo, &rule);
    if (rule.kind != PP_RULE_NONE)
        abort();
    free(bytes);
    ask_while_it_goes(data, size, chance);
    return 0;
}
