/* SPDX-License-Identifier: MIT
 *
 * cfi.c: .eh_frame_hdr, .eh_frame and CFA programs.
 *
 * Zone: SIGNAL.
 */
#include "unwind/cfi.h"

#include "arch/registers.h"
#include "base/compiler.h"
#include "unwind/expression.h"
#include "unwind/rebase.h"

#include <string.h>

/* Pointer encodings, LSB Core 5.0 table 10-2 and 10-3. */
enum {
    ENC_ABSPTR = 0x00,
    ENC_ULEB128 = 0x01,
    ENC_UDATA2 = 0x02,
    ENC_UDATA4 = 0x03,
    ENC_UDATA8 = 0x04,
    ENC_SLEB128 = 0x09,
    ENC_SDATA2 = 0x0a,
    ENC_SDATA4 = 0x0b,
    ENC_SDATA8 = 0x0c,
    ENC_FORMAT = 0x0f,
    ENC_PCREL = 0x10,
    ENC_DATAREL = 0x30,
    ENC_ALIGNED = 0x50, /* alone: an absolute address at the next multiple of its size */
    ENC_BASE = 0x70,
    ENC_INDIRECT = 0x80,
    ENC_OMIT = 0xff
};

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
    MAX_SCANNED = 1 << 15, /* entries of an .eh_frame without table: a millisecond */
    SAVED_ROWS = 4, /* nesting of remember_state: 1 in all of glibc, libcrypto, GCC, Python, gdb */
    MAX_INSTRUCTIONS = 1 << 16,
    MAX_PADDING = 8, /* of an entry, to the next multiple of the word */
    WORD = 8,
    TABLE_ENTRY_SIZE = 8, /* two sdata4 */
    CHUNK_ENTRIES = PP_CHUNK_BYTES / TABLE_ENTRY_SIZE
};

/* One row of the unwind table: what the CFA program has built up so far. */
typedef struct row {
    int32_t cfa_offset;
    int32_t cfa_addend;
    uint8_t cfa_reg;
    uint8_t cfa_index;
    uint8_t cfa_scale;
    bool cfa_read : 1;
    bool cfa_valid : 1;
    uint8_t sp_kind; /* pp_where_kind; nearly always "the CFA" (cfa + 0), so it is kept small */
    uint8_t sp_reg;
    int16_t sp_offset;
    pp_where fp, bx, ra;
} row;

typedef struct cie {
    uint64_t code_align;
    int64_t data_align;
    uint8_t pointer_encoding;
    bool has_augmentation_data;
    bool signal_frame;
} cie;

typedef struct machine {
    uintptr_t location; /* where the current row begins to hold */
    uintptr_t target;
    row current, initial;
    row saved[SAVED_ROWS];
    unsigned saved_count;
    bool failed;
    cie info;
    pp_expression_stack expression;
} machine;

/* .eh_frame_hdr, once its header has been read. */
typedef struct table {
    uintptr_t entries;
    uint64_t count;
} table;

/* What pp_cfi_space holds. Each of the three has a chunk of its own, which
 * the next rule often finds its own in. */
typedef struct work {
    machine machine;
    pp_cursor cursor, cie_cursor;
    pp_chunk table_chunk, chunk, cie_chunk;
    uintptr_t cie_at, cie_program, cie_end; /* the CIE in `machine.info`; 0 = none */
    uintptr_t table_of;                     /* the header of `table`; 0 = none */
    table table;
} work;

_Static_assert(sizeof(work) <= sizeof(pp_cfi_space), "the space is large enough");

/* ---- pointers ---- */

static uint64_t read_pointer(pp_cursor *cursor, uint8_t encoding, uintptr_t data_base)
{
    if (encoding == ENC_ALIGNED) {
        pp_cursor_skip(cursor, -cursor->at % sizeof(uintptr_t));
        return pp_cursor_fixed(cursor, sizeof(uintptr_t));
    }
    uintptr_t here = cursor->at;
    uint64_t value = 0;
    switch (encoding & ENC_FORMAT) {
    case ENC_ABSPTR:
    case ENC_UDATA8:
    case ENC_SDATA8:
        value = pp_cursor_fixed(cursor, 8);
        break;
    case ENC_ULEB128:
        value = pp_cursor_uleb(cursor);
        break;
    case ENC_UDATA2:
        value = pp_cursor_fixed(cursor, 2);
        break;
    case ENC_UDATA4:
        value = pp_cursor_fixed(cursor, 4);
        break;
    case ENC_SLEB128:
        value = (uint64_t)pp_cursor_sleb(cursor);
        break;
    case ENC_SDATA2:
        value = (uint64_t)(int64_t)(int16_t)pp_cursor_fixed(cursor, 2);
        break;
    case ENC_SDATA4:
        value = (uint64_t)(int64_t)(int32_t)pp_cursor_fixed(cursor, 4);
        break;
    default:
        pp_cursor_fail(cursor);
        return 0;
    }
    switch (encoding & ENC_BASE) {
    case 0:
        break;
    case ENC_PCREL:
        value += here;
        break;
    case ENC_DATAREL:
        value += data_base;
        break;
    default:
        pp_cursor_fail(cursor);
        break;
    }
    uintptr_t target = 0;
    if ((encoding & ENC_INDIRECT) && value != 0) {
        if (!pp_image_copy(cursor->image, cursor->chunk, (uintptr_t)value, &target,
                           sizeof target)) {
            pp_cursor_fail(cursor);
        }
        pp_cursor_move(cursor, cursor->at);
        value = target;
    }
    return value;
}

/* ---- .eh_frame_hdr ---- */

static bool parse_header(work *w, const pp_image *image, table *t)
{
    pp_cursor *cursor = &w->cursor;
    pp_cursor_init(cursor, image, &w->table_chunk, image->header, image->hi);
    uint8_t version = pp_cursor_u8(cursor);
    uint8_t frame_encoding = pp_cursor_u8(cursor);
    uint8_t count_encoding = pp_cursor_u8(cursor);
    uint8_t table_encoding = pp_cursor_u8(cursor);
    if (cursor->failed || version != 1 || count_encoding == ENC_OMIT ||
        table_encoding != (ENC_DATAREL | ENC_SDATA4)) {
        return false;
    }
    read_pointer(cursor, frame_encoding & (uint8_t)(~ENC_INDIRECT), image->header);
    t->count = read_pointer(cursor, count_encoding, image->header);
    t->entries = cursor->at;
    return !cursor->failed && t->count > 0 &&
           t->count <= (image->hi - t->entries) / TABLE_ENTRY_SIZE;
}

/* Leaves the table in w->table. */
static bool open_table(work *w, const pp_image *image)
{
    if (image->header == 0) {
        return false;
    }
    if (w->table_of != image->header) {
        w->table_of = parse_header(w, image, &w->table) ? image->header : 0;
    }
    return w->table_of != 0;
}

static bool read_entry(work *w, const pp_image *image, uint64_t index, uintptr_t *start,
                       uintptr_t *fde)
{
    int32_t entry[2];
    if (!pp_image_copy(image, &w->table_chunk, w->table.entries + index * TABLE_ENTRY_SIZE, entry,
                       sizeof entry)) {
        return false;
    }
    *start = image->header + (uintptr_t)(intptr_t)entry[0];
    *fde = image->header + (uintptr_t)(intptr_t)entry[1];
    return true;
}

/* Part of the table: the entries [low, high), of addresses from `from` up to `to`. */
typedef struct part {
    uint64_t low, high;
    uintptr_t from, to;
} part;

/* The index where `pc` would be if functions were spread evenly, or the middle. */
static uint64_t guess(const part *p, uintptr_t pc, bool evenly)
{
    uint64_t count = p->high - p->low;
    uint64_t product = 0;
    if (evenly && pc > p->from && pc < p->to &&
        !__builtin_mul_overflow(count, pc - p->from, &product)) {
        return p->low + product / (p->to - p->from);
    }
    return p->low + count / 2;
}

/* The entries of the part that share a chunk with the one at `index`, but for those cut in two. */
static void entries_beside(const table *t, const part *p, uint64_t index, uint64_t *first,
                           uint64_t *last)
{
    uintptr_t begin = pp_chunk_begin(t->entries + index * TABLE_ENTRY_SIZE);
    uintptr_t end = begin + PP_CHUNK_BYTES;
    uint64_t ahead = begin > t->entries ? (begin - t->entries - 1) / TABLE_ENTRY_SIZE + 1 : 0;
    uint64_t behind = (end - t->entries) / TABLE_ENTRY_SIZE; /* index >= 0 lies before the end */
    uint64_t stop = behind < p->high ? behind : p->high;
    *first = ahead > p->low ? ahead : p->low;
    *last = stop - 1;
    if (*first > index || index >= stop) {
        *first = *last = index; /* is itself cut in two */
    }
}

/*
 * For a removable image, where each look may be a system call: narrows the search down to entries
 * that lie in one chunk. Interpolation first, by the addresses known so far, since functions are of
 * similar density; every second step halves, so that it ends.
 */
static bool narrow(work *w, const pp_image *image, uintptr_t pc, part *p)
{
    for (bool evenly = true; p->high - p->low > CHUNK_ENTRIES / 2; evenly = !evenly) {
        uint64_t first = 0;
        uint64_t last = 0;
        uintptr_t first_start = 0;
        uintptr_t last_start = 0;
        uintptr_t fde = 0;
        entries_beside(&w->table, p, guess(p, pc, evenly), &first, &last);
        if (!read_entry(w, image, first, &first_start, &fde) ||
            !read_entry(w, image, last, &last_start, &fde)) {
            return false;
        }
        if (pc < first_start) {
            p->high = first > p->low ? first : p->low + 1;
            p->to = first_start;
        } else if (pc >= last_start) {
            p->low = last;
            p->from = last_start;
        } else {
            p->low = first;
            p->high = last;
            break;
        }
    }
    return true;
}

/* The FDE with the greatest start that is <= pc. */
PP_COLD_PATH static bool find_fde(work *w, const pp_image *image, uintptr_t pc, uintptr_t *fde)
{
    if (!open_table(w, image)) {
        return false;
    }
    part p = {.high = w->table.count, .from = image->code_lo, .to = image->code_hi};
    uintptr_t start = 0;
    if (!image->permanent && !narrow(w, image, pc, &p)) {
        return false;
    }
    while (p.high - p.low > 1) {
        uint64_t middle = p.low + (p.high - p.low) / 2;
        uintptr_t middle_fde = 0;
        if (!read_entry(w, image, middle, &start, &middle_fde)) {
            return false;
        }
        if (start <= pc) {
            p.low = middle;
        } else {
            p.high = middle;
        }
    }
    return read_entry(w, image, p.low, &start, fde) && start <= pc;
}

/* ---- CIE and FDE ---- */

/*
 * Reads the length field of an entry; the cursor is then bounded by the entry's end. What follows,
 * the CIE's id or its distance, has four bytes in .eh_frame also where the length has twelve.
 */
static bool open_entry(pp_cursor *cursor, const pp_image *image, pp_chunk *chunk, uintptr_t at)
{
    pp_cursor_init(cursor, image, chunk, at, image->hi);
    uint64_t length = pp_cursor_fixed(cursor, 4);
    if (length == UINT32_MAX) {
        length = pp_cursor_fixed(cursor, 8);
    }
    if (cursor->failed || length == 0 || length > image->hi - cursor->at) {
        return false;
    }
    pp_cursor_set_end(cursor, cursor->at + (uintptr_t)length);
    return true;
}

static bool read_augmentation(pp_cursor *cursor, const char *letters, cie *info)
{
    if (letters[0] == '\0') {
        return true;
    }
    if (letters[0] != 'z') {
        return false; /* "eh" and the like: gone since GCC 2 */
    }
    info->has_augmentation_data = true;
    uint64_t size = pp_cursor_uleb(cursor);
    if (cursor->failed || size > cursor->end - cursor->at) {
        return false;
    }
    uintptr_t end = cursor->at + (uintptr_t)size;
    for (const char *letter = letters + 1; *letter != '\0'; letter++) {
        if (*letter == 'R') {
            info->pointer_encoding = pp_cursor_u8(cursor);
        } else if (*letter == 'P') {
            uint8_t encoding = pp_cursor_u8(cursor);
            read_pointer(cursor, encoding == ENC_ALIGNED ? encoding : encoding & ENC_FORMAT, 0);
        } else if (*letter == 'L') {
            pp_cursor_u8(cursor);
        } else if (*letter == 'S') {
            info->signal_frame = true;
        } else {
            break; /* unknown: its data is skipped by the size */
        }
    }
    if (cursor->failed || cursor->at > end) {
        return false;
    }
    pp_cursor_move(cursor, end);
    return true;
}

static bool parse_cie(work *w, const pp_image *image, uintptr_t at)
{
    pp_cursor *cursor = &w->cie_cursor;
    cie *info = &w->machine.info;
    if (!open_entry(cursor, image, &w->cie_chunk, at) || pp_cursor_fixed(cursor, 4) != 0) {
        return false;
    }
    uint8_t version = pp_cursor_u8(cursor);
    if (version != 1 && version != 3) {
        return false;
    }
    char letters[8];
    unsigned length = 0;
    while ((letters[length] = (char)pp_cursor_u8(cursor)) != '\0') {
        if (++length == sizeof letters) {
            return false;
        }
    }
    *info = (cie){.pointer_encoding = ENC_ABSPTR};
    info->code_align = pp_cursor_uleb(cursor);
    info->data_align = pp_cursor_sleb(cursor);
    uint64_t return_register = version == 1 ? pp_cursor_u8(cursor) : pp_cursor_uleb(cursor);
    if (cursor->failed || return_register != PP_REG_RA ||
        !read_augmentation(cursor, letters, info)) {
        return false;
    }
    w->cie_at = at;
    w->cie_program = cursor->at;
    w->cie_end = cursor->end;
    return true;
}

/* Leaves cie_cursor at the CIE's program. Most FDEs have the CIE of the one before. */
static bool read_cie(work *w, const pp_image *image, uintptr_t at)
{
    if (at == w->cie_at) {
        pp_cursor_init(&w->cie_cursor, image, &w->cie_chunk, w->cie_program, w->cie_end);
        return true;
    }
    w->cie_at = 0;
    return parse_cie(w, image, at);
}

/* Leaves the cursor behind the pointer to the CIE. */
static bool open_fde(work *w, const pp_image *image, uintptr_t at, uintptr_t *cie_at)
{
    pp_cursor *cursor = &w->cursor;
    if (!open_entry(cursor, image, &w->chunk, at)) {
        return false;
    }
    uintptr_t pointer_at = cursor->at;
    uint64_t back = pp_cursor_fixed(cursor, 4);
    if (cursor->failed || back == 0 || back > pointer_at - image->lo) {
        return false;
    }
    *cie_at = pointer_at - (uintptr_t)back;
    return true;
}

/* The code of an FDE; false if it does not cover `pc`. */
static bool read_range(work *w, uintptr_t pc)
{
    pp_cursor *cursor = &w->cursor;
    uint8_t encoding = w->machine.info.pointer_encoding;
    uintptr_t start = (uintptr_t)read_pointer(cursor, encoding, cursor->image->header);
    uint64_t range = read_pointer(cursor, encoding & ENC_FORMAT, 0);
    w->machine.location = start;
    return !cursor->failed && pc >= start && pc - start < range;
}

/* Leaves both cursors at the programs; false if the FDE does not cover `pc`. */
PP_COLD_PATH static bool read_fde(work *w, const pp_image *image, uintptr_t at, uintptr_t pc)
{
    pp_cursor *cursor = &w->cursor;
    uintptr_t cie_at = 0;
    if (!open_fde(w, image, at, &cie_at) || !read_cie(w, image, cie_at) || !read_range(w, pc)) {
        return false;
    }
    if (w->machine.info.has_augmentation_data) {
        pp_cursor_skip(cursor, pp_cursor_uleb(cursor));
    }
    return !cursor->failed;
}

/* ---- .eh_frame without a table ---- */

/*
 * Where .eh_frame begins, if there is no table of it that open_table() takes: a linker that could
 * not read some of it leaves the table out, others may encode it in their own way, and an image
 * without header is given by .eh_frame itself. 0 if there is a table, or nothing.
 */
PP_COLD_PATH static uintptr_t frames_without_table(work *w, const pp_image *image)
{
    pp_cursor *cursor = &w->cursor;
    pp_cursor_init(cursor, image, &w->chunk, image->header, image->hi);
    if (pp_cursor_u8(cursor) != 1) {
        return image->header; /* the length of a CIE, a multiple of 4 */
    }
    uint8_t frame_encoding = pp_cursor_u8(cursor);
    uint8_t count_encoding = pp_cursor_u8(cursor);
    uint8_t table_encoding = pp_cursor_u8(cursor);
    bool has_table = count_encoding != ENC_OMIT && table_encoding == (ENC_DATAREL | ENC_SDATA4);
    if (has_table || frame_encoding == ENC_OMIT) {
        return 0;
    }
    uintptr_t frames = (uintptr_t)read_pointer(cursor, frame_encoding, image->header);
    return cursor->failed ? 0 : frames;
}

/* Entry after entry. What cannot be read as an FDE is passed over by its length. */
PP_COLD_PATH static bool scan_frames(work *w, const pp_image *image, uintptr_t pc, uintptr_t *fde)
{
    if (image->header == 0 || !image->permanent) { /* copying it all would take too long */
        return false;
    }
    uintptr_t at = frames_without_table(w, image);
    for (unsigned i = 0; i < MAX_SCANNED && at >= image->lo && at < image->hi; i++) {
        uintptr_t cie_at = 0;
        if (open_fde(w, image, at, &cie_at) && read_cie(w, image, cie_at) && read_range(w, pc)) {
            *fde = at;
            return true;
        }
        if (w->cursor.end <= at || w->cursor.end == image->hi) {
            return false; /* the end mark, or nothing that can be read */
        }
        at = w->cursor.end;
    }
    return false;
}

/* ---- CFA programs ---- */

/* Registers that no caller's frame is found by are left out. */
static void put_place(row *r, uint64_t reg, pp_where where)
{
    switch (reg) {
    case PP_REG_FP:
        r->fp = where;
        break;
    case PP_REG_BX:
        r->bx = where;
        break;
    case PP_REG_RA:
        r->ra = where;
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
    return (int64_t)((uint64_t)factored * (uint64_t)m->info.data_align);
}

static void define_cfa(machine *m, uint64_t reg, int64_t offset)
{
    row *r = &m->current;
    r->cfa_valid = reg < PP_REG_RA && offset == (int32_t)offset;
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

/* DW_CFA_expression: the register was saved at the address that the expression gives. */
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
    switch (reg) {
    case PP_REG_FP:
        put_place(&m->current, reg, initial->fp);
        break;
    case PP_REG_BX:
        put_place(&m->current, reg, initial->bx);
        break;
    case PP_REG_RA:
        put_place(&m->current, reg, initial->ra);
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
    if (holder < PP_REG_RA) {
        where = (pp_where){.kind = PP_WHERE_REGISTER, .reg = (uint8_t)holder};
    }
    put_place(&m->current, reg, where);
}

static void advance(machine *m, uint64_t delta)
{
    m->location += (uintptr_t)(delta * m->info.code_align);
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
        m->location = (uintptr_t)read_pointer(cursor, m->info.pointer_encoding, 0);
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
        run_register_operation(m, op, cursor);
        break;
    }
}

/* Runs until the row that holds at the target is complete. */
static void run_program(machine *m, pp_cursor *cursor)
{
    for (unsigned i = 0; cursor->at < cursor->end && !m->failed; i++) {
        run_operation(m, pp_cursor_u8(cursor), cursor);
        if (cursor->failed || i == MAX_INSTRUCTIONS) {
            m->failed = true;
        }
        if (m->location > m->target) {
            return; /* only an advance moves the location, and it leaves the row alone */
        }
    }
}

static void rule_from_row(const row *r, pp_rule *rule)
{
    if (r->ra.kind == PP_WHERE_LOST) {
        rule->kind = PP_RULE_END;
        return;
    }
    if (!r->cfa_valid || r->ra.kind == PP_WHERE_BEYOND) {
        return;
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
    if (is_cfa || pp_rule_rebase(rule, &sp)) {
        rule->kind = PP_RULE_FRAME;
    }
}

/* Whether the FDE's program was nothing but padding: no longer than that, and without effect. */
static void note_silence(const machine *m, uintptr_t start, uintptr_t size, pp_rule *rule)
{
    const row *r = &m->current;
    uintptr_t done = m->target - start;
    if (size < MAX_PADDING && m->location == start && done < UINT16_MAX && !r->cfa_read &&
        r->cfa_reg == PP_REG_SP && r->cfa_offset == WORD && r->fp.kind == PP_WHERE_SAME &&
        r->bx.kind == PP_WHERE_SAME && r->ra.kind == PP_WHERE_CFA) {
        rule->silent = (uint16_t)(done + 1);
    }
}

static void forget(work *w)
{
    pp_chunk_clear(&w->table_chunk);
    pp_chunk_clear(&w->chunk);
    pp_chunk_clear(&w->cie_chunk);
    w->cie_at = 0;
    w->table_of = 0;
}

static bool find_function(work *w, const pp_image *image, uintptr_t pc)
{
    uintptr_t fde = 0;
    return (find_fde(w, image, pc, &fde) || scan_frames(w, image, pc, &fde)) &&
           read_fde(w, image, fde, pc);
}

uintptr_t pp_cfi_function(const pp_image *image, uintptr_t pc, pp_cfi_space *space)
{
    work *w = (work *)space;
    forget(w);
    return find_function(w, image, pc) ? w->machine.location : 0;
}

void pp_cfi_rule(const pp_image *image, uintptr_t pc, pp_cfi_space *space, pp_rule *rule)
{
    forget((work *)space);
    pp_cfi_next_rule(image, pc, space, rule);
}

void pp_cfi_next_rule(const pp_image *image, uintptr_t pc, pp_cfi_space *space, pp_rule *rule)
{
    work *w = (work *)space;
    *rule = (pp_rule){.kind = PP_RULE_NONE, .permanent = image->permanent};
    if (!find_function(w, image, pc)) {
        return;
    }
    machine *m = &w->machine;
    if (m->info.signal_frame) {
        rule->kind = PP_RULE_SIGNAL;
        return;
    }
    m->target = pc;
    m->saved_count = 0;
    m->failed = false;
    m->current = (row){.sp_kind = PP_WHERE_CFA_VALUE,
                       .fp = {.kind = PP_WHERE_SAME},
                       .bx = {.kind = PP_WHERE_SAME},
                       .ra = {.kind = PP_WHERE_CFA, .offset = -8}};
    m->initial = m->current; /* should the CIE's own program restore something */
    run_program(m, &w->cie_cursor);
    m->initial = m->current;
    uintptr_t start = m->location;
    uintptr_t program = w->cursor.at;
    run_program(m, &w->cursor);
    if (!m->failed) {
        rule_from_row(&m->current, rule);
        note_silence(m, start, w->cursor.end - program, rule);
    }
}
