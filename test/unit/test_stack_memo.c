/* SPDX-License-Identifier: MIT
 *
 * test_stack_memo.c: a walk along the memo finds what a walk without it finds.
 *
 * Stacks are made by stack_machine.h. Nearly every test changes something between two walks, and
 * compares each walk with one that looks every frame's rule up. Interrupted walks, threads and
 * processes are in test_stack_memo_nested.c.
 *
 * Architecture: x86_64
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stack_machine.h"
#include "modules/loader.h"
#include "modules/modules.h"
#include "unwind/rule_cache.h"
#include "unwind/stack_memo.h"
#include "unwind/stack_memory.h"

#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { RANDOM_WALKS = 60000 };
#else
enum { RANDOM_WALKS = 500000 };
#endif

enum { WORDS = 16384, ALT_WORDS = 4096 };

static uintptr_t *array;                                 /* in main()'s frame, above all walks */
static uintptr_t elsewhere[WORDS], alternate[ALT_WORDS]; /* not where we run: copied */
static uintptr_t own_lowest, own_top;                    /* of this thread's stack */
static machine m;
static machine_tools tools;
static pp_memo *memo; /* of this thread */

static const pp_walk whole = {.capacity = MACHINE_DEPTH, .wants_hash = true};

/* What the memo holds of frames that are followed by words. */
static unsigned remembered_steps(void)
{
    unsigned steps = 0;
    for (uint32_t i = 0; i < memo->count; i++)
        steps += pp_memo_at(memo, memo->first + i)->kind == PP_MEMO_STEP;
    return steps;
}

static void forget(void)
{
    memo->count = 0;
}

static void check(void)
{
    machine_start start = machine_now(&m);
    assert_walks_agree(&tools, &start, .capacity = MACHINE_DEPTH, .wants_hash = true);
}

/* So that the memo follows whatever can be followed. */
static void check_twice(void)
{
    check();
    check();
}

static const machine_kind steps_of_all_sorts[] = {KIND_PLAIN, KIND_BOTH, KIND_ON_FP,   KIND_BX,
                                                  KIND_FAR,   KIND_LEAF, KIND_ON_FP_BX};

static void call_steps(size_t frames)
{
    for (size_t i = 0; i < frames; i++)
        machine_call(&m, steps_of_all_sorts[i % 7], (unsigned)(i / 7));
}

/* An empty stack, all of which is one window. */
static void reset(void)
{
    pp_stack_declare(own_lowest, own_top);
    memset(array, 0, WORDS * sizeof *array);
    memset(alternate, 0, sizeof alternate);
    m = (machine){.lo = array, .hi = array + WORDS, .seed = 11};
    machine_reset(&m, (uintptr_t)machine_end + 4);
}

/* ---- that it is used at all ---- */

static void a_repeated_stack_is_taken_from_the_memo(void **state)
{
    (void)state;
    reset();
    call_steps(60);
    check(); /* fills the rule cache */
    check();
    assert_int_equal(tools.with.walk.depth, 61);
    unsigned steps = remembered_steps();
    assert_in_range(steps, 50, 60);
    pp_rule_cache_clear();
    check(); /* rules would be computed now, and their frames left open */
    assert_int_equal(remembered_steps(), steps);
}

/* Wherever in the ring it lies. */
static void a_stack_is_followed_across_the_end_of_the_ring(void **state)
{
    (void)state;
    for (size_t round = 0; round < 3 * PP_MEMO_FRAMES; round++) {
        reset();
        for (size_t i = 0; i < 40 + round % 3; i++)
            machine_call(&m, KIND_PLAIN, (unsigned)round); /* no frame as a round before */
        check_twice();
        unsigned steps = remembered_steps();
        assert_in_range(steps, 38, 43);
        pp_rule_cache_clear();
        check();
        assert_int_equal(remembered_steps(), steps);
        check(); /* rules are known again */
    }
}

static void a_remembered_hash_is_used(void **state)
{
    (void)state;
    reset();
    call_steps(60);
    check_twice();
    uint64_t hash = tools.with.walk.hash;
    for (uint32_t i = 0; i < memo->count; i++)
        pp_memo_at(memo, memo->first + i)->hash ^= 1;
    machine_start start = machine_now(&m);
    machine_walk_one(&tools, &tools.with, &start, whole);
    assert_int_not_equal(tools.with.walk.hash, hash);
    forget();
}

static void a_rule_missing_at_first_becomes_a_step(void **state)
{
    (void)state;
    reset();
    call_steps(60);
    forget();
    pp_rule_cache_clear();
    machine_start start = machine_now(&m);
    machine_walk_one(&tools, &tools.with, &start, whole);
    assert_in_range(remembered_steps(), 0, 20); /* some PCs occur twice */
    check_twice();
    assert_in_range(remembered_steps(), 50, 60);
}

/* ---- words that have changed ---- */

static uintptr_t other_word(unsigned which, uintptr_t old)
{
    switch (which) {
    case 0:
        return 0;
    case 1:
        return old + 8;
    case 2:
        return old ^ 2;
    case 3:
        return machine_pc(KIND_PLAIN, 3);
    case 4:
        return (uintptr_t)&array[WORDS - 40];
    case 5:
        return machine_pc(KIND_ON_FP, 2);
    default:
        return UINTPTR_MAX;
    }
}

/* Each word of the stack in turn; `apart` more is changed while it is. */
static void perturb_each_word(void)
{
    uintptr_t *lowest = machine_word(machine_top(&m)->sp) - 8;
    for (uintptr_t *word = lowest; word < array + WORDS; word++) {
        uintptr_t old = *word;
        for (unsigned which = 0; which < 7; which++) {
            check(); /* the memo has the old word */
            *word = other_word(which, old);
            check_twice();
            *word = old;
        }
    }
    check_twice();
}

/* So that pages are asked for one by one. */
static void declare_nothing_if(bool foreign)
{
    if (foreign)
        pp_stack_declare(0, 0);
}

static void each_word_matters(void **state)
{
    (void)state;
    for (int foreign = 0; foreign < 2; foreign++) {
        reset();
        call_steps(28);
        declare_nothing_if(foreign);
        perturb_each_word();
        reset(); /* nearly all frames alike */
        for (unsigned i = 0; i < 40; i++)
            machine_call(&m, i % 20 == 10 ? KIND_ON_FP : KIND_PLAIN, 1);
        declare_nothing_if(foreign);
        perturb_each_word();
    }
}

static void each_word_between_open_steps_matters(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * (KIND_COUNT - KIND_LAST_STEP - 1); i++) {
        machine_kind kind = (machine_kind)(KIND_LAST_STEP + 1 + i / 2);
        reset();
        declare_nothing_if(i % 2 != 0);
        m.alt_lo = alternate;
        m.alt_hi = alternate + ALT_WORDS;
        call_steps(8);
        machine_call(&m, kind, 1);
        call_steps(8);
        machine_call(&m, kind, 1);
        call_steps(1);
        perturb_each_word();
    }
}

/* What the frames' registers save is not part of any stack: it only matters to frames above. */
static void each_register_matters(void **state)
{
    (void)state;
    reset();
    for (unsigned i = 0; i < 60; i++)
        machine_call(&m, i % 9 == 5 ? KIND_ON_FP : i % 9 == 7 ? KIND_ON_BX : KIND_PLAIN, i);
    for (size_t depth = m.depth; depth > 0; depth--) {
        for (unsigned which = 0; which < 14; which++) {
            m.depth = 61;
            check();
            m.depth = depth;
            machine_start start = machine_now(&m);
            uintptr_t *place = which < 7 ? &start.at.fp : &start.at.bx;
            *place = other_word(which % 7, *place);
            start.as_caller = depth % 2 != 0;
            assert_walks_agree(&tools, &start, .capacity = MACHINE_DEPTH, .wants_hash = true);
            assert_walks_agree(&tools, &start, .capacity = MACHINE_DEPTH, .wants_hash = true);
        }
    }
}

/* Frame `other` is in another PC of its function, all else is alike. */
static void stacks_that_share_all_but_one_frame_alternate(void **state)
{
    (void)state;
    enum { FRAMES = 50 };
    for (size_t other = 0; other < FRAMES; other++) {
        reset();
        call_steps(FRAMES);
        uintptr_t *word = machine_word(m.frame[other].sp) - 1;
        assert_int_equal(*word, m.frame[other].pc);
        for (int round = 0; round < 6; round++) {
            *word ^= 2;
            check();
            if (round == 3)
                check();
        }
    }
}

/* An open step that leads elsewhere while the words agree: by a register that is not remembered. */
static void open_steps_are_taken_each_time(void **state)
{
    (void)state;
    reset();
    call_steps(10);
    machine_frame here = *machine_top(&m);
    machine_call(&m, KIND_ON_R10, 1);
    machine_start start = machine_now(&m);
    for (size_t i = 0; i < 40; i++) {
        /* The CFA is that of another frame, or the frame's own. */
        const machine_frame *to = &m.frame[1 + i * 7 % 10];
        uintptr_t cfa = i % 3 != 0 ? to->sp : here.sp;
        start.r10 = cfa - 8;
        assert_walks_agree(&tools, &start, .capacity = MACHINE_DEPTH, .wants_hash = true);
    }
}

/* A signal frame whose registers are those of an inner frame: it goes round until there is
 * no room. */
static void stacks_that_lead_back_to_themselves(void **state)
{
    (void)state;
    for (size_t length = 1; length < 130; length += 1 + length / 12) {
        for (size_t back = 0; back < length; back += 1 + back / 3) {
            reset();
            call_steps(3);
            machine_interrupt(&m);
            uintptr_t sp = machine_top(&m)->sp;
            call_steps(length);
            const machine_frame *to = machine_top(&m) - back;
            check_twice();
            *machine_word(pp_signal_frame_slot(sp, PP_REG_RA)) = to->pc;
            *machine_word(pp_signal_frame_slot(sp, PP_REG_SP)) = to->sp;
            *machine_word(pp_signal_frame_slot(sp, PP_REG_FP)) = to->fp;
            *machine_word(pp_signal_frame_slot(sp, PP_REG_BX)) = to->bx;
            check_twice();
            assert_int_equal(tools.with.walk.depth, MACHINE_DEPTH);
            *machine_word(pp_signal_frame_slot(sp, PP_REG_SP)) = to->sp + 8;
            check_twice();
        }
    }
}

static void registers_of_zero_are_not_known(void **state)
{
    (void)state;
    for (unsigned mask = 0; mask < 4; mask++) {
        reset();
        call_steps(5);
        machine_top(&m)->fp = mask & 1 ? 0 : machine_top(&m)->fp;
        machine_top(&m)->bx = mask & 2 ? 0 : machine_top(&m)->bx;
        for (unsigned i = 0; i < 30; i++) {
            machine_call(&m, (machine_kind)(i * 5 % KIND_SIGNAL), i);
            if (i % 3 == 0)
                machine_top(&m)->fp = 0;
            if (i % 3 == 1)
                machine_top(&m)->bx = 0;
        }
        check_twice();
        machine_start start = machine_now(&m);
        start.at.fp = start.at.bx = 0;
        assert_walks_agree(&tools, &start, .capacity = MACHINE_DEPTH);
        start.as_caller = true;
        assert_walks_agree(&tools, &start, .capacity = MACHINE_DEPTH);
    }
}

/* The stored PC 0 is the memo's sign of the end; it can be that of a frame, too. */
static void a_pc_of_zero_that_is_not_the_end(void **state)
{
    (void)state;
    reset();
    machine_reset(&m, 0);
    call_steps(4);
    uintptr_t end_sp = m.frame[0].sp;
    check_twice();
    machine_start nowhere = {.at = m.frame[0], .as_caller = true};
    assert_int_equal(nowhere.at.sp, end_sp);
    assert_walks_agree(&tools, &nowhere, .capacity = MACHINE_DEPTH, .wants_hash = true);
    assert_walks_agree(&tools, &nowhere, .capacity = MACHINE_DEPTH, .wants_hash = true);
    /* An interrupted instruction at the highest address is stored as 0. */
    reset();
    call_steps(10);
    *machine_word(machine_top(&m)->sp) = machine_pc(KIND_PLAIN, 1);
    machine_frame wild = *machine_top(&m);
    wild.pc = UINTPTR_MAX;
    wild.sp -= 8;
    *machine_word(wild.sp) = machine_top(&m)->pc;
    m.frame[m.depth++] = wild;
    machine_interrupt(&m);
    call_steps(10);
    check_twice();
    assert_in_range(tools.with.walk.depth, 22, 24);
}

/* ---- how deep, how much of it ---- */

static const size_t depths[] = {1,   2,   3,   55,  56,  57,  110, 111,
                                112, 113, 114, 168, 223, 224, 225, 500};

static void stacks_deeper_than_the_memo_are_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        for (int ends_in_zero = 0; ends_in_zero < 2; ends_in_zero++) {
            reset();
            if (ends_in_zero)
                machine_reset(&m, 0);
            while (m.depth < depths[i])
                machine_call(&m,
                             m.depth % 31 == 30 ? KIND_DEREF
                             : m.depth % 5 == 0 ? KIND_ON_FP
                                                : KIND_PLAIN,
                             (unsigned)m.depth);
            for (int again = 0; again < 3; again++) {
                check();
                assert_int_equal(tools.with.walk.depth,
                                 depths[i] - (size_t)(ends_in_zero && depths[i] > 1));
            }
            /* Leaf-most frames go and come. */
            for (size_t cut = 1; cut < depths[i] && cut < 300; cut += cut / 4 + 1) {
                size_t depth = m.depth;
                m.depth -= cut;
                check_twice();
                machine_call(&m, KIND_BOTH, 1);
                check();
                m.depth--;
                while (m.depth < depth)
                    machine_call(&m, KIND_PLAIN, (unsigned)m.depth / 3);
                check_twice();
            }
        }
    }
}

static void capacity_and_skip_cut_a_remembered_stack(void **state)
{
    (void)state;
    static const size_t some_depths[] = {5, 60, 111, 112, 113, 150};
    for (size_t i = 0; i < sizeof some_depths / sizeof *some_depths; i++) {
        reset();
        if (i % 2 == 0)
            machine_reset(&m, 0);
        while (m.depth < some_depths[i])
            machine_call(&m, m.depth % 20 == 7 ? KIND_DRAP : steps_of_all_sorts[m.depth % 3], 2);
        machine_start start = machine_now(&m);
        uint32_t most = (uint32_t)m.depth + 3;
        for (uint32_t skip = 0; skip < most; skip += skip / 5 + 1) {
            for (uint32_t capacity = 0; capacity < most; capacity += capacity / 7 + 1) {
                for (int repeat = 0; repeat < 2; repeat++) {
                    if ((capacity + skip) % 3 == 0)
                        check();
                    start.as_caller = !start.as_caller;
                    assert_walks_agree(&tools, &start, .capacity = capacity, .skip = skip,
                                       .wants_hash = true);
                }
            }
        }
    }
}

/* ---- rules that have changed ---- */

/* Publishes the rule of code that no module has, as that of a removable one. */
static void publish_rule(uintptr_t pc, int32_t cfa_offset)
{
    pp_rule rule = {.kind = PP_RULE_FRAME,
                    .cfa_offset = cfa_offset,
                    .cfa_reg = PP_REG_SP,
                    .fp = {.kind = PP_WHERE_SAME},
                    .bx = {.kind = PP_WHERE_SAME},
                    .ra = {.kind = PP_WHERE_CFA, .offset = -8}};
    uint64_t epoch = pp_loader_epoch();
    pp_rule_cache_publish(pc - 1, &rule, epoch, pp_rule_cache_generation(epoch));
}

/* Where the frame's caller is depends on its rule alone, whose words all agree. */
static void another_epoch_has_other_rules(void **state)
{
    (void)state;
    char *code = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(code, MAP_FAILED);
    uintptr_t pc = (uintptr_t)code + 100;
    reset();
    for (uintptr_t *word = array + WORDS - 201; word < array + WORDS; word++)
        *word = machine_pc(KIND_PLAIN, 1);
    array[WORDS - 1] = array[WORDS - 2] = (uintptr_t)machine_end + 4;
    array[WORDS - 201] = pc;
    m.frame[0] =
        (machine_frame){.pc = machine_pc(KIND_LEAF, 1), .sp = (uintptr_t)(array + WORDS - 201)};
    for (int32_t round = 0; round < 150; round++) {
        publish_rule(pc, 8 * (1 + round % 7));
        check_twice();
        assert_int_equal(tools.with.pcs[1], pc);
        assert_in_range(tools.with.walk.depth, 90, 103);
        assert_in_range(remembered_steps(), 70, 101);
        pp_loader_note_change();
        if (round % 3 == 0)
            check(); /* no rule */
    }
    munmap(code, 4096);
}

static void another_epoch_forgets(void **state)
{
    (void)state;
    reset();
    call_steps(20);
    check_twice();
    pp_memo_use use;
    assert_true(memo->count > 0);
    pp_memo_open(&use, pp_loader_epoch());
    assert_ptr_equal(use.memo, memo);
    assert_int_not_equal(use.old_lo, use.old_hi);
    pp_memo_close(&use, false, 0, NULL);
    check_twice();
    pp_loader_note_change();
    pp_memo_open(&use, pp_loader_epoch());
    assert_int_equal(use.old_lo, use.old_hi);
    pp_memo_close(&use, false, 0, NULL);
    check_twice();
}

static void a_rule_that_appears_replaces_a_guess(void **state)
{
    (void)state;
    char *code = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(code, MAP_FAILED);
    reset();
    call_steps(10);
    machine_call(&m, KIND_BARE, 1);
    machine_frame *bare = machine_top(&m);
    bare->pc = (uintptr_t)code + 50;
    uintptr_t cfa = bare->fp + 16;
    machine_call(&m, KIND_PLAIN, 1);
    check_twice();
    assert_true(tools.with.walk.guessed);
    publish_rule(bare->pc, (int32_t)(cfa - bare->sp));
    for (int i = 0; i < 3; i++) {
        check();
        assert_false(tools.with.walk.guessed);
    }
    munmap(code, 4096);
}

/* ---- at random ---- */

enum { UNDO = 4 };

typedef struct shaker {
    machine *m;
    uint64_t seed;
    struct {
        uintptr_t *word;
        uintptr_t old;
    } undo[UNDO];
    unsigned undoable;
    bool alike; /* functions and PCs are few: much recursion */
} shaker;

static machine_kind random_kind(shaker *s)
{
    uint64_t random = pp_random_below(&s->seed, 1000);
    if (s->alike && random < 960)
        return random < 900 ? KIND_PLAIN : KIND_ON_FP;
    if (random < 900)
        return steps_of_all_sorts[random % 7];
    return (machine_kind)(random % KIND_COUNT);
}

static void call_at_random(shaker *s, size_t frames)
{
    for (size_t i = 0; i < frames && machine_has_room(s->m); i++)
        machine_call(s->m, random_kind(s), s->alike ? 1 : (unsigned)pp_random_below(&s->seed, 7));
}

static void begin_at_random(shaker *s)
{
    static const char *const roots[] = {machine_end, NULL, machine_on_r12, machine_plain,
                                        (const char *)12345};
    const char *root = roots[pp_random_below(&s->seed, 5)];
    s->undoable = 0;
    s->alike = pp_random_below(&s->seed, 3) == 0;
    machine_reset(s->m, root != NULL ? (uintptr_t)root + 4 : 0);
    call_at_random(s, pp_random_below(&s->seed, 20) == 0 ? 400 : pp_random_below(&s->seed, 130));
}

static void undo_one(shaker *s)
{
    if (s->undoable > 0) {
        s->undoable--;
        *s->undo[s->undoable].word = s->undo[s->undoable].old;
    }
}

/* A word that is on the stack now, mostly of the innermost frames. */
static void change_a_word(shaker *s)
{
    machine *mm = s->m;
    if (s->undoable == UNDO)
        return;
    const machine_frame *f = &mm->frame[pp_random_below(&s->seed, mm->depth)];
    uintptr_t *word = machine_word(f->sp) - 6 + pp_random_below(&s->seed, 8);
    if (word < mm->lo || word >= mm->hi)
        return;
    s->undo[s->undoable].word = word;
    s->undo[s->undoable++].old = *word;
    const machine_frame *g = &mm->frame[pp_random_below(&s->seed, mm->depth)];
    switch (pp_random_below(&s->seed, 8)) {
    case 0:
        *word = pp_random_next(&s->seed);
        break;
    case 1:
        *word = 0;
        break;
    case 2:
        *word += 8;
        break;
    case 3:
        *word = g->sp - 16;
        break;
    case 4:
        *word = g->fp;
        break;
    case 5:
        *word ^= 2;
        break;
    default:
        *word = g->pc;
        break;
    }
}

static void undo_all(shaker *s)
{
    while (s->undoable > 0)
        undo_one(s);
}

static void change_something(shaker *s)
{
    machine *mm = s->m;
    uint64_t random = pp_random_below(&s->seed, 1000);
    if (random < 350) {
        undo_all(s);
        uint64_t returns = pp_random_below(&s->seed, random < 20 ? mm->depth : 6);
        mm->depth -= returns < mm->depth ? returns : mm->depth - 1;
        call_at_random(s, pp_random_below(&s->seed, random < 20 ? 100 : 6));
    } else if (random < 650) {
        change_a_word(s);
    } else if (random < 800) {
        undo_one(s);
    } else if (random < 830) {
        mm->r10 = mm->frame[pp_random_below(&s->seed, mm->depth)].sp - 8;
    } else if (random < 840) {
        begin_at_random(s);
    } else if (random == 840) {
        pp_loader_note_change();
    } else if (random == 841) {
        pp_rule_cache_clear();
    }
}

static pp_walk random_limits(shaker *s)
{
    uint64_t random = pp_random_below(&s->seed, 256);
    pp_walk how = {.capacity = MACHINE_DEPTH, .wants_hash = random % 4 != 0};
    if (random < 30)
        how.capacity = (uint32_t)pp_random_below(&s->seed, s->m->depth + 2);
    if (random < 15 || random > 250)
        how.skip = (uint32_t)pp_random_below(&s->seed, random > 253 ? s->m->depth + 2 : 4);
    return how;
}

static void shake(machine *mm, uint64_t seed, unsigned walks)
{
    shaker s = {.m = mm, .seed = seed};
    uint64_t frames = 0;
    mm->seed = seed;
    begin_at_random(&s);
    for (unsigned walk = 0; walk < walks; walk++) {
        change_something(&s);
        machine_start start = machine_now(mm);
        pp_walk how = random_limits(&s);
        start.as_caller = pp_random_below(&s.seed, 8) == 0;
        if (pp_random_below(&s.seed, 16) == 0)
            start.at = mm->frame[pp_random_below(&s.seed, mm->depth)];
        if (!machine_walks_agree(&tools, &start, how)) {
            fprintf(stderr, "seed %lu, walk %u, capacity %u, skip %u, depth of the machine %zu\n",
                    seed, walk, how.capacity, how.skip, mm->depth);
            machine_explain(&tools);
            fail();
        }
        frames += tools.with.walk.depth;
    }
    assert_true(frames / walks > 15); /* most stacks hold together */
}

static machine on_array(uintptr_t *lo, size_t words, bool with_alternate)
{
    machine made = {.lo = lo, .hi = lo + words};
    if (with_alternate) {
        made.alt_lo = alternate;
        made.alt_hi = alternate + ALT_WORDS;
    }
    return made;
}

/* All in one window, as on the stack of a thread that was started under the library's eyes. */
static void random_walks_on_the_own_stack(void **state)
{
    (void)state;
    pp_stack_declare(own_lowest, own_top);
    m = on_array(array, WORDS, false);
    shake(&m, 1, RANDOM_WALKS);
    m = on_array(array, WORDS, true);
    shake(&m, 2, RANDOM_WALKS / 8);
}

/* The window grows by the page. */
static void random_walks_on_a_stack_without_a_known_end(void **state)
{
    (void)state;
    pp_stack_declare(0, 0);
    m = on_array(array, WORDS, false);
    shake(&m, 3, RANDOM_WALKS / 128);
    m = on_array(array, WORDS, true);
    shake(&m, 4, RANDOM_WALKS / 128);
}

static void random_walks_on_a_stack_that_is_copied(void **state)
{
    (void)state;
    pp_stack_declare(own_lowest, own_top);
    m = on_array(elsewhere, WORDS, true);
    shake(&m, 5, RANDOM_WALKS / 256);
    m.alt_lo = array;
    m.alt_hi = array + WORDS;
    shake(&m, 6, RANDOM_WALKS / 128);
}

static int start_test(void **state)
{
    (void)state;
    pp_modules_refresh();
    pthread_attr_t attributes;
    void *lowest = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return 1;
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    own_lowest = (uintptr_t)lowest;
    own_top = (uintptr_t)lowest + size;
    pp_memo_use use;
    pp_memo_open(&use, pp_loader_epoch());
    memo = use.memo;
    pp_memo_close(&use, false, 0, NULL);
    return memo == NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_repeated_stack_is_taken_from_the_memo),
        cmocka_unit_test(a_stack_is_followed_across_the_end_of_the_ring),
        cmocka_unit_test(a_remembered_hash_is_used),
        cmocka_unit_test(a_rule_missing_at_first_becomes_a_step),
        cmocka_unit_test(each_word_matters),
        cmocka_unit_test(each_word_between_open_steps_matters),
        cmocka_unit_test(each_register_matters),
        cmocka_unit_test(stacks_that_share_all_but_one_frame_alternate),
        cmocka_unit_test(open_steps_are_taken_each_time),
        cmocka_unit_test(stacks_that_lead_back_to_themselves),
        cmocka_unit_test(registers_of_zero_are_not_known),
        cmocka_unit_test(a_pc_of_zero_that_is_not_the_end),
        cmocka_unit_test(stacks_deeper_than_the_memo_are_whole),
        cmocka_unit_test(capacity_and_skip_cut_a_remembered_stack),
        cmocka_unit_test(another_epoch_has_other_rules),
        cmocka_unit_test(another_epoch_forgets),
        cmocka_unit_test(a_rule_that_appears_replaces_a_guess),
        cmocka_unit_test(random_walks_on_the_own_stack),
        cmocka_unit_test(random_walks_on_a_stack_without_a_known_end),
        cmocka_unit_test(random_walks_on_a_stack_that_is_copied),
    };
    uintptr_t in_our_frame[WORDS];
    array = in_our_frame;
    return cmocka_run_group_tests(tests, start_test, NULL);
}
