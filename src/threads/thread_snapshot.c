/* SPDX-License-Identifier: MIT
 *
 * thread_snapshot.c: lists the threads, joins their records, looks at each thread from outside, and
 * asks those that run.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: e2e.thread_profile, e2e.thread_waits, e2e.thread_storm
 */
#include "threads/thread_snapshot.h"

#include "arch/system_call.h"
#include "base/key_sort.h"
#include "base/pseudo_frame.h"
#include "sys/apart.h"
#include "sys/clock.h"
#include "sys/sampling_signal.h"
#include "sys/signal_mask.h"
#include "sys/tasks.h"
#include "threads/kept_threads.h"
#include "threads/small_stacks.h"
#include "threads/thread_answers.h"
#include "threads/thread_launches.h"
#include "threads/thread_list.h"
#include "threads/thread_table.h"
#include "unwind/scratch.h"
#include "unwind/walk_other.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    SLACK = 64,               /* for threads that begin while these are listed */
    LITTLE_SLACK = 8,         /* where these have begun before */
    LOOKS = 3,                /* at a thread that wakes up during each look */
    PATIENCE_NS = 50000000,   /* for all answers together */
    STARVED_NS = 2000000000,  /* for threads that get no processor on which they could answer */
    ENOUGH_CPU_NS = 40000000, /* ten ticks of a slow kernel: it would have answered */
    TICK_NS = 4000000,
    BIRTHS_NS = 500000000, /* for the records of threads that were being created */
    PAUSE_NS = 500000,
    PAUSES_A_LOOK = 4
};

PP_PSEUDO_FRAME(pprof_missing_frames)

/* What is filled for each thread anew. */
typedef struct scratch {
    pp_other_space space;
    uintptr_t pcs[PP_SCRATCH_DEPTH];
    char status[PP_TASK_STATUS_BYTES];
} scratch;

_Static_assert(sizeof(scratch) <= PP_THREADS_SCRATCH, "callers have room for it");

/* The working memory of a snapshot. */
typedef struct work {
    const pp_threads_wish *wish;
    pp_arena *arena;
    int folder;
    int self;
    pp_threads *threads;
    pp_kept_threads *kept;
    pp_thread_list list; /* an element for each row */
    scratch *scratch;
    pp_thread_record *records;
    pp_thread_record **from; /* what the records are copies of */
    pp_keyed *by_tid;        /* of the records */
    size_t record_count;
    int error;
    size_t *
        record_of; /* of each row, as of each thread of the list: the index of its record + 1; 0 = none */
} work;

/* ---- records ---- */

static int read_records(work *w)
{
    size_t capacity = pp_thread_table_count() + (w->wish->only != NULL ? LITTLE_SLACK : SLACK);
    w->records = pp_arena_array_filled(w->arena, capacity, sizeof *w->records);
    w->from = pp_arena_array(w->arena, capacity, sizeof(pp_thread_record *));
    w->by_tid = pp_arena_array_filled(w->arena, 2 * capacity, sizeof *w->by_tid);
    if (w->records == NULL || w->from == NULL || w->by_tid == NULL) {
        return -ENOMEM;
    }
    w->record_count = pp_thread_table_read(w->records, w->from, capacity);
    for (size_t i = 0; i < w->record_count; i++) {
        w->by_tid[i] = (pp_keyed){(uint64_t)w->records[i].tid, i};
    }
    pp_key_sort(w->by_tid, w->by_tid + capacity, w->record_count);
    return 0;
}

/* The place in `by_tid` of the first record of `tid`, or of a higher one. */
static size_t first_of(const work *w, int tid)
{
    size_t low = 0;
    size_t high = w->record_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->by_tid[middle].key < (uint64_t)tid) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The newest record of `tid`: a thread may have ended unseen, and the kernel has given its id to
 * another thread. False: there is none. */
static bool find_record(const work *w, int tid, size_t *index)
{
    uint64_t newest = 0;
    for (size_t i = first_of(w, tid); i < w->record_count && w->by_tid[i].key == (uint64_t)tid;
         i++) {
        const pp_thread_record *r = &w->records[w->by_tid[i].index];
        if (r->serial > newest) {
            newest = r->serial;
            *index = w->by_tid[i].index;
        }
    }
    return newest != 0;
}

/* Adds the record's thread, if it lives. The kernel may have given the id of one that has ended to
 * another thread. */
static bool add_thread_of(work *w, size_t record)
{
    size_t newest = 0;
    int tid = w->records[record].tid;
    return find_record(w, tid, &newest) && newest == record &&
           pp_thread_list_add_living(&w->list, tid);
}

/* ---- the list ---- */

/* Lists the threads that have records, and the first one. */
static int list_recorded(work *w)
{
    if (pp_thread_list_begin(&w->list, w->record_count + 2 + SLACK, w->self, w->arena) != 0) {
        return -ENOMEM;
    }
    if (w->self != pp_task_process()) {
        pp_thread_list_add(&w->list, pp_task_process());
    }
    for (size_t i = 0; i < w->record_count; i++) {
        int tid = w->records[i].tid;
        if (tid != w->self && tid != pp_task_process()) {
            add_thread_of(w, i);
        }
    }
    return 0;
}

/* Lists, without the kernel, the threads whose creation the library has seen. */
static int list_known(work *w)
{
    return read_records(w) == 0 ? list_recorded(w) : -ENOMEM;
}

/* False: the kernel counts others, too. */
static bool list_known_if_all(work *w)
{
    if (read_records(w) != 0) {
        return false;
    }
    size_t count = pp_tasks_count();
    return list_recorded(w) == 0 && w->list.count == count;
}

/* Finds the record of each thread of the list. */
static int match_records(work *w)
{
    size_t found = 0;
    int error = read_records(w);
    w->record_of = pp_arena_array_filled(w->arena, w->list.capacity, sizeof *w->record_of);
    if (error != 0 || w->record_of == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < w->list.count; i++) {
        bool has_record = find_record(w, w->list.sights[i].tid, &found);
        w->record_of[i] = has_record ? found + 1 : 0;
    }
    return 0;
}

/* Adds the living threads that have a record, but that the kernel has not listed: it leaves threads out
 * while others end. */
static int add_unlisted(work *w)
{
    bool *listed = pp_arena_array(w->arena, w->record_count + 1, sizeof *listed);
    if (listed == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < w->list.count; i++) {
        listed[w->record_of[i]] = true;
    }
    for (size_t i = 0; i < w->record_count && w->list.count < w->list.capacity; i++) {
        int tid = w->records[i].tid;
        if (!listed[i + 1] && tid != w->self && add_thread_of(w, i)) {
            w->record_of[w->list.count - 1] = i + 1;
        }
    }
    return 0;
}

/* Whether each thread that the kernel counts is on the list, and has its record. */
static bool is_complete(const work *w)
{
    for (size_t i = 1; i < w->list.count; i++) {
        if (w->record_of[i] == 0) {
            return false;
        }
    }
    return w->list.count >= pp_tasks_count();
}

static void pause_once(void)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    pp_system_call(SYS_nanosleep, &pause, NULL);
}

/* Waits until the threads that were being created when the list was read have their records. */
static void wait_for_births(void)
{
    uint64_t births = pp_thread_births();
    uint64_t start_ns = pp_clock_ns(CLOCK_MONOTONIC);
    while (!pp_thread_births_are_over(births) &&
           pp_clock_ns(CLOCK_MONOTONIC) - start_ns < BIRTHS_NS) {
        pause_once();
    }
}

/* Lists the threads that are wanted, and the calling one. */
static int list_only(work *w)
{
    int error = pp_thread_list_begin(&w->list, w->wish->only_count + 1, w->self, w->arena);
    for (size_t i = 0; error == 0 && i < w->wish->only_count; i++) {
        if (w->wish->only[i] != w->self) {
            pp_thread_list_add(&w->list, w->wish->only[i]);
        }
    }
    return error;
}

static int list_threads(work *w)
{
    if (w->wish->only != NULL) {
        return list_only(w);
    }
    if (w->wish->alone) {
        return pp_thread_list_begin(&w->list, 1, w->self, w->arena);
    }
    if (w->folder < 0) {
        return list_known(w);
    }
    if (pp_thread_list_read_kept(&w->list, w->self, w->kept, w->arena)) {
        return 0;
    }
    int error = list_known_if_all(w) ? 0 : pp_thread_list_read(&w->list, w->self, w->arena);
    if (error == 0) {
        pp_thread_list_keep(&w->list, w->kept, w->arena);
    }
    return error;
}

/* Lists the threads with their records. */
static int list_with_records(work *w)
{
    int error = list_threads(w);
    if (error == 0) {
        error = match_records(w);
    }
    if (error != 0 || w->wish->alone || w->wish->only != NULL || w->folder < 0) {
        return error;
    }
    error = add_unlisted(w);
    if (error != 0 || is_complete(w)) {
        return error;
    }
    wait_for_births();
    error = match_records(w);
    return error != 0 ? error : add_unlisted(w);
}

/* Makes a row of each thread of the list. */
static int list(work *w)
{
    pp_threads *threads = w->threads;
    int error = list_with_records(w);
    if (error != 0) {
        return error;
    }
    threads->rows = pp_arena_array_filled(w->arena, w->list.count, sizeof *threads->rows);
    if (threads->rows == NULL) {
        return -ENOMEM;
    }
    threads->count = w->list.count;
    for (size_t i = 0; i < threads->count; i++) {
        threads->rows[i].tid = w->list.sights[i].tid;
    }
    return 0;
}

/* Copies a record into a row. */
static void join(work *w, size_t row_index, size_t record_index)
{
    pp_thread_row *row = &w->threads->rows[row_index];
    const pp_thread_record *r = &w->records[record_index];
    row->creator = r->creator;
    row->entry = r->entry;
    row->creation = r->creation;
    row->tid = r->ours ? 0 : row->tid;
    w->list.sights[row_index].serial = r->serial;
}

/* Copies each thread's record into its row. Rows of libpprof's own threads get tid 0, like those of
 * threads that are gone. */
static void join_records(work *w)
{
    for (size_t i = 0; i < w->threads->count; i++) {
        if (w->record_of[i] > 0) {
            join(w, i, w->record_of[i] - 1);
        }
    }
}

/* ---- labels ---- */

static void take_labels(const void *place, void *context)
{
    pprof_labels **labels = context;
    *labels = pp_labels_ref_of(place);
}

/*
 * Returns a reference to the labels that the row's thread has now. They belong to a stack only if the
 * thread has not run between the two: the caller proves it. A thread that runs answers with both.
 */
static pprof_labels *labels_now(work *w, const pp_thread_row *row)
{
    size_t record = w->record_of[row - w->threads->rows];
    pprof_labels *labels = NULL;
    if (record > 0) {
        pp_signal_mask old = 0;
        pp_signals_block(&old); /* a thread that ends may wait for this one */
        pp_thread_table_look(w->from[record - 1], &w->records[record - 1], take_labels, &labels);
        pp_signals_restore(&old);
    }
    return labels;
}

/* Gives the row the caller's reference. */
static void set_labels(pp_thread_row *row, pprof_labels *labels)
{
    pp_labels_unref(row->labels);
    row->labels = labels;
}

/* ---- one thread, from outside ---- */

static void keep_stack(work *w, pp_thread_row *row, const uintptr_t *pcs, uint32_t depth,
                       bool whole)
{
    enum { MORE = 2 };
    uintptr_t *kept = pp_arena_array(w->arena, depth + MORE, sizeof *kept);
    if (kept == NULL) {
        return;
    }
    if (depth > 0) {
        memcpy(kept, pcs, depth * sizeof *kept);
    }
    if (!whole) {
        kept[depth++] = (uintptr_t)pprof_missing_frames + 1;
        if (row->entry != 0) {
            kept[depth++] = row->entry + 1;
        }
    }
    row->pc = kept;
    row->depth = depth;
    row->whole = whole;
}

static void keep_walk(work *w, pp_thread_row *row, const pp_walk *walk)
{
    keep_stack(w, row, walk->pcs, walk->depth, walk->stop == PP_STOP_END);
}

static pp_task_activity activity_of_letter(char letter, pp_thread_row *row)
{
    switch (letter) {
    case 0:
    case 'Z':
    case 'X':
        return PP_TASK_GONE;
    case 'R':
        return PP_TASK_RUNS;
    case 'D':
        row->state = PP_THREAD_WAITS_DEEPLY;
        break;
    case 'T':
    case 't':
        row->state = PP_THREAD_IS_STOPPED;
        break;
    default:
        row->state = PP_THREAD_WAITS;
        break;
    }
    return PP_TASK_UNKNOWN;
}

static void set_place(pp_thread_row *row, const pp_sight *sight, const pp_task_place *place)
{
    row->clock_ns = sight->clock_ns;
    row->place = *place;
    row->state = place->call >= 0 ? PP_THREAD_WAITS_IN_CALL : PP_THREAD_WAITS;
}

/* Gives the row a wait that is kept. */
static bool take_kept(work *w, pp_thread_row *row, const pp_kept_wait *wait)
{
    const uintptr_t *pc =
        wait != NULL ? pp_kept_stack_in(w->kept, wait, w->arena, &row->depth) : NULL;
    if (pc == NULL) {
        return false;
    }
    row->pc = pc;
    row->whole = true;
    set_labels(row, pp_labels_ref(wait->labels));
    set_place(row, &wait->sight, &wait->place);
    return true;
}

/* Walks the stack of a thread that waits at `place`. False if it ran meanwhile. The fence: the stack is read
 * before the clock. */
static bool take_walk(work *w, pp_thread_row *row, const pp_sight *sight,
                      const pp_task_place *place)
{
    pp_walk walk = {.pcs = w->scratch->pcs, .capacity = PP_SCRATCH_DEPTH};
    pp_walk_other(place->pc, place->sp, &w->scratch->space, &walk);
    pprof_labels *labels = labels_now(w, row);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (sight->clock_ns < 0 || pp_task_cpu_ns(row->tid) != sight->clock_ns) {
        pp_labels_unref(labels);
        return false;
    }
    set_labels(row, labels);
    const pp_kept_wait *wait =
        walk.stop == PP_STOP_END ? pp_kept_add(w->kept, sight, place, walk.pcs, walk.depth, labels)
                                 : NULL;
    if (!take_kept(w, row, wait)) {
        set_place(row, sight, place);
        keep_walk(w, row, &walk);
    }
    return true;
}

/* The clock is read, unless the list has read it. */
static pp_sight read_sight(work *w, const pp_thread_row *row)
{
    pp_sight *last = &w->list.sights[row - w->threads->rows];
    pp_sight now = *last;
    last->clock_ns = PP_CLOCK_NOT_READ;
    if (now.clock_ns == PP_CLOCK_NOT_READ) {
        now.clock_ns = pp_task_cpu_ns(row->tid);
    }
    return now;
}

/* Looks at a thread from outside, and takes its stack if it waits. */
static pp_task_activity look_at(work *w, pp_thread_row *row)
{
    for (unsigned i = 0; i < LOOKS; i++) {
        pp_task_place place;
        pp_sight sight = read_sight(w, row);
        if (take_kept(w, row, pp_kept_find(w->kept, &sight))) {
            return PP_TASK_WAITS;
        }
        pp_task_activity activity = pp_task_look_again(w->wish->files, w->folder, row->tid, &place);
        if (activity == PP_TASK_UNKNOWN) {
            return activity_of_letter(pp_task_letter(w->folder, row->tid), row);
        }
        if (activity != PP_TASK_WAITS || take_walk(w, row, &sight, &place)) {
            return activity;
        }
    }
    return PP_TASK_RUNS;
}

/* ---- threads that run ---- */

typedef struct question {
    pp_thread_row *row;
    pp_answer *answer; /* NULL: not asked yet */
    int64_t clock_ns;  /* its CPU clock at the last round */
    int64_t ran_ns;    /* since it was seen to run, or was asked; as far as that had ticks */
    bool closed;
} question;

static void close_question(question *q)
{
    if (q->answer != NULL) {
        pp_answer_close(q->answer);
    }
    q->answer = NULL;
    q->closed = true;
}

static void look_for_answer(work *w, question *q)
{
    const pp_walk *walk = q->answer != NULL ? pp_answer_look(q->answer) : NULL;
    if (walk != NULL) {
        keep_walk(w, q->row, walk);
        set_labels(q->row, pp_labels_ref(pp_answer_labels(q->answer)));
        q->row->state = PP_THREAD_RUNS;
        close_question(q);
    } else if (q->answer == NULL && pp_answers_have_room() && !pp_small_stacks_has(q->row->tid) &&
               !pp_task_blocks(w->folder, q->row->tid, PP_SAMPLING_SIGNAL, w->scratch->status)) {
        q->ran_ns = 0;
        q->answer = pp_answer_ask(q->row->tid);
    }
}

/* Looks at the thread again: it may wait by now, or be gone. */
static void look_again(work *w, question *q)
{
    pp_task_activity activity = look_at(w, q->row);
    if (activity != PP_TASK_RUNS) {
        q->row->tid = activity == PP_TASK_GONE ? 0 : q->row->tid;
        close_question(q);
    }
}

static size_t count_open(const question *questions, size_t count)
{
    size_t open = 0;
    for (size_t i = 0; i < count; i++) {
        open += !questions[i].closed;
    }
    return open;
}

/*
 * Adds what the thread ran since the last round. It answers at a tick, or when it next gets a
 * processor after one. A virtual machine that does not run itself has no ticks, but the clocks of
 * its threads go on: so one round counts for one tick at most.
 */
static void note_run(question *q)
{
    int64_t now_ns = pp_task_cpu_ns(q->row->tid);
    int64_t ran_ns = now_ns - q->clock_ns;
    q->ran_ns += ran_ns < TICK_NS ? ran_ns : TICK_NS;
    q->clock_ns = now_ns;
}

/* Whether the thread has had no processor on which it could answer; nor, if it cannot be asked, go
 * on to where it can. A new thread blocks all signals until it has begun. */
static bool is_starved(const question *q)
{
    return q->ran_ns < ENOUGH_CPU_NS;
}

/* One round for one question, `waited_ns` after the first. */
static void go_on_with(work *w, question *q, unsigned round, uint64_t waited_ns)
{
    bool late = waited_ns >= PATIENCE_NS;
    note_run(q);
    look_for_answer(w, q);
    if (!q->closed && (late || round % PAUSES_A_LOOK == 0)) {
        look_again(w, q);
    }
    if (!q->closed && late && (waited_ns >= STARVED_NS || !is_starved(q))) {
        q->row->state = PP_THREAD_IS_SILENT;
        close_question(q);
    }
}

static void ask_all(work *w, question *questions, size_t count)
{
    uint64_t start_ns = pp_clock_ns(CLOCK_MONOTONIC);
    for (unsigned round = 1; count_open(questions, count) > 0; round++) {
        uint64_t waited_ns = pp_clock_ns(CLOCK_MONOTONIC) - start_ns;
        for (size_t i = 0; i < count; i++) {
            if (!questions[i].closed) {
                go_on_with(w, &questions[i], round, waited_ns);
            }
        }
        if (count_open(questions, count) > 0) {
            pause_once();
        }
    }
}

static int look_at_all(work *w)
{
    pp_threads *threads = w->threads;
    question *questions = pp_arena_array_filled(w->arena, threads->count, sizeof *questions);
    size_t running = 0;
    if (questions == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 1; i < threads->count; i++) {
        pp_thread_row *row = &threads->rows[i];
        if (row->tid == 0) {
            continue;
        }
        switch (look_at(w, row)) {
        case PP_TASK_RUNS:
            row->state = PP_THREAD_RUNS;
            questions[running++] = (question){.row = row, .clock_ns = pp_task_cpu_ns(row->tid)};
            break;
        case PP_TASK_GONE:
            row->tid = 0;
            break;
        default:
            break;
        }
    }
    if (running > 0 && !w->wish->asks_none && pp_answers_prepare() == 0) {
        ask_all(w, questions, running);
    }
    return 0;
}

/* ---- all ---- */

/* Removes the rows of threads that are gone. */
static void finish(work *w)
{
    pp_threads *threads = w->threads;
    size_t kept = 0;
    for (size_t i = 0; i < threads->count; i++) {
        pp_thread_row *row = &threads->rows[i];
        if (row->tid == 0) {
            pp_labels_unref(row->labels);
            continue;
        }
        if (row->pc == NULL) { /* no stack that the labels would have to be of */
            set_labels(row, labels_now(w, row));
            if (w->wish->with_stacks) {
                keep_stack(w, row, NULL, 0, false);
            }
        }
        if (w->wish->with_names && pp_task_is_folder(w->folder)) {
            pp_task_name(w->folder, row->tid, row->name);
        }
        threads->rows[kept++] = *row;
    }
    threads->count = kept;
}

/* If the first thread ends before the others, the kernel still lists it. */
static bool first_is_dead(int folder)
{
    char letter = pp_task_letter(folder, pp_task_process());
    return letter == 'Z' || letter == 'X';
}

static void drop_dead_first(work *w)
{
    pp_threads *threads = w->threads;
    for (size_t i = 1; i < threads->count; i++) {
        if (threads->rows[i].tid == pp_task_process() && first_is_dead(w->folder)) {
            threads->rows[i].tid = 0;
        }
    }
}

static void mark_as_unseen(pp_threads *threads)
{
    for (size_t i = 1; i < threads->count; i++) {
        threads->rows[i].state = PP_THREAD_IS_UNSEEN;
    }
}

static int fill_in(work *w)
{
    int error = list(w);
    if (error != 0) {
        return error;
    }
    join_records(w);
    w->threads->rows[0].pc = w->wish->pc;
    w->threads->rows[0].depth = w->wish->depth;
    w->threads->rows[0].whole = true;
    w->threads->rows[0].labels = pp_labels_ref(pp_labels_current());
    if (!pp_task_is_folder(w->folder)) {
        mark_as_unseen(w->threads);
    } else if (w->wish->with_stacks) {
        error = look_at_all(w);
    } else {
        drop_dead_first(w);
    }
    finish(w);
    return w->arena->failed ? -ENOMEM : error;
}

static void take_apart(void *of_work)
{
    work *w = of_work;
    bool opens = w->wish->folder == NULL && !w->wish->alone;
    w->folder = opens ? pp_task_open() : w->wish->folder != NULL ? *w->wish->folder : -1;
    w->kept = pp_task_is_folder(w->folder) && w->wish->with_stacks && !w->wish->afresh
                  ? pp_kept_take()
                  : NULL;
    w->error = fill_in(w);
    pp_kept_give_back(w->kept);
    pp_task_close(opens ? w->folder : -1);
}

int pp_threads_snapshot(const pp_threads_wish *wish, pp_arena *arena, pp_threads *threads)
{
    work w = {.wish = wish, .arena = arena, .self = pp_task_self(), .threads = threads};
    threads->count = 0;
    w.scratch = wish->scratch != NULL ? wish->scratch : pp_arena_alloc(arena, sizeof *w.scratch);
    if (w.scratch == NULL) {
        return -ENOMEM;
    }
    pp_apart(take_apart, &w);
    return w.error;
}

void pp_threads_release(pp_threads *threads)
{
    for (size_t i = 0; i < threads->count; i++) {
        pp_labels_unref(threads->rows[i].labels);
    }
    threads->count = 0;
}

static size_t count_known(void)
{
    const pp_threads_wish wish = {.alone = false};
    pp_arena arena = PP_ARENA_INIT;
    pp_threads threads;
    size_t count = pp_threads_snapshot(&wish, &arena, &threads) == 0 ? threads.count : 0;
    pp_threads_release(&threads);
    pp_arena_release(&arena);
    return count;
}

static void look_at_first(void *of_result)
{
    int *result = of_result;
    int folder = pp_task_open();
    *result = folder < 0 ? folder : first_is_dead(folder);
    pp_task_close(folder);
}

int pp_first_thread_has_ended(void)
{
    int ended = 0;
    pp_apart(look_at_first, &ended);
    return ended;
}

size_t pp_threads_count(void)
{
    int dead = pp_first_thread_has_ended();
    if (dead < 0) {
        return count_known();
    }
    size_t count = pp_tasks_count();
    size_t left_out = pp_thread_table_count_ours() + (size_t)dead;
    return count > left_out ? count - left_out : 0;
}

/* ---- words ---- */

const char *pp_thread_state_text(const pp_thread_row *row)
{
    const char *call = NULL;
    switch (row->state) {
    case PP_THREAD_RUNS:
        return "running";
    case PP_THREAD_WAITS_IN_CALL:
        call = pp_task_call_name(row->place.call);
        return call != NULL ? call : "system call";
    case PP_THREAD_WAITS_DEEPLY:
        return "uninterruptible";
    case PP_THREAD_IS_STOPPED:
        return "stopped";
    case PP_THREAD_IS_SILENT:
        return "unresponsive";
    case PP_THREAD_IS_UNSEEN:
        return "unknown";
    default:
        return "waiting";
    }
}
