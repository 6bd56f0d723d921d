/* SPDX-License-Identifier: MIT
 *
 * test_walk_storm.c: walks over stacks that are not what they should be, by the million.
 *
 *   [ forbidden | the stack that the walk runs on | page | page | hole | page ... | forbidden ]
 *                                                  ^-------------- stage -------^
 *
 * The words of the stage and the registers are random, but chosen to lead on: PCs of the modules
 * that are loaded (whatever rule these have there), the signal restorer, addresses in the stage
 * (also odd ones, also in its holes), numbers that are addresses nowhere. Then some of them change,
 * as those of a stack do between two samples, and so on. A walk must come back without a fault,
 * within its room, and must not depend on what the rule cache or the memo knows already.
 *
 * STRESS=long: a hundred times as many.
 *
 * Nightly: 1
 *
 * Architecture: x86_64
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/registers.h"
#include "base/random.h"
#include "base/stack_hash.h"
#include "modules/loader.h"
#include "modules/modules.h"
#include "sys/safe_read.h"
#include "unwind/cfi.h"
#include "unwind/rule_cache.h"
#include "unwind/stack_memory.h"
#include "unwind/walk.h"

#include "other_stack.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    PAGES = 16,
    RUN_BYTES = 64 * PAGE, /* of the stack below the stage */
    GAP = 2 * PAGE,        /* at its upper end, left alone */
    WORDS = PAGE / 8,
    DEPTH = 256,
    MAX_MODULES = 64,
    TAME = 2048,
    UNTOUCHED = 0xee
};

/* ---- code that is never executed ---- */

static size_t below(size_t bound);

/* Rules that are rare in libraries, on the registers that a walk carries along. */
#define CODE(name, cfi)                                                                            \
    __asm__(".text\n.p2align 4\n" #name ":\n.cfi_startproc\n" cfi                                  \
            ".rept 8\ncall *%rax\n.endr\n.cfi_endproc\n");                                         \
    extern const char(name)[]

CODE(code_both, ".cfi_def_cfa_offset 32\n.cfi_offset rbp, -16\n.cfi_offset rbx, -24\n");
CODE(code_saves_rbx, ".cfi_def_cfa_offset 24\n.cfi_offset rbx, -16\n");
CODE(code_saves_rbp, ".cfi_def_cfa_offset 16\n.cfi_offset rbp, -16\n");
CODE(code_on_rbp, ".cfi_def_cfa rbp, 16\n.cfi_offset rbp, -16\n");
CODE(code_on_rbx, ".cfi_def_cfa rbx, 24\n.cfi_offset rbx, -24\n");
CODE(code_deref, ".cfi_escape 0x0f, 5, 0x77, 16, 0x06, 0x23, 8\n"); /* *(rsp + 16) + 8 */
CODE(code_moves, ".cfi_def_cfa_offset 16\n.cfi_register rbp, rbx\n.cfi_undefined rbx\n");
CODE(code_flat, ".cfi_def_cfa_offset 0\n");
CODE(code_end, ".cfi_undefined rip\n");

static uintptr_t rare_pc(void)
{
    static const char *const codes[] = {code_both,   code_saves_rbx, code_saves_rbp,
                                        code_on_rbp, code_on_rbx,    code_deref,
                                        code_moves,  code_flat,      code_end};
    return (uintptr_t)codes[below(sizeof codes / sizeof *codes)] + 2 * below(9);
}

/* ---- the stage ---- */

static char *stage;       /* PAGES pages between two that are forbidden */
static bool holes[PAGES]; /* pages that cannot be read */
static uint64_t seed;
static uintptr_t restorer;
static pp_walk_space space;
static uintptr_t tame[TAME];   /* PCs that a walk gets past */
static size_t tame_percent;    /* of the stage's words */
static size_t rare_one_in = 3; /* of these */
static struct {
    uintptr_t lo, hi;
} modules[MAX_MODULES];
static size_t module_count;

static long rounds_of(long rounds)
{
    const char *stress = getenv("STRESS");
    return stress != NULL && strcmp(stress, "long") == 0 ? rounds * 100 : rounds;
}

static size_t below(size_t bound)
{
    return (size_t)pp_random_below(&seed, bound);
}

static uintptr_t *word_of_stage(size_t index)
{
    return (uintptr_t *)(void *)stage + index;
}

static int note_module(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    for (int i = 0; i < info->dlpi_phnum && module_count < MAX_MODULES; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
            modules[module_count].lo = info->dlpi_addr + p->p_vaddr;
            modules[module_count].hi = modules[module_count].lo + p->p_memsz;
            module_count++;
        }
    }
    return 0;
}

__attribute__((noinline)) static void note_restorer(int number)
{
    (void)number;
    restorer = (uintptr_t)__builtin_return_address(0);
}

static uintptr_t random_pc(void)
{
    size_t index = below(module_count);
    return modules[index].lo + below(modules[index].hi - modules[index].lo);
}

/* Whether a stack of random words goes on behind a frame at this return address. */
static bool is_tame(uintptr_t pc)
{
    pp_module module;
    pp_rule rule;
    if (!pp_modules_find(pc - 1, &module))
        return false;
    pp_image image = {.lo = module.cfi_lo,
                      .hi = module.cfi_hi,
                      .header = module.eh_frame_hdr,
                      .code_lo = module.code_lo,
                      .code_hi = module.code_hi,
                      .permanent = module.permanent};
    pp_cfi_open(&space.cfi);
    pp_cfi_rule(&image, pc - 1, &space.cfi, &rule);
    return rule.kind == PP_RULE_FRAME && rule.cfa_reg == PP_REG_SP && rule.cfa_offset <= 64;
}

/* A third of the tame ones are all the same few: what the cache knows is met, too. */
static uintptr_t tame_pc(void)
{
    return tame[below(3) == 0 ? below(16) : below(TAME)];
}

static bool find_tame(void)
{
    size_t found = 0;
    for (long i = 0; i < 100 * TAME && found < TAME; i++) {
        uintptr_t pc = random_pc();
        if (is_tame(pc))
            tame[found++] = pc;
    }
    return found == TAME;
}

static uintptr_t address_in_stage(void)
{
    switch (below(8)) {
    case 0:
        return (uintptr_t)stage + below(PAGES * PAGE); /* odd */
    case 1:
        return (uintptr_t)stage + PAGES * PAGE - 8 * below(40); /* the end */
    case 2:
        return (uintptr_t)stage + PAGE * below(PAGES) - 8 * below(3); /* a page's edge */
    default:
        return (uintptr_t)word_of_stage(below(PAGES * WORDS));
    }
}

static uintptr_t address_of_nothing(void)
{
    static const uintptr_t nothing[] = {0,
                                        1,
                                        8,
                                        0x7f,
                                        0x80,
                                        0x1000,
                                        0x7ffffffff000,
                                        0x7ffffffffff8,
                                        0x800000000000,
                                        0x8000000000000000,
                                        0xffff800000000000,
                                        0xffffffffff600000,
                                        UINTPTR_MAX - 4096,
                                        UINTPTR_MAX - 264,
                                        UINTPTR_MAX - 128,
                                        UINTPTR_MAX - 15,
                                        UINTPTR_MAX - 7,
                                        UINTPTR_MAX};
    return nothing[below(sizeof nothing / sizeof *nothing)];
}

static uintptr_t random_word(void)
{
    if (below(100) < tame_percent)
        return below(rare_one_in) == 0 ? rare_pc() : tame_pc();
    switch (below(16)) {
    case 0:
        return (uintptr_t)pp_random_next(&seed);
    case 1:
        return address_of_nothing();
    case 2:
        return restorer;
    case 3:
    case 4:
    case 5:
    case 6:
        return address_in_stage();
    case 7:
        return below(2) ? below(100000) : (uintptr_t)0 - below(100000);
    default:
        return random_pc();
    }
}

static void dig_holes(void)
{
    for (size_t i = 0; i < PAGES; i++) {
        holes[i] = below(6) == 0;
        mprotect(stage + i * PAGE, PAGE, holes[i] ? PROT_NONE : PROT_READ | PROT_WRITE);
    }
}

static void fill_holes(void)
{
    memset(holes, 0, sizeof holes);
    mprotect(stage, PAGES * PAGE, PROT_READ | PROT_WRITE);
}

static void fill_stage(void)
{
    static const size_t percents[] = {0, 50, 80, 95, 100, 100};
    tame_percent = percents[below(6)];
    rare_one_in = below(2) ? 3 : 50;
    for (size_t i = 0; i < PAGES * WORDS; i++) {
        if (!holes[i / WORDS])
            *word_of_stage(i) = random_word();
    }
}

static uintptr_t random_sp(void)
{
    switch (below(16)) {
    case 0:
        return address_of_nothing();
    case 1:
        return (uintptr_t)pp_random_next(&seed);
    default:
        return address_in_stage();
    }
}

static ucontext_t random_context(void)
{
    ucontext_t context;
    memset(&context, 0, sizeof context);
    tame_percent = 0;
    for (int i = 0; i < PP_REG_COUNT; i++)
        context.uc_mcontext.gregs[pp_greg_of_register[i]] = (greg_t)random_word();
    context.uc_mcontext.gregs[REG_RSP] = (greg_t)random_sp();
    if (below(4) != 0)
        context.uc_mcontext.gregs[REG_RIP] = (greg_t)tame_pc();
    else if (below(2))
        context.uc_mcontext.gregs[REG_RIP] = (greg_t)random_pc();
    return context;
}

/* ---- walks ---- */

typedef struct outcome {
    uintptr_t pcs[DEPTH + 1];
    pp_walk walk;
} outcome;

typedef struct question {
    ucontext_t context;
    uint32_t capacity, skip;
    bool caller; /* the frame is a caller's; else interrupted */
} question;

static void walk_from(const question *q, pp_walk *walk)
{
    const greg_t *r = q->context.uc_mcontext.gregs;
    uintptr_t return_address = (uintptr_t)r[REG_RIP] + 1;
    pp_caller caller = {.return_address = return_address,
                        .sp = (uintptr_t)r[REG_RSP],
                        .fp = (uintptr_t)r[REG_RBP],
                        .bx = (uintptr_t)r[REG_RBX]};
    if (q->caller && return_address != 0)
        pp_walk_from_caller(&caller, walk);
    else
        pp_walk_from_context(&q->context, walk);
}

static void ask(outcome *o, const question *q, bool without_memo)
{
    memset(o->pcs, UNTOUCHED, sizeof o->pcs);
    o->walk = (pp_walk){.pcs = o->pcs,
                        .space = &space,
                        .capacity = q->capacity,
                        .skip = q->skip,
                        .without_memo = without_memo,
                        .wants_hash = true};
    walk_from(q, &o->walk);
    assert_in_range(o->walk.depth, 0, q->capacity);
    assert_in_range(o->walk.stop, PP_STOP_END, PP_STOP_BAD_READ);
    for (size_t i = o->walk.depth; i <= DEPTH; i++)
        assert_int_equal(o->pcs[i], UINT64_C(0xeeeeeeeeeeeeeeee));
}

static void check_same(const outcome *a, const outcome *b)
{
    assert_int_equal(a->walk.depth, b->walk.depth);
    assert_memory_equal(a->pcs, b->pcs, a->walk.depth * sizeof *a->pcs);
    assert_int_equal(a->walk.stop, b->walk.stop);
    assert_int_equal(a->walk.guessed, b->walk.guessed);
    assert_int_equal(a->walk.hash, b->walk.hash);
}

static void new_question(question *q)
{
    q->context = random_context();
    q->caller = below(4) == 0;
    q->capacity = below(8) == 0 ? (uint32_t)below(DEPTH + 1) : DEPTH;
    q->skip = below(8) == 0 ? (uint32_t)below(DEPTH) : 0;
}

/* Words behind SP, mostly those just behind it; or a register. */
static void change_something(question *q)
{
    greg_t *r = q->context.uc_mcontext.gregs;
    tame_percent = 90;
    for (size_t changes = 1 + below(3); changes > 0; changes--) {
        uintptr_t at = (uintptr_t)r[REG_RSP] + 8 * below(below(2) ? 32 : 1024) - (uintptr_t)stage;
        if (at < PAGES * PAGE && !holes[at / PAGE])
            *word_of_stage(at / 8) = random_word();
        if (below(16) == 0)
            r[pp_greg_of_register[below(PP_REG_COUNT)]] = (greg_t)random_word();
        if (below(16) == 0) /* a step up or down the same stack */
            r[REG_RSP] = (greg_t)((uintptr_t)r[REG_RSP] + 8 * below(9) - 32);
        if (below(8) == 0)
            q->caller = !q->caller;
    }
}

static long storm_rounds;

static void storm(void)
{
    static outcome with, without;
    static question q;
    for (long round = 0; round < storm_rounds; round++) {
        if (round % 256 == 0)
            fill_stage();
        if (round % 1024 == 0)
            pp_rule_cache_clear();
        if (round % 512 == 0)
            pp_loader_note_change();
        if (round % 8 == 0)
            new_question(&q);
        else
            change_something(&q);
        ask(&with, &q, false);
        ask(&without, &q, true);
        check_same(&with, &without);
        assert_int_equal(with.walk.hash, pp_stack_hash(with.pcs, with.walk.depth));
    }
}

/* Not directly below: what a rule reads in front of the stage's first words must be the same in
 * both walks of a question, and our own frames are not. */
static void run_below_stage(void (*function)(void))
{
    run_on_other_stack(stage - GAP, function);
}

/* ---- storms ---- */

/* All of the stage is read through copies. */
static void stacks_that_the_walk_does_not_run_on(void **state)
{
    (void)state;
    storm_rounds = 4096;
    for (long done = 0; done < rounds_of(16384); done += storm_rounds) {
        dig_holes();
        storm();
    }
    fill_holes();
}

/* Page by page, until one cannot be read. */
static void stacks_whose_end_is_not_known(void **state)
{
    (void)state;
    storm_rounds = 4096;
    for (long done = 0; done < rounds_of(50000); done += storm_rounds) {
        dig_holes();
        run_below_stage(storm);
    }
    fill_holes();
}

/* Up to the first hole the stack is the thread's own, as a thread's is from its start on. */
static void stacks_whose_end_is_known(void **state)
{
    (void)state;
    storm_rounds = 4096;
    for (long done = 0; done < rounds_of(250000); done += storm_rounds) {
        size_t pages = 0;
        dig_holes();
        while (pages < PAGES && !holes[pages])
            pages++;
        pp_stack_declare((uintptr_t)stage - RUN_BYTES, (uintptr_t)stage + pages * PAGE);
        run_below_stage(storm);
        pp_stack_declare(0, 0);
    }
    fill_holes();
}

/* ---- another thread's doing ---- */

static bool storm_is_over;

/* Pages go and come: forbidden and allowed, unmapped and mapped. */
static void *change_pages(void *unused)
{
    uint64_t own_seed = 23;
    while (!__atomic_load_n(&storm_is_over, __ATOMIC_RELAXED)) {
        char *page = stage + pp_random_below(&own_seed, PAGES) * PAGE;
        if (pp_random_below(&own_seed, 2)) {
            mprotect(page, PAGE, PROT_NONE);
            mprotect(page, PAGE, PROT_READ | PROT_WRITE);
        } else {
            munmap(page, PAGE);
            (void)mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                       -1, 0);
        }
    }
    return unused;
}

/* What was written is lost page by page to zeroes. New words go in by a system call, which fails
 * where a store would be the test's own fault. */
static void write_page(void)
{
    static uintptr_t words[WORDS];
    struct iovec from = {words, PAGE};
    struct iovec to = {stage + below(PAGES) * PAGE, PAGE};
    tame_percent = 80;
    for (size_t i = 0; i < WORDS; i++)
        words[i] = random_word();
    (void)!process_vm_writev(getpid(), &from, 1, &to, 1, 0);
}

static void storm_over_changes(void)
{
    static outcome o;
    static question q;
    for (long round = 0; round < storm_rounds; round++) {
        if (round % 16 == 0)
            write_page();
        new_question(&q);
        ask(&o, &q, round % 2);
    }
}

/* A fault ends the child. */
static void stacks_that_another_thread_unmaps(void **state)
{
    (void)state;
    pthread_t thread;
    int status = 0;
    fill_holes();
    storm_rounds = rounds_of(50000);
    pid_t child = fork();
    if (child == 0) {
        fill_stage();
        if (pthread_create(&thread, NULL, change_pages, NULL) != 0)
            _exit(1);
        storm_over_changes();
        __atomic_store_n(&storm_is_over, true, __ATOMIC_RELAXED);
        pthread_join(thread, NULL);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int set_up(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = note_restorer};
    pp_safe_read_permit_copy(); /* another thread unmaps what is read */
    char *memory =
        mmap(NULL, RUN_BYTES + (PAGES + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + PAGE, RUN_BYTES, PROT_READ | PROT_WRITE) != 0)
        return -1;
    stage = memory + PAGE + RUN_BYTES;
    seed = 17;
    fill_holes();
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    pp_modules_init();
    pp_modules_refresh();
    dl_iterate_phdr(note_module, NULL);
    return restorer != 0 && module_count > 2 && find_tame() ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_that_the_walk_does_not_run_on),
        cmocka_unit_test(stacks_whose_end_is_not_known),
        cmocka_unit_test(stacks_whose_end_is_known),
        cmocka_unit_test(stacks_that_another_thread_unmaps),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
