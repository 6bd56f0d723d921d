/* SPDX-License-Identifier: MIT
 *
 * contended.c: keeps the lists of contended objects, and the charges.
 *
 * Zone: HOOK.
 * Locks: one for each list.
 * Owns: lists, records and charges.
 * Tested by: unit.contended, unit.contended_interrupted, unit.jump_storm
 */
#include "kinds/contention/contended.h"

#include "arch/registers.h"
#include "arch/system_call.h"
#include "base/bitmap.h"
#include "base/compiler.h"
#include "sys/clock.h"
#include "sys/left_frame.h"
#include "sys/lock.h"

#include <string.h>

enum {
    LISTS = 1024,
    RECORD_WORDS = PP_CONTENDED_MAX / PP_BITMAP_WORD,
    /* One for each record, and one for each releasing thread whose stack is not recorded yet. */
    CHARGES = 2 * PP_CONTENDED_MAX,
    CHARGE_WORDS = CHARGES / PP_BITMAP_WORD,
    SPINS = 100,
    GIVE_UP_NS = PP_NS_PER_S
};

struct pp_charge {
    uint32_t refs;
    uint64_t scale;
    uint64_t extra_ns, ended; /* added by waiters before the entry was known */
    pp_stack_entry *entry;
    pp_label_cell *cell; /* in use; written before the entry */
};

struct pp_contended {
    pp_contended *next;
    uintptr_t object;
    uint64_t serial; /* of this use of the record, within the list */
    uint32_t waiters;
    bool chosen;        /* the last release is one that is charged */
    uint64_t since_sum; /* of all waiters, modulo 2^64 */
    uint64_t releases, released_ns;
    pp_charge *charge; /* of the holder that released last */
};

typedef struct list {
    uintptr_t owner; /* the owning thread's pointer, + 1 = it never came back; 0 = no owner */
    uintptr_t sp;    /* the owner's stack pointer; 0 = not written yet */
    uintptr_t outer; /* the owner's `inside` before it entered */
    pp_contended *first;
    uint64_t serials;
} __attribute__((aligned(64))) list;

static const uintptr_t is_lost = 1;

static struct {
    struct {
        list lists[LISTS];
        uint64_t records_taken[RECORD_WORDS];
        uint64_t charges_taken[CHARGE_WORDS];
    } now; /* emptied in the child of fork */
    pp_contended records[PP_CONTENDED_MAX];
    pp_charge charges[CHARGES];
    uint64_t uncharged;
} all;

/* The stack pointer of the thread's innermost function that uses a list, or that a jump left while
 * it did. */
static PP_TLS uintptr_t inside;

/* ---- charges ---- */

static pp_charge *take_charge(uint64_t scale)
{
    int index = pp_bitmap_take(all.now.charges_taken, CHARGE_WORDS);
    if (index < 0) {
        return NULL;
    }
    pp_charge *charge = &all.charges[index];
    *charge = (pp_charge){.refs = 2, .scale = scale}; /* the holder's, and the record's */
    return charge;
}

static void add_to_entry(const pp_charge *charge, pp_stack_entry *entry, uint64_t ended,
                         uint64_t ns)
{
    uint64_t count = ended * charge->scale * PP_CONTENTION_EVENT;
    uint64_t amount = ns * charge->scale;
    if (count != 0 || amount != 0) {
        __atomic_add_fetch(&entry->count, count, __ATOMIC_RELAXED);
        __atomic_add_fetch(&entry->amount, amount, __ATOMIC_RELAXED);
        pp_label_cell_add(charge->cell, PP_CONTENTION_CELL_COUNT, count);
        pp_label_cell_add(charge->cell, PP_CONTENTION_CELL_AMOUNT, amount);
    }
}

/* Adds the rest of a wait that is over, and 1 if a release has ended the wait. */
static void add_to_charge(pp_charge *charge, bool ended, uint64_t ns)
{
    pp_stack_entry *entry = __atomic_load_n(&charge->entry, __ATOMIC_ACQUIRE);
    if (entry != NULL) {
        add_to_entry(charge, entry, ended, ns);
    } else {
        __atomic_add_fetch(&charge->ended, ended, __ATOMIC_RELAXED);
        __atomic_add_fetch(&charge->extra_ns, ns, __ATOMIC_RELAXED);
    }
}

static void drop_charge(pp_charge *charge)
{
    if (charge == NULL || __atomic_sub_fetch(&charge->refs, 1, __ATOMIC_ACQ_REL) != 0) {
        return;
    }
    if (charge->entry != NULL) {
        add_to_entry(charge, charge->entry, __atomic_load_n(&charge->ended, __ATOMIC_RELAXED),
                     __atomic_load_n(&charge->extra_ns, __ATOMIC_RELAXED));
    }
    pp_label_cell_give(charge->cell);
    pp_bitmap_release(all.now.charges_taken, (size_t)(charge - all.charges));
}

void pp_charge_settle(pp_charge *charge, pp_stack_entry *entry, pp_label_cell *cell)
{
    if (charge != NULL) {
        charge->cell = cell;
        __atomic_store_n(&charge->entry, entry, __ATOMIC_RELEASE);
        drop_charge(charge);
    } else {
        pp_label_cell_give(cell);
    }
}

/* ---- lists ---- */

static list *list_of(uintptr_t object)
{
    return &all.now.lists[pp_contention_hash(object) % LISTS];
}

static bool change_owner(list *l, uintptr_t *owner, uintptr_t to)
{
    return __atomic_compare_exchange_n(&l->owner, owner, to, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

/* Stores `sp` in the program's order, as handlers on this thread see it. */
static void note_sp(uintptr_t *place, uintptr_t sp)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(place, sp, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static bool try_enter(list *l, uintptr_t self, uintptr_t *owner)
{
    *owner = 0;
    return change_owner(l, owner, self);
}

/* Stores a list's link. Threads that do not own the list read its head. */
static void set_next(pp_contended **next, pp_contended *record)
{
    __atomic_store_n(next, record, __ATOMIC_RELAXED);
}

/* A function that enters a list. */
typedef struct entering {
    uintptr_t sp;    /* its stack pointer */
    uintptr_t outer; /* `inside` before it: if the thread owns the list, that of the owner */
} entering;

/* Removes all records of a list, because they are no longer right. */
PP_COLD_PATH static void empty(list *l)
{
    while (l->first != NULL) {
        pp_contended *gone = l->first;
        set_next(&l->first, gone->next);
        gone->object = 0;
        drop_charge(gone->charge);
        pp_bitmap_release(all.now.records_taken, (size_t)(gone - all.records));
    }
}

/* Enters a list that has an owner, or a lost one, if that owner is the calling thread: a handler
 * has made the thread jump out of the list, so the list is the thread's again. */
PP_COLD_PATH static bool enter_again(list *l, uintptr_t self, uintptr_t owner, const entering *e)
{
    if ((owner & ~is_lost) != self) {
        return false;
    }
    uintptr_t owner_sp = l->sp != 0 ? l->sp : e->outer; /* it owns the list before it writes `sp` */
    if (!pp_frame_was_left(owner_sp, e->sp) || !change_owner(l, &owner, self)) {
        return false;
    }
    empty(l);
    return true;
}

static bool is_hopeless(uintptr_t owner, uintptr_t self)
{
    return owner == self || (owner & is_lost) != 0;
}

/* Waits for an owner that was interrupted, or has lost its processor. */
PP_COLD_PATH static bool enter_patiently(list *l, uintptr_t self, const entering *e)
{
    uintptr_t owner = 0;
    uint64_t give_up_ns = pp_clock_ns(CLOCK_MONOTONIC) + GIVE_UP_NS;
    for (unsigned attempt = 0; !try_enter(l, self, &owner); attempt++) {
        if (is_hopeless(owner, self)) {
            return enter_again(l, self, owner, e);
        }
        if (pp_clock_ns(CLOCK_MONOTONIC) > give_up_ns) {
            change_owner(l, &owner, owner | is_lost);
            return false;
        }
        pp_lock_pause(attempt);
    }
    return true;
}

static bool enter_soon(list *l, uintptr_t self, const entering *e)
{
    uintptr_t owner = 0;
    for (unsigned attempt = 0; attempt < SPINS; attempt++) {
        if (try_enter(l, self, &owner)) {
            return true;
        }
        if (is_hopeless(owner, self)) {
            return enter_again(l, self, owner, e);
        }
        pp_spin_hint();
    }
    return enter_patiently(l, self, e);
}

/* `sp` is the stack pointer of the function that will leave the list. */
static bool enter(list *l, uintptr_t sp)
{
    const entering e = {.sp = sp, .outer = inside};
    note_sp(&inside, sp);
    if (!enter_soon(l, (uintptr_t)__builtin_thread_pointer(), &e)) {
        note_sp(&inside, e.outer);
        return false;
    }
    l->outer = e.outer;
    note_sp(&l->sp, sp);
    return true;
}

/* Empties a list whose owner, the caller, was believed lost: others have waited and released
 * without a record meanwhile. */
PP_COLD_PATH static void begin_anew(list *l)
{
    empty(l);
    __atomic_store_n(&l->owner, 0, __ATOMIC_RELEASE);
}

static void leave(list *l)
{
    uintptr_t self = (uintptr_t)__builtin_thread_pointer();
    uintptr_t outer = l->outer;
    note_sp(&l->sp, 0);
    if (!__atomic_compare_exchange_n(&l->owner, &self, 0, false, __ATOMIC_RELEASE,
                                     __ATOMIC_RELAXED)) {
        begin_anew(l);
    }
    note_sp(&inside, outer);
}

static pp_contended *record_of(const list *l, uintptr_t object)
{
    pp_contended *record = l->first;
    while (record != NULL && record->object != object) {
        record = record->next;
    }
    return record;
}

static pp_contended *add_record(list *l, uintptr_t object)
{
    int index = pp_bitmap_take(all.now.records_taken, RECORD_WORDS);
    if (index < 0) {
        return NULL;
    }
    pp_contended *record = &all.records[index];
    *record = (pp_contended){.next = l->first, .object = object, .serial = ++l->serials};
    set_next(&l->first, record);
    return record;
}

/* Removes a record, unless it is gone: if a handler that interrupted this function has forked, this
 * is the child, whose lists were emptied. */
static void remove_record(list *l, pp_contended *record)
{
    pp_contended **at = &l->first;
    while (*at != NULL && *at != record) {
        at = &(*at)->next;
    }
    if (*at == NULL) {
        return;
    }
    set_next(at, record->next);
    record->object = 0;
    pp_bitmap_release(all.now.records_taken, (size_t)(record - all.records));
}

static void count_uncharged(void)
{
    __atomic_add_fetch(&all.uncharged, 1, __ATOMIC_RELAXED);
}

/* ---- waiting ---- */

bool pp_contended_join(uintptr_t object, pp_place *place)
{
    list *l = list_of(object);
    if (!enter(l, PP_FRAME_TOP())) {
        count_uncharged();
        return false;
    }
    pp_contended *record = record_of(l, object);
    if (record == NULL) {
        record = add_record(l, object);
    }
    if (record != NULL) {
        uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
        record->waiters++;
        record->since_sum += now_ns;
        *place = (pp_place){.at = record,
                            .object = object,
                            .serial = record->serial,
                            .releases = record->releases,
                            .since_ns = now_ns};
    }
    leave(l);
    if (record == NULL) {
        count_uncharged();
    }
    return record != NULL;
}

static bool is_same(const pp_place *place)
{
    return place->at->object == place->object && place->at->serial == place->serial;
}

/* Takes a waiter out of its record. The last one removes the record, and returns its charge. */
static pp_charge *go(list *l, const pp_place *place, bool got_it, uint64_t now_ns,
                     uint64_t *unseen_ns)
{
    pp_contended *record = place->at;
    bool met_holder = record->releases != place->releases;
    uint64_t since_ns = met_holder ? record->released_ns : place->since_ns;
    if (!met_holder) {
        *unseen_ns = now_ns - since_ns;
    } else if (record->charge != NULL) {
        add_to_charge(record->charge, got_it, now_ns - since_ns);
    } else if (record->chosen) {
        count_uncharged();
    }
    record->since_sum -= since_ns;
    if (--record->waiters > 0) {
        return NULL;
    }
    pp_charge *last = record->charge;
    remove_record(l, record);
    return last;
}

uint64_t pp_contended_leave(pp_place *place, bool got_it, uint64_t *unseen_ns)
{
    *unseen_ns = 0;
    if (place->at == NULL) {
        return pp_clock_ns(CLOCK_MONOTONIC);
    }
    list *l = list_of(place->object);
    if (!enter(l, PP_FRAME_TOP())) {
        count_uncharged();
        place->at = NULL;
        return pp_clock_ns(CLOCK_MONOTONIC);
    }
    pp_charge *charge = NULL;
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    if (is_same(place)) {
        charge = go(l, place, got_it, now_ns, unseen_ns);
    } else {
        count_uncharged();
    }
    place->at = NULL;
    leave(l);
    drop_charge(charge);
    return now_ns;
}

/* ---- releasing ---- */

bool pp_contended_release(uintptr_t object, uint64_t scale, uint64_t *waited_ns, pp_charge **charge)
{
    list *l = list_of(object);
    *charge = NULL;
    if (__atomic_load_n(&l->first, __ATOMIC_RELAXED) == NULL || !enter(l, PP_FRAME_TOP())) {
        return false;
    }
    pp_charge *before = NULL;
    pp_contended *record = record_of(l, object);
    if (record != NULL) {
        uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
        *waited_ns = record->waiters * now_ns - record->since_sum;
        *charge = scale > 0 ? take_charge(scale) : NULL;
        before = record->charge;
        record->charge = *charge;
        record->chosen = scale > 0;
        record->since_sum = record->waiters * now_ns;
        record->released_ns = now_ns;
        record->releases++;
    }
    leave(l);
    drop_charge(before);
    return record != NULL;
}

uint64_t pp_contended_uncharged(void)
{
    return __atomic_load_n(&all.uncharged, __ATOMIC_RELAXED);
}

/* Empties everything. A charge keeps 0 references, so that code that a handler interrupted, and
 * that drops the charge when the handler returns in the child, does not give it back twice. */
void pp_contended_after_fork_in_child(void)
{
    for (size_t i = 0; (i = pp_bitmap_next(all.now.charges_taken, CHARGE_WORDS, i)) < CHARGES;
         i++) {
        all.charges[i].refs = 0;
        pp_label_cell_give(all.charges[i].cell);
        all.charges[i].cell = NULL;
    }
    for (size_t i = 0;
         (i = pp_bitmap_next(all.now.records_taken, RECORD_WORDS, i)) < PP_CONTENDED_MAX; i++) {
        all.records[i].object = 0;
    }
    memset(&all.now, 0, sizeof all.now);
    all.uncharged = 0;
}
