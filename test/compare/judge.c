/* SPDX-License-Identifier: MIT
 *
 * judge.c: asks the agent, knows the true chain, notes where the two differ.
 *
 * Zone: tests.
 * Owns: see the header.
 */
#include "judge.h"

#include "classes.h"
#include "example.h"
#include "second_opinion.h"
#include "tracee.h"

#include <string.h>

enum {
    SECOND_SAMPLE = 16,   /* libunwind is asked at one of so many new PCs */
    SECOND_PER_PLACE = 8, /* and so often at most at a PC where we are wrong */
    MAX_POSTPONED = 256,
    LANDING = 1,     /* its place in the chain of what was in flight */
    BELOW_SP = 1024, /* the red zone and a little of what a signal frame takes */
    ROOM_FOR_HANDLER = 16384
};

/* A walk whose truth is known only when the flight lands. */
typedef struct postponed_walk {
    uint64_t pc;
    compare_answer ours;
    uint64_t callers[COMPARE_DEPTH], second[COMPARE_DEPTH];
    size_t callers_depth, second_depth;
    bool whole;
} postponed_walk;

judge_memory judge_state = {.first_visits = 3};
static postponed_walk postponed[MAX_POSTPONED];
static unsigned postponed_count;

bool judge_stack_bounds(uint64_t sp, uint64_t *lo, uint64_t *hi)
{
    return places_mapping(tracee_the.pid, sp, lo, hi);
}

void judge_forget(void)
{
    postponed_count = 0;
}

/* On the program's own stack if there is room, like a signal's handler. */
static bool ask_agent(uint64_t ways)
{
    const uint64_t elsewhere = 1u << COMPARE_ELSEWHERE;
    uint64_t sp = machine_sp(&tracee_the.now);
    uint64_t lo = 0;
    uint64_t hi = 0;
    uint64_t at = judge_state.shared->stack_top;
    if (judge_stack_bounds(sp, &lo, &hi) && sp - lo >= ROOM_FOR_HANDLER) {
        at = (sp - BELOW_SP) & ~UINT64_C(15);
    }
    return tracee_ask(judge_state.shared, ways & ~elsewhere, at) &&
           (!(ways & elsewhere) ||
            tracee_ask(judge_state.shared, elsewhere, judge_state.shared->stack_top));
}

/* The loader tells of a library when it has relocated it; resolvers of IFUNCs run before that. */
static bool is_in_no_module(uint64_t pc)
{
    judge_state.shared->place = pc;
    bool answered = ask_agent(0);
    judge_state.shared->place = 0;
    return answered && judge_state.shared->place_is_known == 0;
}

static void note(place_record *record, disagreement kind, const compare_answer *ours,
                 const chain *right, const chain *second, size_t at)
{
    uint64_t culprit = at > 0 ? right->pcs[at - 1] - 1 : right->pcs[0] - 1;
    opinion said = kind == OTHER_STOP || kind == WAYS_DIFFER
                       ? OPINION_NONE
                       : classes_opinion(second, ours, right, at);
    place where = places_find(tracee_the.pid, culprit);
    if (places_is_file(where) && is_in_no_module(culprit)) {
        kind = IN_NO_MODULE;
    } else if (judge_state.truth.flight == SHADOW_LANDED && at == LANDING + 1) {
        kind = AT_A_LANDING;
    }
    unsigned number = classes_note(where, kind, said);
    if (classes_example(number) == NULL) {
        classes_set_example(number, example_text(ours, right, second, at));
    }
    record->disagreed++;
    if (record->first_class == 0) {
        record->first_class = number + 1;
    }
}

static void judge(place_record *record, const compare_answer *ours, const chain *right,
                  const chain *second)
{
    size_t at = 0;
    disagreement kind = classes_compare(ours, right, &at);
    record->compared++;
    record->guessed |= ours->guessed != 0;
    if (kind != AGREED) {
        note(record, kind, ours, right, second, at);
    }
    if (second->depth > 0 && record->second_asked < UINT8_MAX) {
        compare_answer theirs = {.depth = (uint32_t)second->depth};
        memcpy(theirs.pcs, second->pcs, second->depth * sizeof *second->pcs);
        disagreement theirs_kind = classes_compare(&theirs, right, &at);
        record->second_asked++;
        if (theirs_kind == AGREED || theirs_kind == OTHER_STOP) {
            record->second_agreed++;
        }
    }
}

static bool same_answer(const compare_answer *a, const compare_answer *b)
{
    return a->depth == b->depth && a->stop == b->stop && a->guessed == b->guessed &&
           a->hash == b->hash && memcmp(a->pcs, b->pcs, a->depth * sizeof *a->pcs) == 0;
}

/* All ways to walk give the same; the one from the caller has all but the leaf. */
static void judge_ways(place_record *record, uint64_t ways, const chain *right)
{
    const compare_answer *warm = &judge_state.shared->answer[COMPARE_WARM];
    const chain first = {warm->pcs, warm->depth, true, 0};
    const chain none = {0};
    size_t at = 0;
    for (unsigned way = COMPARE_AGAIN; way < COMPARE_WAYS; way++) {
        if (way != COMPARE_FROM_CALLER && (ways >> way & 1) &&
            !same_answer(&judge_state.shared->answer[way], warm)) {
            classes_compare(&judge_state.shared->answer[way], &first, &at);
            note(record, WAYS_DIFFER, &judge_state.shared->answer[way], &first, &none, at);
        }
    }
    if (ways >> COMPARE_FROM_CALLER & 1) {
        const compare_answer *ours = &judge_state.shared->answer[COMPARE_FROM_CALLER];
        const chain callers = {right->pcs + 1, right->depth - 1, right->whole, 0};
        disagreement kind = classes_compare(ours, &callers, &at);
        if (kind != AGREED) {
            note(record, kind, ours, &callers, &none, at);
        }
    }
}

/* The chain from the leaf on, at an instruction that is not in flight. */
static chain chain_here(const place_record *record, uint64_t pcs[COMPARE_DEPTH])
{
    chain right = {.pcs = pcs};
    uint64_t word = 0;
    const shadow_entry *top = shadow_top(&judge_state.truth);
    pcs[0] = machine_pc(&tracee_the.now) + 1;
    size_t from = 1;
    if (record->instruction.kind == INSTRUCTION_RETURN &&
        (top == NULL || top->slot != machine_sp(&tracee_the.now)) &&
        machine_return_address(&tracee_the.now, tracee_read_word, &word)) {
        right.by_jump = from; /* by a return to what was pushed by hand */
        pcs[from++] = word;
    }
    right.depth =
        from + shadow_callers(&judge_state.truth, pcs + from, COMPARE_DEPTH - from, &right.whole);
    if (record->instruction.kind == INSTRUCTION_RETURN && from == 1 && right.depth > 1 &&
        machine_return_address(&tracee_the.now, tracee_read_word, &word)) {
        pcs[1] = word; /* the same as was pushed, nearly always */
    }
    return right;
}

static uint64_t ways_wanted(const place_record *record)
{
    uint64_t ways = 1u << COMPARE_WARM;
    const shadow_entry *top = shadow_top(&judge_state.truth);
    if (record->compared < judge_state.first_visits) {
        ways |= 1u << COMPARE_AGAIN | 1u << COMPARE_WITHOUT_MEMO | 1u << COMPARE_ELSEWHERE;
    }
    if (record->compared == 0) {
        ways |= 1u << COMPARE_COLD;
    }
    if (top != NULL && !top->interrupted &&
        machine_is_at_entry(&tracee_the.now, top->slot, top->pc) &&
        judge_state.truth.flight != SHADOW_IN_FLIGHT &&
        record->instruction.kind != INSTRUCTION_RETURN) {
        ways |= 1u << COMPARE_FROM_CALLER;
    }
    return ways;
}

static void postpone(const compare_answer *ours, const uint64_t *second, size_t second_depth)
{
    if (postponed_count < MAX_POSTPONED) {
        postponed_walk *p = &postponed[postponed_count++];
        p->pc = machine_pc(&tracee_the.now);
        p->ours = *ours;
        p->callers_depth = shadow_callers(&judge_state.truth, p->callers, COMPARE_DEPTH, &p->whole);
        p->second_depth = second_depth;
        memcpy(p->second, second, second_depth * sizeof *second);
    }
}

bool judge_here(place_record *record)
{
    static uint64_t right_pcs[COMPARE_DEPTH];
    static uint64_t second_pcs[COMPARE_DEPTH];
    const compare_answer *ours = &judge_state.shared->answer[COMPARE_WARM];
    uint64_t ways = ways_wanted(record);
    bool in_flight = judge_state.truth.flight == SHADOW_IN_FLIGHT;
    size_t at = 0;
    judge_state.news += record->compared < judge_state.first_visits;
    if (!ask_agent(ways)) {
        return false;
    }
    chain right = chain_here(record, right_pcs);
    chain second = {.pcs = second_pcs};
    bool asked =
        record->compared == 0 && machine_pc(&tracee_the.now) * 2654435761u % SECOND_SAMPLE == 0;
    bool wrong = in_flight || classes_compare(ours, &right, &at) != AGREED;
    if (asked || (wrong && record->second_asked < SECOND_PER_PLACE)) {
        second.depth =
            second_opinion_walk(tracee_the.pid, &tracee_the.now, second_pcs, COMPARE_DEPTH);
    }
    judge_ways(record, ways, &right);
    if (in_flight) {
        postpone(ours, second_pcs, second.depth);
    } else {
        judge(record, ours, &right, &second);
    }
    return true;
}

void judge_postponed(void)
{
    static uint64_t pcs[COMPARE_DEPTH + 2];
    for (unsigned i = 0; i < postponed_count; i++) {
        postponed_walk *p = &postponed[i];
        chain right = {.pcs = pcs};
        chain second = {.pcs = p->second, .depth = p->second_depth};
        size_t from = 1;
        pcs[0] = p->pc + 1;
        if (judge_state.truth.flight == SHADOW_ABANDONED) {
            memcpy(pcs + from, p->callers, p->callers_depth * sizeof *pcs);
            right.depth = from + p->callers_depth;
            right.whole = p->whole;
        } else {
            if (judge_state.truth.flight == SHADOW_LANDED) {
                right.by_jump = from;
                pcs[from++] = judge_state.truth.landing;
            }
            right.depth = from + shadow_callers(&judge_state.truth, pcs + from,
                                                COMPARE_DEPTH - from, &right.whole);
        }
        judge(places_record(places_find(tracee_the.pid, p->pc)), &p->ours, &right, &second);
    }
    postponed_count = 0;
    judge_state.truth.flight = SHADOW_GROUNDED;
}
