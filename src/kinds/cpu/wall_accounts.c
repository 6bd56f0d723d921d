/* SPDX-License-Identifier: MIT
 *
 * wall_accounts.c: keeps an account of each thread (drawing in the header).
 *
 *   chains[tid % CHAINS] -> account -> account -> 0        free_list -> account -> account -> 0
 *   pieces[index / PIECE] -> accounts, or NULL: not mapped yet
 *
 * A thread that begins or ends reads its clocks before it takes the lock, and touches the memory that it will need
 * there: many threads that begin at once do not wait for one that waits for memory, or has no processor.
 * The account of a thread that has ended stays until the kernel has the thread no more: looks do not count it
 * again.
 *
 * An account is balanced when a profile is made, when the thread ends, and when there are more places than
 * it has room for.
 *
 * Zone: HOOK.
 * Locks: `books.lock`, with signals blocked.
 * Owns: the accounts and the table.
 * Tested by: unit.wall_accounts, e2e.wall
 */
#include "kinds/cpu/wall_accounts.h"

#include "arch/system_call.h"
#include "base/memory.h"
#include "base/pseudo_frame.h"
#include "base/stack_hash.h"
#include "kinds/cpu/cpu_threads.h"
#include "kinds/cpu/thread_label.h"
#include "sys/address_space.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/own_threads.h"
#include "sys/tasks.h"
#include "unwind/scratch.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum {
    CHAINS = 1024,
    PIECE = 1024, /* accounts of 0.5 KiB, mapped at once; a program may lock all that is mapped */
    PIECES = 64,
    AHEAD = 32,      /* accounts that are touched before they are used */
    TURN = 32,       /* threads whose clocks are read at once, without the lock */
    TURN_SEEN = 512, /* accounts that are seen for that */
    LITTLE_NS = 1000000,
    QUIET = 8,         /* visits after which a thread that does not run is visited less often */
    ROTATION = 4,      /* then at one look of so many */
    NAME_ROTATION = 5, /* its name is read at one visit of so many */
    TALLIES = 16,      /* places of one thread, until its account is balanced */
    COUNTS_SHARE = 20  /* one part in 20 of a limited address space */
};

static const size_t counts_bytes = 64u << 20;

enum { STACK_BYTES = (1 + PP_SCRATCH_DEPTH) * sizeof(uintptr_t) };

PP_PSEUDO_FRAME(pprof_unseen_waits)

/* A place where a thread was seen waiting. */
typedef struct place {
    pp_stack_entry *entry; /* NULL: it was not seen waiting */
    pp_label_cell *cell;   /* in use; NULL: no labels */
} place;

/* What sights say of a place: the time for which they stand. */
typedef struct tally {
    place where;
    int64_t ns;
} tally;

typedef struct account {
    int tid;          /* 0 = free */
    uint32_t next;    /* index + 1 of the next account of the chain, or of the free list */
    bool has_ended;   /* the thread, which the kernel may still have */
    bool delay_known; /* delay_ns is that of a sight */
    bool is_first;    /* sight: the delay is that since the thread was created */
    place wait;       /* where it was seen at the last sight, if it waited */
    const pp_stack_entry *last_wait;
    uint64_t sight_ns; /* CLOCK_MONOTONIC, of the last sight; or of the begin */
    uint64_t since_ns; /* the amounts are known until then: of the last sight of a wait */
    int64_t since_cpu_ns;
    int64_t delayed_ns; /* since then */
    int64_t delay_ns;   /* at the last sight */
    int64_t
        waited_ns;  /* that no place has been given; < 0: the clocks are not read at one instant */
    unsigned stays; /* visits since it ran, up to QUIET */
    unsigned tallied;
    char name[PP_TASK_NAME_BYTES]; /* the label `thread` of the last sight */
    tally tallies[TALLIES];
} account;

static struct {
    pp_lock lock;
    bool open;
    bool may_ask;            /* no filter forbids getrusage */
    account *pieces[PIECES]; /* stay for good: a thread that begins may touch them at any time */
    uint32_t used;           /* accounts that were ever given out */
    uint32_t free_list;
    uint32_t chains[CHAINS];
    uint32_t taken;   /* accounts that are not free */
    uint32_t look;    /* number of the current one; those that a rest takes the place of count */
    bool all_quiet;   /* at the last look */
    uint32_t counted; /* the look in which the kernel was last asked how many threads there are */
    bool knew_all;    /* then */
    pp_worker *looker;
    pp_wall_places places;
    uintptr_t *stack; /* STACK_BYTES, with the state in front */
} books;

/* ---- accounts ---- */

static account *account_at(uint32_t index)
{
    return &__atomic_load_n(&books.pieces[index / PIECE], __ATOMIC_ACQUIRE)[index % PIECE];
}

static account *find(int tid)
{
    for (uint32_t i = books.chains[(unsigned)tid % CHAINS]; i != 0; i = account_at(i - 1)->next) {
        if (account_at(i - 1)->tid == tid) {
            return account_at(i - 1);
        }
    }
    return NULL;
}

/* Maps the account's piece, with the lock or without. False: there is no room. */
static bool have_room(uint32_t index)
{
    if (index >= PIECE * PIECES) {
        return false;
    }
    account **piece = &books.pieces[index / PIECE];
    account *there = __atomic_load_n(piece, __ATOMIC_ACQUIRE);
    account *mine = there == NULL ? pp_memory_map(PIECE * sizeof *mine) : NULL;
    if (mine != NULL && !__atomic_compare_exchange_n(piece, &there, mine, false, __ATOMIC_ACQ_REL,
                                                     __ATOMIC_ACQUIRE)) {
        pp_memory_unmap(mine, PIECE * sizeof *mine);
    }
    return there != NULL || mine != NULL;
}

/* NULL: there is no room. */
static account *open_account(int tid, uint64_t now_ns, int64_t cpu_ns)
{
    uint32_t index = books.free_list;
    if (index != 0) {
        books.free_list = account_at(index - 1)->next;
    } else if (have_room(books.used)) {
        index = __atomic_add_fetch(&books.used, 1, __ATOMIC_RELAXED);
    } else {
        return NULL;
    }
    uint32_t *chain = &books.chains[(unsigned)tid % CHAINS];
    account *a = account_at(index - 1);
    *a = (account){
        .tid = tid, .next = *chain, .sight_ns = now_ns, .since_ns = now_ns, .since_cpu_ns = cpu_ns};
    *chain = index;
    books.taken++;
    return a;
}

static void free_account(account *a)
{
    uint32_t *link = &books.chains[(unsigned)a->tid % CHAINS];
    while (account_at(*link - 1) != a) {
        link = &account_at(*link - 1)->next;
    }
    uint32_t index = *link;
    *link = a->next;
    *a = (account){.next = books.free_list};
    books.free_list = index;
    books.taken--;
}

/* ---- amounts ---- */

static void add(const place *where, int64_t ns)
{
    __atomic_add_fetch(&where->entry->count, (uint64_t)ns, __ATOMIC_RELAXED);
    pp_label_cell_add(where->cell, 0, (uint64_t)ns);
}

/* Finds or makes the table's place of a stack; its cell is in use. */
static place place_of(pp_wall_state state, const uintptr_t *pcs, uint32_t depth,
                      pprof_labels *labels, int64_t ns)
{
    uintptr_t *stack = books.stack;
    if (depth > PP_SCRATCH_DEPTH) {
        depth = PP_SCRATCH_DEPTH;
    }
    stack[0] = 1 + (uintptr_t)state;
    if (depth > 0) {
        memcpy(&stack[1], pcs, depth * sizeof *stack);
    }
    place found = {pp_stack_counts_record(books.places.counts, stack, 1 + depth,
                                          pp_stack_hash(stack, 1 + depth), 0),
                   NULL};
    if (found.entry != NULL) {
        found.cell = pp_label_cell_take(books.places.labels, found.entry, labels, (uint64_t)ns);
    }
    return found;
}

static void add_unseen(const account *a, int64_t ns)
{
    static const uintptr_t unseen[] = {(uintptr_t)pprof_unseen_waits + 1};
    pprof_labels *labels = pp_thread_label_add(NULL, a->name);
    place where = place_of(PP_WALL_OTHER, unseen, 1, labels, ns);
    pp_labels_unref(labels);
    if (where.entry != NULL) {
        add(&where, ns);
        pp_label_cell_give(where.cell);
    } else {
        books.places.lost_ns += (uint64_t)ns;
    }
}

/*
 * Gives what the thread has waited to the places where it was seen, in proportion to the times for which
 * the sights stand; or to none, if it was never seen waiting.
 */
static void balance(account *a)
{
    int64_t all = 0;
    int64_t left = a->waited_ns;
    for (unsigned i = 0; i < a->tallied; i++) {
        all += a->tallies[i].ns;
    }
    for (unsigned i = 0; i < a->tallied; i++) {
        tally *t = &a->tallies[i];
        int64_t part = left <= 0      ? 0
                       : t->ns == all ? left /* the last one: all, whatever rounding says */
                                      : (int64_t)((double)left * (double)t->ns / (double)all);
        add(&t->where, part);
        left -= part;
        all -= t->ns;
        pp_label_cell_give(t->where.cell);
    }
    if (left > 0) {
        add_unseen(a, left);
    }
    a->waited_ns = left < 0 ? left : 0;
    a->tallied = 0;
}

/* A sight of the thread at a place stands for `ns` more. */
static void count_sight(account *a, const place *where, int64_t ns)
{
    if (where->entry == NULL || ns == 0) {
        return;
    }
    for (unsigned i = 0; i < a->tallied; i++) {
        if (a->tallies[i].where.entry == where->entry && a->tallies[i].where.cell == where->cell) {
            a->tallies[i].ns += ns;
            return;
        }
    }
    if (a->tallied == TALLIES) {
        balance(a);
    }
    pp_label_cell_keep(where->cell);
    a->tallies[a->tallied++] = (tally){*where, ns};
}

/* Counts what there is to count. */
static void end_account(account *a)
{
    balance(a);
    pp_label_cell_give(a->wait.cell);
    a->wait = (place){.entry = NULL};
    a->has_ended = true;
}

static void close_account(account *a)
{
    if (!a->has_ended) {
        end_account(a);
    }
    free_account(a);
}

/*
 * Where a thread waited for a processor: its next CPU sample shows it, which comes soon after. A thread
 * that wakes up, does little and waits again hardly has samples: there it is the place of the wait from
 * which it woke up.
 */
static bool place_delay(const account *a, int64_t ran_ns, int64_t delay_ns)
{
    const pp_stack_entry *before = a->wait.entry;
    if (before == NULL || ran_ns >= LITTLE_NS) {
        return pp_cpu_threads_preempted(a->tid, delay_ns);
    }
    place where = place_of(PP_WALL_PREEMPTED, before->pc + 1, before->depth - 1,
                           a->wait.cell != NULL ? a->wait.cell->labels : NULL, delay_ns);
    if (where.entry != NULL) {
        add(&where, delay_ns);
    }
    pp_label_cell_give(where.cell);
    return where.entry != NULL;
}

/* What the thread did not run since the amounts were last known, and has not been counted yet. */
static int64_t rest_of(const account *a, uint64_t now_ns, int64_t cpu_ns)
{
    return (int64_t)(now_ns - a->since_ns) - (cpu_ns - a->since_cpu_ns) - a->delayed_ns;
}

/* Counts what the scheduler says of the thread that it did not say at the last sight. What it waited
 * from its creation to its begin is not of the account. */
static void note_delay(account *a, const pp_wall_sight *s)
{
    int64_t more = a->delay_known && s->delay_ns > a->delay_ns ? s->delay_ns - a->delay_ns : 0;
    int64_t rest_ns = rest_of(a, s->now_ns, s->cpu_ns);
    more = a->is_first && more > rest_ns ? rest_ns : more;
    a->is_first = false;
    if (s->delay_ns >= 0) {
        a->delay_ns = s->delay_ns;
        a->delay_known = true;
    }
    if (more > 0 && place_delay(a, s->cpu_ns - a->since_cpu_ns, more)) {
        a->delayed_ns += more;
    }
}

/* Notes what the thread has waited since the amounts were last known. */
static void settle(account *a, uint64_t now_ns, int64_t cpu_ns)
{
    a->waited_ns += rest_of(a, now_ns, cpu_ns);
    a->since_ns = now_ns;
    a->since_cpu_ns = cpu_ns;
    a->delayed_ns = 0;
}

/* ---- the books ---- */

/* For threads that may have signals. */
static void enter(pp_signal_mask *old)
{
    pp_lock_enter(&books.lock, pp_task_self(), old);
}

static void leave(const pp_signal_mask *old)
{
    pp_lock_leave(&books.lock, old);
}

static void forget_accounts(void)
{
    memset(books.chains, 0, sizeof books.chains);
    books.free_list = books.taken = 0;
    books.used = 0;
}

static void free_tables(void)
{
    pp_stack_counts_free(books.places.counts);
    pp_label_cells_free(books.places.labels);
    books.places = (pp_wall_places){.counts = NULL};
    if (books.stack != NULL) {
        pp_memory_unmap(books.stack, STACK_BYTES);
    }
    for (uint32_t i = 0; i < books.used; i++) {
        *account_at(i) = (account){.tid = 0};
    }
    for (uint32_t i = 0; i < books.used; i += PIECE) {
        pp_memory_empty(account_at(i), PIECE * sizeof(account));
    }
    books.stack = NULL;
    forget_accounts();
}

int pp_wall_accounts_begin(bool may_ask, pp_worker *looker)
{
    pp_signal_mask old = 0;
    enter(&old);
    books.places = (pp_wall_places){
        .counts = pp_stack_counts_new(pp_address_space_share(counts_bytes, COUNTS_SHARE)),
        .labels = pp_label_cells_new()};
    books.may_ask = may_ask;
    books.looker = looker;
    books.all_quiet = books.knew_all = false;
    books.stack = pp_memory_map(STACK_BYTES);
    books.open = books.places.counts != NULL && books.stack != NULL && have_room(0);
    if (!books.open) {
        free_tables();
    }
    int error = books.open ? 0 : -ENOMEM;
    leave(&old);
    return error;
}

void pp_wall_accounts_end(void)
{
    pp_signal_mask old = 0;
    enter(&old);
    books.open = false; /* first: what a child of a fork has by now is not freed there again */
    free_tables();
    leave(&old);
}

/* Whether the thread was seen waiting, and has not run since: then it has waited there until now. */
static bool has_stayed(account *a, int64_t cpu_ns, uint64_t now_ns)
{
    if (a->wait.entry == NULL || a->since_cpu_ns != cpu_ns) {
        a->stays = 0;
        return false;
    }
    a->stays += a->stays < QUIET;
    add(&a->wait, (int64_t)(now_ns - a->since_ns));
    a->since_ns = a->sight_ns = now_ns;
    return true;
}

/* A rest is over when a thread begins. */
static void set_all_quiet(bool all_quiet)
{
    books.all_quiet = all_quiet;
    pp_worker_set_pace(books.looker, all_quiet ? ROTATION : 1);
}

/* Whether the thread is visited at this look. What it waits meanwhile is counted at the next visit; when
 * that is does not depend on what the thread does. */
static bool is_due(const account *a, bool everyone)
{
    return everyone || books.all_quiet || a->stays < QUIET ||
           ((uint32_t)a->tid + books.look) % ROTATION == 0;
}

/* A thread that waits gets another name now and then; so does one that somebody else has named
 * after its first sight. */
static bool is_name_due(const account *a, bool everyone)
{
    return pp_thread_label_is_wanted() &&
           (a->stays < QUIET || everyone || books.look / ROTATION % NAME_ROTATION == 0);
}

/* The accounts are closed of threads that are gone, and of those that were looked at before they said that
 * they are libpprof's own. An id that has another thread now, whose begin or whose predecessor's end nobody saw, shows by
 * its clock. */
static bool is_over(const account *a, int64_t cpu_ns)
{
    return cpu_ns < a->since_cpu_ns || pp_own_threads_have(a->tid);
}

/* What is read of a thread while others may begin and end: they do not wait for system calls. */
typedef struct visit {
    uint32_t index; /* of the account */
    int tid;
    bool asks_name;       /* if it has stayed */
    int64_t since_cpu_ns; /* of the account */
    int64_t cpu_ns;       /* read */
    uint64_t now_ns;
    char name[PP_TASK_NAME_BYTES];
} visit;

/* Lists threads that are due, from the account *next on. Returns their number. The caller has the lock. */
static unsigned list_due(bool everyone, uint32_t *next, visit *visits)
{
    unsigned due = 0;
    uint32_t end = books.used - *next > TURN_SEEN ? *next + TURN_SEEN : books.used;
    for (; *next < end && due < TURN; (*next)++) {
        const account *a = account_at(*next);
        if (a->tid != 0 && is_due(a, everyone)) {
            visits[due++] = (visit){.index = *next,
                                    .tid = a->tid,
                                    .asks_name = is_name_due(a, everyone),
                                    .since_cpu_ns = a->since_cpu_ns};
        }
    }
    return due;
}

static void read_thread(visit *v, int folder)
{
    v->cpu_ns = pp_task_cpu_ns(v->tid);
    v->now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    if (v->asks_name && v->cpu_ns == v->since_cpu_ns) {
        pp_task_name(folder, v->tid, v->name);
    }
}

/* A name that nobody wants any more is a new one, too: none. */
static bool has_new_name(const account *a, const visit *v)
{
    bool is_known = v->asks_name || !pp_thread_label_is_wanted();
    return is_known && strcmp(v->name, a->name) != 0;
}

/* Whether the thread has to be looked at. An account that has begun since `read_ns`, before the reading, is left to the
 * next look. */
static bool has_moved(account *a, const visit *v, uint64_t read_ns)
{
    if (a->tid != v->tid || a->since_ns > read_ns) {
        return false;
    }
    if (is_over(a, v->cpu_ns)) {
        close_account(a);
        return false;
    }
    return !a->has_ended && (!has_stayed(a, v->cpu_ns, v->now_ns) || has_new_name(a, v));
}

/* Whether the kernel counts no thread that has no account. Most threads begin at a hook. As counting takes a tenth of a
 * look, the others are found by one look of ROTATION. */
static bool knows_all(bool everyone)
{
    if (everyone || !books.knew_all || books.look - books.counted >= ROTATION) {
        books.counted = books.look;
        books.knew_all = pp_tasks_count() == books.taken + pp_own_threads_count();
    }
    return books.knew_all;
}

bool pp_wall_list_moved(bool everyone, int folder, int *tids, size_t capacity, size_t *count)
{
    visit visits[TURN];
    bool fits = true;
    bool all_quiet = true;
    uint32_t next = 0;
    *count = 0;
    pp_lock_take(&books.lock, pp_task_self());
    books.look += books.all_quiet ? ROTATION : 1;
    while (next < books.used) {
        unsigned due = list_due(everyone, &next, visits);
        pp_lock_release(&books.lock);
        uint64_t read_ns = pp_clock_ns(CLOCK_MONOTONIC);
        for (unsigned i = 0; i < due; i++) {
            read_thread(&visits[i], folder);
        }
        pp_lock_take(&books.lock, pp_task_self());
        for (unsigned i = 0; i < due; i++) {
            account *a = account_at(visits[i].index);
            bool moved = has_moved(a, &visits[i], read_ns);
            fits = fits && (!moved || *count < capacity);
            if (moved && fits) {
                tids[(*count)++] = a->tid;
            }
            all_quiet = all_quiet && (a->tid == 0 || a->has_ended || a->stays == QUIET);
        }
    }
    bool all_known = knows_all(everyone);
    set_all_quiet(all_quiet && all_known && books.open);
    pp_lock_release(&books.lock);
    return all_known && fits;
}

size_t pp_wall_accounts_count(void)
{
    return __atomic_load_n(&books.taken, __ATOMIC_RELAXED);
}

static bool is_at(const pp_stack_entry *entry, const pp_wall_sight *s)
{
    return entry != NULL && entry->depth == s->depth + 1 && s->depth > 0 &&
           memcmp(entry->pc + 1, s->pc, s->depth * sizeof *s->pc) == 0;
}

static pp_wall_state state_of(const account *a, const pp_wall_sight *s)
{
    return s->is_restarted && is_at(a->last_wait, s) ? (pp_wall_state)(a->last_wait->pc[0] - 1)
                                                     : s->state;
}

/* Returns the place of a sight, in use, and remembers the thread's name. */
static place place_seen(account *a, const pp_wall_sight *s, int64_t ns)
{
    pprof_labels *labels = pp_thread_label_add(s->labels, s->name);
    place here = place_of(state_of(a, s), s->pc, s->depth, labels, ns);
    pp_labels_unref(labels);
    memcpy(a->name, s->name, sizeof a->name);
    return here;
}

static void stay_at(account *a, const place *here)
{
    pp_label_cell_give(a->wait.cell);
    a->wait = *here;
    a->last_wait = here->entry != NULL ? here->entry : a->last_wait;
}

/* The sight stands for half of the time since the one before, which stands for the other half. A thread
 * that has begun after the sight's time has another account than the one that was seen. */
static void see(const pp_wall_sight *s)
{
    place here = {.entry = NULL};
    account *a = find(s->tid);
    a = a != NULL ? a : open_account(s->tid, s->now_ns, s->cpu_ns);
    if (a == NULL || a->has_ended || a->sight_ns > s->now_ns || s->cpu_ns < a->since_cpu_ns) {
        return;
    }
    if (has_stayed(a, s->cpu_ns, s->now_ns)) {
        if (s->state != PP_WALL_RUNNING && strcmp(s->name, a->name) != 0) {
            here = place_seen(a, s, 0);
            stay_at(a, &here);
        }
        return;
    }
    int64_t half = (int64_t)(s->now_ns - a->sight_ns) / 2;
    count_sight(a, &a->wait, half);
    note_delay(a, s);
    if (s->state != PP_WALL_RUNNING) {
        here = place_seen(a, s, 2 * half);
        count_sight(a, &here, half);
        settle(a, s->now_ns, s->cpu_ns);
    }
    stay_at(a, &here);
    a->sight_ns = s->now_ns;
}

void pp_wall_see(const pp_wall_sight *sight)
{
    pp_lock_take(&books.lock, pp_task_self());
    if (books.open) {
        see(sight);
    }
    pp_lock_release(&books.lock);
}

/* Only threads that do not wait have amounts to be settled: those that wait were just looked at. */
const pp_wall_places *pp_wall_settle_all(uint64_t now_ns)
{
    pp_signal_mask old = 0;
    enter(&old);
    for (uint32_t i = 0; i < books.used; i++) {
        account *a = account_at(i);
        if (a->tid == 0 || a->has_ended) {
            continue;
        }
        int64_t cpu_ns = a->wait.entry == NULL ? pp_task_cpu_ns(a->tid) : -1;
        if (cpu_ns >= a->since_cpu_ns && a->since_ns < now_ns) {
            settle(a, now_ns, cpu_ns);
        }
        balance(a);
    }
    leave(&old);
    return &books.places;
}

/* ---- the calling thread ---- */

typedef struct clocks {
    uint64_t now_ns;
    int64_t cpu_ns;
} clocks;

static clocks read_clocks(void)
{
    return (clocks){pp_clock_ns(CLOCK_MONOTONIC), (int64_t)pp_clock_ns(CLOCK_THREAD_CPUTIME_ID)};
}

/* The kernel may provide a page only when another thread has mapped something, and that one has no processor:
 * not while this thread has the lock. */
static void touch_next_accounts(void)
{
    uint32_t next = __atomic_load_n(&books.used, __ATOMIC_RELAXED) + AHEAD;
    if (have_room(next)) {
        __atomic_fetch_or(&account_at(next)->tid, 0, __ATOMIC_RELAXED);
    }
}

/* A look that has met the thread before has counted what it has seen. */
static account *begin_account(int tid, clocks begin)
{
    account *before = find(tid);
    if (before != NULL) { /* or an earlier thread of this id has ended */
        if (!before->has_ended && before->since_ns > begin.now_ns) {
            begin = (clocks){before->since_ns, before->since_cpu_ns};
        }
        close_account(before);
    }
    return open_account(tid, begin.now_ns, begin.cpu_ns);
}

static void begins(uintptr_t entry, const pp_caller *caller)
{
    (void)entry;
    (void)caller;
    pp_signal_mask old = 0;
    if (!__atomic_load_n(&books.open, __ATOMIC_RELAXED)) {
        return;
    }
    clocks begin = read_clocks();
    touch_next_accounts();
    enter(&old);
    if (books.open) {
        set_all_quiet(false);
        account *a = begin_account(pp_task_self(), begin);
        if (a != NULL) {
            a->delay_known = a->is_first = true;
        }
    }
    leave(&old);
}

/* Whether the calling thread has never waited by itself: what it did not run, it waited for a processor. */
static bool has_never_waited(void)
{
    struct rusage use = {.ru_nvcsw = 0};
    return books.may_ask && pp_system_call(SYS_getrusage, RUSAGE_THREAD, &use) == 0 &&
           use.ru_nvcsw == 0;
}

/* To read what the scheduler says would take a descriptor, or 50 us. */
static void settle_end(account *a, clocks end)
{
    int64_t rest_ns = rest_of(a, end.now_ns, end.cpu_ns);
    count_sight(a, &a->wait, (int64_t)(end.now_ns - a->sight_ns));
    pp_thread_label_own_name(a->name);
    if (rest_ns > 0 && has_never_waited() && pp_cpu_threads_preempted(a->tid, rest_ns)) {
        a->delayed_ns += rest_ns;
    }
    settle(a, end.now_ns, end.cpu_ns);
}

static void ends(void)
{
    pp_signal_mask old = 0;
    if (!__atomic_load_n(&books.open, __ATOMIC_RELAXED)) {
        return;
    }
    clocks end = read_clocks();
    enter(&old);
    account *a = books.open ? find(pp_task_self()) : NULL;
    if (a != NULL && !a->has_ended) {
        if (a->sight_ns < end.now_ns) { /* else a look has come first */
            settle_end(a, end);
        }
        end_account(a);
        a->since_cpu_ns = end.cpu_ns;
    }
    leave(&old);
}

const pp_sampler pp_wall_sampler = {.on = {[PP_THREAD_ENDS] = ends}, .thread_begins = begins};

void pp_wall_accounts_after_fork_in_child(void)
{
    if (books.open) {
        free_tables();
    } else if (books.used != 0) { /* the fork came while another thread closed the books */
        forget_accounts();
    }
    books.open = false;
    pp_lock_release(&books.lock);
}
