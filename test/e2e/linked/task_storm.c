/* SPDX-License-Identifier: MIT
 *
 * task_storm.c [SNAPSHOTS]: four threads switch a thousand tasks as fast as they can, move them
 * among each other, end some and begin others, while the main thread looks. Each look must have
 * each task that lives all the while exactly once, with its own stack and its own labels.
 *
 * A task's number is in its label, and in its stack: task n waits below n % DEPTHS frames of
 * `deeper`, and below `even` or `odd`.
 */
#include "fibers.h"

#include <pprof.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    THREADS = 4,
    LASTING = 500,
    PASSING = 100,
    FIBERS = LASTING + PASSING,
    DEPTHS = 5,
    SNAPSHOTS = 40
};
enum { ROOM = 2 * FIBERS }; /* those that end meanwhile may be followed by others */

static fiber fibers[FIBERS];
static pprof_labels *labels[FIBERS];
static volatile bool stop;
static uint64_t switches;

/* ---- the queue of those that wait for their turn ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned queue[FIBERS], head, count;

static void put(unsigned number)
{
    pthread_mutex_lock(&lock);
    queue[(head + count++) % FIBERS] = number;
    pthread_mutex_unlock(&lock);
}

static int get(void)
{
    pthread_mutex_lock(&lock);
    int number = count > 0 ? (int)queue[head] : -1;
    if (number >= 0) {
        head = (head + 1) % FIBERS;
        count--;
    }
    pthread_mutex_unlock(&lock);
    return number;
}

/* ---- bodies ---- */

__attribute__((noinline)) static void deeper(fiber *self, unsigned depth)
{
    if (depth > 0) {
        deeper(self, depth - 1);
    } else {
        fiber_wait(self, "turn");
    }
    __asm__ volatile("" ::"r"(self));
}

__attribute__((noinline)) static void even(fiber *self, unsigned number)
{
    deeper(self, number % DEPTHS);
    __asm__ volatile("" ::"r"(self));
}

__attribute__((noinline)) static void odd(fiber *self, unsigned number)
{
    deeper(self, number % DEPTHS);
    __asm__ volatile("" ::"r"(self));
}

static unsigned number_of(const fiber *self)
{
    return (unsigned)(self - fibers);
}

static bool has_its_labels(unsigned number)
{
    pprof_labels *now = pprof_thread_labels();
    bool right = now == labels[number];
    pprof_labels_unref(now);
    return right;
}

/* One that passes ends after some rounds. */
static void body(fiber *self)
{
    unsigned number = number_of(self);
    for (unsigned round = 0; number < LASTING || round < 20; round++) {
        check(has_its_labels(number), "the labels of a task, in it");
        (number % 2 == 0 ? even : odd)(self, number);
        if (stop) {
            break;
        }
    }
}

static void make(unsigned number)
{
    pprof_labels *before = pprof_set_thread_labels(labels[number]);
    fiber_make(&fibers[number], body, "stormy", NULL);
    pprof_labels_unref(pprof_set_thread_labels(before));
    pprof_labels_unref(before);
}

static void *switch_on(void *unused)
{
    uint64_t done = 0;
    for (int number; (number = get()) >= 0; done++) {
        fiber *f = &fibers[number];
        fiber_run(f);
        check(pprof_thread_labels() == NULL, "the labels of a thread between tasks");
        if (f->done) {
            fiber_free(f);
            if (stop) {
                continue;
            }
            make((unsigned)number);
        }
        put((unsigned)number);
    }
    __atomic_add_fetch(&switches, done, __ATOMIC_RELAXED);
    return unused;
}

/* ---- looks ---- */

static pprof_thread_record records[ROOM];
static unsigned seen[FIBERS];
static uintptr_t running; /* the pseudo-frame */

void pprof_running_task(void);

static bool is_in(uintptr_t pc, void (*function)(fiber *self, unsigned number))
{
    enum { BYTES = 96 };
    return pc - 1 - (uintptr_t)function < BYTES;
}

/* The number of a suspended task by its label, checked against its stack. */
static void check_suspended(const pprof_thread_record *r)
{
    const char *text = pprof_label(r->labels, "number");
    check(text != NULL, "a task has its label");
    unsigned number = (unsigned)atoi(text);
    check(number < FIBERS, "a label is of a task");
    seen[number]++;
    if (r->stack.depth == 1) {
        check(r->stack.pc[0] == (uintptr_t)body + 1, "a task that has not run yet");
        return;
    }
    unsigned depth = number % DEPTHS + 1;
    check(r->stack.depth > depth + 2, "a stack is whole");
    for (unsigned i = 1; i <= depth; i++) {
        check(is_in(r->stack.pc[i], deeper), "its frames");
    }
    check(is_in(r->stack.pc[depth + 1], number % 2 == 0 ? even : odd), "the frame before them");
}

static unsigned look(void)
{
    size_t n = 0;
    unsigned runs = 0, suspended = 0;
    memset(seen, 0, sizeof seen);
    check(pprof_thread_profile(records, ROOM, &n), "the records");
    for (size_t i = 0; i < n; i++) {
        if (records[i].tid != 0) {
            continue;
        }
        if (records[i].stack.pc[0] == running) {
            runs++;
        } else {
            suspended++;
            check_suspended(&records[i]);
        }
    }
    pprof_thread_records_release(records, n);
    unsigned lost = 0;
    for (unsigned i = 0; i < LASTING;
         i++) { /* of others there may be one that ends, and the next */
        check(seen[i] <= 1, "a task is there twice");
        lost += seen[i] == 0;
    }
    check(lost <= runs, "a task is lost");
    return suspended;
}

int main(int argc, char **argv)
{
    unsigned snapshots = argc > 1 ? (unsigned)atoi(argv[1]) : SNAPSHOTS;
    pthread_t threads[THREADS];
    unsigned suspended = 0;
    running = (uintptr_t)pprof_running_task + 1;
    for (unsigned i = 0; i < FIBERS; i++) {
        char text[16];
        snprintf(text, sizeof text, "%u", i);
        const char *const pair[] = {"number", text};
        labels[i] = pprof_labels_new(NULL, pair, 1);
        make(i);
        put(i);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        check(pthread_create(&threads[i], NULL, switch_on, NULL) == 0, "pthread_create");
    }
    for (unsigned i = 0; i < snapshots; i++) {
        suspended += look();
    }
    stop = true;
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    check(pprof_task_count() == 0, "all tasks have ended");
    check(suspended >= snapshots * (LASTING / 2), "most tasks were suspended");
    printf("%llu switches, %u looks\n", (unsigned long long)switches, snapshots);
    return 0;
}
