/* SPDX-License-Identifier: MIT
 *
 * fuzz_expression.c: any bytes as a DWARF expression, against a plain evaluator.
 *
 * What reduces must have the value that the expression has when it is run, word by word, on made-up
 * registers and a memory whose words are a hash of their address. What is read in place and what is
 * read by safe copies must reduce to the same.
 *
 *   input   [ bit 0: start with the CFA | expression ... ]
 *
 * Sources: src/unwind/expression.c src/unwind/image.c src/unwind/copies.c src/sys/safe_read.c
 * Sources: src/modules/loader.c src/modules/loader_state_glibc.c
 * Sources: src/sys/apart.c src/sys/own_threads.c src/arch/x86_64_apart.S
 * Seeds: the expressions of the PLT, of DRAP frames, of libcrypto's assembler.
 */
#include "unwind/expression.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- the plain evaluator ---- */

enum { DEEP = 4096, PC = 0x401239, MACHINES = 3 };

typedef struct machine {
    const uint8_t *at, *end;
    uint64_t number; /* which registers and memory */
    uint64_t word[DEEP];
    size_t depth;
    bool failed;
} machine;

static uint64_t hash(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 32;
}

static uint64_t register_of(const machine *m, uint64_t reg)
{
    return reg == PP_REG_RA ? PC : hash(reg + 100 * m->number);
}

static uint64_t memory_at(uint64_t address)
{
    return hash(address + 12345);
}

static void put(machine *m, uint64_t word)
{
    if (m->depth == DEEP)
        m->failed = true;
    else
        m->word[m->depth++] = word;
}

static uint64_t get(machine *m)
{
    if (m->depth == 0) {
        m->failed = true;
        return 0;
    }
    return m->word[--m->depth];
}

static uint64_t fixed(machine *m, size_t size)
{
    uint64_t word = 0;
    if ((size_t)(m->end - m->at) < size) {
        m->failed = true;
        return 0;
    }
    memcpy(&word, m->at, size);
    m->at += size;
    return word;
}

static uint64_t leb(machine *m, bool is_signed)
{
    uint64_t word = 0;
    unsigned shift = 0;
    uint8_t byte = 0x80;
    while ((byte & 0x80) && !m->failed) {
        byte = (uint8_t)fixed(m, 1);
        word |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        shift += 7;
    }
    if (is_signed && (byte & 0x40) && shift < 64)
        word |= ~UINT64_C(0) << shift;
    return word;
}

static void compute(machine *m, uint8_t op)
{
    uint64_t b = get(m);
    uint64_t a = get(m);
    switch (op) {
    case 0x1a:
        put(m, a & b);
        break;
    case 0x1c:
        put(m, a - b);
        break;
    case 0x1e:
        put(m, a * b);
        break;
    case 0x21:
        put(m, a | b);
        break;
    case 0x22:
        put(m, a + b);
        break;
    case 0x24:
        put(m, b > 63 ? 0 : a << b);
        break;
    case 0x25:
        put(m, b > 63 ? 0 : a >> b);
        break;
    case 0x29:
        put(m, a == b);
        break;
    case 0x2a:
        put(m, (int64_t)a >= (int64_t)b);
        break;
    case 0x2b:
        put(m, (int64_t)a > (int64_t)b);
        break;
    case 0x2c:
        put(m, (int64_t)a <= (int64_t)b);
        break;
    case 0x2d:
        put(m, (int64_t)a < (int64_t)b);
        break;
    case 0x2e:
        put(m, a != b);
        break;
    default:
        m->failed = true;
        break;
    }
}

static void rearrange(machine *m, uint8_t op)
{
    uint64_t a = get(m);
    uint64_t b = op == 0x12 || op == 0x13 ? 0 : get(m);
    switch (op) {
    case 0x12: /* dup */
        put(m, a);
        put(m, a);
        break;
    case 0x14: /* over */
        put(m, b);
        put(m, a);
        put(m, b);
        break;
    case 0x16: /* swap */
        put(m, a);
        put(m, b);
        break;
    default: /* drop */
        break;
    }
}

static void run_one(machine *m)
{
    uint8_t op = (uint8_t)fixed(m, 1);
    uint64_t reg = 0;
    if (op >= 0x30 && op < 0x50) {
        put(m, op - 0x30u);
    } else if (op >= 0x70 && op < 0x90) {
        put(m, register_of(m, op - 0x70u) + leb(m, true));
    } else if (op >= 0x08 && op <= 0x0f) { /* const1u, const1s, const2u, ... const8s */
        unsigned bytes = 1u << ((op - 0x08) / 2);
        uint64_t word = fixed(m, bytes);
        unsigned shift = 64 - 8 * bytes;
        put(m, op & 1 ? (uint64_t)((int64_t)(word << shift) >> shift) : word);
    } else {
        switch (op) {
        case 0x03:
            put(m, fixed(m, 8));
            break;
        case 0x06:
            put(m, memory_at(get(m)));
            break;
        case 0x10:
            put(m, leb(m, false));
            break;
        case 0x11:
            put(m, leb(m, true));
            break;
        case 0x12:
        case 0x13:
        case 0x14:
        case 0x16:
            rearrange(m, op);
            break;
        case 0x1f:
            put(m, 0 - get(m));
            break;
        case 0x20:
            put(m, ~get(m));
            break;
        case 0x23:
            reg = get(m);
            put(m, reg + leb(m, false));
            break;
        case 0x92:
            reg = leb(m, false);
            put(m, register_of(m, reg) + leb(m, true));
            break;
        case 0x96:
            break;
        default:
            compute(m, op);
            break;
        }
    }
}

static uint64_t run(machine *m)
{
    while (m->at < m->end && !m->failed)
        run_one(m);
    uint64_t word = get(m);
    if (m->failed)
        abort(); /* it has a value for us, and none for DWARF */
    return word;
}

/* ---- the comparison ---- */

static uint64_t value_of(const machine *m, const pp_value *value)
{
    uint64_t at = (uint64_t)value->offset;
    if (value->kind == PP_VALUE_NUMBER)
        return at;
    at += register_of(m, value->reg);
    if (value->scale != 0)
        at += register_of(m, value->index) * value->scale;
    return value->kind == PP_VALUE_READ ? memory_at(at) + (uint64_t)(int64_t)value->addend : at;
}

static bool reduce(const uint8_t *bytes, size_t size, bool permanent, bool with_cfa,
                   pp_value *value)
{
    pp_image image = {
        .lo = (uintptr_t)bytes, .hi = (uintptr_t)bytes + size, .permanent = permanent};
    static pp_chunk chunk;
    static pp_expression_stack stack;
    pp_cursor cursor;
    pp_chunk_clear(&chunk);
    pp_cursor_init(&cursor, &image, &chunk, image.lo, image.hi);
    memset(value, 0, sizeof *value);
    bool reduced = pp_expression_reduce(&stack, &cursor, size, PC, with_cfa, value);
    if (!cursor.failed && cursor.at != image.hi)
        abort();
    if (reduced && cursor.failed)
        abort();
    return reduced;
}

static void check(const pp_value *value, bool with_cfa)
{
    unsigned registers = with_cfa ? PP_REG_CFA + 1 : PP_REG_RA;
    if (value->kind > PP_VALUE_READ || value->reg >= registers || value->reg == PP_REG_RA ||
        value->index >= registers || value->index == PP_REG_RA)
        abort();
    if (value->kind != PP_VALUE_NUMBER && value->offset != (int32_t)value->offset)
        abort(); /* the rule has 32 bits for it */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static machine m;
    pp_value value;
    pp_value copied;
    if (size < 2)
        return 0;
    bool with_cfa = data[0] & 1;
    uint8_t *bytes = malloc(size - 1); /* exactly as long */
    memcpy(bytes, data + 1, size - 1);
    bool reduced = reduce(bytes, size - 1, true, with_cfa, &value);
    if (reduce(bytes, size - 1, false, with_cfa, &copied) != reduced)
        abort();
    if (reduced) {
        check(&value, with_cfa);
        for (uint64_t number = 0; number < MACHINES; number++) {
            m.at = bytes;
            m.end = bytes + size - 1;
            m.number = number;
            m.depth = 0;
            m.failed = false;
            if (with_cfa)
                put(&m, register_of(&m, PP_REG_CFA));
            if (run(&m) != value_of(&m, &value))
                abort();
            if (value_of(&m, &copied) != value_of(&m, &value))
                abort();
        }
    }
    free(bytes);
    return 0;
}
