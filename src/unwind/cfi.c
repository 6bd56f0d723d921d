/* SPDX-License-Identifier: MIT
 *
 * cfi.c: runs CFA programs, and makes a rule of the row that they leave.
 *
 * Zone: SIGNAL.
 */
#include "unwind/cfi.h"

#include "arch/registers.h"
#include "unwind/cfi_entry.h"
#include "unwind/expression.h"
#include "unwind/rebase.h"

/* CFA operations, DWARF 5 section 7.24 and GNU's own. */
enum {
    CFA_ADVANCE_LOC = 0x40,
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_NOP = 0x00,
    CFA_SET_LOC = 0x01,
    CFA_ADVANCE_LOC1 = 0x02,
    CFA_ADVANCE_LOC2 = 0x03,
    CFA_ADVANCE_LOC4 = 0x04,
    CFA_OFFSET_EXTENDED = 0x05,
    CFA_RESTORE_EXTENDED = 0x06,
    CFA_UNDEFINED = 0x07,
    CFA_SAME_VALUE = 0x08,
    CFA_REGISTER = 0x09,
    CFA_REMEMBER_STATE = 0x0a,
    CFA_RESTORE_STATE = 0x0b,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_REGISTER = 0x0d,
    CFA_DEF_CFA_OFFSET = 0x0e,
    CFA_DEF_CFA_EXPRESSION = 0x0f,
    CFA_EXPRESSION = 0x10,
    CFA_OFFSET_EXTENDED_SF = 0x11,
    CFA_DEF_CFA_SF = 0x12,
    CFA_DEF_CFA_OFFSET_SF = 0x13,
    CFA_VAL_OFFSET = 0x14,
    CFA_VAL_OFFSET_SF = 0x15,
    CFA_VAL_EXPRESSION = 0x16,
    CFA_GNU_WINDOW_SAVE = 0x2d,
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f
};

enum {
    SAVED_ROWS = 4, /* nesting of remember_state: 1 in all of glibc, libcrypto, GCC, Python, gdb */
    MAX_INSTRUCTIONS = 1 << 16,
    MAX_PADDING = 8 /* of an entry, to the next multiple of the word */
};

/* One row of the unwind table, as the CFA program has built it so far. */
typedef struct row {
    int32_t cfa_offset;
    int32_t cfa_addend;
    uint8_t cfa_reg;
    uint8_t cfa_index;
    uint8_t cfa_scale;
    bool cfa_read : 1;
    bool cfa_valid : 1;
    uint8_t sp_kind; /* pp_where_kind; nearly always "the CFA" (cfa + 0), so SP has small fields */
    uint8_t sp_reg;
    int16_t sp_offset;
    pp_where fp, bx, ra;
} row;

typedef struct machine {
    uintptr_t location; /* from this address on the current row holds */
    uintptr_t target;
    row current, initial;
    row saved[SAVED_ROWS];
    unsigned saved_count;
    bool failed;
    const pp_cie *cie;
    pp_expression_stack expression;
} machine;

/* The contents of a pp_cfi_space. */
typedef struct work {
    machine machine;
    pp_cfi_finder finder;
} work;

_Static_assert(sizeof(work) <= sizeof(pp_cfi_space), "the space is large enough");

/* ---- CFA programs ---- */

/* Sets the place of a register; ignores registers from which no caller's frame is computed. */
static void put_place(row *r, uint64_t reg, pp_where where)
{
    if (reg == PP_REG_RA) { /* also PP_REG_BX, if a call leaves the return address there */
        r->ra = where;
        return;
    }
    switch (reg) {
    case PP_REG_FP:
        r->fp = where;
        break;
    case PP_REG_BX:
        r->bx = where;
        break;
    case PP_REG_SP:
        r->sp_kind = where.offset == (int16_t)where.offset ? where.kind : PP_WHERE_BEYOND;
        r->sp_reg = where.reg;
        r->sp_offset = (int16_t)where.offset;
        break;
    default:
        break;
    }
}

static void set_place(machine *m, uint64_t reg, pp_where_kind kind, int64_t offset)
{
    pp_where where = {.kind = PP_WHERE_BEYOND};
    if (offset == (int32_t)offset) {
        where = (pp_where){.kind = (uint8_t)kind, .offset = (int32_t)offset};
    }
    put_place(&m->current, reg, where);
}

static int64_t scaled(const machine *m, int64_t factored)
{
    return (int64_t)((uint64_t)factored * (uint64_t)m->cie->data_align);
}

static void define_cfa(machine *m, uint64_t reg, int64_t offset)
{
    row *r = &m->current;
    r->cfa_valid = reg < PP_REG_PC && offset == (int32_t)offset;
    r->cfa_read = false;
    r->cfa_addend = 0;
    r->cfa_scale = 0;
    r->cfa_reg = (uint8_t)reg;
    r->cfa_offset = (int32_t)offset;
}

static void define_cfa_by_expression(machine *m, pp_cursor *cursor)
{
    row *r = &m->current;
    pp_value value;
    uint64_t size = pp_cursor_uleb(cursor);
    r->cfa_valid = pp_expression_reduce(&m->expression, cursor, size, m->target, false, &value) &&
                   value.kind != PP_VALUE_NUMBER;
    if (r->cfa_valid) {
        r->cfa_reg = value.reg;
        r->cfa_index = value.index;
        r->cfa_scale = value.scale;
        r->cfa_offset = (int32_t)value.offset;
        r->cfa_read = value.kind == PP_VALUE_READ;
        r->cfa_addend = r->cfa_read ? value.addend : 0;
    }
}

/* DW_CFA_expression: the expression is the address at which the register is saved.
 * DW_CFA_val_expression (`is_value`): it is the register's value. */
static void place_by_expression(machine *m, pp_cursor *cursor, bool is_value)
{
    pp_value value;
    uint64_t reg = pp_cursor_uleb(cursor);
    uint64_t size = pp_cursor_uleb(cursor);
    bool reduced = pp_expression_reduce(&m->expression, cursor, size, m->target, true, &value);
    pp_where where = {.kind = PP_WHERE_BEYOND};
    reduced = reduced && value.scale == 0;
    if (reduced && value.kind == PP_VALUE_REGISTER) {
        bool on_cfa = value.reg == PP_REG_CFA;
        where.offset = (int32_t)value.offset;
        where.reg = value.reg;
        if (on_cfa) {
            where.kind = is_value ? PP_WHERE_CFA_VALUE : PP_WHERE_CFA;
        } else if (!is_value) {
            where.kind = PP_WHERE_MEMORY;
        } else if (where.offset == 0 || reg == PP_REG_SP) {
            where.kind = PP_WHERE_REGISTER;
        }
    } else if (reduced && value.kind == PP_VALUE_READ && is_value && value.addend == 0) {
        where.offset = (int32_t)value.offset;
        where.reg = value.reg;
        where.kind = value.reg == PP_REG_CFA ? PP_WHERE_CFA : PP_WHERE_MEMORY;
    }
    put_place(&m->current, reg, where);
}

static pp_where sp_place(const row *r)
{
    return (pp_where){.kind = r->sp_kind, .reg = r->sp_reg, .offset = r->sp_offset};
}

static void restore_place(machine *m, uint64_t reg)
{
    const row *initial = &m->initial;
    if (reg == PP_REG_RA) {
        put_place(&m->current, reg, initial->ra);
        return;
    }
    switch (reg) {
    case PP_REG_FP:
        put_place(&m->current, reg, initial->fp);
        break;
    case PP_REG_BX:
        put_place(&m->current, reg, initial->bx);
        break;
    case PP_REG_SP:
        put_place(&m->current, reg, sp_place(initial));
        break;
    default:
        break;
    }
}

static void move_to_register(machine *m, uint64_t reg, uint64_t holder)
{
    pp_where where = {.kind = PP_WHERE_BEYOND};
    if (holder < PP_REG_PC) {
        where = (pp_where){.kind = PP_WHERE_REGISTER, .reg = (uint8_t)holder};
    }
    put_place(&m->current, reg, where);
}

static void advance(machine *m, uint64_t delta)
{
    m->location += (uintptr_t)(delta * m->cie->code_align);
}

static void save_row(machine *m)
{
    if (m->saved_count == SAVED_ROWS) {
        m->failed = true;
        return;
    }
    m->saved[m->saved_count++] = m->current;
}

static void restore_row(machine *m)
{
    if (m->saved_count == 0) {
        m->failed = true;
        return;
    }
    m->current = m->saved[--m->saved_count];
}

static void run_cfa_operation(machine *m, uint8_t op, pp_cursor *cursor)
{
    row *r = &m->current;
    uint64_t reg = 0;
    switch (op) {
    case CFA_DEF_CFA:
        reg = pp_cursor_uleb(cursor);
        define_cfa(m, reg, (int64_t)pp_cursor_uleb(cursor));
        break;
    case CFA_DEF_CFA_SF:
        reg = pp_cursor_uleb(cursor);
        define_cfa(m, reg, scaled(m, pp_cursor_sleb(cursor)));
        break;
    case CFA_DEF_CFA_REGISTER:
        reg = pp_cursor_uleb(cursor);
        define_cfa(m, reg, r->cfa_read ? INT64_MAX : r->cfa_offset);
        break;
    case CFA_DEF_CFA_OFFSET:
        define_cfa(m, r->cfa_reg, (int64_t)pp_cursor_uleb(cursor));
        break;
    case CFA_DEF_CFA_OFFSET_SF:
        define_cfa(m, r->cfa_reg, scaled(m, pp_cursor_sleb(cursor)));
        break;
    case CFA_DEF_CFA_EXPRESSION:
        define_cfa_by_expression(m, cursor);
        break;
    default:
        m->failed = true;
        break;
    }
}

static void run_register_operation(machine *m, uint8_t op, pp_cursor *cursor)
{
    uint64_t reg = pp_cursor_uleb(cursor);
    switch (op) {
    case CFA_OFFSET_EXTENDED:
        set_place(m, reg, PP_WHERE_CFA, scaled(m, (int64_t)pp_cursor_uleb(cursor)));
        break;
    case CFA_OFFSET_EXTENDED_SF:
        set_place(m, reg, PP_WHERE_CFA, scaled(m, pp_cursor_sleb(cursor)));
        break;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        set_place(m, reg, PP_WHERE_CFA,
                  (int64_t)(0 - (uint64_t)scaled(m, (int64_t)pp_cursor_uleb(cursor))));
        break;
    case CFA_VAL_OFFSET:
        set_place(m, reg, PP_WHERE_CFA_VALUE, scaled(m, (int64_t)pp_cursor_uleb(cursor)));
        break;
    case CFA_VAL_OFFSET_SF:
        set_place(m, reg, PP_WHERE_CFA_VALUE, scaled(m, pp_cursor_sleb(cursor)));
        break;
    case CFA_RESTORE_EXTENDED:
        restore_place(m, reg);
        break;
    case CFA_UNDEFINED:
        set_place(m, reg, PP_WHERE_LOST, 0);
        break;
    case CFA_SAME_VALUE:
        set_place(m, reg, PP_WHERE_SAME, 0);
        break;
    case CFA_REGISTER:
        move_to_register(m, reg, pp_cursor_uleb(cursor));
        break;
    default:
        m->failed = true;
        break;
    }
}

/* Whether return addresses are signed is no part of a row: pp_return_address() reads both. */
static void run_other_operation(machine *m, uint8_t op, pp_cursor *cursor)
{
    int operands = pp_cfa_sign_operands(op);
    if (operands < 0) {
        run_register_operation(m, op, cursor);
    }
    for (; operands > 0; operands--) {
        pp_cursor_uleb(cursor); /* or a signed one, of the same length */
    }
}

static void run_operation(machine *m, uint8_t op, pp_cursor *cursor)
{
    uint8_t low = op & 0x3f;
    switch (op & 0xc0) {
    case CFA_ADVANCE_LOC:
        advance(m, low);
        return;
    case CFA_OFFSET:
        set_place(m, low, PP_WHERE_CFA, scaled(m, (int64_t)pp_cursor_uleb(cursor)));
        return;
    case CFA_RESTORE:
        restore_place(m, low);
        return;
    default:
        break;
    }
    switch (op) {
    case CFA_NOP:
    case CFA_GNU_WINDOW_SAVE:
        break;
    case CFA_SET_LOC:
        m->location = (uintptr_t)pp_cfi_pointer(cursor, m->cie->pointer_encoding, 0);
        break;
    case CFA_ADVANCE_LOC1:
        advance(m, pp_cursor_u8(cursor));
        break;
    case CFA_ADVANCE_LOC2:
        advance(m, pp_cursor_fixed(cursor, 2));
        break;
    case CFA_ADVANCE_LOC4:
        advance(m, pp_cursor_fixed(cursor, 4));
        break;
    case CFA_REMEMBER_STATE:
        save_row(m);
        break;
    case CFA_RESTORE_STATE:
        restore_row(m);
        break;
    case CFA_EXPRESSION:
        place_by_expression(m, cursor, false);
        break;
    case CFA_VAL_EXPRESSION:
        place_by_expression(m, cursor, true);
        break;
    case CFA_GNU_ARGS_SIZE:
        pp_cursor_uleb(cursor);
        break;
    case CFA_DEF_CFA:
    case CFA_DEF_CFA_SF:
    case CFA_DEF_CFA_REGISTER:
    case CFA_DEF_CFA_OFFSET:
    case CFA_DEF_CFA_OFFSET_SF:
    case CFA_DEF_CFA_EXPRESSION:
        run_cfa_operation(m, op, cursor);
        break;
    default:
        run_other_operation(m, op, cursor);
        break;
    }
}

/* Runs a program until the row that holds at the target is complete. */
static void run_program(machine *m, pp_cursor *cursor)
{
    for (unsigned i = 0; cursor->at < cursor->end && !m->failed; i++) {
        run_operation(m, pp_cursor_u8(cursor), cursor);
        if (cursor->failed || i == MAX_INSTRUCTIONS) {
            m->failed = true;
        }
        if (m->location > m->target) {
            return; /* only an advance changes the location, and it does not change the row */
        }
    }
}

/* Whether the return address lies where the frame of the caller should be. On aarch64 the linkage stub
 * pushes it, and the CFI of glibc's _dl_runtime_resolve leaves out these 16 bytes. */
static bool is_saved_by_caller(const row *r)
{
    return !PP_RETURN_ON_STACK && r->ra.kind == PP_WHERE_CFA && r->ra.offset >= 0 &&
           r->cfa_reg == PP_REG_SP && r->cfa_offset >= 0 && !r->cfa_read;
}

/* The end of that function: it has popped the 16 bytes, and its CFI has the CFA below SP. */
static bool is_loaded_already(const row *r)
{
    return !PP_RETURN_ON_STACK && r->ra.kind == PP_WHERE_CFA && r->ra.offset == 8 &&
           r->cfa_reg == PP_REG_SP && r->cfa_offset == -16 && !r->cfa_read;
}

static pp_reason rule_from_row(const row *r, pp_rule *rule)
{
    if (r->ra.kind == PP_WHERE_LOST) {
        rule->kind = PP_RULE_END;
        return PP_ENDS;
    }
    if (!r->cfa_valid) {
        return PP_CFA_EXPRESSION;
    }
    if (r->ra.kind == PP_WHERE_BEYOND) {
        return PP_RETURN_EXPRESSION;
    }
    rule->cfa_reg = r->cfa_reg;
    rule->cfa_offset = r->cfa_offset;
    rule->cfa_index = r->cfa_index;
    rule->cfa_scale = r->cfa_scale;
    rule->cfa_read = r->cfa_read;
    rule->cfa_addend = r->cfa_addend;
    rule->fp = r->fp;
    rule->bx = r->bx;
    rule->ra = r->ra;
    pp_where sp = sp_place(r);
    bool is_cfa = sp.kind == PP_WHERE_CFA_VALUE && sp.offset == 0;
    if (is_cfa && is_saved_by_caller(r)) {
        enum { STACK_ALIGNMENT = 16 };
        sp.offset = (r->ra.offset / STACK_ALIGNMENT + 1) * STACK_ALIGNMENT;
        is_cfa = false;
    }
    if (!is_cfa && !pp_rule_rebase(rule, &sp)) {
        return PP_SP_EXPRESSION;
    }
    if (is_loaded_already(r)) {
        rule->cfa_offset = pp_rule_at_entry.cfa_offset;
        rule->ra = pp_rule_at_entry.ra;
    }
    rule->kind = PP_RULE_FRAME;
    return PP_GO_ON;
}

/* Sets rule->silent if the FDE's program was only padding: not longer than that, and without
 * effect. */
static void note_silence(const machine *m, uintptr_t start, uintptr_t size, pp_rule *rule)
{
    const row *r = &m->current;
    uintptr_t done = m->target - start;
    if (size < MAX_PADDING && m->location == start && done < UINT16_MAX && !r->cfa_read &&
        r->cfa_reg == PP_REG_SP && r->cfa_offset == pp_rule_at_entry.cfa_offset &&
        r->fp.kind == PP_WHERE_SAME && r->bx.kind == PP_WHERE_SAME &&
        r->ra.kind == pp_rule_at_entry.ra.kind) {
        rule->silent = (uint16_t)(done + 1);
    }
}

void pp_cfi_open(pp_cfi_space *space)
{
    pp_cfi_finder_open(&((work *)space)->finder);
}

pp_function_range pp_cfi_function(const pp_image *image, uintptr_t pc, pp_cfi_space *space)
{
    const pp_cfi_finder *finder = &((work *)space)->finder;
    return pp_cfi_find(&((work *)space)->finder, image, pc)
               ? (pp_function_range){finder->start, finder->limit}
               : (pp_function_range){0, 0};
}

void pp_cfi_rule(const pp_image *image, uintptr_t pc, pp_cfi_space *space, pp_rule *rule)
{
    work *w = (work *)space;
    pp_cfi_finder *finder = &w->finder;
    *rule = (pp_rule){.kind = PP_RULE_NONE, .permanent = image->permanent};
    if (!pp_cfi_find(finder, image, pc)) {
        rule->why = (uint8_t)finder->why;
        return;
    }
    if (finder->cie.signal_frame) {
        rule->kind = PP_RULE_SIGNAL;
        return;
    }
    machine *m = &w->machine;
    m->location = finder->start;
    m->target = pc;
    m->cie = &finder->cie;
    m->saved_count = 0;
    m->failed = false;
    m->current = (row){.sp_kind = PP_WHERE_CFA_VALUE,
                       .fp = pp_rule_at_entry.fp,
                       .bx = pp_rule_at_entry.bx,
                       .ra = pp_rule_at_entry.ra};
    m->initial = m->current; /* in case the CIE's own program restores a register */
    run_program(m, &finder->cie_program);
    m->initial = m->current;
    uintptr_t start = m->location;
    uintptr_t program = finder->program.at;
    run_program(m, &finder->program);
    rule->why = PP_BAD_PROGRAM;
    if (!m->failed) {
        rule->why = (uint8_t)rule_from_row(&m->current, rule);
        note_silence(m, start, finder->program.end - program, rule);
    }
}
