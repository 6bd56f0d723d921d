/* SPDX-License-Identifier: MIT
 *
 * thread_moves.c ROUNDS: threads go from wait to wait, and each leaves on record where it is before it
 * waits. Every profile must show what they have left, though most threads have not moved since the
 * profile before.
 *
 * In each round some threads move, some end and others begin, some get another name, a library
 * comes and goes, a thread begins that no hook sees, or the process forks. Where the kernel lets it, a new thread gets the id of one
 * that has ended.
 *
 * Flags: -O2
 */
#include "must.h"
#include <pprof.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREADS = 60,
    LEVELS = 6,
    ROOM = THREADS + 8,
    STACK_BYTES = 128 * 1024,
    TEXT_BYTES = 1 << 20,
    NAME_BYTES = 16,
    ATTEMPTS = 200, /* at an id, which other processes may get */
    END = -1
};

typedef struct mover {
    pthread_t thread;
    pid_t tid;
    int order[2];     /* a pipe: the path of the next wait, or END */
    unsigned path;    /* a bit a level: which of two calls */
    unsigned arrived; /* how many waits it has begun */
    unsigned seen;    /* the last one that main() knows of */
    uintptr_t returns_to[LEVELS];
    char name[NAME_BYTES];
} mover;

static mover movers[THREADS];
static pprof_thread_record records[ROOM];
static char text[TEXT_BYTES];
static unsigned turn; /* of a small generator: the same moves in every run */

static unsigned any(unsigned limit)
{
    turn = turn * 1103515245 + 12345;
    return (turn >> 16) % limit;
}

/* ---- the threads ---- */

/* Waits in poll() or read(), by the path. */
static void wait_for_order(const mover *m)
{
    struct pollfd order = {.fd = m->order[0], .events = POLLIN};
    if (m->path % 3 == 0) {
        check(poll(&order, 1, -1) == 1, "poll");
    }
}

__attribute__((noinline)) static int descend(mover *m, unsigned level)
{
    int order = END;
    if (level == LEVELS) {
        __atomic_add_fetch(&m->arrived, 1, __ATOMIC_SEQ_CST);
        wait_for_order(m);
        check(read(m->order[0], &order, sizeof order) == sizeof order, "read");
        return order;
    }
    m->returns_to[level] = (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
    if (m->path >> level & 1) {
        order = descend(m, level + 1);
        __asm__ volatile("# one" : "+r"(order));
    } else {
        order = descend(m, level + 1);
        __asm__ volatile("# zero" : "+r"(order));
    }
    return order;
}

static void *mover_main(void *argument)
{
    mover *m = argument;
    int order = 0;
    __atomic_store_n(&m->tid, gettid(), __ATOMIC_SEQ_CST);
    while (order != END) {
        order = descend(m, 0);
        m->path = (unsigned)order;
    }
    return NULL;
}

/* Returns when the mover is about to wait. */
static void await(mover *m)
{
    while (__atomic_load_n(&m->arrived, __ATOMIC_SEQ_CST) == m->seen) {
        sched_yield();
    }
    m->seen++;
}

static void begin(mover *m)
{
    pthread_attr_t attributes;
    *m = (mover){.path = any(1U << LEVELS)};
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    check(pipe(m->order) == 0, "pipe");
    check(pthread_create(&m->thread, &attributes, mover_main, m) == 0, "pthread_create");
    pthread_attr_destroy(&attributes);
    await(m);
}

static void send(mover *m, int order)
{
    check(write(m->order[1], &order, sizeof order) == sizeof order, "write");
}

static void end(mover *m)
{
    send(m, END);
    check(pthread_join(m->thread, NULL) == 0, "pthread_join");
    close(m->order[0]);
    close(m->order[1]);
}

/* ---- what the profile says ---- */

static const pprof_stack *stack_of(size_t count, pid_t tid)
{
    for (size_t i = 0; i < count; i++) {
        if (records[i].tid == tid) {
            return &records[i].stack;
        }
    }
    return NULL;
}

/* Whether the mover's frames stand in the stack, one above the other. */
static bool has_frames(const pprof_stack *stack, const mover *m)
{
    for (uint32_t i = 0; i + LEVELS <= stack->depth; i++) {
        unsigned level = 0;
        while (level < LEVELS && stack->pc[i + level] == m->returns_to[LEVELS - 1 - level]) {
            level++;
        }
        if (level == LEVELS) {
            return true;
        }
    }
    return false;
}

/* For a failure that does not come again. */
static void print_stack(const pprof_stack *stack, const mover *m)
{
    fprintf(stderr, "path %#x, %u waits; the stack, and where the thread's calls return to:\n",
            m->path, m->arrived);
    if (stack != NULL) {
        for (size_t i = 0; i < stack->depth; i++) {
            fprintf(stderr, "%#lx\n", (unsigned long)stack->pc[i]);
        }
    }
    for (unsigned i = LEVELS; i-- > 0;) {
        fprintf(stderr, "%#lx\n", (unsigned long)m->returns_to[i]);
    }
}

static void check_profile(const char *after)
{
    size_t count = 0;
    char what[64];
    check(pprof_thread_profile(records, ROOM, &count), "pprof_thread_profile");
    snprintf(what, sizeof what, "after %s %zu records", after, count);
    check(count == THREADS + 1, what);
    for (unsigned i = 0; i < THREADS; i++) {
        const pprof_stack *stack = stack_of(count, movers[i].tid);
        snprintf(what, sizeof what, "after %s thread %u, %s", after, i,
                 stack != NULL ? "its stack" : "its record");
        if (stack == NULL || !has_frames(stack, &movers[i])) {
            print_stack(stack, &movers[i]);
            check(false, what);
        }
    }
    pprof_thread_records_release(records, count);
}

static void check_names(void)
{
    char line[64];
    text[pprof_stack_text(text, sizeof text - 1, true)] = '\0';
    for (unsigned i = 0; i < THREADS; i++) {
        if (movers[i].name[0] != '\0') {
            snprintf(line, sizeof line, "thread %d \"%s\" [", (int)movers[i].tid, movers[i].name);
            check(strstr(text, line) != NULL, "a thread's new name");
        }
    }
}

/* ---- what happens between two profiles ---- */

static void move_some(void)
{
    unsigned count = any(4) == 0 ? THREADS : any(5);
    for (unsigned i = 0; i < count; i++) {
        mover *m = &movers[any(THREADS)];
        send(m, (int)any(1U << LEVELS));
        await(m);
    }
}

static void replace_some(void)
{
    unsigned count = 1 + any(3);
    for (unsigned i = 0; i < count; i++) {
        mover *m = &movers[any(THREADS)];
        end(m);
        begin(m);
    }
}

static void rename_some(void)
{
    mover *m = &movers[any(THREADS)];
    snprintf(m->name, sizeof m->name, "name %u", any(1000));
    check(pthread_setname_np(m->thread, m->name) == 0, "pthread_setname_np");
}

static void load_and_unload(void)
{
    void *library = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
    library = library != NULL ? library : dlopen("libcmocka.so.0", RTLD_NOW | RTLD_LOCAL);
    check(library != NULL, "dlopen");
    check_profile("dlopen");
    dlclose(library);
}

/* The thread's letter in /proc; 0: it is gone. */
static char letter_of(pid_t tid)
{
    char path[64];
    char line[128] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, line, sizeof line - 1) : 0;
    if (fd >= 0) {
        close(fd);
    }
    const char *end = got > 0 ? strrchr(line, ')') : NULL;
    return end != NULL ? end[2] : '\0';
}

static unsigned unseen_waits;

/* It has the thread-local variables of main(). */
static int unseen_main(void *unused)
{
    (void)unused;
    while (__atomic_load_n(&unseen_waits, __ATOMIC_SEQ_CST) == 1) {
        syscall(SYS_futex, &unseen_waits, FUTEX_WAIT, 1, NULL, NULL, 0);
    }
    syscall(SYS_exit, 0);
    return 0;
}

/* A thread of a bare clone has no record: the kernel alone lists it. */
static void add_unseen(void)
{
    static char stack[STACK_BYTES] __attribute__((aligned(16)));
    size_t count = 0;
    unseen_waits = 1;
    pid_t tid = clone(
        unseen_main, stack + sizeof stack,
        CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, NULL);
    check(tid > 0, "clone");
    while (letter_of(tid) != 'S') {
        sched_yield();
    }
    check(pprof_thread_profile(records, ROOM, &count) && count == THREADS + 2,
          "one record more with a thread that no hook saw");
    check(stack_of(count, tid) != NULL, "the record of a thread that no hook saw");
    pprof_thread_records_release(records, count);
    __atomic_store_n(&unseen_waits, 0, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &unseen_waits, FUTEX_WAKE, 1, NULL, NULL, 0);
    while (letter_of(tid) != '\0') {
        sched_yield();
    }
}

/* The kernel counts up from the number in this file; false if this process may not write it. */
static bool choose_next_id(pid_t tid)
{
    char digits[16];
    int length = snprintf(digits, sizeof digits, "%d", (int)tid - 1);
    int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    bool chosen = fd >= 0 && write(fd, digits, (size_t)length) == length;
    if (fd >= 0) {
        close(fd);
    }
    return chosen;
}

/* A thread ends, and another with its id begins. */
static void succeed(void)
{
    mover *m = &movers[any(THREADS)];
    pid_t tid = m->tid;
    for (unsigned i = 0; i < ATTEMPTS; i++) {
        end(m);
        bool chosen = choose_next_id(tid);
        begin(m);
        if (!chosen || m->tid == tid) {
            return;
        }
    }
}

static void check_child(void)
{
    size_t count = 0;
    check(pprof_thread_profile(records, ROOM, &count) && count == 1, "the child's one record");
    pprof_thread_records_release(records, count);
    for (unsigned i = 0; i < THREADS; i++) {
        begin(&movers[i]);
    }
    check_profile("fork");
    move_some();
    check_profile("fork, a move");
    _exit(0);
}

static void fork_once(void)
{
    int status = -1;
    pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
        check_child();
    }
    check(waitpid(child, &status, 0) == child && status == 0, "the child's profiles");
}

/* ---- all ---- */

static const struct {
    const char *name;
    void (*happen)(void);
} events[] = {{"a move", move_some},       {"a replacement", replace_some},
              {"a new name", rename_some}, {"an unload", load_and_unload},
              {"a successor", succeed},    {"an unseen thread", add_unseen},
              {"a fork", fork_once},       {"nothing", check_names}};

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    for (unsigned i = 0; i < THREADS; i++) {
        begin(&movers[i]);
    }
    for (unsigned i = 0; i < rounds; i++) {
        unsigned event = i % (sizeof events / sizeof *events);
        events[event].happen();
        check_profile(events[event].name);
    }
    puts("ok");
    return 0;
}
