/* SPDX-License-Identifier: MIT
 *
 * stack_machine.h: a machine that calls, returns and is interrupted, with an array as its stack.
 *
 * Its functions are never executed; their call-frame information is written here by hand, and each
 * call leaves on the array what such a function would. Some frames are left by packed rules, the
 * others in every other way there is. Include it behind cmocka.h.
 */
#ifndef PP_TEST_STACK_MACHINE_H
#define PP_TEST_STACK_MACHINE_H

#include "arch/registers.h"
#include "base/random.h"
#include "base/stack_hash.h"
#include "unwind/walk.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

/* Nothing but calls, so that every second address is one that a call returns to. */
#define MACHINE_CODE(name, cfi)                                                                    \
    __asm__(".text\n.p2align 4\n" #name ":\n.cfi_startproc " cfi                                   \
            ".rept 8\ncall *%rax\n.endr\n.cfi_endproc\n");                                         \
    extern const char(name)[]

MACHINE_CODE(machine_leaf, "\n");
MACHINE_CODE(machine_plain, "\n.cfi_def_cfa_offset 16\n");
MACHINE_CODE(machine_both,
             "\n.cfi_def_cfa_offset 32\n.cfi_offset rbp, -16\n.cfi_offset rbx, -24\n");
MACHINE_CODE(machine_bx, "\n.cfi_def_cfa_offset 32\n.cfi_offset rbx, -16\n");
MACHINE_CODE(machine_far, "\n.cfi_def_cfa_offset 272\n.cfi_offset rbp, -256\n");
MACHINE_CODE(machine_on_fp, "\n.cfi_def_cfa rbp, 16\n.cfi_offset rbp, -16\n");
MACHINE_CODE(machine_on_fp_bx,
             "\n.cfi_def_cfa rbp, 16\n.cfi_offset rbp, -16\n.cfi_offset rbx, -24\n");
MACHINE_CODE(machine_on_bx, "\n.cfi_def_cfa rbx, 24\n.cfi_offset rbx, -24\n");
MACHINE_CODE(machine_no_fp, "\n.cfi_def_cfa_offset 16\n.cfi_undefined rbp\n");
MACHINE_CODE(machine_big, "\n.cfi_def_cfa_offset 288\n.cfi_offset rbp, -272\n");
MACHINE_CODE(machine_deref, "\n.cfi_escape 0x0f, 5, 0x77, 16, 0x06, 0x23, 8\n"); /* *(rsp+16)+8 */
/* CFA = *(rbp - 8), rbp at rbp: a realigned frame */
MACHINE_CODE(machine_drap, "\n.cfi_escape 0x0f,3,0x76,0x78,0x06\n.cfi_escape 0x10,6,2,0x76,0\n");
MACHINE_CODE(machine_on_r10, "\n.cfi_def_cfa r10, 8\n");
MACHINE_CODE(machine_on_r12, "\n.cfi_def_cfa r12, 8\n");
MACHINE_CODE(machine_end, "\n.cfi_undefined rip\n");
MACHINE_CODE(machine_signal, "simple\n.cfi_signal_frame\n.cfi_def_cfa rsp, 8\n");
__asm__(".text\n.p2align 4\nmachine_bare:\n.rept 8\ncall *%rax\n.endr\n"); /* no CFI */
extern const char machine_bare[];

typedef enum machine_kind {
    KIND_LEAF,
    KIND_PLAIN,
    KIND_BOTH,
    KIND_BX,
    KIND_FAR,
    KIND_ON_FP,
    KIND_ON_FP_BX,
    KIND_LAST_STEP = KIND_ON_FP_BX, /* up to here: packed rules on rsp or rbp */
    KIND_ON_BX,
    KIND_NO_FP,
    KIND_BIG,
    KIND_DEREF,
    KIND_DRAP,
    KIND_ON_R10,
    KIND_BARE,
    KIND_SIGNAL,
    KIND_COUNT
} machine_kind;

static const char *const machine_codes[KIND_COUNT] = {
    machine_leaf,  machine_plain,    machine_both,   machine_bx,    machine_far,
    machine_on_fp, machine_on_fp_bx, machine_on_bx,  machine_no_fp, machine_big,
    machine_deref, machine_drap,     machine_on_r10, machine_bare,  machine_signal};

enum { MACHINE_FRAMES = 600, MACHINE_DEPTH = 1024 };

typedef struct machine_frame {
    uintptr_t pc, sp, fp, bx;
} machine_frame;

typedef struct machine {
    uintptr_t *lo, *hi;         /* the array */
    uintptr_t *alt_lo, *alt_hi; /* another one, for signals; NULL if there is none */
    uint64_t seed;
    uintptr_t r10;
    size_t depth;
    machine_frame frame[MACHINE_FRAMES]; /* the outermost first */
} machine;

static inline uintptr_t *machine_word(uintptr_t address)
{
    return (uintptr_t *)address;
}

static inline machine_frame *machine_top(machine *m)
{
    return &m->frame[m->depth - 1];
}

/* An address in `kind`'s code that a call returns to: one of eight. */
static inline uintptr_t machine_pc(machine_kind kind, unsigned which)
{
    return (uintptr_t)machine_codes[kind] + 2 + 2 * (which % 7);
}

/* An empty stack: the outermost frame is in `pc`. */
static inline void machine_reset(machine *m, uintptr_t pc)
{
    m->depth = 1;
    m->frame[0] = (machine_frame){.pc = pc, .sp = (uintptr_t)(m->hi - 8)};
    memset(m->hi - 8, 0, 8 * sizeof *m->hi);
}

static inline uintptr_t machine_random_register(machine *m)
{
    uint64_t random = pp_random_next(&m->seed);
    switch (random >> 60) {
    case 0:
        return random;
    case 1:
    case 2:
        return (uintptr_t)m->lo + random % ((uintptr_t)m->hi - (uintptr_t)m->lo);
    default:
        return random >> 62 ? (uintptr_t)(m->lo + random % (uint64_t)(m->hi - m->lo)) : 0;
    }
}

static inline bool machine_is_on_alternate(const machine *m, uintptr_t sp)
{
    return sp >= (uintptr_t)m->alt_lo && sp < (uintptr_t)m->alt_hi;
}

/* A signal frame; every second on the alternate array. */
static inline void machine_interrupt(machine *m)
{
    const machine_frame *top = machine_top(m);
    bool switches = m->alt_hi != NULL && !machine_is_on_alternate(m, top->sp) &&
                    pp_random_below(&m->seed, 2) == 0;
    uintptr_t above = switches ? (uintptr_t)m->alt_hi : top->sp - 128;
    uintptr_t sp = (above - sizeof(ucontext_t)) & ~(uintptr_t)15;
    for (int i = 0; i < PP_REG_COUNT; i++)
        *machine_word(pp_signal_frame_slot(sp, i)) = pp_random_next(&m->seed);
    *machine_word(pp_signal_frame_slot(sp, PP_REG_RA)) = top->pc;
    *machine_word(pp_signal_frame_slot(sp, PP_REG_SP)) = top->sp;
    *machine_word(pp_signal_frame_slot(sp, PP_REG_FP)) = top->fp;
    *machine_word(pp_signal_frame_slot(sp, PP_REG_BX)) = top->bx;
    m->frame[m->depth++] = (machine_frame){.pc = machine_pc(KIND_SIGNAL, 1), .sp = sp};
}

/* Calls a function of `kind`, which goes as far as its call that returns to pc `which`. */
static inline void machine_call(machine *m, machine_kind kind, unsigned which)
{
    if (kind == KIND_SIGNAL) {
        machine_interrupt(m);
        return;
    }
    const machine_frame *caller = machine_top(m);
    uintptr_t cfa = caller->sp;
    uintptr_t more = 8 * pp_random_below(&m->seed, 6);
    machine_frame f = {machine_pc(kind, which), cfa - 16, caller->fp, caller->bx};
    *machine_word(cfa - 8) = caller->pc;
    switch (kind) {
    case KIND_LEAF:
        f.sp = cfa - 8;
        break;
    case KIND_BOTH:
        *machine_word(cfa - 16) = caller->fp;
        *machine_word(cfa - 24) = caller->bx;
        f.sp = cfa - 32;
        f.fp = machine_random_register(m);
        f.bx = machine_random_register(m);
        break;
    case KIND_BX:
        *machine_word(cfa - 16) = caller->bx;
        f.sp = cfa - 32;
        f.bx = machine_random_register(m);
        break;
    case KIND_FAR:
        *machine_word(cfa - 256) = caller->fp;
        f.sp = cfa - 272;
        f.fp = machine_random_register(m);
        break;
    case KIND_ON_FP_BX:
        *machine_word(cfa - 24) = caller->bx;
        f.bx = machine_random_register(m);
        /* fall through */
    case KIND_ON_FP:
    case KIND_BARE:
        *machine_word(cfa - 16) = caller->fp;
        f.fp = cfa - 16;
        f.sp = cfa - 24 - more;
        break;
    case KIND_ON_BX:
        *machine_word(cfa - 24) = caller->bx;
        f.bx = cfa - 24;
        f.sp = cfa - 24 - more;
        break;
    case KIND_BIG:
        *machine_word(cfa - 272) = caller->fp;
        f.sp = cfa - 288;
        f.fp = machine_random_register(m);
        break;
    case KIND_DEREF:
        f.sp = cfa - 40 - more;
        *machine_word(f.sp + 16) = cfa - 8;
        break;
    case KIND_DRAP:
        f.fp = cfa - 32;
        f.sp = cfa - 48 - more;
        *machine_word(f.fp) = caller->fp;
        *machine_word(f.fp - 8) = cfa;
        break;
    case KIND_ON_R10:
        f.sp = cfa - 16 - more;
        m->r10 = cfa - 8;
        break;
    default:
        break;
    }
    m->frame[m->depth++] = f;
}

static inline bool machine_has_room(machine *m)
{
    uintptr_t sp = machine_top(m)->sp;
    const uintptr_t *lo = machine_is_on_alternate(m, sp) ? m->alt_lo : m->lo;
    return m->depth < MACHINE_FRAMES && sp > (uintptr_t)(lo + 512);
}

/* ---- walks of it ---- */

typedef struct machine_start {
    machine_frame at;
    uintptr_t r10;
    bool as_caller; /* by pp_walk_from_caller() */
} machine_start;

static inline machine_start machine_now(machine *m)
{
    return (machine_start){*machine_top(m), m->r10, false};
}

static inline pp_caller machine_caller(const machine_frame *f)
{
    return (pp_caller){.return_address = f->pc, .sp = f->sp, .fp = f->fp, .bx = f->bx};
}

typedef struct machine_outcome {
    uintptr_t pcs[MACHINE_DEPTH];
    pp_walk walk;
} machine_outcome;

/* `space` and `context` are the caller's, so that signal handlers can have their own. */
typedef struct machine_tools {
    pp_walk_space space;
    ucontext_t context;
    machine_outcome with, without;
} machine_tools;

static inline void machine_walk_one(machine_tools *tools, machine_outcome *o,
                                    const machine_start *start, pp_walk how)
{
    how.pcs = o->pcs;
    how.space = &tools->space;
    o->walk = how;
    if (start->as_caller) {
        pp_caller caller = machine_caller(&start->at);
        pp_walk_from_caller(&caller, &o->walk);
        return;
    }
    greg_t *registers = tools->context.uc_mcontext.gregs;
    registers[REG_RIP] = (greg_t)start->at.pc;
    registers[REG_RSP] = (greg_t)start->at.sp;
    registers[REG_RBP] = (greg_t)start->at.fp;
    registers[REG_RBX] = (greg_t)start->at.bx;
    registers[REG_R10] = (greg_t)start->r10;
    pp_walk_from_context(&tools->context, &o->walk);
}

static inline bool machine_outcomes_agree(const machine_outcome *a, const machine_outcome *b)
{
    return a->walk.depth == b->walk.depth && a->walk.stop == b->walk.stop &&
           a->walk.guessed == b->walk.guessed && a->walk.hash == b->walk.hash &&
           memcmp(a->pcs, b->pcs, a->walk.depth * sizeof *a->pcs) == 0 &&
           (!a->walk.wants_hash || a->walk.hash == pp_stack_hash(a->pcs, a->walk.depth));
}

/* Walks with the memo and without, in this order; whether both say the same. */
static inline bool machine_walks_agree(machine_tools *tools, const machine_start *start,
                                       pp_walk how)
{
    machine_walk_one(tools, &tools->with, start, how);
    how.without_memo = true;
    machine_walk_one(tools, &tools->without, start, how);
    return machine_outcomes_agree(&tools->with, &tools->without);
}

/* The same of an interrupted thread. */
static inline bool machine_walks_of_context_agree(machine_tools *tools, const void *context)
{
    pp_walk how = {.space = &tools->space, .capacity = MACHINE_DEPTH, .wants_hash = true};
    tools->with.walk = tools->without.walk = how;
    tools->with.walk.pcs = tools->with.pcs;
    tools->without.walk.pcs = tools->without.pcs;
    tools->without.walk.without_memo = true;
    pp_walk_from_context(context, &tools->with.walk);
    pp_walk_from_context(context, &tools->without.walk);
    return machine_outcomes_agree(&tools->with, &tools->without);
}

static inline void machine_print(const char *name, const machine_outcome *o)
{
    fprintf(stderr, "%s: depth %u, stop %d, guessed %d, hash %llx\n", name, o->walk.depth,
            (int)o->walk.stop, o->walk.guessed, (unsigned long long)o->walk.hash);
}

static inline void machine_explain(const machine_tools *tools)
{
    const machine_outcome *a = &tools->with;
    const machine_outcome *b = &tools->without;
    machine_print("with the memo", a);
    machine_print("without", b);
    for (uint32_t i = 0; i < a->walk.depth && i < b->walk.depth; i++) {
        if (a->pcs[i] != b->pcs[i]) {
            fprintf(stderr, "first different: frame %u, %lx and %lx\n", i, a->pcs[i], b->pcs[i]);
            break;
        }
    }
}

#define assert_walks_agree(tools, start, ...)                                                      \
    do {                                                                                           \
        if (!machine_walks_agree(tools, start, (pp_walk){__VA_ARGS__})) {                          \
            machine_explain(tools);                                                                \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

#endif
