/* SPDX-License-Identifier: MIT
 *
 * tasks.c FOLDER: tasks that wait in known places; writes what the profile of threads says of them
 * to files in FOLDER, and checks the records by itself.
 */
#include "fibers.h"

#include <pprof.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { READERS = 5, YIELDERS = 3, TASKS = READERS + YIELDERS + 1 /* parent */ + 4 };

static fiber readers[READERS], yielders[YIELDERS], parent, child, fresh;

/* ---- bodies ---- */

__attribute__((noinline)) static void wait_for_data(fiber *self)
{
    fiber_wait(self, "channel");
    __asm__ volatile("");
}

static void reader(fiber *self)
{
    wait_for_data(self);
    __asm__ volatile("");
}

static void yielder(fiber *self)
{
    volatile char room[256];
    size_t size = 100 + (size_t)(self - yielders) * 64; /* the frame's size is not that of others */
    volatile char *more = __builtin_alloca(size);
    more[0] = room[0] = 1;
    fiber_wait(self, NULL);
    __asm__ volatile("" ::"r"(more));
}

__attribute__((noinline)) static void makes_child(fiber *self)
{
    fiber_make(&child, reader, "child", self);
    __asm__ volatile("");
}

static void parent_body(fiber *self)
{
    makes_child(self);
    fiber_wait(self, "child");
    __asm__ volatile("");
}

/* ---- tasks without a stack ---- */

static void innermost(void)
{
    __asm__ volatile("nop");
}

static void middle(void)
{
    __asm__ volatile("nop\n\tnop");
}

static void outermost(void)
{
    __asm__ volatile("nop\n\tnop\n\tnop");
}

static pprof_task stackless, shared;
static pprof_task_frame frames[3] = {{&frames[1], 0}, {&frames[2], 0}, {NULL, 0}};

static void make_others(void)
{
    const pprof_task_options options = {.size = sizeof options, .name = "odd\n\033\"name\""};
    frames[0].pc = (uintptr_t)innermost + 1;
    frames[1].pc = (uintptr_t)middle + 1;
    frames[2].pc = (uintptr_t)outermost + 1;
    check(pprof_task_begin(&stackless, NULL) == 0, "begin");
    pprof_task_resume(&stackless);
    pprof_task_suspend_in(&stackless, frames, "await");
    check(pprof_task_begin(&shared, &options) == 0, "begin");
    pprof_task_resume(&shared);
    pprof_task_suspend(&shared, "odd\r\n\033[31m\"reason\" \\");
}

/* ---- the program ---- */

__attribute__((noinline)) static void starts_readers(void)
{
    for (int i = 0; i < READERS; i++) {
        fiber_make(&readers[i], reader, "a reader", NULL);
        fiber_run(&readers[i]);
    }
}

static void start(void)
{
    const char *const kind[] = {"kind", "reader"};
    pprof_labels *labels = pprof_labels_new(NULL, kind, 1);
    pprof_labels_unref(pprof_set_thread_labels(labels));
    starts_readers();
    pprof_labels_unref(pprof_set_thread_labels(NULL));
    pprof_labels_unref(labels);
    for (int i = 0; i < YIELDERS; i++) {
        fiber_make(&yielders[i], yielder, NULL, NULL);
        fiber_run(&yielders[i]);
    }
    fiber_make(&parent, parent_body, "parent", NULL);
    fiber_run(&parent);
    fiber_run(&child);
    fiber_make(&fresh, reader, "fresh", NULL);
    make_others();
}

static void write_profile(const char *folder, const char *name, int debug, const char *file)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *out = fopen(path, "w");
    check(out != NULL, path);
    check(pprof_profile_write(pprof_lookup(name), pprof_writer_stdio(out), debug) == 0, file);
    fclose(out);
}

static void check_records(void)
{
    static pprof_thread_record records[TASKS + 2];
    size_t n = 0, labelled = 0, tasks = 0;
    check(pprof_task_count() == TASKS, "pprof_task_count");
    check(pprof_profile_count(pprof_lookup("thread")) == TASKS + 1, "count of thread");
    check(pprof_profile_count(pprof_lookup("threadcreate")) == 1, "count of threadcreate");
    check(!pprof_thread_profile(NULL, 0, &n) && n == TASKS + 1, "number of records");
    check(pprof_thread_profile(records, TASKS + 2, &n) && n == TASKS + 1, "records");
    check(records[0].tid == gettid(), "the caller is first");
    for (size_t i = 0; i < n; i++) {
        const char *kind = pprof_label(records[i].labels, "kind");
        check(records[i].stack.depth > 0, "a record is empty");
        tasks += records[i].tid == 0;
        labelled += kind != NULL && strcmp(kind, "reader") == 0;
    }
    check(tasks == TASKS, "records of tasks");
    check(labelled == READERS, "labels of records");
    pprof_thread_records_release(records, n);
}

static void check_errors(void)
{
    pprof_task task;
    const pprof_task_options small = {.size = 8};
    memset(&task, 0xee, sizeof task);
    check(pprof_task_begin(NULL, NULL) < 0, "no task");
    check(pprof_task_begin(&task, &small) < 0, "a size that is too small");
    pprof_task_resume(&task);
    pprof_task_suspend(&task, "nothing");
    pprof_task_end(&task);
    pprof_task_end(NULL);
    check(pprof_task_count() == 0, "no task has begun");
}

/* All go on, and end: those that have a body by themselves. */
static void end_all(void)
{
    fiber *all[] = {&parent, &child, &fresh};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        fiber_run(all[i]);
        fiber_free(all[i]);
    }
    for (int i = 0; i < READERS; i++) {
        fiber_run(&readers[i]);
        check(readers[i].done, "a reader has ended");
        check(pprof_thread_labels() == NULL, "labels of the thread");
        fiber_free(&readers[i]);
    }
    for (int i = 0; i < YIELDERS; i++) {
        fiber_free(&yielders[i]); /* as it waits */
    }
    pprof_task_end(&stackless);
    pprof_task_end(&shared);
}

int main(int argc, char **argv)
{
    check(argc == 2, "usage: tasks FOLDER");
    check_errors();
    start();
    check_records();
    write_profile(argv[1], "thread", 0, "tasks.pb.gz");
    write_profile(argv[1], "thread", 1, "tasks.txt");
    write_profile(argv[1], "thread", 2, "dump.txt");
    write_profile(argv[1], "threadcreate", 0, "threadcreate.pb.gz");
    end_all();
    check(pprof_task_count() == 0, "all tasks have ended");
    write_profile(argv[1], "thread", 1, "after.txt");
    return 0;
}
