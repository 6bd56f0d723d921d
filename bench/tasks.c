/* SPDX-License-Identifier: MIT
 *
 * tasks.c: what the tasks of a runtime (<pprof_task.h>) cost.
 *
 *   switch        from one task to another and back, in assembler, per switch
 *   switch_told   the same, with pprof_task_suspend() and pprof_task_resume()
 *   switch_more   the difference, in blocks by turns
 *   labels_more, block_more
 *                 the same while the tasks have labels; while the block profile is on, too
 *   begin_end     pprof_task_begin() and pprof_task_end()
 *   first, proto, text, dump
 *                 CPU time of the profile `thread` of 100 000 suspended tasks, 10 frames deep, each
 *                 at one of 50 places: the first one of the process; as profile.proto; with
 *                 debug=1; with debug=2
 */
#include "measure.h"

#include <pprof_task.h>

#include <stdio.h>
#include <stdlib.h>

enum {
    STACK = 2048,
    LARGE_STACK = 16384,
    TASKS = 100000,
    FRAMES = 8,
    PLACES = 50,
    FIRST_PLACE = 10
};
enum { BLOCK = 10000, BLOCKS = 300, QUICK_BLOCKS = 50, ROUNDS = 20, QUICK_ROUNDS = 5 };

/* ---- switches ---- */

/* switch_stack(&save, to) */
extern void switch_stack(void **save, void *to);
extern void begin_stack(void);

#if defined(__x86_64__)
__asm__(".text\n.type switch_stack, @function\nswitch_stack:\n.cfi_startproc\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
        ".cfi_endproc\n.size switch_stack, .-switch_stack\n"
        ".type begin_stack, @function\nbegin_stack:\n.cfi_startproc\n.cfi_undefined rip\n"
        "mov %r12, %rdi\ncall *%rbx\nud2\n.cfi_endproc\n.size begin_stack, .-begin_stack\n");

static void *fresh_stack(char *end, void (*body)(uintptr_t), uintptr_t argument)
{
    enum { RBX = 4, R12 = 3, RIP = 6, WORDS = 9 };
    uintptr_t *sp = (uintptr_t *)end - WORDS;
    sp[RBX] = (uintptr_t)body;
    sp[R12] = argument;
    sp[RIP] = (uintptr_t)begin_stack;
    return sp;
}
#elif defined(__aarch64__)
__asm__(".text\n.type switch_stack, @function\nswitch_stack:\n.cfi_startproc\n"
        "stp x29, x30, [sp, #-96]!\nstp x19, x20, [sp, #16]\nstp x21, x22, [sp, #32]\n"
        "stp x23, x24, [sp, #48]\nstp x25, x26, [sp, #64]\nstp x27, x28, [sp, #80]\n"
        "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
        "ldp x19, x20, [sp, #16]\nldp x21, x22, [sp, #32]\nldp x23, x24, [sp, #48]\n"
        "ldp x25, x26, [sp, #64]\nldp x27, x28, [sp, #80]\nldp x29, x30, [sp], #96\nret\n"
        ".cfi_endproc\n.size switch_stack, .-switch_stack\n"
        ".type begin_stack, @function\nbegin_stack:\n.cfi_startproc\n.cfi_undefined x30\n"
        "mov x0, x20\nblr x19\nudf #0\n.cfi_endproc\n.size begin_stack, .-begin_stack\n");

static void *fresh_stack(char *end, void (*body)(uintptr_t), uintptr_t argument)
{
    enum { X30 = 1, X19 = 2, X20 = 3, WORDS = 12 };
    uintptr_t *sp = (uintptr_t *)end - WORDS;
    sp[X19] = (uintptr_t)body;
    sp[X20] = argument;
    sp[X30] = (uintptr_t)begin_stack;
    return sp;
}
#endif

typedef struct coroutine {
    pprof_task task;
    void *sp;
} coroutine;

static coroutine two[2], *tasks;
static void *home;

__attribute__((noinline)) static void go(coroutine *from, coroutine *to)
{
    switch_stack(&from->sp, to->sp);
}

__attribute__((noinline)) static void tell_and_go(coroutine *from, coroutine *to)
{
    pprof_task_suspend(&from->task, "turn");
    pprof_task_resume(&to->task);
    switch_stack(&from->sp, to->sp);
}

static void (*way)(coroutine *from, coroutine *to);
static unsigned long left;

/* The second of the two. */
static void answer(uintptr_t unused)
{
    (void)unused;
    for (;;) {
        way(&two[1], &two[0]);
    }
}

/* Runs on the first of the two, whose stack is that of main(). */
static double ns_of(void (*how)(coroutine *from, coroutine *to))
{
    enum { BOTH_WAYS = 2 };
    way = how;
    uint64_t start_ns = bench_thread_cpu_ns();
    for (left = BLOCK / BOTH_WAYS; left > 0; left--) {
        how(&two[0], &two[1]);
    }
    return (double)(bench_thread_cpu_ns() - start_ns) / BLOCK;
}

static void measure_switches(const char *more)
{
    static double plain[BLOCKS], told[BLOCKS], difference[BLOCKS];
    unsigned blocks = bench_quick() ? QUICK_BLOCKS : BLOCKS;
    ns_of(tell_and_go);
    for (unsigned i = 0; i < blocks; i++) {
        plain[i] = ns_of(go);
        told[i] = ns_of(tell_and_go);
        difference[i] = told[i] - plain[i];
    }
    if (more == NULL) {
        more = "tasks.switch_more.pprof";
        bench_print("tasks.switch.none", bench_median(plain, blocks), "ns");
        bench_print("tasks.switch.pprof", bench_median(told, blocks), "ns");
    }
    bench_print(more, bench_median(difference, blocks), "ns");
}

static void measure_all_switches(void)
{
    const char *const pair[] = {"tenant", "a"};
    const int64_t millisecond_ns = 1000000;
    static char stack[LARGE_STACK] __attribute__((aligned(16)));
    two[1].sp = fresh_stack(stack + LARGE_STACK, answer, 0);
    pprof_task_begin(&two[0].task, NULL);
    pprof_task_begin(&two[1].task, NULL);
    pprof_task_resume(&two[0].task);
    measure_switches(NULL);
    pprof_labels *labels = pprof_labels_new(NULL, pair, 1);
    pprof_labels_unref(pprof_set_thread_labels(labels));
    measure_switches("tasks.labels_more.pprof");
    pprof_set_block_profile_rate(millisecond_ns);
    measure_switches("tasks.block_more.pprof");
    pprof_set_block_profile_rate(0);
    pprof_task_end(&two[0].task);
    pprof_task_end(&two[1].task);
    pprof_labels_unref(pprof_set_thread_labels(NULL));
    pprof_labels_unref(labels);
}

static void measure_begin_end(void)
{
    static double times[BLOCKS];
    unsigned blocks = bench_quick() ? QUICK_BLOCKS : BLOCKS;
    for (unsigned i = 0; i < blocks; i++) {
        uint64_t start_ns = bench_thread_cpu_ns();
        for (unsigned k = 0; k < BLOCK; k++) {
            pprof_task_begin(&tasks[k].task, NULL);
        }
        for (unsigned k = 0; k < BLOCK; k++) {
            pprof_task_end(&tasks[k].task);
        }
        times[i] = (double)(bench_thread_cpu_ns() - start_ns) / BLOCK;
    }
    bench_print("tasks.begin_end.pprof", bench_median(times, blocks), "ns");
}

/* ---- many that wait ---- */

__attribute__((noinline)) static void wait_here(coroutine *self)
{
    pprof_task_suspend(&self->task, "nothing");
    switch_stack(&self->sp, home);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void descend(unsigned frames, unsigned place, coroutine *self);

#define PLACE(n)                                                                                   \
    case n:                                                                                        \
        descend(frames - 1, place, self);                                                          \
        __asm__ volatile("# " #n ::: "memory");                                                    \
        break;
#define FIVE(a, b, c, d, e) PLACE(a) PLACE(b) PLACE(c) PLACE(d) PLACE(e)
#define TEN(n)                                                                                     \
    FIVE(n##0, n##1, n##2, n##3, n##4)                                                             \
    FIVE(n##5, n##6, n##7, n##8, n##9)

/* Each place has a call of its own. */
static void descend(unsigned frames, unsigned place, coroutine *self)
{
    if (frames == 0) {
        wait_here(self);
        return;
    }
    switch (place) {
        TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) default : break;
    }
    __asm__ volatile("" ::: "memory");
}

static void body(uintptr_t number)
{
    descend(FRAMES, FIRST_PLACE + (unsigned)number % PLACES, &tasks[number]);
}

static void start_all(void)
{
    char *stacks = aligned_alloc(STACK, (size_t)TASKS * STACK);
    if (stacks == NULL) {
        bench_fail("no memory");
    }
    for (uintptr_t i = 0; i < TASKS; i++) {
        char *stack = stacks + i * STACK;
        const pprof_task_options options = {
            .size = sizeof options, .stack = stack, .stack_size = STACK};
        pprof_task_begin(&tasks[i].task, &options);
        pprof_task_resume(&tasks[i].task);
        switch_stack(&home, fresh_stack(stack + STACK, body, i));
    }
}

static int forget(void *context, const void *data, size_t length)
{
    (void)data;
    *(size_t *)context += length;
    return 0;
}

static double ms_of_profile(int debug)
{
    const double ms_ns = 1e6;
    size_t written = 0;
    uint64_t start_ns = bench_process_cpu_ns();
    if (pprof_profile_write(pprof_lookup("thread"), (pprof_writer){forget, &written}, debug) != 0 ||
        written == 0) {
        bench_fail("no profile");
    }
    return (double)(bench_process_cpu_ns() - start_ns) / ms_ns;
}

static void measure_profile(const char *name, int debug)
{
    static double times[ROUNDS];
    unsigned rounds = bench_quick() ? QUICK_ROUNDS : ROUNDS;
    for (unsigned i = 0; i < rounds; i++) {
        times[i] = ms_of_profile(debug);
    }
    bench_print(name, bench_median(times, rounds), "ms");
}

int main(void)
{
    tasks = calloc(TASKS, sizeof *tasks);
    if (tasks == NULL) {
        bench_fail("no memory");
    }
    measure_all_switches();
    measure_begin_end();
    start_all();
    if (pprof_task_count() != TASKS) {
        bench_fail("tasks are lost");
    }
    bench_print("tasks.first.pprof", ms_of_profile(0), "ms");
    measure_profile("tasks.proto.pprof", 0);
    measure_profile("tasks.text.pprof", 1);
    measure_profile("tasks.dump.pprof", 2);
    return 0;
}
