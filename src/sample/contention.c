/* SPDX-License-Identifier: MIT
 *
 * contention.c: lists of waiters, charges, and the tables.
 *
 * Waiters lie in a pool, not on the stacks of the threads that wait: a signal handler may jump out
 * of a wait, and a list must not lead to a stack that is gone. Each thread keeps the one that it
 * used last. One that was jumped away from is found when its thread waits again further up its
 * stack, or ends.
 *
 * Zone: HOOK.
 * Locks: one a list.
 * Owns: all of it.
 */
#include "sample/contention.h"

#include "arch/system_call.h"
#include "base/compiler.h"
#include "base/random.h"
#include "base/stack_hash.h"
#include "sample/scratch.h"
#include "sys/clock.h"

#include <errno.h>
#include <string.h>

enum {
    LISTS = 1024,
    WAITERS = 8192,
    CHARGES = 4096,
    BITS = 64,
    HOT = 200,              /* passes without a wait until a hash has cooled down */
    DEPTH = 128,            /* frames, the hooked function included; as many as a record has */
    TABLE_BYTES = 64 << 20, /* reserved; used as it fills */
    SPINS = 100,
    ATTEMPTS = 1000000 /* yields: a second or more */
};

struct pp_charge {
    uint32_t refs;
    uint64_t scale;
    uint64_t extra_ns; /* added by waiters, not yet in the table */
    pp_stack_entry *entry;
};

struct pp_waiter {
    pp_waiter *next;
    pp_waiter *outer; /* of the same thread, interrupted in its wait */
    uintptr_t object;
    uint64_t first_ns, since_ns; /* of the wait, and since the last release */
    pp_charge *charge;           /* of the last holder */
    uint64_t serial;             /* of the wait: tells whether the waiter still is whose it was */
    bool held;
    bool met_holder;
    bool listed;
    pp_contention_caller caller;
};

typedef struct list {
    uintptr_t owner; /* thread pointer of who works on it, 0 = nobody */
    pp_waiter *first;
} __attribute__((aligned(64))) list;

uint8_t pp_contention_hot[PP_CONTENTION_HASHES];
uint16_t pp_contention_listed[PP_CONTENTION_HASHES];

static list lists[LISTS];
static pp_waiter waiters[WAITERS];
static uint64_t waiters_taken[WAITERS / BITS];
static pp_charge charges[CHARGES];
static uint64_t charges_taken[CHARGES / BITS];

static int64_t block_rate, mutex_fraction;
static pp_stack_counts *blocked, *held_up;
static pp_contention_facts facts;

static PP_TLS pp_waiter *spare;   /* taken from the pool, not waiting */
static PP_TLS pp_waiter *waiting; /* the innermost wait of this thread */
static PP_TLS uint64_t random_state;
static PP_TLS bool recording; /* a walk of ours is interrupted: no second one */

/* A real function, so that every reader shows its name; its address is all that is used. */
__attribute__((visibility("default"), noinline, used)) void pprof_unseen_holder(void)
{
    __asm__ volatile("" ::: "memory");
}

/* ---- pools ---- */

/* The index of a bit that was clear, or -1. */
static int take_bit(uint64_t *words, unsigned count)
{
    for (unsigned word = 0; word < count; word++) {
        uint64_t now = __atomic_load_n(&words[word], __ATOMIC_RELAXED);
        while (~now != 0) {
            unsigned bit = (unsigned)__builtin_ctzll(~now);
            if (__atomic_compare_exchange_n(&words[word], &now, now | UINT64_C(1) << bit, true,
                                            __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
                return (int)(word * BITS + bit);
            }
        }
    }
    return -1;
}

static void give_bit(uint64_t *words, size_t index)
{
    __atomic_and_fetch(&words[index / BITS], ~(UINT64_C(1) << index % BITS), __ATOMIC_RELEASE);
}

static pp_waiter *take_waiter(void)
{
    pp_waiter *mine = spare;
    if (mine != NULL) {
        spare = NULL;
        return mine;
    }
    int index = take_bit(waiters_taken, WAITERS / BITS);
    return index >= 0 ? &waiters[index] : NULL;
}

static void give_waiter(pp_waiter *waiter)
{
    if (spare == NULL) {
        spare = waiter;
    } else {
        give_bit(waiters_taken, (size_t)(waiter - waiters));
    }
}

/* ---- charges ---- */

static pp_charge *take_charge(uint64_t scale)
{
    int index = take_bit(charges_taken, CHARGES / BITS);
    if (index < 0) {
        return NULL;
    }
    pp_charge *charge = &charges[index];
    *charge = (pp_charge){.refs = 1, .scale = scale};
    return charge;
}

static void drop_charge(pp_charge *charge)
{
    if (charge != NULL && __atomic_sub_fetch(&charge->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        if (charge->entry != NULL && charge->extra_ns != 0) {
            __atomic_add_fetch(&charge->entry->amount, charge->extra_ns * charge->scale,
                               __ATOMIC_RELAXED);
        }
        give_bit(charges_taken, (size_t)(charge - charges));
    }
}

/* ---- lists ---- */

static list *list_of(uintptr_t object)
{
    return &lists[pp_contention_hash(object) % LISTS];
}

/*
 * False on a thread that is in the middle of it already, below a signal handler; and if whoever is in
 * there never comes back (a handler jumped out of it), so that nobody hangs on our account.
 */
static bool enter(list *l)
{
    uintptr_t self = (uintptr_t)__builtin_thread_pointer();
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        uintptr_t nobody = 0;
        if (__atomic_compare_exchange_n(&l->owner, &nobody, self, true, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            return true;
        }
        if (nobody == self) {
            return false;
        }
        if (attempt >= SPINS) {
            pp_system_call(SYS_sched_yield); /* the holder was interrupted */
        } else {
            __builtin_ia32_pause();
        }
    }
    return false;
}

static void leave(list *l)
{
    __atomic_store_n(&l->owner, 0, __ATOMIC_RELEASE);
}

static bool put_on_list(pp_waiter *waiter)
{
    list *l = list_of(waiter->object);
    if (!enter(l)) {
        return false;
    }
    waiter->next = l->first;
    l->first = waiter;
    waiter->listed = true;
    leave(l);
    __atomic_add_fetch(&pp_contention_listed[pp_contention_hash(waiter->object)], 1,
                       __ATOMIC_SEQ_CST);
    return true;
}

static bool take_off_list(pp_waiter *waiter)
{
    list *l = list_of(waiter->object);
    if (!enter(l)) {
        return false;
    }
    for (pp_waiter **at = &l->first; *at != NULL; at = &(*at)->next) {
        if (*at == waiter) {
            *at = waiter->next;
            break;
        }
    }
    waiter->listed = false;
    leave(l);
    __atomic_sub_fetch(&pp_contention_listed[pp_contention_hash(waiter->object)], 1,
                       __ATOMIC_SEQ_CST);
    return true;
}

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

static pp_stack_entry *record(pp_stack_counts *table, const pp_contention_caller *caller,
                              uint64_t count, uint64_t amount)
{
    pp_scratch *scratch = recording ? NULL : pp_scratch_take();
    if (scratch == NULL) {
        return NULL;
    }
    recording = true;
    pp_walk *walk = &scratch->walk;
    scratch->pcs[0] = caller->leaf + 1; /* as if it had called something (profile/model.h) */
    *walk = (pp_walk){.pcs = scratch->pcs + 1,
                      .space = &scratch->space,
                      .capacity = DEPTH - 1,
                      .wants_hash = true};
    pp_walk_from_caller(caller->return_address, caller->sp, caller->fp, caller->bx, walk);
    __atomic_add_fetch(&facts.stops[walk->stop], 1, __ATOMIC_RELAXED);
    pp_stack_entry *entry = add(table, scratch->pcs, walk->depth + 1,
                                pp_stack_hash_extend(walk->hash, scratch->pcs[0]), count, amount);
    recording = false;
    pp_scratch_give(scratch);
    return entry;
}

/* The seed's rule: a wait shorter than the rate is recorded as one of the rate, with the probability
 * wait / rate, and counts for as many as it stands for. */
static void record_blocked(const pp_waiter *waiter, uint64_t wait_ns)
{
    uint64_t rate = (uint64_t)__atomic_load_n(&block_rate, __ATOMIC_RELAXED);
    uint64_t count = PP_CONTENTION_EVENT;
    if (rate == 0 || (wait_ns < rate && random_below(rate) >= wait_ns)) {
        return;
    }
    if (wait_ns < rate) {
        count = (uint64_t)((unsigned __int128)rate * PP_CONTENTION_EVENT / wait_ns);
        wait_ns = rate;
    }
    if (record(blocked, &waiter->caller, count, wait_ns) == NULL) {
        __atomic_add_fetch(&facts.lost_waits, 1, __ATOMIC_RELAXED);
    }
}

static void charge_unseen(uint64_t ns)
{
    uintptr_t pc = (uintptr_t)pprof_unseen_holder + 1;
    add(held_up, &pc, 1, pp_stack_hash(&pc, 1), PP_CONTENTION_EVENT, ns);
}

/* ---- waiting ---- */

/* Waits that this thread was jumped out of: their frames lie below where it waits now. */
PP_COLD_PATH static void forget_abandoned(uintptr_t sp)
{
    while (waiting != NULL && waiting->caller.sp <= sp) {
        pp_waiter *gone = waiting;
        waiting = gone->outer;
        gone->serial = 0;
        if (take_off_list(gone)) { /* else it stays where it is, for ever */
            drop_charge(gone->charge);
            give_waiter(gone);
        }
    }
}

pp_wait pp_wait_begin(uintptr_t object, bool held, const pp_contention_caller *caller)
{
    static uint64_t serials;
    if (waiting != NULL) {
        forget_abandoned(caller->sp);
    }
    pp_waiter *waiter = take_waiter();
    if (waiter == NULL) {
        __atomic_add_fetch(&facts.lost_waits, 1, __ATOMIC_RELAXED);
        return (pp_wait){0};
    }
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    *waiter = (pp_waiter){.outer = waiting,
                          .object = object,
                          .first_ns = now_ns,
                          .since_ns = now_ns,
                          .serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED),
                          .held = held,
                          .caller = *caller};
    __atomic_store_n(&pp_contention_hot[pp_contention_hash(object)], HOT, __ATOMIC_RELAXED);
    if (!put_on_list(waiter)) {
        give_waiter(waiter);
        __atomic_add_fetch(&facts.lost_waits, 1, __ATOMIC_RELAXED);
        return (pp_wait){0};
    }
    waiting = waiter;
    return (pp_wait){waiter, waiter->serial};
}

void pp_wait_end(pp_wait wait)
{
    pp_waiter *waiter = wait.waiter;
    if (waiter == NULL || waiter->serial != wait.serial) {
        return; /* forgotten by a handler on a stack above this one */
    }
    int saved_errno = errno;
    waiting = waiter->outer;
    if (!take_off_list(waiter)) {
        __atomic_add_fetch(&facts.lost_waits, 1, __ATOMIC_RELAXED);
        errno = saved_errno;
        return;
    }
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    uint64_t rest_ns = now_ns - waiter->since_ns;
    uint64_t wait_ns = now_ns > waiter->first_ns ? now_ns - waiter->first_ns : 1;
    if (waiter->charge != NULL) {
        __atomic_add_fetch(&waiter->charge->extra_ns, rest_ns, __ATOMIC_RELAXED);
        drop_charge(waiter->charge);
    } else if (waiter->held && !waiter->met_holder && mutex_fraction > 0) {
        charge_unseen(rest_ns);
    }
    record_blocked(waiter, wait_ns);
    give_waiter(waiter);
    errno = saved_errno;
}

void pp_contention_cool(uintptr_t object)
{
    uint8_t *hot = &pp_contention_hot[pp_contention_hash(object)];
    uint8_t now = __atomic_load_n(hot, __ATOMIC_RELAXED);
    if (now != 0) {
        __atomic_store_n(hot, now - 1, __ATOMIC_RELAXED);
    }
}

/* ---- releasing ---- */

/* Each waiter's clock starts again; those that are charged share `charge`. Called inside the list. */
static uint64_t settle(const list *l, uintptr_t object, pp_charge *charge)
{
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    uint64_t sum_ns = 0;
    for (pp_waiter *waiter = l->first; waiter != NULL; waiter = waiter->next) {
        if (waiter->object != object || !waiter->held) {
            continue;
        }
        sum_ns += now_ns > waiter->since_ns ? now_ns - waiter->since_ns : 0;
        waiter->since_ns = now_ns;
        waiter->met_holder = true;
        drop_charge(waiter->charge);
        waiter->charge = charge;
        if (charge != NULL) {
            __atomic_add_fetch(&charge->refs, 1, __ATOMIC_RELAXED);
        }
    }
    return sum_ns;
}

static bool has_waiters(const list *l, uintptr_t object)
{
    for (const pp_waiter *waiter = l->first; waiter != NULL; waiter = waiter->next) {
        if (waiter->object == object && waiter->held) {
            return true;
        }
    }
    return false;
}

bool pp_release_begin(uintptr_t object, pp_release *release)
{
    uint64_t fraction = (uint64_t)__atomic_load_n(&mutex_fraction, __ATOMIC_RELAXED);
    list *l = list_of(object);
    if (fraction == 0 || __atomic_load_n(&l->first, __ATOMIC_RELAXED) == NULL || !enter(l)) {
        return false;
    }
    bool chosen = has_waiters(l, object);
    if (chosen) {
        chosen = fraction == 1 || random_below(fraction) == 0;
        release->scale = fraction;
        release->charge = chosen ? take_charge(fraction) : NULL;
        release->waited_ns = settle(l, object, release->charge);
    }
    leave(l);
    return chosen;
}

void pp_release_record(const pp_release *release, const pp_contention_caller *caller)
{
    int saved_errno = errno;
    pp_stack_entry *entry = record(held_up, caller, release->scale * PP_CONTENTION_EVENT,
                                   release->waited_ns * release->scale);
    if (entry == NULL) {
        __atomic_add_fetch(&facts.lost_releases, release->scale, __ATOMIC_RELAXED);
    }
    if (release->charge != NULL) {
        release->charge->entry = entry;
        drop_charge(release->charge);
    }
    errno = saved_errno;
}

/* ---- rates ---- */

int64_t pp_contention_block_rate(void)
{
    return __atomic_load_n(&block_rate, __ATOMIC_RELAXED);
}

int64_t pp_contention_mutex_fraction(void)
{
    return __atomic_load_n(&mutex_fraction, __ATOMIC_RELAXED);
}

/* Made once, kept for ever: a hook may be about to write to it. */
static bool have_table(pp_stack_counts **table)
{
    if (__atomic_load_n(table, __ATOMIC_ACQUIRE) != NULL) {
        return true;
    }
    pp_stack_counts *made = pp_stack_counts_new(TABLE_BYTES);
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
    return set(&block_rate, nanoseconds, &blocked);
}

int64_t pp_contention_set_mutex_fraction(int64_t fraction)
{
    return set(&mutex_fraction, fraction, &held_up);
}

/* ---- reading ---- */

const pp_stack_counts *pp_contention_blocked(void)
{
    return __atomic_load_n(&blocked, __ATOMIC_ACQUIRE);
}

const pp_stack_counts *pp_contention_held_up(void)
{
    return __atomic_load_n(&held_up, __ATOMIC_ACQUIRE);
}

/* Copies the waiter if it waits; true if it still is the same wait, for a second look. */
static bool look_at(const pp_waiter *waiter, pp_waiter *copy, uint64_t first_ns)
{
    uintptr_t object = __atomic_load_n(&waiter->object, __ATOMIC_RELAXED);
    list *l = list_of(object);
    bool found = false;
    if (!enter(l)) {
        return false;
    }
    if (waiter->listed && waiter->object == object &&
        (first_ns == 0 || waiter->first_ns == first_ns)) {
        *copy = *waiter;
        found = true;
    }
    leave(l);
    return found;
}

static void visit_waiting(const pp_waiter *waiter, pp_waiting_visit *visit, void *context)
{
    pp_waiter copy;
    pp_scratch *scratch = pp_scratch_take();
    if (scratch == NULL) {
        return;
    }
    if (look_at(waiter, &copy, 0)) {
        pp_walk *walk = &scratch->walk;
        scratch->pcs[0] = copy.caller.leaf + 1;
        *walk = (pp_walk){.pcs = scratch->pcs + 1,
                          .space = &scratch->space,
                          .capacity = DEPTH - 1,
                          .without_memo = true};
        /* From outside: its frames stay where they are as long as it waits. */
        pp_walk_from_caller(copy.caller.return_address, copy.caller.sp, copy.caller.fp,
                            copy.caller.bx, walk);
        if (look_at(waiter, &copy, copy.first_ns)) {
            visit(scratch->pcs, walk->depth + 1, copy.first_ns, context);
        }
    }
    pp_scratch_give(scratch);
}

void pp_contention_each_waiting(pp_waiting_visit *visit, void *context)
{
    for (size_t i = 0; i < WAITERS; i++) {
        uint64_t taken = __atomic_load_n(&waiters_taken[i / BITS], __ATOMIC_RELAXED);
        if (taken == 0) {
            i += BITS - 1 - i % BITS;
        } else if (taken >> i % BITS & 1) {
            visit_waiting(&waiters[i], visit, context);
        }
    }
}

void pp_contention_facts_read(pp_contention_facts *read)
{
    read->lost_waits = __atomic_load_n(&facts.lost_waits, __ATOMIC_RELAXED);
    read->lost_releases = __atomic_load_n(&facts.lost_releases, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < PP_STOP_COUNT; i++) {
        read->stops[i] = __atomic_load_n(&facts.stops[i], __ATOMIC_RELAXED);
    }
}

void pp_contention_thread_end(void)
{
    forget_abandoned(UINTPTR_MAX);
    pp_waiter *mine = spare;
    spare = NULL;
    if (mine != NULL) {
        give_bit(waiters_taken, (size_t)(mine - waiters));
    }
}

void pp_contention_after_fork_in_child(void)
{
    memset(lists, 0, sizeof lists);
    memset(pp_contention_listed, 0, sizeof pp_contention_listed);
    memset(waiters_taken, 0, sizeof waiters_taken);
    memset(charges_taken, 0, sizeof charges_taken);
    spare = waiting = NULL;
    recording = false;
}
