/* SPDX-License-Identifier: MIT
 *
 * cpu_threads.c: keeps the slots of the threads that are sampled, and settles their accounts.
 *
 *   chains[tid % CHAINS] -> slot -> slot -> 0        free_list -> slot -> slot -> 0
 *
 * A timer's signal has the address of its slot, so the handler needs no look-up.
 *
 * Zone: SIGNAL.
 * Locks: `lock`. NORMAL code takes it with signals blocked; the handler tries it.
 * Owns: the slots.
 * Tested by: e2e.threads, e2e.thread_storm, e2e.busy_at_start, unit.cpu_perf
 */
#include "kinds/cpu/cpu_threads.h"

#include "arch/system_call.h"
#include "base/memory.h"
#include "base/pseudo_frame.h"
#include "base/random.h"
#include "base/stack_hash.h"
#include "kinds/cpu/cpu_latency.h"
#include "kinds/cpu/cpu_perf.h"
#include "kinds/cpu/cpu_timers.h"
#include "kinds/cpu/thread_label.h"
#include "kinds/cpu/thread_roots.h"
#include "sys/address_space.h"
#include "sys/apart.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/own_threads.h"
#include "sys/sampling_signal.h"
#include "sys/signal_mask.h"
#include "sys/task_state.h"
#include "sys/tasks.h"
#include "threads/small_stacks.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    CHAINS = 1024,
    AHEAD = 64, /* slots that are touched before they are used */
    MAX_SLOTS = 1 << 16,
    MIN_SLOTS = 1 << 6,
    SLOTS_SHARE = 200, /* one part in 200 of a limited address space */
    DIRECTORY_BYTES = 4096,
    MAX_ROUNDS = 8,   /* of listing threads while new ones appear */
    BUSY_ROUNDS = 50, /* of waiting for threads that block the sampling signal for a moment */
    BUSY_PAUSE_NS = 1000 * 1000,
    /* After so much CPU time without a sample the signal is not just late: a tick comes every 1 to
     * 10 ms of it. */
    UNDELIVERED_NS = 100 * 1000 * 1000,
    EXEC_PATIENCE_NS = 500 * 1000 * 1000,
    STACK_PATIENCE_NS = 100 * 1000 * 1000, /* until the holder is looked for */
    HOLD_NS = 2 * 1000 * 1000 /* of CPU time; setting up a coroutine takes microseconds */
};

static struct {
    struct {
        pp_lock lock;
        uint32_t armed;      /* threads; written under the lock, read without it */
        uint32_t slots_used; /* ever given out */
        uint32_t free_list;
        uint32_t chains[CHAINS];
    } now; /* emptied in the child of fork */
    pp_cpu_slot *slots;
    uint32_t slot_count; /* reserved */
    uint32_t scan_number;
    uint32_t lookers; /* threads of the library that look for threads that no hook saw begin */
    uint64_t next_look_ns;
    uint32_t differing_looks; /* one after the other */
    uint64_t random_state;
    char directory[DIRECTORY_BYTES] __attribute__((aligned(16)));
    char status_text[PP_TASK_STATUS_BYTES];
} threads;

static const pp_root_frames no_root;

static const uint64_t look_again_ns =
    UINT64_C(250000000); /* how long a thread may stay unseen if no hook saw it start */
static const uint64_t look_closer_ns = UINT64_C(10000000); /* after one that found a difference */
enum { DIFFERING_LOOKS = 5 };                              /* until threads are listed */

/* ---- slots ---- */

int pp_cpu_threads_reserve(void)
{
    if (threads.slots != NULL) {
        return 0;
    }
    uint32_t count = MAX_SLOTS;
    void *memory = NULL;
    while (count > MIN_SLOTS && pp_address_space_share(count * sizeof *threads.slots, SLOTS_SHARE) <
                                    count * sizeof *threads.slots) {
        count /= 2;
    }
    for (; count >= MIN_SLOTS && memory == NULL; count /= 2) {
        memory = pp_memory_map(count * sizeof *threads.slots);
        if (memory != NULL) {
            break;
        }
    }
    if (memory == NULL) {
        return -ENOMEM;
    }
    struct rlimit pending;
    uint64_t cap = count;
    if (getrlimit(RLIMIT_SIGPENDING, &pending) == 0 && pending.rlim_cur / 4 < cap) {
        cap = pending.rlim_cur / 4;
    }
    threads.random_state = pp_clock_ns(CLOCK_MONOTONIC) ^ (uint64_t)pp_task_process() << 32 ^
                           (uint64_t)(uintptr_t)memory;
    threads.slot_count = count;
    pp_cpu_timers_set_cap((uint32_t)cap);
    threads.slots = memory;
    return 0;
}

bool pp_cpu_threads_owns(const void *value)
{
    uintptr_t offset = (uintptr_t)value - (uintptr_t)threads.slots;
    return threads.slots != NULL &&
           offset < (uintptr_t)threads.slot_count * sizeof *threads.slots &&
           offset % sizeof *threads.slots == 0;
}

pp_cpu_slots pp_cpu_threads_slots(void)
{
    return (pp_cpu_slots){threads.slots,
                          __atomic_load_n(&threads.now.slots_used, __ATOMIC_RELAXED)};
}

static pp_cpu_slot *find_slot(int tid)
{
    for (uint32_t i = threads.now.chains[(unsigned)tid % CHAINS]; i != 0;
         i = threads.slots[i - 1].next) {
        if (threads.slots[i - 1].tid == tid) {
            return &threads.slots[i - 1];
        }
    }
    return NULL;
}

static pp_cpu_slot *new_slot(int tid)
{
    pp_cpu_slot *slot = NULL;
    if (threads.now.free_list != 0) {
        slot = &threads.slots[threads.now.free_list - 1];
        threads.now.free_list = slot->next;
    } else if (threads.now.slots_used < threads.slot_count) {
        slot = &threads.slots[threads.now.slots_used++];
    } else {
        return NULL;
    }
    uint32_t *chain = &threads.now.chains[(unsigned)tid % CHAINS];
    *slot = (pp_cpu_slot){
        .tid = tid, .timer = -1, .event = -1, .next = *chain, .scan = threads.scan_number};
    *chain = (uint32_t)(slot - threads.slots) + 1;
    return slot;
}

static void unlink_slot(pp_cpu_slot *slot)
{
    uint32_t index = (uint32_t)(slot - threads.slots) + 1;
    uint32_t *link = &threads.now.chains[(unsigned)slot->tid % CHAINS];
    while (*link != index) {
        link = &threads.slots[*link - 1].next;
    }
    *link = slot->next;
    slot->tid = 0;
    __atomic_store_n(&slot->session, 0, __ATOMIC_RELEASE);
}

static void put_on_free_list(pp_cpu_slot *slot)
{
    slot->next = threads.now.free_list;
    threads.now.free_list = (uint32_t)(slot - threads.slots) + 1;
}

static void free_slot(pp_cpu_slot *slot)
{
    unlink_slot(slot);
    put_on_free_list(slot);
}

/* Keeps a slot from being given out: a handler of the session did not come back yet, and may use
 * any slot. */
static void hold_slot(pp_cpu_slot *slot, const pp_cpu_session *session)
{
    unlink_slot(slot);
    slot->held_by = (uint32_t)(session - pp_cpu_sessions) + 1;
}

/* ---- threads ---- */

static bool is_armed(const pp_cpu_slot *slot)
{
    return slot->timer >= 0 || slot->event >= 0;
}

/* -ESRCH: the thread has ended meanwhile. */
static int arm_slot(pp_cpu_slot *slot)
{
    int error = pp_cpu->engine->arm(slot);
    if (error == 0) {
        __atomic_store_n(&threads.now.armed, threads.now.armed + 1, __ATOMIC_RELAXED);
        pp_cpu->facts.threads_armed++;
    }
    return error;
}

/* Disarms the slot's thread; its account stays open. */
static void silence(pp_cpu_slot *slot)
{
    __atomic_store_n(&threads.now.armed, threads.now.armed - is_armed(slot), __ATOMIC_RELAXED);
    pp_cpu->engine->disarm(slot);
}

static void disarm(pp_cpu_slot *slot)
{
    silence(slot);
    pp_label_cell_give(slot->last_cell);
    slot->last_cell = NULL;
    free_slot(slot);
}

/* Whether the thread waits for a signal. In a program that has changed its user /proc only shows
 * whether the thread runs: true if it does not. */
static bool waits_for_signals(int tid)
{
    pp_task_place place = {.call = -1};
    int folder = pp_task_open();
    pp_task_activity activity = pp_task_look(folder, tid, &place);
    bool runs = activity == PP_TASK_UNKNOWN && pp_task_letter(folder, tid) == 'R';
    pp_task_close(folder);
    return activity == PP_TASK_GONE || (activity == PP_TASK_UNKNOWN && !runs) ||
           (activity == PP_TASK_WAITS && place.call == SYS_rt_sigtimedwait);
}

/*
 * Whether a signal can be sent to the thread. It cannot if the kernel has no room for it on the
 * thread's alternate stack. It must not if the thread blocks the signal, past libc: the thread may
 * be about to wait for it (sys/sampling_signal.h). Threads that begin now do neither. Libc, and
 * libpprof in places, block all signals for a moment, as when a thread or process is created: such
 * a thread is counted in *busy.
 */
static bool can_take_signals(int tid, unsigned *busy)
{
    if (pp_small_stacks_has(tid)) {
        return false;
    }
    if (tid == pp_task_self() || /* enter() has blocked its signals */
        !pp_task_blocks(PP_TASK_ANY_FOLDER, tid, PP_SAMPLING_SIGNAL, threads.status_text)) {
        return true;
    }
    *busy += !waits_for_signals(tid);
    return false;
}

static void set_root(pp_cpu_slot *slot, const pp_root_frames *root)
{
    slot->begin = root->pcs[0];
    slot->callers = pp_thread_callers_keep(root);
}

/*
 * Opens the account of thread `tid` at `base_ns` on its CPU clock, and arms the thread. If there is
 * no timer (RLIMIT_SIGPENDING) the account stays open: a later scan may get one, and the time that
 * the thread used is known at the end.
 */
static void arm(int tid, uint64_t base_ns, const pp_root_frames *root, bool takes_signals)
{
    pp_cpu_slot *slot = new_slot(tid);
    if (slot == NULL) {
        pp_cpu->facts.threads_unarmed++;
        return;
    }
    set_root(slot, root);
    slot->first_ns = base_ns + 1 + pp_random_below(&threads.random_state, pp_cpu->facts.period_ns);
    __atomic_store_n(&slot->session, pp_cpu->number, __ATOMIC_RELEASE);
    int error = takes_signals ? arm_slot(slot) : -EAGAIN;
    if (error == -ESRCH) {
        free_slot(slot);
    } else if (error != 0) {
        pp_cpu->facts.threads_unarmed++;
    }
}

/* ---- accounts ---- */

/* Counts what the thread waited for a processor since its last sample: at the stack of that one; if there
 * is none, where the thread began, with `labels` (NULL: none); if that is not known, as lost. */
static void settle_preempted(pp_cpu_session *session, pp_cpu_slot *slot, pp_label_cell *cell,
                             pprof_labels *labels)
{
    pp_label_cell *first = NULL;
    pp_stack_entry *entry = __atomic_load_n(&slot->last, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&slot->preempted_ns, __ATOMIC_RELAXED) == 0) {
        return;
    }
    if (entry == NULL) {
        pp_root_frames root = pp_thread_root_read(slot->begin, slot->callers);
        if (root.depth == 0) {
            root.pcs[root.depth++] = (uintptr_t)pprof_lost_samples + 1;
        }
        entry = pp_cpu_count_stack(session, root.pcs, root.depth,
                                   pp_stack_hash(root.pcs, root.depth), 0);
        if (entry != NULL) {
            cell = first = pp_cpu_count_labels(session, entry, labels, 0);
        }
    }
    if (slot->session == session->number && entry != NULL) {
        pp_cpu_count_preempted(slot, entry, cell);
    }
    pp_label_cell_give(first);
}

/* How long the session should have been over. */
static uint64_t late_ns(const pp_cpu_session *session)
{
    uint64_t now_ns = session->deadline_ns != 0 ? pp_clock_ns(CLOCK_MONOTONIC) : 0;
    return now_ns > session->deadline_ns ? now_ns - session->deadline_ns : 0;
}

/* Records the weight that was due and never counted: on the function where the thread began, or, if
 * that is not known, on its last stack. `labels`: of a thread that ends (NULL: none). After the session's deadline: what
 * was due before it in any case, wherever the thread has used the time since. */
static void settle(pp_cpu_session *session, const pp_cpu_slot *slot, uint64_t cpu_ns,
                   bool at_thread_end, pprof_labels *labels)
{
    uint64_t late = late_ns(session);
    uint64_t owed = pp_cpu_due(slot, cpu_ns > late ? cpu_ns - late : 0);
    if (slot->session != session->number || owed <= slot->counted) {
        return;
    }
    uint64_t rest = owed - slot->counted;
    uintptr_t stack[1 + PP_ROOT_DEPTH] = {(uintptr_t)pprof_lost_samples + 1};
    pp_root_frames root = pp_thread_root_read(slot->begin, slot->callers);
    uint32_t root_depth = root.depth;
    memcpy(&stack[1], root.pcs, root_depth * sizeof *stack);
    if (rest * session->facts.period_ns > UNDELIVERED_NS) {
        pp_cpu_count(session, stack, 1 + root_depth, NULL, rest);
        __atomic_add_fetch(&session->facts.lost_not_delivered, rest, __ATOMIC_RELAXED);
        return;
    }
    __atomic_add_fetch(&session->facts.settled, rest, __ATOMIC_RELAXED);
    bool on_root = root_depth > 0 && (at_thread_end || slot->last == NULL);
    if (on_root) {
        const pp_stack_entry *entry = pp_cpu_count_stack(
            session, &stack[1], root_depth, pp_stack_hash(&stack[1], root_depth), rest);
        pp_label_cell *cell =
            entry != NULL ? pp_cpu_count_labels(session, entry, labels, rest) : NULL;
        if (at_thread_end) {
            pp_cpu_latency_count(session, pp_cpu_threads_slots(), slot, entry, cell, rest);
        }
        pp_label_cell_give(cell);
    } else if (slot->last != NULL) {
        __atomic_add_fetch(&slot->last->count, rest, __ATOMIC_RELAXED);
        pp_label_cell_add(slot->last_cell, PP_CPU_CELL_WEIGHT, rest);
    } else {
        pp_cpu_count(session, stack, 1, NULL, rest);
    }
}

/* ---- all threads ---- */

typedef struct scan {
    unsigned added;
    unsigned busy; /* threads that may take signals soon */
    int self;
    bool met_self;
    int seen; /* threads, or -errno */
} scan;

/* What a thread that is not armed has used by now: its samples that are due show whether it misses any. */
static void note_clock(pp_cpu_slot *slot)
{
    int64_t now_ns = pp_task_cpu_ns(slot->tid);
    slot->seen_ns = now_ns > 0 ? (uint64_t)now_ns : slot->seen_ns;
}

static void visit_task(int tid, void *context)
{
    scan *s = context;
    s->met_self = s->met_self || tid == s->self;
    if (pp_own_threads_have(tid)) {
        return;
    }
    pp_cpu_slot *slot = find_slot(tid);
    if (slot != NULL) {
        slot->scan = threads.scan_number;
        if (!is_armed(slot)) {
            note_clock(slot);
        }
        if (!is_armed(slot) && can_take_signals(tid, &s->busy) && arm_slot(slot) == 0) {
            pp_cpu->facts.threads_unarmed--;
            s->added++;
        }
        return;
    }
    int64_t now = pp_task_cpu_ns(tid);
    if (now >= 0) {
        uint32_t before = threads.now.armed;
        arm(tid, (uint64_t)now, &no_root, can_take_signals(tid, &s->busy));
        s->added += threads.now.armed != before;
    }
}

/* A thread that is gone, and was not armed, does not count as one that was not sampled if it has missed no sample as
 * far as it was seen: such are threads that a scan meets on their last steps, when they have been settled already. */
static void uncount_if_nothing_missed(const pp_cpu_slot *slot)
{
    pp_cpu->facts.threads_unarmed -= !is_armed(slot) && pp_cpu_owed(slot, slot->seen_ns) == 0;
}

/* Frees the slots of threads that are no longer listed: they ended without a hook (bare clone, or a
 * bare exit system call), or a scan has met them after it. */
static void drop_unlisted(void)
{
    for (uint32_t i = 0; i < threads.now.slots_used; i++) {
        pp_cpu_slot *slot = &threads.slots[i];
        if (slot->tid != 0 && slot->scan != threads.scan_number && pp_task_cpu_ns(slot->tid) < 0) {
            uncount_if_nothing_missed(slot);
            disarm(slot);
        }
    }
}

static void list_tasks(void *of_scan)
{
    scan *s = of_scan;
    s->seen = pp_tasks_each(threads.directory, sizeof threads.directory, visit_task, s);
}

/* Lists all threads once, and arms new ones, whose perf events stay open. Returns 1 if there may be
 * more, 0 or -errno. The caller has the lock. */
static int scan_tasks(unsigned *busy)
{
    scan s = {.self = pp_task_self()};
    threads.scan_number++;
    if (pp_cpu_perf_was_used() || pp_cpu->engine == &pp_cpu_engine_perf) {
        pp_apart_stay(list_tasks, &s);
    } else {
        pp_apart(list_tasks, &s);
    }
    int seen = s.seen;
    *busy = s.busy;
    if (seen < 0) {
        return seen;
    }
    if (!s.met_self && (unsigned)seen >= pp_tasks_count()) {
        return -ESRCH; /* the /proc is that of another process id namespace, with other numbers */
    }
    drop_unlisted();
    return s.added > 0 || (unsigned)seen < pp_tasks_count();
}

static bool enter_within(uint64_t patience_ns, pp_signal_mask *old)
{
    pp_signals_block(old);
    bool taken = pp_lock_take_within(&threads.now.lock, pp_task_self(), patience_ns);
    if (!taken) {
        pp_signals_restore(old);
    }
    return taken;
}

/* Arms all threads, until no new ones appear; returns the number of busy ones. */
static unsigned arm_listed(void)
{
    unsigned busy = 0;
    unsigned none = 0;
    int more = 1;
    for (int round = 0; more > 0 && round < MAX_ROUNDS; round++) {
        more = scan_tasks(&busy);
    }
    if (more < 0) { /* there is no /proc: arms at least the calling thread */
        int tid = pp_task_self();
        if (find_slot(tid) == NULL) {
            arm(tid, (uint64_t)pp_task_cpu_ns(tid), &no_root, can_take_signals(tid, &none));
        }
    }
    return busy;
}

unsigned pp_cpu_threads_arm_all(void)
{
    const struct timespec pause = {.tv_nsec = BUSY_PAUSE_NS};
    pp_signal_mask old = 0;
    pp_lock_enter(&threads.now.lock, pp_task_self(), &old);
    unsigned busy = arm_listed();
    for (int round = 0; busy > 0 && round < BUSY_ROUNDS; round++) {
        pp_lock_leave(&threads.now.lock, &old);
        pp_system_call(SYS_nanosleep, &pause, NULL);
        pp_lock_enter(&threads.now.lock, pp_task_self(), &old);
        busy = pp_cpu_is_active() ? arm_listed() : 0;
    }
    unsigned all = threads.now.armed;
    pp_lock_leave(&threads.now.lock, &old);
    return all;
}

static bool is_look_due(uint64_t now_ns)
{
    uint64_t due_ns = __atomic_load_n(&threads.next_look_ns, __ATOMIC_RELAXED);
    return now_ns >= due_ns &&
           __atomic_compare_exchange_n(&threads.next_look_ns, &due_ns, now_ns + look_again_ns,
                                       false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static bool are_threads_unknown(void)
{
    return pp_tasks_count() !=
           __atomic_load_n(&threads.now.armed, __ATOMIC_RELAXED) + pp_own_threads_count();
}

/* Threads that begin or end differ for a moment from what is known. A list of all has the caller wait, and the kernel
 * copies the program's descriptors for it: what the program closes meanwhile stays open for as long. So a difference has
 * to last. */
static bool are_threads_unknown_for_long(uint64_t now_ns)
{
    uint32_t looks =
        are_threads_unknown() ? __atomic_load_n(&threads.differing_looks, __ATOMIC_RELAXED) + 1 : 0;
    bool lasts = looks >= DIFFERING_LOOKS;
    __atomic_store_n(&threads.differing_looks, lasts ? 0 : looks, __ATOMIC_RELAXED);
    if (looks > 0 && !lasts) {
        __atomic_store_n(&threads.next_look_ns, now_ns + look_closer_ns, __ATOMIC_RELAXED);
    }
    return lasts;
}

/* The caller has entered the session. */
static void look_again(void)
{
    unsigned busy = 0;
    if (pp_lock_try(&threads.now.lock, pp_task_self())) {
        if (pp_cpu_is_active()) { /* the session of the caller may be over */
            scan_tasks(&busy);
        }
        pp_lock_release(&threads.now.lock);
    }
}

void pp_cpu_threads_look_again(uint64_t now_ns)
{
    if (__atomic_load_n(&threads.lookers, __ATOMIC_RELAXED) == 0 && is_look_due(now_ns) &&
        are_threads_unknown_for_long(now_ns)) {
        look_again();
    }
}

void pp_cpu_threads_looker_begins(void)
{
    __atomic_add_fetch(&threads.lookers, 1, __ATOMIC_RELAXED);
}

void pp_cpu_threads_looker_looks(void)
{
    pp_cpu_session *session =
        is_look_due(pp_clock_ns(CLOCK_MONOTONIC)) ? pp_cpu_session_enter() : NULL;
    if (session != NULL) {
        if (are_threads_unknown()) {
            look_again();
        }
        pp_cpu_session_leave(session);
    }
}

void pp_cpu_threads_looker_ends(void)
{
    __atomic_sub_fetch(&threads.lookers, 1, __ATOMIC_RELAXED);
}

/* ---- one thread ---- */

/* The kernel may provide a page only when another thread has mapped something, and that one has no processor:
 * not while this thread has the lock. */
static void touch_next_slots(void)
{
    uint32_t next = __atomic_load_n(&threads.now.slots_used, __ATOMIC_RELAXED) + AHEAD;
    if (next < threads.slot_count) {
        __atomic_fetch_or(&threads.slots[next].tid, 0, __ATOMIC_RELAXED);
    }
}

void pp_cpu_threads_begin(uintptr_t entry, const pp_caller *caller)
{
    if (!pp_cpu_is_active()) {
        return;
    }
    pp_root_frames root = pp_thread_root_of(entry, caller);
    touch_next_slots();
    pp_signal_mask old = 0;
    pp_lock_enter(&threads.now.lock, pp_task_self(), &old);
    if (pp_cpu_is_active()) {
        int tid = pp_task_self();
        pp_cpu_slot *slot = find_slot(tid);
        if (slot != NULL) { /* a scan was faster, or an earlier thread of this id ended unseen */
            pp_cpu->facts.threads_unarmed -= !is_armed(slot);
            pp_cpu_perf_recount(slot);
            disarm(slot);
        }
        pp_cpu_own_slot.slot = NULL;
        arm(tid, 0, &root, true);
    }
    pp_lock_leave(&threads.now.lock, &old);
}

void pp_cpu_threads_end(void)
{
    if (!pp_cpu_is_active()) {
        return;
    }
    pp_signal_mask old = 0;
    pp_lock_enter(&threads.now.lock, pp_task_self(), &old);
    pp_cpu_slot *slot = find_slot(pp_task_self());
    if (slot != NULL) {
        /* Enters the session like a handler, so that a stop at this time waits before it reads the
         * table. */
        pp_cpu_session *session = pp_cpu_session_enter();
        if (session != NULL) {
            if (!pp_own_threads_have(slot->tid)) {
                pprof_labels *labels = pp_thread_label_take();
                settle(session, slot, pp_clock_ns(CLOCK_THREAD_CPUTIME_ID), true, labels);
                settle_preempted(session, slot, slot->last_cell, labels);
                pp_labels_unref(labels);
            }
            pp_cpu_session_leave(session);
        }
        disarm(slot);
        pp_cpu_own_slot.slot = NULL;
    }
    old |= pp_signal_bit(PP_SAMPLING_SIGNAL); /* a pending one would find no slot any more */
    pp_lock_leave(&threads.now.lock, &old);
}

/* Calls `what` for the calling thread's slot before or after an exec, if there may be a perf event.
 */
static void around_exec(void (*what)(const pp_cpu_slot *slot))
{
    pp_signal_mask old = 0;
    if (!pp_cpu_perf_was_used() || !enter_within(EXEC_PATIENCE_NS, &old)) {
        return;
    }
    what(find_slot(pp_task_self()));
    pp_lock_leave(&threads.now.lock, &old);
}

void pp_cpu_threads_before_exec(void)
{
    around_exec(pp_cpu_perf_pause);
}

void pp_cpu_threads_after_failed_exec(void)
{
    around_exec(pp_cpu_perf_resume);
}

bool pp_cpu_threads_preempted(int tid, int64_t ns)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&threads.now.lock, pp_task_self(), &old);
    pp_cpu_slot *slot = pp_cpu_is_active() ? find_slot(tid) : NULL;
    if (slot != NULL) {
        __atomic_add_fetch(&slot->preempted_ns, (uint64_t)ns, __ATOMIC_RELAXED);
    }
    pp_lock_leave(&threads.now.lock, &old);
    return slot != NULL;
}

/* The handler of a slot's thread may go on to another stack and cell meanwhile: stacks stay, cells do
 * not. */
void pp_cpu_threads_show_preempted(void)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&threads.now.lock, pp_task_self(), &old);
    pp_cpu_session *session = pp_cpu_session_enter();
    for (uint32_t i = 0; i < threads.now.slots_used && session != NULL; i++) {
        if (threads.slots[i].tid != 0) {
            settle_preempted(session, &threads.slots[i], NULL, NULL);
        }
    }
    if (session != NULL) {
        pp_cpu_session_leave(session);
    }
    pp_lock_leave(&threads.now.lock, &old);
}

void pp_cpu_threads_disarm_all(uint64_t patience_ns, bool quiet)
{
    pp_signal_mask old = 0;
    int self = pp_task_self();
    if (!enter_within(patience_ns, &old)) {
        return; /* the process is about to end, and the holder of the lock does not release it */
    }
    for (uint32_t i = 0; i < threads.now.slots_used; i++) {
        pp_cpu_slot *slot = &threads.slots[i];
        if (slot->tid == 0) {
            continue;
        }
        int64_t now = pp_task_cpu_ns(slot->tid);
        /* The walk is worth the time only if something is settled on the root. */
        if (now >= 0 && slot->tid == self && slot->begin == 0 && slot->last == NULL &&
            pp_cpu_owed(slot, (uint64_t)now) > 0) {
            pp_root_frames root = pp_thread_root_here();
            set_root(slot, &root);
        }
        if (now >= 0) {
            settle(pp_cpu, slot, (uint64_t)now, false, NULL);
            settle_preempted(pp_cpu, slot, slot->last_cell, NULL);
        } else {
            uncount_if_nothing_missed(slot);
        }
        if (quiet) {
            disarm(slot);
        } else {
            silence(slot);
            hold_slot(slot, pp_cpu);
        }
    }
    pp_lock_leave(&threads.now.lock, &old);
}

void pp_cpu_threads_take_back_slots(void)
{
    pp_signal_mask old = 0;
    pp_lock_enter(&threads.now.lock, pp_task_self(), &old);
    for (uint32_t i = 0; i < threads.now.slots_used; i++) {
        pp_cpu_slot *slot = &threads.slots[i];
        if (slot->held_by != 0 &&
            __atomic_load_n(&pp_cpu_sessions[slot->held_by - 1].in_flight, __ATOMIC_SEQ_CST) == 0) {
            slot->held_by = 0;
            put_on_free_list(slot);
        }
    }
    pp_lock_leave(&threads.now.lock, &old);
}

/* ---- alternate stacks ---- */

/* Waits as long as the lock's holder lives, which may have to arm thousands of threads: a thread that gave up would go on
 * to a stack that has no room for its signals. */
static bool enter_if_held_by_living(pp_signal_mask *old)
{
    while (!enter_within(STACK_PATIENCE_NS, old)) {
        int holder = pp_lock_holder(&threads.now.lock);
        if (holder == pp_task_self() || (holder != 0 && pp_task_cpu_ns(holder) < 0)) {
            return false;
        }
    }
    return true;
}

/* Returns the calling thread's slot, and has the lock then; NULL if there is none. */
static pp_cpu_slot *own_slot(pp_signal_mask *old)
{
    if (!pp_cpu_is_active() || !enter_if_held_by_living(old)) {
        return NULL;
    }
    pp_cpu_slot *slot = find_slot(pp_task_self());
    if (slot == NULL) {
        pp_lock_leave(&threads.now.lock, old);
    }
    return slot;
}

void pp_cpu_threads_pause(void)
{
    pp_signal_mask old = 0;
    pp_cpu_slot *slot = own_slot(&old);
    if (slot != NULL) {
        pp_cpu->facts.threads_unarmed += is_armed(slot);
        silence(slot);
        pp_lock_leave(&threads.now.lock, &old);
    }
}

/* Holds the slot's signals; an engine that arms it meanwhile waits for the same time. */
static void hold(pp_cpu_slot *slot)
{
    slot->held_until_ns = pp_clock_ns(CLOCK_THREAD_CPUTIME_ID) + HOLD_NS;
    if (is_armed(slot)) {
        pp_cpu->engine->hold(slot, slot->held_until_ns);
    }
}

void pp_cpu_threads_hold(void)
{
    pp_signal_mask old = 0;
    pp_cpu_slot *slot = own_slot(&old);
    if (slot != NULL) {
        hold(slot);
        pp_lock_leave(&threads.now.lock, &old);
    }
}

/* Settles what the calling thread has used while it had no signals, so that no later stack gets
 * that weight. */
static void settle_so_far(pp_cpu_slot *slot)
{
    pp_cpu_session *session = pp_cpu_session_enter();
    if (session != NULL) {
        uint64_t now_ns = pp_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        settle(session, slot, now_ns, false, NULL);
        slot->counted += pp_cpu_owed(slot, now_ns);
        pp_cpu_session_leave(session);
    }
}

void pp_cpu_threads_resume(void)
{
    pp_signal_mask old = 0;
    pp_cpu_slot *slot = own_slot(&old);
    if (slot != NULL) {
        settle_so_far(slot);
        hold(slot);
        if (!is_armed(slot) && arm_slot(slot) == 0) {
            pp_cpu->facts.threads_unarmed--;
        }
        pp_lock_leave(&threads.now.lock, &old);
    }
}

void pp_cpu_threads_after_fork_in_child(void)
{
    if (threads.slots != NULL) {
        for (uint32_t i = 0; i < threads.now.slots_used; i++) {
            pp_cpu_perf_after_fork_in_child(&threads.slots[i]);
        }
        memset(threads.slots, 0, threads.now.slots_used * sizeof *threads.slots);
    }
    memset(&threads.now, 0, sizeof threads.now); /* which releases the lock */
    threads.lookers = 0;
    pp_cpu_timers_after_fork_in_child();
}
