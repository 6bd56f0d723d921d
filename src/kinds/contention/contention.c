/* SPDX-License-Identifier: MIT
 *
 * contention.c: records waits and releases at the rates of the block and mutex profiles.
 *
 * Zone: HOOK.
 * Owns: rates, tables and facts, as the header says.
 */
#include "kinds/contention/contention.h"

#include "arch/registers.h"
#include "base/pseudo_frame.h"
#include "base/compiler.h"
#include "base/random.h"
#include "base/stack_hash.h"
#include "store/switch_work.h"
#include "unwind/scratch.h"
#include "sys/address_space.h"
#include "sys/clock.h"

#include <errno.h>
#include <string.h>

enum {
    HOT = 200,              /* passes without a wait until a hash has cooled down */
    WALK_EARLY_NS = 10000,  /* see find_stack_early() */
    DEPTH = 128,            /* frames, with that of the hooked function; as many as a record has */
    TABLE_BYTES = 64 << 20, /* at most; it grows from 1 MiB as it fills */
    TABLE_SHARE = 20        /* one part in so many of a limited address space */
};

_Static_assert(offsetof(pp_contention_state, hot) == 0, "the entry stubs read it");

pp_contention_state pp_contention;

static PP_TLS uint64_t random_state;

PP_PSEUDO_FRAME(pprof_unseen_holder)

/* ---- recording ---- */

static uint64_t random_below(uint64_t bound)
{
    if (random_state == 0) {
        random_state = pp_clock_ns(CLOCK_MONOTONIC) ^ (uintptr_t)&random_state;
    }
    return pp_random_below(&random_state, bound);
}

static pp_stack_entry *add(pp_stack_counts *table, const uintptr_t *pcs, uint32_t depth,
                           uint64_t hash, uint64_t count, uint64_t amount)
{
    pp_stack_entry *entry = pp_stack_counts_record(table, pcs, depth, hash, count);
    if (entry != NULL) {
        __atomic_add_fetch(&entry->amount, amount, __ATOMIC_RELAXED);
    }
    return entry;
}

/* Adds to the part of the entry under the calling thread's labels. Returns the cell, in use; NULL:
 * there are no labels, or there is no entry or cell. */
static pp_label_cell *add_labels(pp_label_cells **table, const pp_stack_entry *entry,
                                 uint64_t weight, uint64_t count, uint64_t amount)
{
    pprof_labels *labels = pp_labels_current();
    if (labels == NULL || entry == NULL) {
        return NULL;
    }
    pp_label_cell *cell = pp_label_cell_take(pp_label_cells_at(table), entry, labels, weight);
    pp_label_cell_add(cell, PP_CONTENTION_CELL_COUNT, count);
    pp_label_cell_add(cell, PP_CONTENTION_CELL_AMOUNT, amount);
    return cell;
}

static void walk_from(const pp_caller *caller, pp_scratch *scratch, bool from_outside)
{
    pp_walk *walk = &scratch->walk;
    scratch->pcs[0] = caller->leaf + 1; /* like a return address (profile/model.h) */
    *walk = (pp_walk){.pcs = scratch->pcs + 1,
                      .space = &scratch->space,
                      .capacity = DEPTH - 1,
                      .without_memo = from_outside,
                      .wants_hash = !from_outside};
    pp_walk_from_caller(caller, walk);
}

/* Finds the entry of the caller's stack, and adds `count` to it; NULL: no scratch, no room. */
static pp_stack_entry *find_stack(pp_stack_counts *table, const pp_caller *caller, uint64_t count)
{
    pp_scratch *scratch = pp_scratch_take_at(caller->sp);
    if (scratch == NULL) {
        return NULL;
    }
    walk_from(caller, scratch, false);
    const pp_walk *walk = &scratch->walk;
    pp_stack_entry *entry =
        pp_stack_counts_record(table, scratch->pcs, walk->depth + 1,
                               pp_stack_hash_extend(walk->hash, scratch->pcs[0]), count);
    pp_scratch_give(scratch);
    return entry;
}

static uint32_t follow_frames(const pprof_task_frame *frame, uintptr_t *pcs)
{
    uint32_t depth = 0;
    for (; frame != NULL && depth < DEPTH; frame = frame->caller) {
        pcs[depth++] = frame->pc;
    }
    return depth;
}

/* The same of a coroutine's stack, on which no thread runs: there is no memo of it, and no hook is
 * its leaf. */
static pp_stack_entry *find_suspended(pp_stack_counts *table, const pp_suspension *s,
                                      uint64_t count)
{
    pp_scratch *scratch = pp_scratch_take_at(PP_FRAME_TOP());
    if (scratch == NULL) {
        return NULL;
    }
    pp_walk *walk = &scratch->walk;
    *walk = (pp_walk){
        .pcs = scratch->pcs, .space = &scratch->space, .capacity = DEPTH, .without_memo = true};
    if (s->frames != NULL) {
        walk->depth = follow_frames(s->frames, scratch->pcs);
    } else if (s->caller.sp != 0) {
        pp_walk_from_caller(&s->caller, walk);
    } else {
        scratch->pcs[walk->depth++] = s->caller.return_address;
    }
    pp_stack_entry *entry = pp_stack_counts_record(table, scratch->pcs, walk->depth,
                                                   pp_stack_hash(scratch->pcs, walk->depth), count);
    pp_scratch_give(scratch);
    return entry;
}

static pp_stack_entry *record(pp_stack_counts *table, const pp_caller *caller, uint64_t count,
                              uint64_t amount)
{
    pp_stack_entry *entry = find_stack(table, caller, count);
    if (entry != NULL) {
        __atomic_add_fetch(&entry->amount, amount, __ATOMIC_RELAXED);
    }
    return entry;
}

static void count_lost_wait(void)
{
    __atomic_add_fetch(&pp_contention.facts.lost_waits, 1, __ATOMIC_RELAXED);
}

/*
 * Go's rule (runtime/mprof.go): a wait that is shorter than the rate is recorded with the
 * probability wait / rate, with the rate as its time, and counts for rate / wait events. False: it
 * is not recorded.
 */
static bool sample_wait(uint64_t *wait_ns, uint64_t *count)
{
    uint64_t rate = (uint64_t)__atomic_load_n(&pp_contention.block_rate, __ATOMIC_RELAXED);
    *count = PP_CONTENTION_EVENT;
    if (rate == 0 || (*wait_ns < rate && random_below(rate) >= *wait_ns)) {
        return false;
    }
    if (*wait_ns < rate) {
        *count = (uint64_t)((double)rate / (double)*wait_ns * PP_CONTENTION_EVENT);
        *wait_ns = rate;
    }
    return true;
}

static void record_blocked(pp_waiter *waiter, uint64_t wait_ns)
{
    uint64_t count = 0;
    if (!sample_wait(&wait_ns, &count)) {
        return;
    }
    pp_stack_entry *entry = waiter->entry;
    if (entry != NULL) {
        __atomic_add_fetch(&entry->count, count, __ATOMIC_RELAXED);
        __atomic_add_fetch(&entry->amount, wait_ns, __ATOMIC_RELAXED);
    } else if ((entry = record(pp_contention.blocked, &waiter->caller, count, wait_ns)) == NULL) {
        count_lost_wait();
    }
    pp_label_cell_give(add_labels(&pp_contention.blocked_labels, entry, count, count, wait_ns));
}

void pp_contention_record_suspended(const pp_suspension *suspension, uint64_t wait_ns)
{
    uint64_t count = 0;
    int saved_errno = errno;
    if (sample_wait(&wait_ns, &count)) {
        pp_stack_entry *entry = find_suspended(pp_contention.blocked, suspension, count);
        if (entry != NULL) {
            __atomic_add_fetch(&entry->amount, wait_ns, __ATOMIC_RELAXED);
        } else {
            count_lost_wait();
        }
        pp_label_cell_give(add_labels(&pp_contention.blocked_labels, entry, count, count, wait_ns));
    }
    errno = saved_errno;
}

/*
 * Walks the waiter's stack before the wait. After the wait the thread has the lock, and would walk
 * while others wait for it. At a high rate most waits are not recorded: then there is no early
 * walk. It comes before the waiter is listed: until the thread sleeps, the lock's word does not
 * show a waiter, and a holder that released the lock during the walk would not look for one.
 */
static void find_stack_early(pp_waiter *waiter)
{
    int64_t rate = pp_contention_block_rate();
    if (rate > 0 && rate <= WALK_EARLY_NS) {
        int saved_errno = errno;
        waiter->entry = find_stack(pp_contention.blocked, &waiter->caller, 0);
        errno = saved_errno;
    }
}

static void charge_unseen(bool ended, uint64_t ns)
{
    uintptr_t pc = (uintptr_t)pprof_unseen_holder + 1;
    add(pp_contention.held_up, &pc, 1, pp_stack_hash(&pc, 1), ended ? PP_CONTENTION_EVENT : 0, ns);
}

/* ---- waiting ---- */

pp_wait pp_wait_begin(uintptr_t object, pp_wait_for what, const pp_caller *caller)
{
    pp_waiter *waiter = pp_waiter_new(object, caller);
    if (waiter == NULL) {
        count_lost_wait();
        return (pp_wait){0};
    }
    __atomic_store_n(&pp_contention.hot[pp_contention_hash(object)], HOT, __ATOMIC_RELAXED);
    if (what != PP_WAIT_FOR_EVENT) {
        find_stack_early(waiter);
    }
    bool joined = what == PP_WAIT_FOR_LOCK && pp_contention_mutex_fraction() > 0 &&
                  pp_contended_join(object, &waiter->place);
    pp_waiter_show(waiter, joined ? waiter->place.since_ns : pp_clock_ns(CLOCK_MONOTONIC));
    return (pp_wait){waiter, waiter->serial};
}

typedef enum end { HAS_IT, GAVE_UP, NO_EVENT } end;

static void end_wait(pp_wait wait, end how)
{
    pp_waiter *waiter = wait.waiter;
    uint64_t unseen_ns = 0;
    if (waiter == NULL) {
        return;
    }
    if (__atomic_load_n(&waiter->serial, __ATOMIC_RELAXED) != wait.serial) {
        count_lost_wait(); /* the wait was forgotten, or is one of the parent process */
        return;
    }
    int saved_errno = errno;
    pp_waiter_hide(waiter);
    uint64_t now_ns = pp_contended_leave(&waiter->place, how == HAS_IT, &unseen_ns);
    if (unseen_ns != 0) {
        charge_unseen(how == HAS_IT, unseen_ns);
    }
    if (how != NO_EVENT) {
        record_blocked(waiter, now_ns > waiter->since_ns ? now_ns - waiter->since_ns : 1);
    }
    pp_waiter_free(waiter);
    errno = saved_errno;
}

void pp_wait_end(pp_wait wait)
{
    end_wait(wait, HAS_IT);
}

void pp_wait_give_up(pp_wait wait)
{
    end_wait(wait, GAVE_UP);
}

void pp_wait_cancel(pp_wait wait)
{
    end_wait(wait, NO_EVENT);
}

void pp_wait_end_innermost(void)
{
    pp_waiter *waiter = pp_waiters_innermost();
    if (waiter != NULL) {
        end_wait((pp_wait){waiter, waiter->serial},
                 pp_waiter_is_shown(waiter) ? GAVE_UP : NO_EVENT);
    }
}

void pp_contention_cool(uintptr_t object)
{
    uint8_t *hot = &pp_contention.hot[pp_contention_hash(object)];
    uint8_t now = __atomic_load_n(hot, __ATOMIC_RELAXED);
    if (now != 0) {
        __atomic_store_n(hot, now - 1, __ATOMIC_RELAXED);
    }
}

/* ---- releasing ---- */

bool pp_release_begin(uintptr_t object, pp_release *release)
{
    uint64_t fraction = (uint64_t)pp_contention_mutex_fraction();
    if (fraction == 0 || !pp_waiters_any(object)) {
        return false;
    }
    bool chosen = fraction == 1 || random_below(fraction) == 0;
    release->scale = chosen ? fraction : 0;
    return pp_contended_release(object, release->scale, &release->waited_ns, &release->charge) &&
           chosen;
}

/* Remembers the fraction by which values are scaled when they are recorded, for the comments. */
static void note_fraction(uint64_t fraction)
{
    for (unsigned i = 0; i < PP_CONTENTION_FRACTIONS; i++) {
        uint64_t there = __atomic_load_n(&pp_contention.facts.fractions[i], __ATOMIC_RELAXED);
        if (there == 0 &&
            __atomic_compare_exchange_n(&pp_contention.facts.fractions[i], &there, fraction, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            return;
        }
        if (there == fraction) {
            return;
        }
    }
    __atomic_store_n(&pp_contention.facts.more_fractions, true, __ATOMIC_RELAXED);
}

/* The release adds 0 to the count: the waits that it ends count when they end (contended.c). */
void pp_release_record(const pp_release *release, const pp_caller *caller)
{
    int saved_errno = errno;
    uint64_t weight = release->scale * PP_CONTENTION_EVENT;
    uint64_t amount = release->waited_ns * release->scale;
    pp_stack_entry *entry = record(pp_contention.held_up, caller, 0, amount);
    if (entry == NULL) {
        __atomic_add_fetch(&pp_contention.facts.lost_releases, release->scale, __ATOMIC_RELAXED);
    } else {
        note_fraction(release->scale);
    }
    pp_charge_settle(release->charge, entry,
                     add_labels(&pp_contention.held_up_labels, entry, weight, 0, amount));
    errno = saved_errno;
}

/* ---- rates ---- */

int64_t pp_contention_block_rate(void)
{
    return __atomic_load_n(&pp_contention.block_rate, __ATOMIC_RELAXED);
}

int64_t pp_contention_mutex_fraction(void)
{
    return __atomic_load_n(&pp_contention.mutex_fraction, __ATOMIC_RELAXED);
}

/* Makes the table once. It is never freed, since a hook may be about to write to it. */
static bool have_table(pp_stack_counts **table)
{
    if (__atomic_load_n(table, __ATOMIC_ACQUIRE) != NULL) {
        return true;
    }
    pp_stack_counts *made =
        pp_stack_counts_new_growing(pp_address_space_share(TABLE_BYTES, TABLE_SHARE));
    pp_stack_counts *none = NULL;
    if (made != NULL && !__atomic_compare_exchange_n(table, &none, made, false, __ATOMIC_ACQ_REL,
                                                     __ATOMIC_ACQUIRE)) {
        pp_stack_counts_free(made);
        return true;
    }
    return made != NULL;
}

static int64_t set(int64_t *rate, int64_t value, pp_stack_counts **table)
{
    if (value > 0 && !have_table(table)) {
        return -1;
    }
    return __atomic_exchange_n(rate, value, __ATOMIC_SEQ_CST);
}

int64_t pp_contention_set_block_rate(int64_t nanoseconds)
{
    int64_t before = set(&pp_contention.block_rate, nanoseconds, &pp_contention.blocked);
    if (pp_contention_block_rate() > 0) {
        pp_switch_work_add(PP_SWITCH_CLOCK);
    } else {
        pp_switch_work_remove(PP_SWITCH_CLOCK);
    }
    return before;
}

int64_t pp_contention_set_mutex_fraction(int64_t fraction)
{
    return set(&pp_contention.mutex_fraction, fraction, &pp_contention.held_up);
}

/* ---- reading ---- */

const pp_stack_counts *pp_contention_blocked(void)
{
    return __atomic_load_n(&pp_contention.blocked, __ATOMIC_ACQUIRE);
}

const pp_stack_counts *pp_contention_held_up(void)
{
    return __atomic_load_n(&pp_contention.held_up, __ATOMIC_ACQUIRE);
}

pp_label_cells *pp_contention_blocked_labels(void)
{
    return __atomic_load_n(&pp_contention.blocked_labels, __ATOMIC_ACQUIRE);
}

pp_label_cells *pp_contention_held_up_labels(void)
{
    return __atomic_load_n(&pp_contention.held_up_labels, __ATOMIC_ACQUIRE);
}

typedef struct waiting {
    pp_waiting_visit *visit;
    void *context;
} waiting;

/* The waiter's frames and labels stay as they are as long as it waits. If it still waits after the
 * walk, then the walk has read its frames, and the reference is to its labels. */
static void visit_waiting(const pp_waiter *copy, const pp_waiter *waiter, void *context)
{
    const waiting *w = context;
    pp_scratch *scratch = pp_scratch_take_at(PP_FRAME_TOP());
    if (scratch == NULL) {
        return;
    }
    bool labelled = copy->labels != NULL && pp_labels_try_ref(copy->labels);
    walk_from(&copy->caller, scratch, true);
    if (pp_waiter_still_waits(waiter, copy)) {
        w->visit(scratch->pcs, scratch->walk.depth + 1, labelled ? copy->labels : NULL,
                 copy->since_ns, w->context);
    }
    if (labelled) {
        pp_labels_unref(copy->labels);
    }
    pp_scratch_give(scratch);
}

void pp_contention_each_waiting(pp_waiting_visit *visit, void *context)
{
    waiting w = {visit, context};
    pp_waiters_each(visit_waiting, &w);
}

size_t pp_contention_count_waiting(void)
{
    return pp_waiters_count();
}

void pp_contention_facts_read(pp_contention_facts *read)
{
    read->lost_waits = __atomic_load_n(&pp_contention.facts.lost_waits, __ATOMIC_RELAXED);
    read->lost_releases = __atomic_load_n(&pp_contention.facts.lost_releases, __ATOMIC_RELAXED);
    read->uncharged_waits = pp_contended_uncharged();
    for (unsigned i = 0; i < PP_CONTENTION_FRACTIONS; i++) {
        read->fractions[i] = __atomic_load_n(&pp_contention.facts.fractions[i], __ATOMIC_RELAXED);
    }
    read->more_fractions = __atomic_load_n(&pp_contention.facts.more_fractions, __ATOMIC_RELAXED);
}

/* ---- threads and processes ---- */

void pp_contention_thread_begin(void)
{
    pp_waiters_thread_begin();
}

void pp_contention_thread_end(void)
{
    pp_waiters_thread_end();
}

/* Replaces a table by an empty one; without memory for that, the child shows what its parent has
 * recorded. The old table stays: a handler may have forked in the middle of a hook that uses it. */
static void begin_anew(pp_stack_counts **table, pp_label_cells **labels)
{
    pp_stack_counts *recorded = *table;
    if (recorded == NULL || pp_stack_counts_is_empty(recorded)) {
        return;
    }
    *table = NULL;
    if (have_table(table)) {
        *labels = NULL;
    } else {
        *table = recorded;
    }
}

void pp_contention_after_fork_in_child(void)
{
    if (pp_contention.blocked != NULL || pp_contention.held_up != NULL) {
        pp_waiters_after_fork_in_child();
        pp_contended_after_fork_in_child();
        begin_anew(&pp_contention.blocked, &pp_contention.blocked_labels);
        begin_anew(&pp_contention.held_up, &pp_contention.held_up_labels);
        memset(&pp_contention.facts, 0, sizeof pp_contention.facts);
    }
}
