/* SPDX-License-Identifier: MIT
 *
 * test_beside.c: a function that runs beside its caller writes to the same memory; a fault ends it, and
 * the program notices nothing.
 */
#include "sys/beside.h"

#include "base/compiler.h"
#include "sys/apart.h"
#include "sys/own_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void count_signal(int signal)
{
    (void)signal;
    signals++;
}

static void do_nothing(void *unused)
{
    (void)unused;
}

/* An emulator may give no such child. */
static int begin(void **state)
{
    (void)state;
    if (!pp_beside(do_nothing, NULL)) {
        puts("no child that shares memory");
        exit(77);
    }
    return 0;
}

/* In a test: cmocka has handlers of its own outside. */
static void count_signals(void)
{
    const struct sigaction counts = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    assert_int_equal(sigaction(SIGSEGV, &counts, NULL), 0);
    assert_int_equal(sigaction(SIGBUS, &counts, NULL), 0);
    assert_int_equal(sigaction(SIGCHLD, &counts, NULL), 0);
    signals = 0;
}

typedef struct reading {
    const volatile uint64_t *from;
    size_t count, next;
    uint64_t sum;
    int opened;
} reading;

PP_RAW_MEMORY static void add_up(void *of_reading)
{
    reading *r = of_reading;
    for (; r->next < r->count; r->next++) {
        r->sum += r->from[r->next];
    }
}

/* What the program would see of a child or a signal. */
static void assert_unnoticed(void)
{
    struct sigaction action;
    sigset_t blocked;
    assert_int_equal(signals, 0);
    assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(sigaction(SIGSEGV, NULL, &action), 0);
    assert_ptr_equal(action.sa_handler, count_signal);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &blocked), 0);
    assert_false(sigismember(&blocked, SIGSEGV));
    assert_false(sigismember(&blocked, SIGUSR1));
}

static void memory_is_shared(void **state)
{
    (void)state;
    uint64_t words[100];
    reading r = {.from = words, .count = 100};
    struct rlimit before;
    struct rlimit after;
    for (size_t i = 0; i < 100; i++) {
        words[i] = i;
    }
    count_signals();
    assert_int_equal(getrlimit(RLIMIT_CORE, &before), 0);
    assert_true(pp_beside(add_up, &r));
    assert_int_equal(r.sum, 4950);
    assert_int_equal(getrlimit(RLIMIT_CORE, &after), 0);
    assert_int_equal(before.rlim_cur, after.rlim_cur);
    assert_int_equal(before.rlim_max, after.rlim_max);
    assert_unnoticed();
}

/* Memory that has gone, and memory of a file that is shorter by then. */
static void a_fault_ends_the_function_only(void **state)
{
    (void)state;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t words = page / sizeof(uint64_t);
    char path[] = "/tmp/beside.XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    unlink(path);
    assert_int_equal(ftruncate(file, (off_t)(2 * page)), 0);
    uint64_t *anonymous =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t *of_file = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_true(anonymous != MAP_FAILED && of_file != MAP_FAILED);
    anonymous[words - 1] = of_file[words - 1] = 7;
    reading first = {.from = anonymous, .count = 2 * words};
    reading second = {.from = of_file, .count = 2 * words};
    assert_int_equal(munmap(anonymous + words, page), 0);
    assert_int_equal(ftruncate(file, (off_t)page), 0);
    count_signals();
    for (unsigned times = 0; times < 20; times++) {
        first.next = second.next = first.sum = second.sum = 0;
        assert_false(pp_beside(add_up, &first));
        assert_false(pp_beside(add_up, &second));
        assert_int_equal(first.sum, 7);
        assert_int_equal(first.next, words);
        assert_int_equal(second.sum, 7);
        assert_int_equal(second.next, words);
    }
    assert_unnoticed();
    munmap(anonymous, page);
    munmap(of_file, 2 * page);
    close(file);
}

static void note_stack_for_signals(void *of_stack)
{
    sigaltstack(NULL, of_stack);
}

/* Else a fault where the caller's stack ends is one that nothing handles. */
static void faults_have_a_stack(void **state)
{
    (void)state;
    stack_t in_child = {.ss_flags = SS_DISABLE};
    stack_t before;
    stack_t after;
    assert_int_equal(sigaltstack(NULL, &before), 0);
    assert_true(pp_beside(note_stack_for_signals, &in_child));
    assert_int_equal(in_child.ss_flags, 0);
    assert_true(in_child.ss_size >= (size_t)MINSIGSTKSZ);
    assert_ptr_not_equal(in_child.ss_sp, before.ss_sp);
    assert_int_equal(sigaltstack(NULL, &after), 0);
    assert_ptr_equal(after.ss_sp, before.ss_sp);
    assert_int_equal(after.ss_flags, before.ss_flags);
}

static void open_null(void *of_reading)
{
    reading *r = of_reading;
    r->opened = open("/dev/null", O_RDONLY);
}

static void what_it_opens_is_closed(void **state)
{
    (void)state;
    reading r = {.opened = -1};
    assert_true(pp_beside(open_null, &r));
    assert_true(r.opened >= 0);
    assert_int_equal(fcntl(r.opened, F_GETFD), -1);
}

static void open_own_and_fault(void *of_reading)
{
    reading *r = of_reading;
    r->opened = pp_own_open("/dev/null", O_RDONLY, 0);
    add_up(r);
}

/* The number may be that of a file of the program. */
static void what_it_opens_is_not_listed(void **state)
{
    (void)state;
    reading r = {.from = NULL, .count = 1, .opened = -1};
    assert_false(pp_beside(open_own_and_fault, &r));
    assert_true(r.opened >= 0);
    assert_false(pp_own_has(r.opened));
    assert_false(pp_apart_has_table());
}

static int64_t own_cpu_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static void use_a_tick(void *unused)
{
    (void)unused;
    while (own_cpu_ns() < 20000000) {
    }
}

/* As the kernel counts it for children that were waited for. */
static void its_time_is_counted(void **state)
{
    (void)state;
    struct rusage use;
    assert_true(pp_beside(use_a_tick, NULL));
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &use), 0);
    uint64_t all = (uint64_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000 +
                   (uint64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    assert_true(pp_beside_cpu_us() > 0);
    assert_true(pp_beside_cpu_us() <= all);
    pp_beside_after_fork_in_child();
    assert_int_equal(pp_beside_cpu_us(), 0);
}

/* Tells that it runs, and goes on until it is killed. */
static void wait_for_end(void *of_pipe)
{
    const int *end = of_pipe;
    if (write(end[1], "", 1) != 1) {
        return;
    }
    for (;;) {
        pause();
    }
}

/* The end of the pipe is closed when both processes are gone. */
static void it_ends_with_its_caller(void **state)
{
    (void)state;
    int end[2];
    char byte;
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(pipe(end), 0);
    pid_t caller = fork();
    assert_true(caller >= 0);
    if (caller == 0) {
        pp_beside(wait_for_end, end);
        _exit(1);
    }
    close(end[1]);
    assert_int_equal(read(end[0], &byte, 1), 1);
    assert_int_equal(kill(caller, SIGKILL), 0);
    assert_int_equal(read(end[0], &byte, 1), 0);
    assert_int_equal(waitpid(caller, NULL, 0), caller);
    close(end[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_shared),        cmocka_unit_test(a_fault_ends_the_function_only),
        cmocka_unit_test(what_it_opens_is_closed), cmocka_unit_test(what_it_opens_is_not_listed),
        cmocka_unit_test(its_time_is_counted),     cmocka_unit_test(it_ends_with_its_caller),
        cmocka_unit_test(faults_have_a_stack),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
