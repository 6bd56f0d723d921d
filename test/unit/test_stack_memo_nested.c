/* SPDX-License-Identifier: MIT
 *
 * test_stack_memo_nested.c: walks that are interrupted by walks, or never end; threads; fork.
 *
 *   every step   a trap after each instruction of a walk, and in its handler further walks
 *   a storm      signals some microseconds apart
 *   jumps        out of a walk, from a handler, after any number of instructions; and out of a walk
 *                that interrupts another one
 *
 * All of it on the stack of the interrupted walk and on alternate ones below and above it: what
 * lies deeper is not what is inner. All walks are compared with walks without the memo.
 *
 * test/compare finds nothing of this, since its walks come one after the other. Which planted fault
 * needs which test is in docs/UNWIND_AGREEMENT.md.
 *
 * Nightly: 3
 *
 * Architecture: x86_64
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stack_machine.h"
#include "modules/loader.h"
#include "modules/modules.h"
#include "unwind/stack_memo.h"
#include "unwind/stack_memory.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOWNESS = 8, FRAMES = 24 };
#else
enum { SLOWNESS = 1, FRAMES = 70 }; /* more than fit into the memo twice */
#endif

enum {
    WORDS = 4096,        /* of each machine's stack */
    STACK = 1024 * 1024, /* of the thread that is interrupted, and each alternate stack */
};

static machine machines[2];
static machine_tools outer, inner, innermost;
static pp_memo *memo; /* of the thread that walks */

static const pp_walk whole = {.capacity = MACHINE_DEPTH, .wants_hash = true};

static pp_memo *memo_of_this_thread(void)
{
    pp_memo_use use;
    pp_memo_open(&use, pp_loader_epoch());
    pp_memo_close(&use, false, 0, NULL);
    return use.memo;
}

/* Recursion: frames that look alike, so that only the right ones in the right order are right. */
static void make_stack(machine *m, uintptr_t *lo, size_t words, size_t frames)
{
    memset(lo, 0, words * sizeof *lo);
    *m = (machine){.lo = lo, .hi = lo + words, .seed = 3};
    machine_reset(m, (uintptr_t)machine_end + 4);
    while (m->depth < frames) {
        machine_kind kind = m->depth % 23 == 11 ? KIND_ON_FP : KIND_PLAIN;
        machine_call(m, m->depth % 40 == 39 ? KIND_DEREF : kind, 1);
    }
}

/* One of the two stacks, as it was before its innermost frames were called. */
static machine_start start_without(size_t innermost_frames)
{
    const machine *m = &machines[innermost_frames % 2];
    return (machine_start){.at = m->frame[m->depth - 1 - innermost_frames]};
}

/* Changes a return address, or changes it back. */
static void change_a_word(size_t which)
{
    *(machine_word(machines[which % 2].frame[2 + which % (FRAMES - 4)].sp) - 1) ^= 2;
}

/* The second walk follows what the first has left. */
static bool twice_agree(machine_start start)
{
    bool first = machine_walks_agree(&outer, &start, whole);
    return machine_walks_agree(&outer, &start, whole) && first;
}

/* ---- a thread between two alternate stacks ---- */

typedef enum where { ON_SAME_STACK, ON_STACK_BELOW, ON_STACK_ABOVE, PLACES } where;

typedef struct job {
    void (*run)(where);
    where handlers_run;
    char *memory;
} job;

/* What the machines work on lies highest, so that a walk on any of the stacks reads it in place. */
static void *run_job(void *argument)
{
    const job *j = argument;
    stack_t alternate = {.ss_sp = j->memory + (j->handlers_run == ON_STACK_ABOVE ? 2 * STACK : 0),
                         .ss_size = STACK};
    stack_t none = {.ss_flags = SS_DISABLE};
    uintptr_t *arrays = (uintptr_t *)(j->memory + 3 * STACK);
    pp_stack_declare((uintptr_t)j->memory, (uintptr_t)(arrays + 2 * WORDS));
    make_stack(&machines[0], arrays, WORDS, FRAMES);
    make_stack(&machines[1], arrays + WORDS, WORDS, FRAMES);
    if (j->handlers_run != ON_SAME_STACK)
        sigaltstack(&alternate, NULL);
    memo = memo_of_this_thread();
    if (memo != NULL)
        j->run(j->handlers_run);
    sigaltstack(&none, NULL);
    pp_memo_thread_end();
    return memo;
}

static void run_at(where place, void (*run)(where))
{
    const size_t size = 3 * STACK + 2 * WORDS * sizeof(uintptr_t);
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    job j = {run, place, memory};
    pthread_attr_t attributes;
    pthread_t thread;
    void *result = NULL;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, memory + STACK, STACK);
    assert_int_equal(pthread_create(&thread, &attributes, run_job, &j), 0);
    pthread_join(thread, &result);
    assert_non_null(result); /* there was a memo */
    pthread_attr_destroy(&attributes);
    munmap(memory, size);
}

static void run_between_stacks(void (*run)(where))
{
    for (where place = ON_SAME_STACK; place < PLACES; place++)
        run_at(place, run);
}

/* A trap's handler steps through walks of its own. */
static void handle(int signal, void (*handler)(int, siginfo_t *, void *), where place)
{
    int flags = signal == SIGTRAP ? SA_SIGINFO | SA_NODEFER : SA_SIGINFO;
    struct sigaction action = {.sa_sigaction = handler,
                               .sa_flags = place != ON_SAME_STACK ? flags | SA_ONSTACK : flags};
    sigaction(signal, &action, NULL);
}

/* ---- every instruction ---- */

static const greg_t trap_flag = 0x100;

static unsigned long steps, wrong;

static volatile bool wants_traps;

static void ask_for_traps(bool wanted)
{
    wants_traps = wanted;
    __asm__ volatile("int3" ::: "memory");
}

/*
 * A walk blocks signals while it computes a rule, which it does if another address has taken the place of one in the
 * cache. The kernel ends a process in which a trap is blocked: so that call leaves traps out, and until signals are
 * restored a trap is no interruption.
 */
static struct {
    uint64_t mask;
    bool is_on, was_set;
    greg_t rsi; /* what the call's code expects there */
} blocking;

static void watch_blocking(ucontext_t *context)
{
    greg_t *gregs = context->uc_mcontext.gregs;
    const unsigned char *code = (const unsigned char *)gregs[REG_RIP];
    if (blocking.was_set) {
        gregs[REG_RSI] = blocking.rsi;
        blocking.was_set = false;
    }
    if (code[0] != 0x0f || code[1] != 0x05 || gregs[REG_RAX] != SYS_rt_sigprocmask)
        return; /* no such call */
    blocking.is_on = gregs[REG_RDI] == SIG_BLOCK;
    if (blocking.is_on) {
        blocking.rsi = gregs[REG_RSI];
        blocking.mask = *(const uint64_t *)blocking.rsi & ~(UINT64_C(1) << (SIGTRAP - 1));
        gregs[REG_RSI] = (greg_t)&blocking.mask;
        blocking.was_set = true;
    }
}

/* Whether the trap is none of a step: it is an ask_for_traps(), and has been answered, or signals are blocked. */
static bool is_no_step(const siginfo_t *info, ucontext_t *context)
{
    if (info->si_code == TRAP_TRACE) {
        watch_blocking(context);
        return blocking.is_on;
    }
    blocking.is_on = blocking.was_set = false;
    if (wants_traps)
        context->uc_mcontext.gregs[REG_EFL] |= trap_flag;
    else
        context->uc_mcontext.gregs[REG_EFL] &= ~trap_flag;
    return true;
}

static void end_traps(ucontext_t *context)
{
    context->uc_mcontext.gregs[REG_EFL] &= ~trap_flag;
}

/* ThreadSanitizer calls handlers from a frame of its own, when it likes, but those of traps at
 * once, even in the middle of its own functions. */
#ifdef __SANITIZE_THREAD__
enum { SIGNALS_ARE_REAL = 0 };
#else
enum { SIGNALS_ARE_REAL = 1 };
#endif

static void skip_without_traps(void)
{
    if (!SIGNALS_ARE_REAL)
        skip();
}

static void walk_in_handler(const void *context)
{
    machine_start start = start_without(steps % 7);
    if (steps % 2 == 0 && !machine_walks_agree(&inner, &start, whole))
        wrong++;
    if (SIGNALS_ARE_REAL && steps % 5 == 0 && !machine_walks_of_context_agree(&inner, context))
        wrong++;
    if (steps % 3 == 0 && !machine_walks_agree(&inner, &start, whole))
        wrong++;
}

/* How many instructions there are between two interruptions. */
static uint64_t step_seed, step_gap, largest_gap;

static void on_step(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    if (is_no_step(info, context))
        return;
    steps++;
    if (step_gap-- == 0) {
        step_gap = pp_random_below(&step_seed, largest_gap);
        walk_in_handler(context);
    }
}

static void walk_stepwise(machine_start start)
{
    ask_for_traps(true);
    machine_walk_one(&outer, &outer.with, &start, whole);
    ask_for_traps(false);
    pp_walk how = whole;
    how.without_memo = true;
    machine_walk_one(&outer, &outer.without, &start, how);
    wrong += !machine_outcomes_agree(&outer.with, &outer.without);
    wrong += !machine_walks_agree(&outer, &start, whole);
}

static void step_through_walks(where place)
{
    handle(SIGTRAP, on_step, place);
    for (size_t round = 0; round < 5; round += SLOWNESS / 2 + 1) {
        largest_gap = round == 0 ? 1 : round % 2 != 0 ? 40 : 600;
        walk_stepwise(start_without(round * 7 % 12));
        if (round % 2 == 0)
            change_a_word(round);
    }
    signal(SIGTRAP, SIG_DFL);
}

static void walks_at_every_instruction_of_a_walk(void **state)
{
    (void)state;
    skip_without_traps();
    steps = wrong = 0;
    run_between_stacks(step_through_walks);
    assert_true(steps > 2000);
    assert_int_equal(wrong, 0);
}

/* ---- a storm ---- */

static timer_t storm_timer;
static uint64_t storm_seed;
static volatile unsigned long storm_signals;

/* The next one, some microseconds from now. */
static void arm_storm(void)
{
    struct itimerspec next = {.it_value.tv_nsec = 1000 + (long)pp_random_below(&storm_seed, 30000)};
    timer_settime(storm_timer, 0, &next, NULL);
}

static void on_storm(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)info;
    storm_signals++;
    steps++;
    walk_in_handler(context);
    arm_storm();
}

static void walk_in_a_storm(where place)
{
    struct sigevent to_this_thread = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    memcpy((char *)&to_this_thread + 16, &(int){gettid()}, sizeof(int)); /* the kernel's layout */
    handle(SIGUSR1, on_storm, place);
    storm_signals = 0;
    if (timer_create(CLOCK_MONOTONIC, &to_this_thread, &storm_timer) != 0) {
        wrong++;
        return;
    }
    arm_storm();
    for (unsigned round = 0; storm_signals < 4000 / SLOWNESS; round++) {
        machine_start start = start_without(round % 8);
        wrong += !machine_walks_agree(&outer, &start, whole);
        if (round % 3 == 0)
            change_a_word(round);
    }
    signal(SIGUSR1, SIG_IGN);
    timer_delete(storm_timer);
}

static void walks_in_a_storm_of_signals(void **state)
{
    (void)state;
    steps = wrong = 0;
    run_between_stacks(walk_in_a_storm);
    assert_int_equal(wrong, 0);
}

/* ---- stacks that are read in place by one walk and copied by another ---- */

static machine switching;
static machine_start inner_start;

static void walk_on_signal(int signal)
{
    (void)signal;
    wrong += !machine_walks_agree(&inner, &inner_start, whole);
}

/*
 * Frames of the highest stack, a signal frame, frames of this one. The thread has them all in its
 * window; a handler on a stack between them does not, and takes the lower ones singly. Meanwhile
 * the frame pointer that one of them saves is another.
 */
static void walk_from_both(where place)
{
    uintptr_t array[512];
    struct sigaction action = {.sa_handler = walk_on_signal, .sa_flags = SA_ONSTACK};
    (void)place;
    sigaction(SIGUSR1, &action, NULL);
    make_stack(&switching, array, 512, 1);
    machine_call(&switching, KIND_ON_FP, 1);
    uintptr_t other_fp = machine_top(&switching)->fp;
    machine_call(&switching, KIND_ON_FP, 2);
    uintptr_t right_fp = machine_top(&switching)->fp;
    machine_call(&switching, KIND_BOTH, 1);
    uintptr_t *saved = machine_word(machine_top(&switching)->sp + 16);
    wrong += *saved != right_fp;
    machine_call(&switching, KIND_PLAIN, 1);
    machine_call(&switching, KIND_LEAF, 1);
    switching.alt_lo = machines[1].lo;
    switching.alt_hi = machines[1].hi;
    while (!machine_is_on_alternate(&switching, machine_top(&switching)->sp)) {
        machine_interrupt(&switching);
        if (!machine_is_on_alternate(&switching, machine_top(&switching)->sp))
            switching.depth--;
    }
    for (int i = 0; i < 10; i++)
        machine_call(&switching, KIND_PLAIN, 1);
    inner_start = machine_now(&switching);
    for (int round = 0; round < 16; round++) {
        bool in_handler = round % 4 >= 2;
        *saved = in_handler ? other_fp : right_fp;
        if (in_handler)
            raise(SIGUSR1);
        else
            wrong += !machine_walks_agree(&inner, &inner_start, whole);
    }
    signal(SIGUSR1, SIG_IGN);
}

static void steps_taken_singly_are_not_kept_as_steps(void **state)
{
    (void)state;
    wrong = 0;
    run_at(ON_STACK_ABOVE, walk_from_both);
    assert_int_equal(wrong, 0);
}

/* ---- jumps ---- */

static sigjmp_buf before_walk;
static unsigned long jump_after, steps_of_walk;
static bool counts_when_busy;

static void on_step_jump(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    if (is_no_step(info, context))
        return;
    steps_of_walk += !counts_when_busy || memo->busy != 0;
    if (steps_of_walk == jump_after)
        siglongjmp(before_walk, 1);
}

/* Whether the jump took place: the walk might have ended before. */
static bool abandon_walk(machine_start start, unsigned long after)
{
    volatile bool jumped = false;
    steps_of_walk = 0;
    jump_after = after;
    if (sigsetjmp(before_walk, 1) == 0) {
        ask_for_traps(true);
        machine_walk_one(&outer, &outer.with, &start, whole);
        ask_for_traps(false);
    } else {
        jumped = true;
    }
    return jumped;
}

static void walk_deeper(machine_start start, int levels)
{
    volatile char space[512];
    memset((char *)space, 0, sizeof space);
    if (levels > 0)
        walk_deeper(start, levels - 1);
    else
        wrong += !machine_walks_agree(&outer, &start, whole);
    __asm__ volatile("" ::"r"(space) : "memory");
}

static void jump_out_of_walks(where place)
{
    unsigned long after = 1;
    bool jumped = true;
    handle(SIGTRAP, on_step_jump, place);
    for (size_t round = 0; jumped; round++) {
        size_t which = round % 2;
        machine_start start = start_without(which);
        machine_start shorter = start_without(which + round % 4 * 2);
        machine_start other = start_without(1 - which);
        wrong += !machine_walks_agree(&outer, &other, whole); /* what lies in the ring */
        jumped = abandon_walk(start, after);
        if (round % 4 == 0)
            walk_deeper(shorter, (int)(round % 7));
        wrong += !machine_walks_agree(&outer, &shorter, whole);
        wrong += !machine_walks_agree(&outer, &start, whole);
        if (round % 3 == 0)
            change_a_word(round);
        after += 1 + after / 8;
    }
    steps += after;
    wrong += memo->busy != 0 || memo->count == 0; /* a walk at the same place heals it */
    signal(SIGTRAP, SIG_DFL);
}

static void walks_after_one_was_jumped_out_of(void **state)
{
    (void)state;
    skip_without_traps();
    steps = wrong = 0;
    run_between_stacks(jump_out_of_walks);
    assert_true(steps > 1000);
    assert_int_equal(wrong, 0);
}

/* Leaves a walk whose space is on the stack, `levels` further down. */
static void abandon_deeper(int levels)
{
    char frame[512];
    pp_walk_space space;
    memset(frame, 0, sizeof frame);
    __asm__ volatile("" ::"r"(frame), "r"(&space) : "memory");
    if (levels > 0) {
        abandon_deeper(levels - 1);
    } else {
        pp_walk walk = whole;
        walk.pcs = outer.with.pcs;
        walk.space = &space;
        machine_start start = start_without(0);
        const pp_caller caller = machine_caller(&start.at);
        steps_of_walk = 0;
        jump_after = 100;
        counts_when_busy = true;
        if (sigsetjmp(before_walk, 1) == 0) {
            ask_for_traps(true);
            pp_walk_from_caller(&caller, &walk);
            ask_for_traps(false);
        }
        counts_when_busy = false;
    }
    __asm__ volatile("" ::"r"(frame) : "memory");
}

/* What was there is overwritten. */
__attribute__((noinline)) static void use_the_stack(void)
{
    char space[512 * 1024];
    memset(space, 0, sizeof space);
    __asm__ volatile("" ::"r"(space) : "memory");
}

static void heal_elsewhere(where place)
{
    machine_start start = start_without(0);
    handle(SIGTRAP, on_step_jump, place);
    for (int levels = 0; levels < 24; levels += 8) {
        abandon_deeper(levels);
        wrong += memo->busy == 0;
        for (int i = 0; i < 3; i++)
            walk_deeper(start, i * 10);
        use_the_stack();
        for (int i = 0; i < 100; i++) /* it is not looked at each time */
            walk_deeper(start, 10);
        wrong += memo->busy != 0 || memo->count == 0;
    }
    signal(SIGTRAP, SIG_DFL);
}

static void an_abandoned_memo_is_used_again(void **state)
{
    (void)state;
    skip_without_traps();
    steps = wrong = 0;
    run_between_stacks(heal_elsewhere);
    assert_int_equal(wrong, 0);
}

/* ---- jumps out of a walk that interrupts a walk ---- */

static sigjmp_buf before_inner_walk;
static unsigned long inner_from, inner_for, inner_steps; /* in instructions */
static volatile bool is_inner;

static void start_and_leave_a_walk(void)
{
    machine_start start = start_without(6);
    inner_steps = 0;
    is_inner = true;
    if (sigsetjmp(before_inner_walk, 0) == 0) {
        ask_for_traps(true);
        machine_walk_one(&innermost, &innermost.with, &start, whole);
        ask_for_traps(false);
    }
    is_inner = false;
}

static void on_step_of_two(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    if (is_no_step(info, context))
        return;
    if (is_inner) {
        if (++inner_steps == inner_for)
            siglongjmp(before_inner_walk, 1);
        return;
    }
    if (++steps_of_walk == inner_from) {
        start_and_leave_a_walk();
        steps++;
        end_traps(context);
    }
}

static void leave_inner_walks(where place)
{
    uint64_t seed = 7;
    handle(SIGTRAP, on_step_of_two, place);
    inner_from = 0;
    steps_of_walk = 0;
    walk_stepwise(start_without(0));
    const unsigned long all_steps = steps_of_walk;
    for (unsigned round = 0; round < 12 / (SLOWNESS / 2 + 1); round++) {
        machine_start start = start_without(0);
        /* Mostly near the beginning, where the memo is taken. */
        inner_from = 1 + pp_random_below(&seed, round % 8 == 0 ? all_steps : all_steps / 8);
        inner_for = 1 + pp_random_below(&seed, all_steps);
        wrong += !machine_walks_agree(&outer, &start, whole);
        steps_of_walk = 0;
        walk_stepwise(start_without(inner_for % 3));
        wrong += !machine_walks_agree(&outer, &start, whole);
    }
    signal(SIGTRAP, SIG_DFL);
}

static void walks_that_an_abandoned_walk_interrupted(void **state)
{
    (void)state;
    skip_without_traps();
    steps = wrong = 0;
    run_between_stacks(leave_inner_walks);
    assert_true(steps >= 12 / (SLOWNESS / 2 + 1));
    assert_int_equal(wrong, 0);
}

/* ---- threads ---- */

enum { THREADS = PP_MEMO_THREADS + 20 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned ready, with_memo, wrong;
    bool may_end;
} crowd = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *walk_in_a_crowd(void *argument)
{
    machine_tools *tools = calloc(1, sizeof *tools);
    machine *m = calloc(1, sizeof *m);
    uintptr_t array[1024];
    make_stack(m, array, 1024, 20 + (size_t)(uintptr_t)argument % 20);
    machine_start start = machine_now(m);
    free(m);
    unsigned failures = 0;
    for (int i = 0; i < 3; i++)
        failures += !machine_walks_agree(tools, &start, whole);
    bool has_memo = memo_of_this_thread() != NULL;
    pthread_mutex_lock(&crowd.lock);
    crowd.ready++;
    crowd.with_memo += has_memo;
    crowd.wrong += failures;
    pthread_cond_broadcast(&crowd.changed);
    while (!crowd.may_end)
        pthread_cond_wait(&crowd.changed, &crowd.lock);
    pthread_mutex_unlock(&crowd.lock);
    failures = !machine_walks_agree(tools, &start, whole);
    pp_memo_thread_end();
    failures += memo_of_this_thread() != NULL;
    failures += !machine_walks_agree(tools, &start, whole);
    __atomic_add_fetch(&crowd.wrong, failures, __ATOMIC_RELAXED);
    free(tools);
    return NULL;
}

/* In a thread that has no memo, as all were taken when it first walked. In the child they
 * are free. */
static void *fork_without_a_memo(void *argument)
{
    bool *right_in_child = argument;
    bool had_none = memo_of_this_thread() == NULL;
    pid_t child = fork();
    if (child == 0) {
        pp_memo_after_fork_in_child();
        bool has_one = memo_of_this_thread() != NULL;
        uintptr_t array[1024];
        make_stack(&machines[0], array, 1024, 40);
        machine_start start = start_without(0);
        bool right = twice_agree(start);
        _exit(had_none && has_one && right ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    *right_in_child = status == 0;
    return NULL;
}

static void more_threads_than_memos(void **state)
{
    (void)state;
    static pthread_t threads[THREADS];
    pthread_t forker;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    for (int round = 0; round < 2; round++) { /* the second time with what the first gave back */
        crowd.ready = crowd.with_memo = crowd.wrong = 0;
        crowd.may_end = false;
        for (size_t i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_create(&threads[i], &attributes, walk_in_a_crowd, (void *)i),
                             0);
        }
        pthread_mutex_lock(&crowd.lock);
        while (crowd.ready < THREADS)
            pthread_cond_wait(&crowd.changed, &crowd.lock);
        pthread_mutex_unlock(&crowd.lock);
        assert_int_equal(crowd.with_memo, PP_MEMO_THREADS - (memo_of_this_thread() != NULL));
        bool right_in_child = false;
        assert_int_equal(pthread_create(&forker, &attributes, fork_without_a_memo, &right_in_child),
                         0);
        pthread_join(forker, NULL);
        assert_true(right_in_child);
        pthread_mutex_lock(&crowd.lock);
        crowd.may_end = true;
        pthread_cond_broadcast(&crowd.changed);
        pthread_mutex_unlock(&crowd.lock);
        for (size_t i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        assert_int_equal(crowd.wrong, 0);
    }
    pthread_attr_destroy(&attributes);
}

/* ---- fork ---- */

enum { OTHERS = 2 };

static pthread_barrier_t others_have_opened;

/* Keeps the memo until the other threads have theirs: the end of a thread gives it back. */
static void *open_memo(void *argument)
{
    *(pp_memo **)argument = memo_of_this_thread();
    pthread_barrier_wait(&others_have_opened);
    return NULL;
}

/* Nor does anybody else get it there. ThreadSanitizer allows no threads in the child of a process
 * that had some. */
static bool has_a_memo_of_its_own(const pp_memo *own)
{
    pp_memo *others[OTHERS] = {NULL};
    pthread_t threads[OTHERS];
    bool right = true;
#ifdef __SANITIZE_THREAD__
    return true;
#endif
    pthread_barrier_init(&others_have_opened, NULL, OTHERS);
    for (int i = 0; i < OTHERS; i++) {
        if (pthread_create(&threads[i], NULL, open_memo, &others[i]) != 0)
            return false;
    }
    for (int i = 0; i < OTHERS; i++) {
        pthread_join(threads[i], NULL);
        right = right && others[i] != NULL && others[i] != own;
    }
    return right;
}

static void fork_with_a_memo(where place)
{
    (void)place;
    machine_start start = start_without(0);
    wrong += !machine_walks_agree(&outer, &start, whole);
    pid_t child = fork();
    if (child == 0) {
        pp_memo_after_fork_in_child();
        bool same = memo_of_this_thread() == memo;
        bool right = twice_agree(start) && has_a_memo_of_its_own(memo);
        _exit(same && right ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    wrong += status != 0;
}

static void a_child_keeps_its_memo(void **state)
{
    (void)state;
    wrong = 0;
    run_at(ON_SAME_STACK, fork_with_a_memo);
    assert_int_equal(wrong, 0);
}

/* In the middle of a walk: in the child, too, the walk goes on, and its memo is its own. */
static volatile pid_t forked;

static void on_step_fork(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    if (is_no_step(info, context))
        return;
    if (++steps_of_walk == jump_after) {
        forked = fork();
        if (forked == 0)
            pp_memo_after_fork_in_child();
        walk_in_handler(context);
        end_traps(context);
    }
}

static void fork_while_walking(where place)
{
    handle(SIGTRAP, on_step_fork, place);
    for (jump_after = 50; jump_after < 1500; jump_after += 290 * SLOWNESS) {
        steps_of_walk = 0;
        forked = -1;
        walk_stepwise(start_without(3));
        if (forked == 0)
            _exit(wrong != 0);
        int status = -1;
        if (forked > 0)
            waitpid(forked, &status, 0);
        wrong += status != 0;
    }
    signal(SIGTRAP, SIG_DFL);
}

static void a_fork_in_the_middle_of_a_walk(void **state)
{
    (void)state;
    skip_without_traps();
    wrong = 0;
    run_at(ON_SAME_STACK, fork_while_walking);
    assert_int_equal(wrong, 0);
}

static int start_test(void **state)
{
    (void)state;
    pp_modules_refresh();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_at_every_instruction_of_a_walk),
        cmocka_unit_test(walks_in_a_storm_of_signals),
        cmocka_unit_test(steps_taken_singly_are_not_kept_as_steps),
        cmocka_unit_test(walks_after_one_was_jumped_out_of),
        cmocka_unit_test(an_abandoned_memo_is_used_again),
        cmocka_unit_test(walks_that_an_abandoned_walk_interrupted),
        cmocka_unit_test(more_threads_than_memos),
        cmocka_unit_test(a_child_keeps_its_memo),
        cmocka_unit_test(a_fork_in_the_middle_of_a_walk),
    };
    return cmocka_run_group_tests(tests, start_test, NULL);
}
