/* SPDX-License-Identifier: MIT
 *
 * memory.c: lists of stores, views, races.
 */
#include "interleave/memory.h"

#include "interleave/explorer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOCATIONS = 96, /* that several threads use */
    ENTRIES = 64,   /* of a list */
    CELLS = 1 << 16,
    CELL_BYTES = 8,
    USERS = 1 << 16
};

/* ---- types ---- */

typedef struct view {
    uint16_t seen[LOCATIONS];      /* index in its list */
    uint32_t clock[MODEL_THREADS]; /* what happened before: a thread's events are numbered */
} view;

typedef struct entry {
    uint64_t value;
    view released;
} entry;

typedef struct location {
    uintptr_t address;
    unsigned size;
    unsigned count;      /* 0: not touched yet in this execution */
    unsigned last_plain; /* the entry that plain stores have made */
    entry entry[ENTRIES];
} location;

typedef struct thread {
    view view;
    view acquired; /* by relaxed loads: joined at the next acquire fence */
    view released; /* at the last release fence: goes with relaxed stores */
} thread;

/* When a byte was accessed last, by each thread's clock; 0 = never. */
typedef struct byte_history {
    uint32_t plain_read[MODEL_THREADS], plain_write[MODEL_THREADS];
    uint32_t atomic_read[MODEL_THREADS], atomic_write[MODEL_THREADS];
} byte_history;

/* Eight bytes of real memory that an execution has touched. */
typedef struct cell {
    uintptr_t at;
    uint32_t execution; /* of another one: free */
    bool is_saved;
    bool is_split; /* else all of them were always accessed together: the first tells of all */
    uint64_t before;
    byte_history byte[CELL_BYTES];
} cell;

/* Who uses an address for atomic operations, in all executions so far. */
typedef struct user {
    uintptr_t address; /* 0 = free */
    unsigned size;
    unsigned threads; /* a bit each */
    bool is_written;
    int location; /* -1: used by one thread, or only read */
} user;

static location locations[LOCATIONS];
static unsigned location_count;
static thread threads[MODEL_THREADS];
static view sequential; /* of all seq_cst fences */
static cell cells[CELLS];
static uint32_t execution;
static cell *saved[CELLS];
static size_t saved_count;
static user users[USERS];
static bool has_grown;

static thread *me(void)
{
    return &threads[model_self()];
}

static void join(view *into, const view *other)
{
    for (unsigned i = 0; i < LOCATIONS; i++) {
        into->seen[i] = other->seen[i] > into->seen[i] ? other->seen[i] : into->seen[i];
    }
    for (unsigned i = 0; i < MODEL_THREADS; i++) {
        into->clock[i] = other->clock[i] > into->clock[i] ? other->clock[i] : into->clock[i];
    }
}

/* Where something is, without saying what happened before it. */
static void join_seen(view *into, const view *other)
{
    for (unsigned i = 0; i < LOCATIONS; i++) {
        into->seen[i] = other->seen[i] > into->seen[i] ? other->seen[i] : into->seen[i];
    }
}

static bool acquires(int order)
{
    return order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST ||
           order == __ATOMIC_CONSUME;
}

static bool releases(int order)
{
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static void full(const char *what)
{
    fprintf(stderr, "model: no room for more %s\n", what);
    abort();
}

/* ---- real memory ---- */

static uint64_t read_real(uintptr_t address, unsigned size)
{
    uint64_t value = 0;
    memcpy(&value, (const void *)address, size);
    return value;
}

static size_t hash(uintptr_t address)
{
    return (size_t)((uint64_t)address * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

static cell *cell_of(uintptr_t address)
{
    uintptr_t at = address / CELL_BYTES * CELL_BYTES;
    for (size_t i = hash(at) % CELLS;; i = (i + 1) % CELLS) {
        cell *c = &cells[i];
        if (c->execution != execution) {
            memset(c, 0, sizeof *c);
            c->at = at;
            c->execution = execution;
            return c;
        }
        if (c->at == at) {
            return c;
        }
    }
}

static void save(cell *c)
{
    if (!c->is_saved) {
        if (saved_count == CELLS / 2) {
            full("cells");
        }
        c->is_saved = true;
        c->before = read_real(c->at, CELL_BYTES);
        saved[saved_count++] = c;
    }
}

static void write_real(uintptr_t address, unsigned size, uint64_t value)
{
    save(cell_of(address));
    memcpy((void *)address, &value, size);
}

void memory_begin(void)
{
    execution++;
    saved_count = 0;
    has_grown = false;
    memset(threads, 0, sizeof threads);
    memset(&sequential, 0, sizeof sequential);
    for (unsigned i = 0; i < location_count; i++) {
        locations[i].count = 0;
    }
    for (unsigned i = 0; i < MODEL_THREADS; i++) {
        threads[i].view.clock[i] = 1;
    }
}

void memory_end(void)
{
    while (saved_count > 0) {
        const cell *c = saved[--saved_count];
        memcpy((void *)c->at, &c->before, CELL_BYTES);
    }
}

void memory_forget(void)
{
    memset(users, 0, sizeof users);
    location_count = 0;
}

bool memory_has_grown(void)
{
    return has_grown;
}

/* ---- races ---- */

/* The running thread's own events are: each has only one at a time. */
static bool all_before(const uint32_t *events, const view *mine)
{
    bool before = true;
    for (unsigned i = 0; i < MODEL_THREADS; i++) {
        before &= events[i] <= mine->clock[i];
    }
    return before;
}

static void access_byte(byte_history *h, bool is_write, bool is_atomic, unsigned self)
{
    const view *mine = &threads[self].view;
    bool ordered = all_before(h->plain_write, mine);
    if (is_write) {
        ordered &= all_before(h->plain_read, mine);
    }
    if (!is_atomic) {
        ordered &= all_before(h->atomic_write, mine);
        ordered &= !is_write || all_before(h->atomic_read, mine);
    }
    if (!ordered) {
        explorer_fault("data race");
    }
    uint32_t *events = is_atomic  ? is_write ? h->atomic_write : h->atomic_read
                       : is_write ? h->plain_write
                                  : h->plain_read;
    events[self] = mine->clock[self];
}

static void split(cell *c)
{
    for (unsigned i = 1; i < CELL_BYTES && !c->is_split; i++) {
        c->byte[i] = c->byte[0];
    }
    c->is_split = true;
}

/* All within one cell. */
static void access_cell(uintptr_t address, size_t size, bool is_write, bool is_atomic)
{
    cell *c = cell_of(address);
    if (is_write && !is_atomic) {
        save(c);
    }
    if (explorer_phase() != MODEL_RUNS) {
        return;
    }
    if (size < CELL_BYTES) {
        split(c);
    }
    unsigned first = address % CELL_BYTES;
    unsigned end = c->is_split ? first + (unsigned)size : first + 1;
    for (unsigned i = first; i < end; i++) {
        access_byte(&c->byte[i], is_write, is_atomic, model_self());
    }
}

static void access_bytes(uintptr_t address, size_t size, bool is_write, bool is_atomic)
{
    while (size > 0) {
        size_t rest = CELL_BYTES - address % CELL_BYTES;
        size_t part = size < rest ? size : rest;
        access_cell(address, part, is_write, is_atomic);
        address += part;
        size -= part;
    }
}

/* ---- locations ---- */

static user *user_of(uintptr_t address, bool make)
{
    for (size_t i = hash(address) % USERS, n = 0; n < USERS / 2; i = (i + 1) % USERS, n++) {
        user *u = &users[i];
        if (u->address == 0 && make) {
            *u = (user){.address = address, .location = -1};
        }
        if (u->address == address) {
            return u;
        }
        if (u->address == 0) {
            return NULL;
        }
    }
    full("addresses");
    return NULL;
}

static void note_user(user *u, bool is_write)
{
    u->threads |= 1U << model_self();
    u->is_written = u->is_written || is_write;
    if (u->location < 0 && u->is_written && (u->threads & (u->threads - 1)) != 0) {
        if (location_count == LOCATIONS) {
            full("locations");
        }
        u->location = (int)location_count;
        locations[location_count++] = (location){.address = u->address, .size = u->size};
        has_grown = true;
    }
}

static void append(location *l, uint64_t value)
{
    if (l->count == ENTRIES) {
        explorer_fault("too many stores to one location");
    }
    entry *e = &l->entry[l->count++];
    memset(e, 0, sizeof *e);
    e->value = value;
}

static uint16_t *seen(view *v, const location *l)
{
    return &v->seen[l - locations];
}

static void see(view *v, const location *l, unsigned index)
{
    uint16_t *at = seen(v, l);
    *at = index > *at ? (uint16_t)index : *at;
}

/* Plain stores since the last atomic operation have made an entry that all who are behind
 * them see. */
static void add_plain_stores(location *l)
{
    uint64_t real = read_real(l->address, l->size);
    if (l->count == 0) {
        append(l, real);
        l->last_plain = 0;
    } else if (l->entry[l->count - 1].value != real) {
        append(l, real);
        l->last_plain = l->count - 1;
    }
    see(&me()->view, l, l->last_plain);
}

/* The location of an atomic operation; NULL: it needs none. */
static location *begin(uintptr_t address, unsigned size, bool is_write)
{
    if (explorer_phase() != MODEL_RUNS || explorer_is_private(address)) {
        return NULL;
    }
    user *u = user_of(address, true);
    u->size = size;
    bool was_shared = u->location >= 0;
    note_user(u, is_write);
    if (!was_shared) {
        return NULL;
    }
    explorer_preempt();
    location *l = &locations[u->location];
    access_bytes(address, size, is_write, true);
    add_plain_stores(l);
    return l;
}

static void write_without_location(uintptr_t address, unsigned size, uint64_t value)
{
    if (explorer_phase() == MODEL_OFF || explorer_is_private(address)) {
        memcpy((void *)address, &value, size);
    } else {
        write_real(address, size, value);
    }
}

/* ---- operations ---- */

static const entry *take(location *l, unsigned index, int order)
{
    thread *t = me();
    const entry *e = &l->entry[index];
    see(&t->view, l, index);
    join(&t->acquired, &e->released);
    if (acquires(order)) {
        join(&t->view, &e->released);
    }
    explorer_note(index + 1 == l->count ? "read" : "read stale", l->address, e->value);
    return e;
}

static unsigned oldest(const location *l, int order)
{
    unsigned index = *seen(&me()->view, l);
    unsigned all = *seen(&sequential, l);
    return order == __ATOMIC_SEQ_CST && all > index ? all : index;
}

/* `replaced`: by a read-modify-write, which goes on with what was released there. */
static void put(location *l, uint64_t value, int order, const entry *replaced)
{
    thread *t = me();
    view released = replaced != NULL ? replaced->released : (view){.clock = {0}};
    append(l, value);
    unsigned index = l->count - 1;
    see(&t->view, l, index);
    join(&released, releases(order) ? &t->view : &t->released);
    see(&released, l, index);
    l->entry[index].released = released;
    t->view.clock[model_self()] += releases(order);
    if (order == __ATOMIC_SEQ_CST) {
        see(&sequential, l, index);
    }
    write_real(l->address, l->size, value);
    explorer_note("wrote", l->address, value);
}

uint64_t memory_load(uintptr_t address, unsigned size, int order)
{
    order = explorer_order(MODEL_LOAD, order);
    location *l = begin(address, size, false);
    if (l == NULL) {
        return read_real(address, size);
    }
    unsigned stale = explorer_choose_stale(l->count - oldest(l, order));
    return take(l, l->count - 1 - stale, order)->value;
}

void memory_store(uintptr_t address, unsigned size, uint64_t value, int order)
{
    order = explorer_order(MODEL_STORE, order);
    location *l = begin(address, size, true);
    if (l == NULL) {
        write_without_location(address, size, value);
    } else {
        put(l, value, order, NULL);
    }
}

static uint64_t cut(uint64_t value, unsigned size)
{
    return size < sizeof value ? value & ((UINT64_C(1) << 8 * size) - 1) : value;
}

uint64_t memory_modify(uintptr_t address, unsigned size, memory_change *change, uint64_t operand,
                       int order)
{
    order = explorer_order(MODEL_RMW, order);
    location *l = begin(address, size, true);
    if (l == NULL) {
        uint64_t before = read_real(address, size);
        write_without_location(address, size, cut(change(before, operand), size));
        return before;
    }
    const entry *e = take(l, l->count - 1, order);
    put(l, cut(change(e->value, operand), size), order, e);
    return e->value;
}

/* How many entries a failing compare-exchange may read, the newest first. */
static unsigned count_failures(const location *l, uint64_t expected, int order)
{
    unsigned count = 0;
    for (unsigned i = oldest(l, order); i < l->count; i++) {
        count += l->entry[i].value != expected;
    }
    return count;
}

static unsigned nth_failure(const location *l, uint64_t expected, unsigned n)
{
    unsigned index = l->count - 1;
    for (;; index--) {
        if (l->entry[index].value != expected && n-- == 0) {
            return index;
        }
    }
}

bool memory_compare_exchange(uintptr_t address, unsigned size, uint64_t *expected, uint64_t desired,
                             int order, int failure_order)
{
    order = explorer_order(MODEL_RMW, order);
    failure_order = explorer_order(MODEL_RMW, failure_order);
    location *l = begin(address, size, true);
    if (l == NULL) {
        uint64_t before = read_real(address, size);
        if (before == *expected) {
            write_without_location(address, size, desired);
            return true;
        }
        *expected = before;
        return false;
    }
    bool fits = l->entry[l->count - 1].value == *expected;
    unsigned failures = count_failures(l, *expected, failure_order);
    unsigned which = explorer_choose_stale(failures + fits);
    if (fits && which == 0) {
        put(l, desired, order, take(l, l->count - 1, order));
        return true;
    }
    *expected = take(l, nth_failure(l, *expected, which - fits), failure_order)->value;
    return false;
}

void memory_fence(int order)
{
    order = explorer_order(MODEL_FENCE, order);
    if (explorer_phase() != MODEL_RUNS || order == __ATOMIC_RELAXED) {
        return;
    }
    thread *t = me();
    if (order == __ATOMIC_SEQ_CST) {
        explorer_preempt();
    }
    if (acquires(order)) {
        join(&t->view, &t->acquired);
    }
    if (order == __ATOMIC_SEQ_CST) {
        join_seen(&t->view, &sequential);
        join_seen(&sequential, &t->view);
    }
    if (releases(order)) {
        t->released = t->view;
        t->view.clock[model_self()]++;
    }
    explorer_note("fence", 0, (uint64_t)order);
}

void memory_access(uintptr_t address, size_t size, bool is_write)
{
    model_phase phase = explorer_phase();
    if (phase == MODEL_OFF || (phase == MODEL_ALONE && !is_write) || explorer_is_private(address)) {
        return;
    }
    if (phase == MODEL_RUNS) {
        user *u = user_of(address, false);
        if (u != NULL) {
            note_user(u, is_write);
        }
    }
    access_bytes(address, size, is_write, false);
}
