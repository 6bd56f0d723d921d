/* SPDX-License-Identifier: MIT
 *
 * fuzz_walk.c: any registers and any stack, walked by any call-frame information.
 *
 *   input   [ fuzz_walk_head | image of a module's call-frame information ]
 *
 * The module table is ours: a module whose code lies behind the image, whose bytes are not there,
 * and one without call-frame information. The image ends where the next page cannot be read, the
 * stage, on which the stack lies, has such pages behind it and in its middle. Below the stage lies
 * the stack that the walk itself runs on.
 *
 * A walk must come back without a fault, keep to its room, and find the same whether the rules were
 * cached or not, whether the module was read in place or through copies, whether its first frames
 * were skipped, and, while words and registers change from walk to walk, whether the thread's memo
 * was used or not.
 *
 * Sources: src/unwind/walk.c src/unwind/frame.c src/unwind/cfi.c src/unwind/cfi_entry.c
 * Sources: src/unwind/expression.c src/unwind/image.c src/unwind/copies.c src/unwind/rebase.c
 * Sources: src/unwind/rule_cache.c src/unwind/target.c src/arch/x86_64_rule.c
 * Sources: src/unwind/stack_memory.c src/unwind/stack_memo.c src/sys/safe_read.c
 * Sources: src/modules/loader.c src/modules/loader_state_glibc.c src/modules/endings_glibc.c
 * Sources: src/unwind/pushes.c src/unwind/own_frames.c src/unwind/explain.c src/modules/own_code.c
 * Sources: src/unwind/flow.c src/arch/x86_64_instruction.c
 * Sources: src/base/text.c
 * Sources: src/sys/apart.c src/sys/own_threads.c src/arch/x86_64_apart.S
 * Seeds: real call-frame information (seeds.c), and rare rules, ends and signal frames.
 */
#include "fuzz_walk.h"

#include "cfi_table.h"

#include "arch/registers.h"
#include "base/stack_hash.h"
#include "modules/loader.h"
#include "modules/modules.h"
#include "unwind/rule_cache.h"
#include "unwind/stack_memory.h"
#include "unwind/walk.h"

#include "unit/other_stack.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    PAGE = 4096,
    HEADER_BYTES = 12,
    ENTRY_BYTES = 8,
    IMAGE_PAGES = 4,
    OWN_PAGES = 3,
    STAGE_PAGES = 7, /* own, own, own, forbidden, other, other, forbidden */
    STAGE_BYTES = STAGE_PAGES * PAGE,
    RUN_BYTES = 512 * PAGE,
    APART_BYTES = 256 * PAGE, /* rules that lead below SP must not find the walk's own variables */
    LOADS = 77,
    LOADS_INDEX = 4, /* of the loader's state */
    ROOM = 64
};

/* The same in each run, so that an input means the same. */
static const uintptr_t image_at = 0x10000000;
static const uintptr_t stage_at = 0x30000000;
static const uintptr_t plain_at = 0x40000000;
static const uintptr_t restorer_at = 0x50000000;

/* ---- the module table ---- */

static pp_module described;

bool pp_modules_find(uintptr_t pc, pp_module *module)
{
    if (pc >= plain_at && pc < plain_at + PAGE) {
        *module = (pp_module){.code_lo = plain_at, .code_hi = plain_at + PAGE, .permanent = true};
        return true;
    }
    if (pc >= described.code_lo && pc < described.code_hi) {
        *module = described;
        return true;
    }
    return false;
}

bool pp_modules_is_start(uintptr_t pc)
{
    (void)pc;
    return false;
}

bool pp_modules_is_entry_code(uintptr_t pc)
{
    return pc >= plain_at + PAGE / 2 && pc < plain_at + PAGE;
}

/* ---- the loader ---- */

static uint64_t loader_state[8];

/* A module was loaded: what was remembered of removable ones is void. */
static void load_something(void)
{
    loader_state[LOADS_INDEX]++;
}

/* ---- memory ---- */

static void map_at(uintptr_t at, size_t pages)
{
    if (mmap((void *)at, pages * PAGE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (void *)at)
        abort();
}

static void set_up(void)
{
    map_at(image_at, IMAGE_PAGES + 1);
    map_at(stage_at - RUN_BYTES, RUN_BYTES / PAGE + STAGE_PAGES);
    map_at(plain_at, 1);
    map_at(restorer_at, 1);
    mprotect((void *)(image_at + IMAGE_PAGES * PAGE), PAGE, PROT_NONE);
    mprotect((void *)(stage_at + OWN_PAGES * PAGE), PAGE, PROT_NONE);
    mprotect((void *)(stage_at + (STAGE_PAGES - 1) * PAGE), PAGE, PROT_NONE);
    for (size_t i = 0; i < PAGE; i += 2)
        memcpy((char *)plain_at + i, "\xff\xd0", 2); /* call *%rax */
    memcpy((void *)restorer_at, pp_signal_restorer, sizeof pp_signal_restorer);
    loader_state[LOADS_INDEX] = LOADS;
    pp_loader_calibrate(loader_state, sizeof loader_state, LOADS, 1);
}

/* Copies the image to the end of its pages. Right-aligned: one byte too many is a fault. */
static void set_image(const uint8_t *data, size_t size)
{
    uintptr_t at = image_at + IMAGE_PAGES * PAGE - size;
    memcpy((void *)at, data, size);
    described = (pp_module){.code_lo = at,
                            .code_hi = at + (1 << 24),
                            .cfi_lo = at,
                            .cfi_hi = at + size,
                            .eh_frame_hdr = at,
                            .permanent = true};
}

static uintptr_t start_of_function(unsigned index)
{
    int32_t start = 0;
    uintptr_t at = described.cfi_lo + HEADER_BYTES + index * ENTRY_BYTES;
    if (at + sizeof start <= described.cfi_hi)
        memcpy(&start, (const void *)at, sizeof start);
    return described.cfi_lo + (uintptr_t)(intptr_t)start;
}

static uintptr_t value_of(fuzz_walk_word word)
{
    static const uintptr_t nowhere[] = {0,
                                        1,
                                        8,
                                        0x7ffffffff000,
                                        0x7ffffffffff8,
                                        0x800000000000,
                                        0x8000000000000000,
                                        0xffffffffff600000,
                                        UINTPTR_MAX - 4095,
                                        UINTPTR_MAX - 263,
                                        UINTPTR_MAX - 127,
                                        UINTPTR_MAX - 15,
                                        UINTPTR_MAX - 7,
                                        UINTPTR_MAX};
    uintptr_t number = word.low | (uintptr_t)word.high << 8;
    switch (word.kind % FUZZ_KINDS) {
    case FUZZ_CODE:
        return start_of_function((unsigned)(number >> 13)) + (number & 0x1fff);
    case FUZZ_WORD:
        return stage_at + number * 8 % STAGE_BYTES;
    case FUZZ_BYTE:
        return stage_at + number % STAGE_BYTES;
    case FUZZ_SMALL:
        return number;
    case FUZZ_NEGATIVE:
        return (uintptr_t)0 - number;
    case FUZZ_NOWHERE:
        return nowhere[number % (sizeof nowhere / sizeof *nowhere)];
    case FUZZ_PLAIN:
        return plain_at + number % PAGE;
    default:
        return restorer_at + number % 2;
    }
}

static bool may_be_stored(uintptr_t at)
{
    return at / PAGE != OWN_PAGES && at / PAGE != STAGE_PAGES - 1;
}

static void set_stage(const fuzz_walk_head *head)
{
    uintptr_t words[FUZZ_WALK_WORDS];
    for (size_t i = 0; i < FUZZ_WALK_WORDS; i++)
        words[i] = value_of(head->stack[i]);
    for (size_t at = 0; at < STAGE_BYTES; at += sizeof words) {
        if (may_be_stored(at))
            memcpy((char *)stage_at + at, words, sizeof words);
    }
}

/* ---- walks ---- */

typedef struct question {
    ucontext_t context;
    uint32_t capacity, skip;
    bool caller; /* the frame is a caller's, which no return address of 0 has; else interrupted */
    bool without_memo;
} question;

typedef struct outcome {
    uintptr_t pcs[ROOM + 1];
    pp_walk walk;
} outcome;

static pp_walk_space space;

static void ask(outcome *o, const question *q)
{
    const greg_t *r = q->context.uc_mcontext.gregs;
    memset(o, 0xee, sizeof *o);
    o->walk = (pp_walk){.pcs = o->pcs,
                        .space = &space,
                        .capacity = q->capacity,
                        .skip = q->skip,
                        .without_memo = q->without_memo,
                        .wants_hash = true};
    pp_caller caller = {.return_address = (uintptr_t)r[REG_RIP],
                        .sp = (uintptr_t)r[REG_RSP],
                        .fp = (uintptr_t)r[REG_RBP],
                        .bx = (uintptr_t)r[REG_RBX]};
    if (q->caller && caller.return_address != 0)
        pp_walk_from_caller(&caller, &o->walk);
    else
        pp_walk_from_context(&q->context, &o->walk);
    if (o->walk.depth > q->capacity || o->walk.stop >= PP_STOP_COUNT ||
        o->walk.hash != pp_stack_hash(o->pcs, o->walk.depth))
        abort();
    for (size_t i = o->walk.depth; i <= ROOM; i++) {
        if (o->pcs[i] != UINT64_C(0xeeeeeeeeeeeeeeee))
            abort();
    }
}

static void must_be_same(const outcome *a, const outcome *b)
{
    if (a->walk.depth != b->walk.depth || a->walk.stop != b->walk.stop ||
        a->walk.guessed != b->walk.guessed ||
        memcmp(a->pcs, b->pcs, a->walk.depth * sizeof *a->pcs) != 0) {
        for (uint32_t i = 0; i < a->walk.depth || i < b->walk.depth; i++)
            fprintf(stderr, "%2u %16lx %16lx\n", i, a->pcs[i], b->pcs[i]);
        fprintf(stderr, "stop %d %d, guessed %d %d\n", a->walk.stop, b->walk.stop, a->walk.guessed,
                b->walk.guessed);
        abort();
    }
}

/* Without its first frames a walk is as it is with them; its room ends later. */
static void must_be_tail(const outcome *whole, const outcome *tail, uint32_t skip)
{
    uint32_t both = whole->walk.depth > skip ? whole->walk.depth - skip : 0;
    if (tail->walk.depth < both ||
        (both > 0 && memcmp(whole->pcs + skip, tail->pcs, both * sizeof *tail->pcs) != 0))
        abort();
}

/* With rules that are made and with those that were; with the memo, twice. Leaves one in `o`. */
static void ask_again_and_again(outcome *o, question *q)
{
    static outcome again;
    pp_rule_cache_clear();
    q->without_memo = true;
    ask(o, q);
    ask(&again, q);
    must_be_same(o, &again);
    q->without_memo = false;
    for (int i = 0; i < 2; i++) {
        ask(&again, q);
        must_be_same(o, &again);
    }
}

static void change(question *q, const fuzz_walk_change *change)
{
    greg_t *r = q->context.uc_mcontext.gregs;
    uintptr_t value = value_of(change->value);
    if (change->where >= FUZZ_WALK_REGISTER) {
        r[pp_greg_of_register[(change->where - FUZZ_WALK_REGISTER) % PP_REG_COUNT]] = (greg_t)value;
        return;
    }
    uintptr_t at = (uintptr_t)r[REG_RSP] + change->where * sizeof value - stage_at;
    if (at <= STAGE_BYTES - sizeof value && may_be_stored(at) &&
        may_be_stored(at + sizeof value - 1))
        memcpy((char *)stage_at + at, &value, sizeof value);
}

/* ---- one input ---- */

static fuzz_walk_head head;

static void walk_every_way(void)
{
    static question q;
    static outcome first, other;
    memset(&q, 0, sizeof q);
    for (int i = 0; i < PP_REG_COUNT; i++)
        q.context.uc_mcontext.gregs[pp_greg_of_register[i]] = (greg_t)value_of(head.registers[i]);
    q.capacity = head.capacity % (ROOM + 1);
    q.caller = head.capacity & 128;
    load_something();
    ask_again_and_again(&first, &q);
    described.permanent = false;
    load_something();
    ask_again_and_again(&other, &q);
    if (cfi_table_is_sound((const uint8_t *)described.cfi_lo, described.cfi_hi - described.cfi_lo))
        must_be_same(&first, &other);
    q.skip = head.skip % 16;
    ask(&first, &q);
    must_be_tail(&other, &first, q.skip);
    q.skip = 0;
    for (int i = 0; i < FUZZ_WALK_CHANGES; i++) {
        change(&q, &head.changes[i]);
        q.without_memo = false;
        ask(&first, &q);
        q.without_memo = true;
        ask(&other, &q);
        must_be_same(&first, &other);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool is_set_up;
    if (!is_set_up) {
        set_up();
        is_set_up = true;
    }
    if (size < sizeof head || size - sizeof head > IMAGE_PAGES * PAGE)
        return 0;
    memcpy(&head, data, sizeof head);
    set_image(data + sizeof head, size - sizeof head);
    set_stage(&head);
    if (head.place % 3 == 0)
        pp_stack_declare(stage_at - RUN_BYTES, stage_at + OWN_PAGES * PAGE);
    if (head.place % 3 <= 1)
        run_on_other_stack((void *)(stage_at - APART_BYTES), walk_every_way);
    else
        walk_every_way();
    pp_stack_declare(0, 0);
    return 0;
}
