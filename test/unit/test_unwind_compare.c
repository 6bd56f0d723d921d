/* SPDX-License-Identifier: MIT
 *
 * test_unwind_compare.c: our reader of call-frame information against elfutils', on real libraries.
 *
 * For every row of every FDE, at its first PC and the one behind it, both are asked for the rule.
 * The two speak different languages (ours is a pp_rule, theirs a list of DWARF operations), so both
 * answers are run on the same made-up machine: registers with known values, memory whose words are
 * a hash of their address. They agree if what the caller will find in rsp (nearly always the CFA),
 * rbp, rbx and rip are the same numbers.
 *
 * libdw is loaded at run time; without it, or without its header, the test is skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>

#if __has_include(<elfutils/libdw.h>) && __has_include(<dwarf.h>)

#include "arch/registers.h"
#include "modules/modules.h"
#include "unwind/cfi.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pp_cfi_space space;

/* ---- the functions of libdw and libelf that are used ---- */

static struct {
    __typeof__(elf_version) *elf_version;
    __typeof__(elf_begin) *elf_begin;
    __typeof__(elf_end) *elf_end;
    __typeof__(dwarf_getcfi_elf) *getcfi_elf;
    __typeof__(dwarf_cfi_end) *cfi_end;
    __typeof__(dwarf_cfi_addrframe) *addrframe;
    __typeof__(dwarf_frame_info) *frame_info;
    __typeof__(dwarf_frame_cfa) *frame_cfa;
    __typeof__(dwarf_frame_register) *frame_register;
} dw;

static bool load_libdw(void)
{
    void *elf = dlopen("libelf.so.1", RTLD_NOW);
    void *library = dlopen("libdw.so.1", RTLD_NOW);
    if (elf == NULL || library == NULL) {
        return false;
    }
    dw.elf_version = (__typeof__(dw.elf_version))dlsym(elf, "elf_version");
    dw.elf_begin = (__typeof__(dw.elf_begin))dlsym(elf, "elf_begin");
    dw.elf_end = (__typeof__(dw.elf_end))dlsym(elf, "elf_end");
    dw.getcfi_elf = (__typeof__(dw.getcfi_elf))dlsym(library, "dwarf_getcfi_elf");
    dw.cfi_end = (__typeof__(dw.cfi_end))dlsym(library, "dwarf_cfi_end");
    dw.addrframe = (__typeof__(dw.addrframe))dlsym(library, "dwarf_cfi_addrframe");
    dw.frame_info = (__typeof__(dw.frame_info))dlsym(library, "dwarf_frame_info");
    dw.frame_cfa = (__typeof__(dw.frame_cfa))dlsym(library, "dwarf_frame_cfa");
    dw.frame_register = (__typeof__(dw.frame_register))dlsym(library, "dwarf_frame_register");
    return dw.elf_version != NULL && dw.elf_begin != NULL && dw.elf_end != NULL &&
           dw.getcfi_elf != NULL && dw.cfi_end != NULL && dw.addrframe != NULL &&
           dw.frame_info != NULL && dw.frame_cfa != NULL && dw.frame_register != NULL;
}

/* ---- the machine ---- */

typedef struct answer {
    bool known;
    uint64_t value;
} answer;

static uint64_t register_of(uint64_t reg, uint64_t pc)
{
    return reg == PP_REG_RA ? pc : UINT64_C(0x7f0012340000) + reg * 0x1010100;
}

static uint64_t memory_at(uint64_t address)
{
    uint64_t z = address * UINT64_C(0x9e3779b97f4a7c15);
    return (z ^ (z >> 31)) * UINT64_C(0xbf58476d1ce4e5b9);
}

/* ---- their language ---- */

enum { THEIR_STACK = 16 };

typedef struct evaluation {
    uint64_t stack[THEIR_STACK];
    size_t depth;
    uint64_t pc, cfa;
    bool failed, is_value, is_register;
} evaluation;

static void put(evaluation *e, uint64_t value)
{
    if (e->depth == THEIR_STACK) {
        e->failed = true;
        return;
    }
    e->stack[e->depth++] = value;
}

static uint64_t get(evaluation *e)
{
    if (e->depth == 0) {
        e->failed = true;
        return 0;
    }
    return e->stack[--e->depth];
}

static void run_binary(evaluation *e, unsigned atom)
{
    uint64_t b = get(e);
    uint64_t a = get(e);
    switch (atom) {
    case DW_OP_plus:
        put(e, a + b);
        break;
    case DW_OP_minus:
        put(e, a - b);
        break;
    case DW_OP_mul:
        put(e, a * b);
        break;
    case DW_OP_and:
        put(e, a & b);
        break;
    case DW_OP_shl:
        put(e, a << (b & 63));
        break;
    case DW_OP_ge:
        put(e, (int64_t)a >= (int64_t)b);
        break;
    default:
        e->failed = true;
        break;
    }
}

static void run_one(evaluation *e, const Dwarf_Op *op)
{
    unsigned atom = op->atom;
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31) {
        put(e, atom - DW_OP_lit0);
    } else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31) {
        put(e, register_of(atom - DW_OP_breg0, e->pc) + op->number);
    } else if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
        put(e, register_of(atom - DW_OP_reg0, e->pc));
        e->is_register = true;
    } else if (atom == DW_OP_regx) {
        put(e, register_of(op->number, e->pc));
        e->is_register = true;
    } else if (atom == DW_OP_bregx) {
        put(e, register_of(op->number, e->pc) + op->number2);
    } else if (atom == DW_OP_call_frame_cfa) {
        put(e, e->cfa);
    } else if (atom == DW_OP_plus_uconst) {
        put(e, get(e) + op->number);
    } else if (atom == DW_OP_deref) {
        put(e, memory_at(get(e)));
    } else if (atom == DW_OP_stack_value) {
        e->is_value = true;
    } else if (atom == DW_OP_const1u || atom == DW_OP_const1s || atom == DW_OP_const2u ||
               atom == DW_OP_const2s || atom == DW_OP_const4u || atom == DW_OP_const4s ||
               atom == DW_OP_constu || atom == DW_OP_consts) {
        put(e, op->number);
    } else {
        run_binary(e, atom);
    }
}

static void run_all(evaluation *e, const Dwarf_Op *ops, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        run_one(e, &ops[i]);
    }
    e->failed |= e->depth == 0;
}

static answer their_cfa(Dwarf_Frame *frame, uint64_t pc)
{
    Dwarf_Op *ops = NULL;
    size_t count = 0;
    evaluation e = {.pc = pc};
    if (dw.frame_cfa(frame, &ops, &count) != 0 || count == 0) {
        return (answer){false, 0};
    }
    run_all(&e, ops, count);
    return (answer){!e.failed, e.failed ? 0 : e.stack[e.depth - 1]};
}

static answer their_register(Dwarf_Frame *frame, int reg, uint64_t pc, uint64_t cfa)
{
    Dwarf_Op room[3];
    Dwarf_Op *ops = NULL;
    size_t count = 0;
    evaluation e = {.pc = pc, .cfa = cfa};
    if (dw.frame_register(frame, reg, room, &ops, &count) != 0) {
        return (answer){false, 0};
    }
    if (count == 0) { /* room: undefined; NULL: the same value */
        return (answer){ops == NULL, ops == NULL ? register_of((uint64_t)reg, pc) : 0};
    }
    run_all(&e, ops, count);
    if (e.failed) {
        return (answer){false, 0};
    }
    uint64_t top = e.stack[e.depth - 1];
    return (answer){true, e.is_value || e.is_register ? top : memory_at(top)};
}

/* ---- our language ---- */

static uint64_t our_cfa(const pp_rule *rule, uint64_t pc)
{
    uint64_t cfa = register_of(rule->cfa_reg, pc) + (uint64_t)(int64_t)rule->cfa_offset +
                   register_of(rule->cfa_index, pc) * rule->cfa_scale;
    return rule->cfa_read ? memory_at(cfa) + (uint64_t)(int64_t)rule->cfa_addend : cfa;
}

static answer our_register(const pp_where *where, uint64_t reg, uint64_t pc, uint64_t cfa)
{
    uint64_t offset = (uint64_t)(int64_t)where->offset;
    switch (where->kind) {
    case PP_WHERE_SAME:
        return (answer){true, register_of(reg, pc)};
    case PP_WHERE_CFA:
        return (answer){true, memory_at(cfa + offset)};
    case PP_WHERE_MEMORY:
        return (answer){true, memory_at(register_of(where->reg, pc) + offset)};
    case PP_WHERE_CFA_VALUE:
        return (answer){true, cfa + offset};
    case PP_WHERE_REGISTER:
        return (answer){true, register_of(where->reg, pc)};
    default:
        return (answer){false, 0};
    }
}

/* ---- the comparison ---- */

typedef enum disagreement {
    AGREED,
    NEITHER_HAS_A_RULE,
    ONLY_THEY_HAVE_A_RULE,
    ONLY_WE_HAVE_A_RULE,
    SIGNAL_FRAME_DIFFERS,
    RSP_DIFFERS,
    RIP_DIFFERS,
    RBP_DIFFERS,
    RBX_DIFFERS,
    DISAGREEMENTS
} disagreement;

static const char *const names[DISAGREEMENTS] = {
    "agreed",
    "neither has a rule",
    "only they have a rule",
    "only we have a rule",
    "signal frame differs",
    "rsp differs",
    "rip differs",
    "rbp differs",
    "rbx differs",
};

typedef struct tally {
    unsigned long compared;
    unsigned long of[DISAGREEMENTS];
    uint64_t example[DISAGREEMENTS];
} tally;

static bool same(answer a, answer b)
{
    return a.known == b.known && a.value == b.value;
}

static disagreement compare_rule(Dwarf_Frame *frame, bool signal_frame, const pp_rule *rule,
                                 uint64_t pc)
{
    answer cfa = their_cfa(frame, pc);
    answer rip = their_register(frame, PP_REG_RA, pc, cfa.value);
    if (signal_frame || rule->kind == PP_RULE_SIGNAL) {
        return signal_frame == (rule->kind == PP_RULE_SIGNAL) ? AGREED : SIGNAL_FRAME_DIFFERS;
    }
    if (rule->kind == PP_RULE_END) {
        return rip.known ? RIP_DIFFERS : AGREED;
    }
    if (rule->kind == PP_RULE_NONE) {
        return cfa.known ? ONLY_THEY_HAVE_A_RULE : NEITHER_HAS_A_RULE;
    }
    if (!cfa.known) {
        return ONLY_WE_HAVE_A_RULE;
    }
    uint64_t sp = our_cfa(rule, pc);
    if (!same(their_register(frame, PP_REG_SP, pc, cfa.value), (answer){true, sp})) {
        return RSP_DIFFERS;
    }
    if (!same(rip, our_register(&rule->ra, PP_REG_RA, pc, sp))) {
        return RIP_DIFFERS;
    }
    if (!same(their_register(frame, PP_REG_FP, pc, cfa.value),
              our_register(&rule->fp, PP_REG_FP, pc, sp))) {
        return RBP_DIFFERS;
    }
    if (PP_REG_BX == PP_REG_RA) {
        return AGREED; /* it is what the callee returns to */
    }
    answer rbx = their_register(frame, PP_REG_BX, pc, cfa.value);
    if (!rbx.known && rule->bx.kind == PP_WHERE_SAME) {
        return AGREED; /* elfutils' x86-64 defaults leave out rbx: never mentioned is "undefined"
                          there */
    }
    return same(rbx, our_register(&rule->bx, PP_REG_BX, pc, sp)) ? AGREED : RBX_DIFFERS;
}

/* A library as both see it. */
typedef struct subject {
    pp_image image;
    uintptr_t bias;
    Dwarf_CFI *cfi;
    tally result;
} subject;

static void compare_at(subject *s, Dwarf_Frame *frame, bool signal_frame, uint64_t pc)
{
    pp_rule rule;
    pp_cfi_open(&space);
    pp_cfi_rule(&s->image, s->bias + pc, &space, &rule);
    /* PC-relative expressions see the address in the file on one side and in memory on the other;
     * the difference is a multiple of the page size, and they look at the low bits. */
    disagreement d = compare_rule(frame, signal_frame, &rule, s->bias + pc);
    s->result.compared++;
    s->result.of[d]++;
    if (s->result.example[d] == 0) {
        s->result.example[d] = pc;
    }
}

/* All rows of the FDE that begins at `pc`. */
static void compare_function(subject *s, uint64_t pc)
{
    Dwarf_Frame *frame = NULL;
    while (dw.addrframe(s->cfi, pc, &frame) == 0) {
        Dwarf_Addr start = 0;
        Dwarf_Addr end = 0;
        bool signal_frame = false;
        dw.frame_info(frame, &start, &end, &signal_frame);
        if (end <= pc) {
            free(frame);
            break;
        }
        compare_at(s, frame, signal_frame, pc);
        if (pc + 1 < end) {
            compare_at(s, frame, signal_frame, pc + 1);
        }
        free(frame);
        frame = NULL;
        pc = end;
        if (pc >= s->image.code_hi - s->bias) {
            break;
        }
    }
}

static void print_result(const char *name, const tally *t)
{
    printf("%-20s %8lu rules, %.4f %% agree\n", name, t->compared,
           100.0 * (double)t->of[AGREED] / (double)t->compared);
    for (int d = AGREED + 1; d < DISAGREEMENTS; d++) {
        if (t->of[d] != 0) {
            printf("    %-24s %lu, the first at 0x%lx\n", names[d], t->of[d],
                   (unsigned long)t->example[d]);
        }
    }
}

typedef struct search {
    const char *name;
    char path[4096];
    uintptr_t bias, header, lo, hi, code_lo, code_hi;
} search;

static int find_library(struct dl_phdr_info *info, size_t size, void *context)
{
    search *found = context;
    (void)size;
    if (strstr(info->dlpi_name, found->name) == NULL) {
        return 0;
    }
    snprintf(found->path, sizeof found->path, "%s", info->dlpi_name);
    found->bias = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_GNU_EH_FRAME) {
            found->header = info->dlpi_addr + p->p_vaddr;
        }
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
            found->code_lo = info->dlpi_addr + p->p_vaddr;
            found->code_hi = found->code_lo + p->p_memsz;
        }
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && found->header >= start && found->header < start + p->p_memsz) {
            found->lo = start;
            found->hi = start + p->p_memsz;
        }
    }
    return 1;
}

/* The sorted table of .eh_frame_hdr: datarel sdata4 pairs behind 12 bytes, as every linker writes
 * it. */
static void compare_all_functions(subject *s)
{
    int32_t entry[2];
    uint32_t count = 0;
    memcpy(&count, (const char *)s->image.header + 8, sizeof count);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(entry, (const char *)s->image.header + 12 + i * sizeof entry, sizeof entry);
        compare_function(s, s->image.header + (uintptr_t)(intptr_t)entry[0] - s->bias);
    }
}

static void compare_library(const char *name, bool permanent)
{
    search found = {.name = name};
    dlopen(name, RTLD_NOW); /* left open */
    if (dl_iterate_phdr(find_library, &found) == 0) {
        printf("%-20s is not here\n", name);
        return;
    }
    int fd = open(found.path, O_RDONLY);
    assert_true(fd >= 0);
    Elf *elf = dw.elf_begin(fd, ELF_C_READ_MMAP, NULL);
    assert_non_null(elf);
    subject s = {.image = {.lo = found.lo,
                           .hi = found.hi,
                           .header = found.header,
                           .code_lo = found.code_lo,
                           .code_hi = found.code_hi,
                           .permanent = permanent},
                 .bias = found.bias,
                 .cfi = dw.getcfi_elf(elf)};
    assert_non_null(s.cfi);
    compare_all_functions(&s);
    print_result(name, &s.result);
    assert_true(s.result.compared > 100);
    assert_true((double)s.result.of[AGREED] >= 0.999 * (double)s.result.compared);
    dw.cfi_end(s.cfi);
    dw.elf_end(elf);
    close(fd);
}

static void c_library_agrees(void **state)
{
    (void)state;
    compare_library("libc.so.6", true);
}

static void loader_agrees(void **state)
{
    (void)state;
    compare_library("ld-linux-x86-64.so.2", true);
}

static void loader_agrees_through_safe_copies(void **state)
{
    (void)state;
    compare_library("ld-linux-x86-64.so.2", false);
}

static void libz_agrees(void **state)
{
    (void)state;
    compare_library("libz.so.1", true);
}

static void cpp_library_agrees(void **state)
{
    (void)state;
    compare_library("libstdc++.so.6", true);
}

static void libcrypto_agrees(void **state)
{
    (void)state;
    compare_library("libcrypto.so.3", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c_library_agrees),
        cmocka_unit_test(loader_agrees),
        cmocka_unit_test(loader_agrees_through_safe_copies),
        cmocka_unit_test(libz_agrees),
        cmocka_unit_test(cpp_library_agrees),
        cmocka_unit_test(libcrypto_agrees),
    };
    if (!load_libdw()) {
        fputs("libdw.so.1 is not installed: nothing to compare with\n", stderr);
        return 77;
    }
    dw.elf_version(EV_CURRENT);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    fputs("built without libdw's header: nothing to compare with\n", stderr);
    return 77;
}

#endif
