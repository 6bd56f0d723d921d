/* SPDX-License-Identifier: MIT
 *
 * walk.c: frame after frame, by cached rules.
 *
 * The loop keeps pc, sp, fp (rbp) and bx (rbx): nearly every CFA of a caller stands on one of
 * these. At a leaf, and where a signal interrupted somebody, all registers are known, and a rule
 * may use any of them.
 *
 *   cached one-word rule   -> 1 to 3 loads from the stack, next frame
 *   big rule               -> apply_big(): reads, register moves
 *   miss                   -> module, CFI program, publish, then as above
 *   no CFI                 -> frame pointer, marked as a guess
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: nothing.
 */
#include "unwind/walk.h"

#include "arch/registers.h"
#include "base/compiler.h"
#include "sys/loader.h"
#include "sys/modules.h"
#include "sys/safe_read.h"
#include "unwind/cfi.h"
#include "unwind/rule_cache.h"
#include "unwind/stack_memory.h"

static const uintptr_t WORD = 8;

enum {
    NULL_PAGE = 4096 /* a jump through a null pointer, or near it, ends up here */
};

typedef enum verdict { GO_ON, STOP_END, STOP_NO_RULE, STOP_BAD_READ } verdict;

typedef struct frame {
    uintptr_t pc, sp, fp, bx;
    bool fp_known, bx_known;
    bool exact;               /* pc is the instruction itself, not a return address */
    const pp_registers *full; /* all registers of the last exact frame, NULL if there was none */
    pp_registers *storage;    /* where a signal frame's registers are put */
    pp_stack_window window;
    uint64_t epoch;
    unsigned generation;
} frame;

static uintptr_t lookup_pc(const frame *f)
{
    return f->exact ? f->pc : f->pc - 1;
}

/*
 * A register as the frame sees it; false if it is not known at this frame.
 *
 * A caller's CFA stands on a call-clobbered register only in assembler whose callee is known to
 * leave it alone (libcrypto's AES-GCM: rax across _aesni_ctr32_ghash_6x). CFI says nothing of it
 * then, so it still has the value that it had at the leaf, as libgcc and gdb assume too.
 */
static bool register_value(const frame *f, unsigned reg, uintptr_t *value)
{
    switch (reg) {
    case PP_REG_SP:
        *value = f->sp;
        return true;
    case PP_REG_FP:
        *value = f->fp;
        return f->fp_known;
    case PP_REG_BX:
        *value = f->bx;
        return f->bx_known;
    default:
        break;
    }
    if (f->full == NULL || reg >= PP_REG_COUNT || (!f->exact && !(PP_CALL_CLOBBERED >> reg & 1))) {
        return false;
    }
    *value = f->full->r[reg];
    return true;
}

/* Moves to the caller; the caller's PC is a return address. */
static verdict enter_caller(frame *f, uintptr_t pc, uintptr_t sp)
{
    f->pc = pc;
    f->sp = sp;
    f->exact = false;
    return pc == 0 ? STOP_END : GO_ON;
}

/* ---- big rules ---- */

static verdict read_word(frame *f, uintptr_t base, int32_t offset, uintptr_t *value)
{
    return pp_stack_read(&f->window, base + (uintptr_t)(intptr_t)offset, value) ? GO_ON
                                                                                : STOP_BAD_READ;
}

/* The value that the register `own` of this frame has in the caller; STOP_NO_RULE if nobody knows.
 */
static verdict recover(frame *f, const pp_where *where, unsigned own, uintptr_t cfa,
                       uintptr_t *value)
{
    uintptr_t base = 0;
    switch (where->kind) {
    case PP_WHERE_SAME:
        return register_value(f, own, value) ? GO_ON : STOP_NO_RULE;
    case PP_WHERE_CFA:
        return read_word(f, cfa, where->offset, value);
    case PP_WHERE_MEMORY:
        return register_value(f, where->reg, &base) ? read_word(f, base, where->offset, value)
                                                    : STOP_NO_RULE;
    case PP_WHERE_CFA_VALUE:
        *value = cfa + (uintptr_t)(intptr_t)where->offset;
        return GO_ON;
    case PP_WHERE_REGISTER:
        return register_value(f, where->reg, value) ? GO_ON : STOP_NO_RULE;
    default:
        return STOP_NO_RULE;
    }
}

PP_COLD_PATH static verdict apply_big(frame *f, const pp_rule *rule)
{
    uintptr_t base = 0;
    if (!register_value(f, rule->cfa_reg, &base)) {
        return STOP_NO_RULE;
    }
    uintptr_t cfa = base + (uintptr_t)(intptr_t)rule->cfa_offset;
    if (rule->cfa_scale != 0) {
        uintptr_t index = 0;
        if (!register_value(f, rule->cfa_index, &index)) {
            return STOP_NO_RULE;
        }
        cfa += index * rule->cfa_scale;
    }
    if (rule->cfa_read) {
        if (!pp_stack_read(&f->window, cfa, &cfa)) {
            return STOP_BAD_READ;
        }
        cfa += (uintptr_t)(intptr_t)rule->cfa_addend;
    }
    uintptr_t pc = 0;
    uintptr_t fp = 0;
    uintptr_t bx = 0;
    verdict pc_found = recover(f, &rule->ra, PP_REG_RA, cfa, &pc);
    verdict fp_found = recover(f, &rule->fp, PP_REG_FP, cfa, &fp);
    verdict bx_found = recover(f, &rule->bx, PP_REG_BX, cfa, &bx);
    if (pc_found != GO_ON) {
        return pc_found;
    }
    if (fp_found == STOP_BAD_READ || bx_found == STOP_BAD_READ) {
        return STOP_BAD_READ; /* as a one-word rule would: the walk must not depend on the cache */
    }
    f->fp = fp;
    f->bx = bx;
    f->fp_known = fp_found == GO_ON;
    f->bx_known = bx_found == GO_ON;
    return enter_caller(f, pc, cfa);
}

/* ---- signal frames ---- */

/* Takes all registers from the ucontext_t that the kernel left at SP. */
PP_COLD_PATH static verdict leave_signal_frame(frame *f)
{
    for (int i = 0; i < PP_REG_COUNT; i++) {
        if (!pp_stack_read(&f->window, pp_signal_frame_slot(f->sp, i), &f->storage->r[i])) {
            return STOP_BAD_READ;
        }
    }
    f->full = f->storage;
    f->pc = f->full->r[PP_REG_RA];
    f->sp = f->full->r[PP_REG_SP];
    f->fp = f->full->r[PP_REG_FP];
    f->bx = f->full->r[PP_REG_BX];
    f->fp_known = f->bx_known = true;
    f->exact = true;
    pp_stack_window_open(&f->window, f->sp);
    return GO_ON;
}

static bool is_signal_restorer(uintptr_t pc)
{
    uint8_t code[sizeof pp_signal_restorer];
    if (!pp_safe_copy(code, pc, sizeof code)) {
        return false;
    }
    for (unsigned i = 0; i < sizeof code; i++) {
        if (code[i] != pp_signal_restorer[i]) {
            return false;
        }
    }
    return true;
}

/* ---- code without rules ---- */

static bool is_return_address(uintptr_t pc)
{
    uint8_t code[PP_CALL_BYTES];
    pp_module module;
    return pp_modules_find(pc - 1, &module) && pp_safe_copy(code, pc - sizeof code, sizeof code) &&
           pp_ends_with_call(code);
}

/*
 * A leaf whose return address is still at SP, or a word above it: a call through a null or wild
 * pointer, the first instructions of assembler without CFI (the _init of every library).
 */
static bool leave_plain_leaf(frame *f, verdict *result)
{
    for (unsigned words = 0; f->exact && words < 2; words++) {
        uintptr_t at = f->sp + words * WORD;
        uintptr_t pc = 0;
        if (pp_stack_read(&f->window, at, &pc) && is_return_address(pc)) {
            *result = enter_caller(f, pc, at + WORD);
            return true;
        }
    }
    return false;
}

/* Follows the frame pointer, if it points to where one could be. */
static bool follow_frame_pointer(frame *f, verdict *result)
{
    uintptr_t fp = 0;
    uintptr_t pc = 0;
    if (!f->fp_known || f->fp <= f->sp || f->fp % WORD != 0 ||
        !pp_stack_read(&f->window, f->fp, &fp) || !pp_stack_read(&f->window, f->fp + WORD, &pc)) {
        return false;
    }
    uintptr_t sp = f->fp + 2 * WORD;
    f->fp = fp;
    f->bx_known = false; /* saved somewhere, or not */
    *result = enter_caller(f, pc, sp);
    return true;
}

PP_COLD_PATH static verdict leave_without_rule(frame *f, bool *guessed)
{
    verdict result = STOP_NO_RULE;
    pp_module module;
    if (!f->exact && is_signal_restorer(f->pc)) {
        return leave_signal_frame(f); /* a restorer without CFI, as musl's */
    }
    if (!f->exact && pp_modules_is_interpreter(lookup_pc(f))) {
        return STOP_END; /* _dl_start_user, which called constructors */
    }
    if (f->exact && f->pc < NULL_PAGE && leave_plain_leaf(f, &result)) {
        return result;
    }
    *guessed = true;
    bool in_module = pp_modules_find(lookup_pc(f), &module);
    if (in_module && leave_plain_leaf(f, &result)) {
        return result;
    }
    if (follow_frame_pointer(f, &result)) {
        return result;
    }
    if (!in_module && leave_plain_leaf(f, &result)) {
        return result;
    }
    return STOP_NO_RULE;
}

/* ---- misses ---- */

PP_COLD_PATH static void compute_rule(uintptr_t pc, pp_rule *rule)
{
    pp_module module;
    *rule = (pp_rule){.kind = PP_RULE_NONE};
    if (!pp_modules_find(pc, &module)) {
        return;
    }
    pp_image image = {.lo = module.cfi_lo,
                      .hi = module.cfi_hi,
                      .header = module.eh_frame_hdr,
                      .code_lo = module.code_lo,
                      .code_hi = module.code_hi,
                      .permanent = module.permanent};
    pp_cfi_rule(&image, pc, rule);
}

static verdict apply_rule(frame *f, const pp_rule *rule, bool *guessed)
{
    switch (rule->kind) {
    case PP_RULE_FRAME:
        return apply_big(f, rule);
    case PP_RULE_SIGNAL:
        return leave_signal_frame(f);
    case PP_RULE_END:
        return STOP_END;
    default:
        return leave_without_rule(f, guessed);
    }
}

/* Everything that is not a one-word rule found in the cache. */
PP_COLD_PATH static verdict step_slowly(frame *f, uint64_t entry, bool *guessed)
{
    pp_rule rule;
    uintptr_t pc = lookup_pc(f);
    if (entry != 0) {
        switch (pp_cache_base(entry)) {
        case PP_BASE_SIGNAL:
            return leave_signal_frame(f);
        case PP_BASE_END:
            return STOP_END;
        default:
            break;
        }
        if (pp_cache_offset(entry) == 0) {
            return leave_without_rule(f, guessed);
        }
        if (pp_rule_cache_big(pc, f->generation, &rule)) {
            return apply_big(f, &rule);
        }
    }
    if (pc >> PP_ADDRESS_BITS != 0) {
        return leave_without_rule(f, guessed); /* vsyscall, or nonsense */
    }
    compute_rule(pc, &rule);
    pp_rule_cache_publish(pc, &rule, f->epoch, f->generation);
    return apply_rule(f, &rule, guessed);
}

/* ---- the loop ---- */

/* The CFA by a one-word rule; false if the entry is none, or stands on a register that is not
 * known. */
static bool fast_cfa(const frame *f, uint64_t entry, uintptr_t *cfa)
{
    uintptr_t offset = pp_cache_offset(entry);
    if (entry == 0) {
        return false;
    }
    switch (pp_cache_base(entry)) {
    case PP_BASE_SP:
        *cfa = f->sp + offset;
        return true;
    case PP_BASE_FP:
        *cfa = f->fp + offset;
        return f->fp_known;
    case PP_BASE_BX:
        *cfa = f->bx + offset;
        return f->bx_known;
    default:
        return false;
    }
}

static verdict step_fast(frame *f, uint64_t entry, uintptr_t cfa)
{
    uintptr_t pc = 0;
    if (!pp_stack_read(&f->window, cfa - WORD, &pc)) {
        return STOP_BAD_READ;
    }
    unsigned fp_place = pp_cache_fp(entry);
    if (fp_place != PP_CACHE_UNCHANGED) {
        f->fp_known = true;
        if (!pp_stack_read(&f->window, pp_cache_save_address(cfa, fp_place), &f->fp)) {
            return STOP_BAD_READ;
        }
    }
    unsigned bx_place = pp_cache_bx(entry);
    if (bx_place != PP_CACHE_UNCHANGED) {
        f->bx_known = true;
        if (!pp_stack_read(&f->window, pp_cache_save_address(cfa, bx_place), &f->bx)) {
            return STOP_BAD_READ;
        }
    }
    return enter_caller(f, pc, cfa);
}

static pp_stop stop_of(verdict v)
{
    switch (v) {
    case STOP_END:
        return PP_STOP_END;
    case STOP_NO_RULE:
        return PP_STOP_NO_RULE;
    default:
        return PP_STOP_BAD_READ;
    }
}

/* One frame, whatever its rule: leaves, signal frames, and all that the run below does not take. */
static verdict step(frame *f, bool *guessed)
{
    uintptr_t previous_sp = f->sp;
    uintptr_t cfa = 0;
    uint64_t entry = pp_rule_cache_lookup(lookup_pc(f), f->generation);
    verdict v =
        fast_cfa(f, entry, &cfa) ? step_fast(f, entry, cfa) : step_slowly(f, entry, guessed);
    if (v == GO_ON && f->sp <= previous_sp && !f->exact) {
        return STOP_BAD_READ; /* a caller's frame lies above its callee's */
    }
    return v;
}

/* Where frames are stored. */
typedef struct sink {
    uintptr_t *at, *end;
    uint32_t skip;
} sink;

static void store(sink *out, uintptr_t pc)
{
    if (out->skip > 0) {
        out->skip--;
    } else {
        *out->at++ = pc;
    }
}

/* A register that is not known is 0 in the inner loop: as the base of a CFA that fails every check.
 */
static uintptr_t value_or_zero(uintptr_t value, bool known)
{
    return known ? value : 0;
}

/*
 * Callers' frames with one-word rules on rsp or rbp, as many as come in a row: nearly all there
 * are. What counts is the chain pc -> entry -> cfa -> next pc, everything else is beside it, and
 * nothing but the end of the run is a branch. A saved register is read whether it was saved or not:
 * the words below the return address are part of the window for every CFA that passes the checks.
 *
 * Ends in front of the first frame that needs more, which has not been stored.
 */
PP_RAW_MEMORY __attribute__((noinline)) static verdict run(frame *f, sink *out)
{
    uintptr_t pc = f->pc;
    uintptr_t sp = f->sp;
    uintptr_t fp = value_or_zero(f->fp, f->fp_known);
    uintptr_t bx = value_or_zero(f->bx, f->bx_known);
    uintptr_t *at = out->at;
    uintptr_t *const end = out->end;
    const uintptr_t hi = f->window.cfa_hi;
    const uint64_t good_generations =
        1 | (f->generation < PP_GENERATION_UNKNOWN ? UINT64_C(1) << f->generation : 0);
    verdict v = GO_ON;
    while (at < end) {
        uint64_t entry =
            __atomic_load_n(&pp_rule_cache_entries[pp_cache_index(pc)], __ATOMIC_RELAXED);
        uintptr_t base = pp_cache_is_on_fp(entry) ? fp : sp;
        uintptr_t cfa = base + pp_cache_offset(entry);
        if (pp_unlikely(!pp_cache_is_usual(entry, pc) ||
                        !(good_generations >> pp_cache_generation(entry) & 1) || cfa <= sp ||
                        cfa > hi)) {
            break;
        }
        unsigned fp_place = pp_cache_fp(entry);
        unsigned bx_place = pp_cache_bx(entry);
        uintptr_t saved_fp = *(const volatile uintptr_t *)pp_cache_save_address(cfa, fp_place);
        uintptr_t saved_bx = *(const volatile uintptr_t *)pp_cache_save_address(cfa, bx_place);
        fp = fp_place != PP_CACHE_UNCHANGED ? saved_fp : fp;
        bx = bx_place != PP_CACHE_UNCHANGED ? saved_bx : bx;
        *at++ = pc;
        pc = *(const volatile uintptr_t *)(cfa - WORD);
        sp = cfa;
        if (pp_unlikely(pc == 0)) {
            v = STOP_END;
            break;
        }
    }
    f->pc = pc;
    f->sp = sp;
    f->fp = fp;
    f->bx = bx;
    f->fp_known = fp != 0;
    f->bx_known = bx != 0;
    out->at = at;
    return v;
}

static void walk_frames(frame *f, pp_walk *walk)
{
    bool guessed = false;
    verdict v = GO_ON;
    sink out = {.at = walk->pcs, .end = walk->pcs + walk->capacity, .skip = walk->skip};
    f->epoch = pp_loader_epoch();
    f->generation = pp_rule_cache_generation(f->epoch);
    pp_stack_window_open(&f->window, f->sp);
    while (v == GO_ON && out.at < out.end) {
        if (!f->exact && out.skip == 0 && f->sp >= f->window.cfa_lo) {
            v = run(f, &out);
            if (v != GO_ON || out.at == out.end) {
                break;
            }
        }
        store(&out, f->exact ? f->pc + 1 : f->pc);
        v = step(f, &guessed);
    }
    walk->depth = (uint32_t)(out.at - walk->pcs);
    walk->stop = v == GO_ON ? PP_STOP_TRUNCATED : stop_of(v);
    walk->guessed = guessed;
}

void pp_walk_from_context(const void *context, pp_walk *walk)
{
    pp_registers registers;
    pp_registers_from_context(&registers, context);
    frame f = {.pc = registers.r[PP_REG_RA],
               .sp = registers.r[PP_REG_SP],
               .fp = registers.r[PP_REG_FP],
               .bx = registers.r[PP_REG_BX],
               .fp_known = true,
               .bx_known = true,
               .exact = true,
               .full = &registers,
               .storage = &registers};
    walk_frames(&f, walk);
}

void pp_walk_from_caller(uintptr_t return_address, uintptr_t sp, uintptr_t fp, uintptr_t bx,
                         pp_walk *walk)
{
    pp_registers registers;
    frame f = {.pc = return_address,
               .sp = sp,
               .fp = fp,
               .bx = bx,
               .fp_known = true,
               .bx_known = true,
               .storage = &registers};
    walk_frames(&f, walk);
}
