/* SPDX-License-Identifier: MIT
 *
 * frame.c: the step from one frame to its caller, by rules of every kind and without a rule.
 *
 * A frame knows pc, sp, fp and bx (arch/registers.h): nearly every CFA of a caller is computed from
 * one of sp, fp and bx. At a leaf, and in a frame that a signal interrupted, all registers are known, and
 * the rule may use any of them.
 *
 * Zone: SIGNAL.
 * Tested by: unit.walk, e2e.unwind_compare
 */
#include "unwind/frame.h"

#include "arch/calls.h"
#include "base/compiler.h"
#include "modules/endings.h"
#include "modules/loader.h"
#include "unwind/flow.h"
#include "unwind/pushes.h"
#include "unwind/rule_cache.h"
#include "unwind/walk_space.h"

static const uintptr_t WORD = 8;

enum {
    NULL_PAGE = 4096 /* a jump through a null pointer leads to an address below this */
};

/* Whether a function that has not saved its return address is known to return to `bx`. A caller
 * cannot: its own call has changed the register. */
static bool returns_to_bx(const pp_frame *f)
{
    return !PP_RETURN_ON_STACK && f->exact && (f->bx != 0 || f->full != NULL);
}

/*
 * The value of a register in the frame; false if it is not known.
 *
 * A caller's CFA is computed from a call-clobbered register only in assembler whose callee is known
 * not to change that register (libcrypto's AES-GCM: rax across _aesni_ctr32_ghash_6x). CFI has no
 * rule for the register then. So the register still has its value of the leaf; libgcc and gdb
 * assume this too.
 */
static bool register_value(const pp_frame *f, unsigned reg, uintptr_t *value)
{
    switch (reg) {
    case PP_REG_SP:
        *value = f->sp;
        return true;
    case PP_REG_FP:
        *value = f->fp;
        return f->fp != 0;
    case PP_REG_BX:
        *value = f->bx;
        return f->bx != 0 || returns_to_bx(f);
    default:
        break;
    }
    if (f->full == NULL || reg >= PP_REG_PC || (!f->exact && !(PP_CALL_CLOBBERED >> reg & 1))) {
        return false;
    }
    *value = f->full->r[reg];
    return true;
}

/* Moves to the caller, whose PC is a return address. A 0 that was read below the frame does not end
 * the stack: pp_frame_leave() refuses such a caller. */
static pp_reason enter_caller(pp_frame *f, uintptr_t pc, uintptr_t sp)
{
    bool is_end = pc == 0 && sp >= f->sp;
    f->pc = pc;
    f->sp = sp;
    f->exact = false;
    return is_end ? PP_ENDS : PP_GO_ON;
}

static pp_reason leave_without_rule(pp_frame *f, pp_reason why);
static bool may_return_to(const pp_frame *f, uintptr_t pc);

/* ---- big rules ---- */

/* Whether a register of the caller was found. */
typedef enum found { FOUND, NOT_KNOWN, UNREADABLE } found;

/* Finds the caller's value of the register `own`. */
static found recover(pp_frame *f, const pp_where *where, unsigned own, uintptr_t cfa,
                     uintptr_t *value)
{
    uintptr_t base = 0;
    switch (where->kind) {
    case PP_WHERE_SAME:
        return register_value(f, own, value) ? FOUND : NOT_KNOWN;
    case PP_WHERE_CFA:
        cfa += (uintptr_t)(intptr_t)where->offset;
        return pp_stack_read(&f->window, cfa, value) ? FOUND : UNREADABLE;
    case PP_WHERE_MEMORY:
        if (!register_value(f, where->reg, &base)) {
            return NOT_KNOWN;
        }
        base += (uintptr_t)(intptr_t)where->offset;
        return pp_stack_peek(&f->window, base, value) ? FOUND : UNREADABLE;
    case PP_WHERE_CFA_VALUE:
        *value = cfa + (uintptr_t)(intptr_t)where->offset;
        return FOUND;
    case PP_WHERE_REGISTER:
        return register_value(f, where->reg, value) ? FOUND : NOT_KNOWN;
    default:
        return NOT_KNOWN;
    }
}

/* Whether the CFA is computed from a register that none but a leaf knows. Such CFI may tell of another frame: glibc's
 * longjmp, of the one that it will jump to, whose return address is encrypted. */
static bool may_tell_of_another(const pp_frame *f, const pp_rule *rule)
{
    return f->exact && rule->cfa_reg != PP_REG_SP && rule->cfa_reg != PP_REG_FP &&
           rule->cfa_reg != PP_REG_BX;
}

PP_COLD_PATH static pp_reason apply_big(pp_frame *f, const pp_rule *rule)
{
    uintptr_t base = 0;
    if (!register_value(f, rule->cfa_reg, &base)) {
        return PP_CFA_REGISTER;
    }
    uintptr_t cfa = base + (uintptr_t)(intptr_t)rule->cfa_offset;
    if (rule->cfa_scale != 0) {
        uintptr_t index = 0;
        if (!register_value(f, rule->cfa_index, &index)) {
            return PP_CFA_REGISTER;
        }
        cfa += index * rule->cfa_scale;
    }
    if (rule->cfa_read) {
        if (!pp_stack_peek(&f->window, cfa, &cfa)) {
            return PP_CFA_UNREADABLE;
        }
        cfa += (uintptr_t)(intptr_t)rule->cfa_addend;
    }
    uintptr_t pc = 0;
    uintptr_t fp = 0;
    uintptr_t bx = 0;
    bool is_kept = rule->ra.kind == PP_WHERE_SAME;
    found pc_found =
        is_kept && !returns_to_bx(f) ? NOT_KNOWN : recover(f, &rule->ra, PP_REG_RA, cfa, &pc);
    found fp_found = recover(f, &rule->fp, PP_REG_FP, cfa, &fp);
    found bx_found = recover(f, &rule->bx, PP_REG_BX, cfa, &bx);
    pp_reason why = pc_found == NOT_KNOWN ? PP_RETURN_REGISTER : PP_RETURN_UNREADABLE;
    if (may_tell_of_another(f, rule) &&
        (pc_found != FOUND || !may_return_to(f, pp_return_address(pc)))) {
        return leave_without_rule(f, why);
    }
    if (pc_found != FOUND) {
        return why;
    }
    if ((fp_found == UNREADABLE && rule->fp.kind == PP_WHERE_CFA) ||
        (bx_found == UNREADABLE && rule->bx.kind == PP_WHERE_CFA)) {
        return PP_SAVED_UNREADABLE; /* as by a packed rule: walks must not depend on the cache */
    }
    /* Elsewhere a word that cannot be read only makes the register unknown. In the last two
     * instructions of functions that realign the stack, GCC's rule for rbp is still *rbp, though
     * rbp has been restored already. */
    f->fp = fp_found == FOUND ? fp : 0;
    f->bx = pp_bx_of_caller(bx_found == FOUND ? bx : 0, pc);
    return enter_caller(f, pp_return_address(pc), cfa);
}

/* ---- signal frames ---- */

/* Reads all registers from the ucontext_t that the kernel left at SP. */
PP_COLD_PATH static pp_reason leave_signal_frame(pp_frame *f)
{
    pp_registers *registers = &f->space->registers;
    for (int i = 0; i < PP_REG_COUNT; i++) {
        if (!pp_stack_read(&f->window, pp_signal_frame_slot(f->sp, i), &registers->r[i])) {
            return PP_SIGNAL_FRAME_UNREADABLE;
        }
    }
    f->full = registers;
    f->pc = f->full->r[PP_REG_PC];
    f->sp = f->full->r[PP_REG_SP];
    f->fp = f->full->r[PP_REG_FP];
    f->bx = f->full->r[PP_REG_BX];
    f->exact = true;
    pp_stack_window_move(&f->window, f->sp);
    return PP_GO_ON;
}

/* Whether the code at `pc` ends handlers. */
static bool is_signal_restorer(const pp_frame *f, uintptr_t pc)
{
    return pp_target_has_code(f->target, pc, pp_signal_restorer, sizeof pp_signal_restorer);
}

/* The same, of a frame that may have been interrupted there. */
static bool is_in_restorer(const pp_frame *f)
{
    const uintptr_t last = sizeof pp_signal_restorer - PP_SIGNAL_RESTORER_LAST;
    return is_signal_restorer(f, f->pc) || (f->exact && is_signal_restorer(f, f->pc - last));
}

/* Whether the code at `pc` ends a thread, so that nothing has called it. */
static bool is_thread_exit(const pp_frame *f, uintptr_t pc)
{
    return pp_target_has_code(f->target, pc, pp_thread_exit, sizeof pp_thread_exit);
}

/* ---- code without rules ---- */

static bool is_return_address(const pp_frame *f, uintptr_t pc)
{
    uint8_t code[PP_CALL_BYTES];
    pp_module module;
    return pp_target_find(f->target, pc - 1, &module) &&
           pp_target_copy(f->target, code, pc - sizeof code, sizeof code) &&
           pp_ends_with_call(code);
}

/*
 * Whether a frame may return to `pc`. In a module there is a call before a return address.
 * Generated code can be read, but need not have a call there: the Java interpreter pushes the
 * address and jumps.
 */
static bool may_return_to(const pp_frame *f, uintptr_t pc)
{
    uint8_t code[PP_CALL_BYTES];
    pp_module module;
    return pp_target_copy(f->target, code, pc - sizeof code, sizeof code) &&
           (pp_ends_with_call(code) || !pp_target_find(f->target, pc, &module));
}

/* Leaves a frame of a function that has saved nothing, where a register has the return address. */
static bool leave_by_bx(pp_frame *f, pp_reason *result)
{
    uintptr_t pc = pp_return_address(f->bx);
    if (!returns_to_bx(f) || !is_return_address(f, pc)) {
        return false;
    }
    *result = enter_caller(f, pc, f->sp);
    return true;
}

/*
 * Leaves a frame whose return address is at SP, or a word above it: after a call through a null or
 * wild pointer, or in assembler without CFI (the _init of every library).
 */
static bool leave_by_sp(pp_frame *f, pp_reason *result)
{
    if (!PP_RETURN_ON_STACK) {
        return leave_by_bx(f, result);
    }
    for (unsigned words = 0; words < 2; words++) {
        uintptr_t at = f->sp + words * WORD;
        uintptr_t pc = 0;
        if (pp_stack_peek(&f->window, at, &pc) && is_return_address(f, pc)) {
            *result = enter_caller(f, pc, at + WORD);
            return true;
        }
    }
    return false;
}

/* Follows the frame pointer, if it points to what a frame pointer can point to. */
static bool follow_frame_pointer(pp_frame *f, pp_reason *result)
{
    uintptr_t fp = 0;
    uintptr_t pc = 0;
    uintptr_t word = 0;
    if (f->fp < f->sp || f->fp % WORD != 0 || !pp_stack_peek(&f->window, f->fp, &fp) ||
        !pp_stack_peek(&f->window, f->fp + WORD, &word)) {
        return false;
    }
    pc = pp_return_address(word);
    if (pc != 0 && !may_return_to(f, pc)) {
        return false;
    }
    uintptr_t sp = f->fp + 2 * WORD;
    f->fp = fp;
    f->bx = pp_bx_of_caller(0, word); /* the function may have saved it anywhere */
    *result = enter_caller(f, pc, sp);
    return true;
}

/* musl's caller of a thread's function has 0 there, its caller of main the number of arguments. */
static bool may_have_frame_pointer(pp_frame *f)
{
    uintptr_t word = 0;
    return f->fp >= f->sp && pp_stack_peek(&f->window, f->fp, &word);
}

/* Whether the frame is of code that nothing has called: a record that leads there is no guess. */
static bool begins_stack(const pp_frame *f)
{
    return is_thread_exit(f, f->pc) || pp_target_is_entry_code(f->target, pp_frame_instruction(f));
}

/* `why` there is no rule: also the result, if nothing else leads on. */
PP_COLD_PATH static pp_reason leave_without_rule(pp_frame *f, pp_reason why)
{
    pp_reason result = why;
    pp_module module;
    if (is_in_restorer(f)) {
        return leave_signal_frame(f); /* a restorer without CFI: musl's */
    }
    if (pp_target_is_entry_code(f->target, pp_frame_instruction(f))) {
        return PP_ENDS; /* _start, or _dl_start_user, which calls constructors and jumps to it */
    }
    if (why == PP_ENDS && !f->exact) { /* it never returns */
        if (!follow_frame_pointer(f, &result)) {
            return may_have_frame_pointer(f) ? PP_NOT_COVERED : PP_ENDS;
        }
        f->guessed = f->guessed || (result != PP_ENDS && !begins_stack(f));
        return result;
    }
    if (f->exact && f->pc < NULL_PAGE && leave_by_sp(f, &result)) {
        return result;
    }
    f->guessed = true;
    bool in_module = pp_target_find(f->target, pp_frame_instruction(f), &module);
    if (f->exact && (in_module || why == PP_NO_CODE) && leave_by_sp(f, &result)) {
        return result; /* where no code is, the call was the last instruction */
    }
    if (follow_frame_pointer(f, &result)) {
        return result;
    }
    if ((in_module || f->exact) && leave_by_sp(f, &result)) {
        return result; /* also for a caller: the _init of libcrypto calls a function */
    }
    return why;
}

/* ---- misses ---- */

/* Not inlined: the caller's frame is on the stack while the CFI is read, and must be small. */
PP_COLD_PATH static bool find_image(const pp_frame *f, uintptr_t pc, pp_image *image)
{
    pp_module module;
    if (!pp_target_find(f->target, pc, &module)) {
        return false;
    }
    *image = (pp_image){.lo = module.cfi_lo,
                        .hi = module.cfi_hi,
                        .header = module.eh_frame_hdr,
                        .code_lo = module.code_lo,
                        .code_hi = module.code_hi,
                        .all_lo = module.all_lo,
                        .all_hi = module.all_hi,
                        .frames = module.frames,
                        .frame_count = module.frame_count,
                        .memory = pp_target_memory(f->target),
                        .permanent = module.permanent,
                        .cheap = module.cheap,
                        .keep = f->generation != PP_GENERATION_UNKNOWN,
                        .epoch = f->epoch};
    return true;
}

/* Widens the image to all segments of the module: .eh_frame may be in another one than its header
 * (modules/module_cfi.h). */
static bool widen(pp_image *image)
{
    bool wider = image->all_hi != 0 && (image->all_lo < image->lo || image->all_hi > image->hi);
    image->lo = image->all_lo;
    image->hi = image->all_hi;
    image->permanent = false;
    return wider;
}

/* Whether the word at SP looks like the return address of a leaf that has pushed nothing. */
PP_COLD_PATH static bool returns_into_module(pp_frame *f)
{
    pp_module module;
    uintptr_t word = 0;
    return pp_stack_read(&f->window, f->sp, &word) && pp_target_find(f->target, word - 1, &module);
}

/* The first rule that a walk computes blocks signals and opens the space for CFI. Further rules of
 * the walk find both done: two system calls for each rule would cost as much as the rule. */
PP_COLD_PATH static void begin_computing(pp_frame *f)
{
    if (!f->computes) {
        f->space->mask = 0;
        pp_signals_block(&f->space->mask);
        pp_cfi_open(&f->space->cfi);
        f->computes = true;
    }
}

PP_COLD_PATH void pp_frame_end_computing(pp_frame *f)
{
    pp_signals_restore(&f->space->mask);
    f->computes = false;
}

/* Keeps bytes that were read within different bounds apart in the space. */
PP_COLD_PATH static void compute_rule_of_wider(pp_walk_space *space, uintptr_t pc)
{
    bool not_covered = space->rule.why == PP_NOT_COVERED;
    pp_cfi_open(&space->cfi);
    pp_cfi_rule(&space->image, pc, &space->cfi, &space->rule);
    pp_cfi_open(&space->cfi);
    if (not_covered && space->rule.kind == PP_RULE_NONE) {
        space->rule.why = PP_NOT_COVERED; /* a better reason than that copies are not searched */
    }
}

/* Why an address that is in no module has no rule. */
static pp_reason reason_outside(const pp_frame *f, uintptr_t pc)
{
    uint8_t code = 0;
    return pp_target_copy(f->target, &code, pc, sizeof code) ? PP_NO_MODULE : PP_NO_CODE;
}

/* Whether the address is in a module's code, but not after a call. */
PP_COLD_PATH static bool is_no_return_address(const pp_frame *f, uintptr_t pc)
{
    uint8_t code[PP_CALL_BYTES];
    pp_module module;
    return pp_target_find(f->target, pc, &module) &&
           pp_target_copy(f->target, code, pc - sizeof code, sizeof code) &&
           !pp_ends_with_call(code) && !is_signal_restorer(f, pc);
}

/* A call of a function that ends the program may be the last instruction: what follows is another function. */
static pp_flow_end rule_by_flow(const pp_frame *f)
{
    pp_walk_space *space = f->space;
    const pp_memory *memory = pp_target_memory(f->target);
    uintptr_t begin = f->target == NULL ? pp_ending_before(f->pc) : 0;
    if (begin != 0 && pp_flow_rule_since(memory, begin, f->pc, !f->exact, &space->cfi,
                                         &space->rule) == PP_FLOW_RETURNS) {
        return PP_FLOW_RETURNS;
    }
    return pp_flow_rule(memory, f->pc, &space->cfi, &space->rule);
}

/* Looks at the code, if its module or itself has no CFI. An address that no call has pushed begins a stack. */
PP_COLD_PATH static void compute_rule_of_code(pp_frame *f)
{
    pp_walk_space *space = f->space;
    bool permanent = space->rule.permanent;
    if ((space->rule.why != PP_NO_TABLES && space->rule.why != PP_NOT_COVERED) ||
        pp_target_is_start(f->target, f->pc) || is_in_restorer(f) ||
        (!f->exact && is_no_return_address(f, f->pc))) {
        return;
    }
    if (is_thread_exit(f, f->pc)) {
        space->rule.kind = PP_RULE_END;
        return;
    }
    _Static_assert(sizeof space->cfi >= PP_FLOW_SPACE, "it works in the memory of CFI");
    switch (rule_by_flow(f)) {
    case PP_FLOW_RETURNS:
        space->rule.permanent = permanent;
        break;
    case PP_FLOW_NEVER: /* musl's callers of main and of a thread's function, or a loop for ever */
        if (!f->exact) {
            space->rule.why = PP_ENDS;
        }
        break;
    default:
        break;
    }
    pp_cfi_open(&space->cfi);
}

/* Returns the instruction whose row of CFI holds at `pc`. A landing (BTI) changes nothing. glibc's _start and
 * _dl_runtime_resolve begin with one, or a NOP in its place, and write what holds from there on only after it. */
PP_COLD_PATH static uintptr_t place_of_row(const pp_frame *f, uintptr_t pc)
{
    uint8_t code[PP_RETURN_BYTES];
    bool is_landing = PP_LANDING_BYTES != 0 && f->exact &&
                      pp_target_copy(f->target, code, pc, sizeof code) && pp_is_landing(code);
    return is_landing ? pc + PP_LANDING_BYTES : pc;
}

/* Computes the frame's rule, and leaves it in the frame's space. False if the frame is in no module.
 * Inline: a frame of its own would take 80 bytes of the handler's stack. */
static inline __attribute__((always_inline)) bool compute_rule(pp_frame *f)
{
    pp_walk_space *space = f->space;
    uintptr_t pc = pp_frame_instruction(f);
    begin_computing(f);
    if (!find_image(f, pc, &space->image)) {
        space->rule = (pp_rule){.kind = PP_RULE_NONE, .why = (uint8_t)reason_outside(f, pc)};
        return false;
    }
    pp_cfi_rule(&space->image, place_of_row(f, pc), &space->cfi, &space->rule);
    if (space->rule.kind == PP_RULE_NONE && space->image.permanent && widen(&space->image)) {
        compute_rule_of_wider(space, pc);
    }
    if (space->rule.kind == PP_RULE_NONE) {
        compute_rule_of_code(f);
    }
    space->rule.apart = pp_target_has_own_code(f->target, pc);
    if (space->rule.silent > 1 && f->exact && !returns_into_module(f)) {
        pp_pushes_apply(pp_target_memory(f->target), pc, &space->rule);
    }
    if (pp_rule_may_be_signal(&space->rule) && is_in_restorer(f)) {
        space->rule.kind = PP_RULE_SIGNAL;
    }
    return true;
}

PP_COLD_PATH static void learn_rule(pp_frame *f)
{
    pp_rule *rule = &f->space->rule;
    compute_rule(f);
    if (rule->kind == PP_RULE_NONE && !rule->permanent && pp_loader_epoch() != f->epoch) {
        rule->why = PP_MODULE_UNLOADED;
    }
    pp_rule_cache_publish(pp_frame_instruction(f), rule, f->epoch, f->generation);
}

PP_COLD_PATH pp_function_range pp_frame_rule(pp_frame *f)
{
    pp_walk_space *space = f->space;
    pp_function_range function = {0, 0};
    if (compute_rule(f)) {
        function = pp_cfi_function(&space->image, pp_frame_instruction(f), &space->cfi);
        pp_cfi_open(&space->cfi); /* its bytes may be those of a widened image */
    }
    return function;
}

bool pp_frame_begins_stack(pp_frame *f)
{
    uintptr_t pc = pp_frame_instruction(f);
    if (f->exact || pc >> PP_ADDRESS_BITS != 0) {
        return false;
    }
    uint64_t entry = pp_rule_cache_lookup(pc, f->generation);
    if (entry == 0) {
        learn_rule(f);
        return f->space->rule.kind == PP_RULE_NONE && is_no_return_address(f, f->pc);
    }
    return pp_packed_base(entry) == PP_BASE_OTHER && pp_packed_offset(entry) == 0 &&
           is_no_return_address(f, f->pc);
}

static pp_reason apply_rule(pp_frame *f, const pp_rule *rule)
{
    switch (rule->kind) {
    case PP_RULE_FRAME:
        return apply_big(f, rule);
    case PP_RULE_SIGNAL:
        return leave_signal_frame(f);
    case PP_RULE_END:
        return PP_ENDS;
    default:
        return leave_without_rule(f, (pp_reason)rule->why);
    }
}

/* Takes a step for which the cache has no packed rule that applies. */
PP_COLD_PATH static pp_reason step_slowly(pp_frame *f, uint64_t entry)
{
    pp_rule *rule = &f->space->rule;
    uintptr_t pc = pp_frame_instruction(f);
    if (entry != 0) {
        switch (pp_packed_base(entry)) {
        case PP_BASE_SIGNAL:
            return leave_signal_frame(f);
        case PP_BASE_END:
            return PP_ENDS;
        default:
            break;
        }
        if (pp_packed_base(entry) == PP_BASE_OTHER && pp_packed_offset(entry) == 0) {
            return leave_without_rule(f, (pp_reason)pp_packed_why(entry));
        }
        if (pp_packed_base(entry) == PP_BASE_OTHER && pp_rule_cache_big(pc, f->generation, rule)) {
            return apply_big(f, rule);
        }
    }
    if (pc >> PP_ADDRESS_BITS != 0) {
        return leave_without_rule(f, PP_NO_CODE); /* vsyscall, or nonsense */
    }
    learn_rule(f);
    return apply_rule(f, rule);
}

/* Computes the CFA by a packed rule. False if the entry is none, or needs a register that is not
 * known. */
static bool fast_cfa(const pp_frame *f, uint64_t entry, uintptr_t *cfa)
{
    return entry != 0 && pp_packed_cfa(entry, f->sp, f->fp, f->bx, returns_to_bx(f), cfa);
}

static pp_reason step_fast(pp_frame *f, uint64_t entry, uintptr_t cfa)
{
    unsigned fp_place = pp_packed_fp(entry);
    unsigned bx_place = pp_packed_bx(entry);
    uintptr_t word = f->bx;
    if (pp_packed_return_is_saved(entry) &&
        !pp_stack_read(&f->window, pp_packed_return_address(cfa, bx_place), &word)) {
        return PP_RETURN_UNREADABLE;
    }
    if (fp_place != PP_PACKED_UNCHANGED &&
        !pp_stack_read(&f->window, pp_packed_save_address(cfa, fp_place), &f->fp)) {
        return PP_SAVED_UNREADABLE;
    }
    if (pp_packed_saves_bx(entry) &&
        !pp_stack_read(&f->window, pp_packed_save_address(cfa, bx_place), &f->bx)) {
        return PP_SAVED_UNREADABLE;
    }
    f->bx = pp_bx_of_caller(f->bx, word);
    return enter_caller(f, pp_return_address(word), cfa);
}

/* Whether the frame with that PC, the last one that was left, has nothing on the stack: its return address is in
 * another register, for a callee that is known to keep that. glibc's rawmemchr(s, 0) calls strlen so, on aarch64. */
static bool was_on_no_stack(const pp_frame *f, uintptr_t pc)
{
    const pp_rule *rule = &f->space->rule;
    return rule->kind == PP_RULE_FRAME && rule->ra.kind == PP_WHERE_REGISTER && f->pc != pc;
}

pp_reason pp_frame_leave(pp_frame *f)
{
    const bool was_exact = f->exact;
    const uintptr_t sp = f->sp;
    const uintptr_t pc = f->pc;
    uintptr_t cfa = 0;
    uint64_t entry = pp_rule_cache_lookup(pp_frame_instruction(f), f->generation);
    bool fast = fast_cfa(f, entry, &cfa);
    pp_reason v = fast ? step_fast(f, entry, cfa) : step_slowly(f, entry);
    /* A caller's frame is above its callee's. A leaf may have left its frame already (longjmp). */
    bool is_above =
        f->sp > sp || f->exact || (f->sp == sp && (was_exact || (!fast && was_on_no_stack(f, pc))));
    return v == PP_GO_ON && !is_above ? PP_NOT_ABOVE : v;
}
