/* SPDX-License-Identifier: MIT
 *
 * coroutines.c: the lists, and the reading side of the sequence (drawing in the header).
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: one for each shard.
 * Owns: the shards.
 * Tested by: unit.coroutines, interleave.coroutines, stress.tasks
 */
#include "threads/coroutines.h"

#include "base/compiler.h"
#include "store/switch_work.h"
#include "sys/lock.h"
#include "sys/tasks.h"

#include <errno.h>

enum {
    SHARD_BITS = 6,
    SHARDS = 1 << SHARD_BITS,
    NO_SHARD = SHARDS,
    HOLDER_NS = 20000000 /* a holder that goes on at all releases its lock in that time */
};

typedef struct shard {
    pp_lock lock;
    pprof_task *first;
    size_t count;
} __attribute__((aligned(64))) shard;

static shard shards[SHARDS];
static uint64_t last_id;
static const uint32_t no_work;

/* The id of the calling thread; 0: not asked for yet. */
static PP_TLS int own_tid;

/* Names the calling thread for locks, without a system call. With the bit of PP_LOCK_AWAITED each release would wake
 * threads that there are not. */
static int self(void)
{
    return (int)((uintptr_t)&own_tid >> 3 & (PP_LOCK_AWAITED - 1)) | 1;
}

static shard *own_shard(void)
{
    uint64_t spread = (uint64_t)(uintptr_t)&own_tid * UINT64_C(0x9e3779b97f4a7c15);
    return &shards[spread >> (64 - SHARD_BITS)];
}

/* ---- begin and end ---- */

static void link_first(shard *s, pprof_task *task)
{
    task->next_ = s->first;
    task->link_ = &s->first;
    if (s->first != NULL) {
        s->first->link_ = &task->next_;
    }
    __atomic_store_n(&s->first, task, __ATOMIC_RELEASE);
    __atomic_store_n(&s->count, s->count + 1, __ATOMIC_RELAXED);
}

static void unlink_from(shard *s, pprof_task *task)
{
    *task->link_ = task->next_;
    if (task->next_ != NULL) {
        task->next_->link_ = task->link_;
    }
    __atomic_store_n(&s->count, s->count - 1, __ATOMIC_RELAXED);
}

static void set_creator(pprof_task *task, const pprof_task_options *options, uintptr_t created_at)
{
    if (own_tid == 0) {
        own_tid = pp_task_self();
    }
    task->creator_ = options->creator != NULL ? options->creator->id_ : 0;
    task->creator_thread_ = (uint32_t)own_tid;
    task->created_at_ = options->created_at != 0 ? options->created_at : created_at;
}

static void fill_in(pprof_task *task, const pprof_task_options *options)
{
    uintptr_t entry = options->entry != 0 ? options->entry + 1 : 0;
    pprof_labels *labels = options->labels != NULL ? options->labels : pp_labels_current();
    *task = (pprof_task){.size_ = task->size_,
                         .work_ = &pp_switch_work,
                         .pc_ = entry,
                         .labels_ = pp_labels_ref(labels),
                         .stack_ = (uintptr_t)options->stack,
                         .stack_end_ = (uintptr_t)options->stack + options->stack_size,
                         .entry_ = entry,
                         .id_ = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED),
                         .name_ = options->name};
}

/* Of any memory. */
static bool looks_begun(const pprof_task *task)
{
    return task->work_ == &pp_switch_work && task->shard_ < SHARDS;
}

/* Memory with the words of another task may look begun, too, and its links lead anywhere. */
static bool is_listed(const pprof_task *task)
{
    shard *s = &shards[task->shard_];
    pp_lock_take(&s->lock, self());
    const pprof_task *listed = s->first;
    while (listed != NULL && listed != task) {
        listed = listed->next_;
    }
    pp_lock_release(&s->lock);
    return listed != NULL;
}

int pp_coroutine_begin(pprof_task *task, const pprof_task_options *options, uintptr_t created_at)
{
    static const pprof_task_options none = {.size = sizeof none};
    const pprof_task_options *wanted = options != NULL ? options : &none;
    if (task == NULL) {
        return -EINVAL;
    }
    bool is_whole = task->size_ >= sizeof *task;
    if (is_whole && looks_begun(task) && is_listed(task)) {
        return -EEXIST;
    }
    if (!is_whole || wanted->size < sizeof *wanted) {
        task->work_ = &no_work;
        task->sequence_ = 0;
        return -EINVAL;
    }
    fill_in(task, wanted);
    set_creator(task, wanted, created_at);
    shard *s = own_shard();
    task->shard_ = (uint32_t)(s - shards);
    pp_lock_take(&s->lock, self());
    link_first(s, task);
    pp_lock_release(&s->lock);
    return 0;
}

void pp_coroutine_end(pprof_task *task)
{
    if (task == NULL || !looks_begun(task)) {
        return;
    }
    if (task->sequence_ % 2 != 0) {
        pp_labels_swap(&task->labels_);
    }
    shard *s = &shards[task->shard_];
    pp_lock_take(&s->lock, self());
    unlink_from(s, task);
    pp_lock_release(&s->lock);
    task->shard_ = NO_SHARD;
    pp_labels_unref(task->labels_);
}

/* ---- reading ---- */

#define GET(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

bool pp_coroutine_read(const pprof_task *task, pp_suspension *suspension)
{
    uint32_t sequence = __atomic_load_n(&task->sequence_, __ATOMIC_ACQUIRE);
    if (sequence % 2 != 0) {
        return false;
    }
    *suspension = pp_coroutine_suspension(task);
    suspension->sequence = sequence;
    return pp_coroutine_is_still(task, suspension);
}

/* The fence: what the caller read before, it read before the sequence is read here. */
PP_RAW_MEMORY bool pp_coroutine_is_still(const pprof_task *task, const pp_suspension *suspension)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return GET(task->sequence_) == suspension->sequence;
}

size_t pp_coroutines_count(void)
{
    size_t count = 0;
    for (unsigned i = 0; GET(last_id) != 0 && i < SHARDS; i++) {
        count += GET(shards[i].count);
    }
    return count;
}

void pp_coroutines_each(bool patient, pp_coroutine_visit *visit, void *context)
{
    for (unsigned i = 0; GET(last_id) != 0 && i < SHARDS; i++) {
        shard *s = &shards[i];
        if (GET(s->count) == 0) {
            continue;
        }
        if (patient) {
            pp_lock_take(&s->lock, self());
        } else if (!pp_lock_take_within(&s->lock, self(), HOLDER_NS)) {
            continue;
        }
        for (const pprof_task *task = s->first; task != NULL; task = task->next_) {
            visit(task, context);
        }
        pp_lock_release(&s->lock);
    }
}

/* ---- processes ---- */

/* A thread that is gone may have been about to link or unlink. The way forward is whole at any
 * moment, so it says what the links back, and the count, have to be. */
static void mend(shard *s)
{
    pprof_task **link = &s->first;
    s->count = 0;
    for (pprof_task *task = s->first; task != NULL; task = task->next_) {
        task->link_ = link;
        link = &task->next_;
        s->count++;
    }
    pp_lock_release(&s->lock);
}

void pp_coroutines_after_fork_in_child(void)
{
    own_tid = 0;
    for (unsigned i = 0; last_id != 0 && i < SHARDS; i++) {
        if (pp_lock_holder(&shards[i].lock) != 0) {
            mend(&shards[i]);
        }
    }
}
