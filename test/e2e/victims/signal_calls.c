/* SPDX-License-Identifier: MIT
 *
 * signal_calls.c [MS [SIGNAL...]]: what each call of libc that sees or changes signals says, a line each, for
 * the signals that a profiler may have its hands on and for one that it has not. The lines are the
 * same with and without one. Between the calls it computes for 6 ms, or MS, so that a profiler's
 * signals come while the state is what it is.
 *
 * Flags: -Wno-deprecated-declarations -Wno-restrict
 *
 * Each group runs in a child, so that nothing is left over from one to the next; how the child
 * ended is a line, too.
 */
#include "burn.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* Not declared, or in other clothes, for a program of today. */
extern sighandler_t bsd_signal(int number, sighandler_t handler);
extern sighandler_t sysv_signal(int number, sighandler_t handler);
extern sighandler_t __sysv_signal(int number, sighandler_t handler);

static int tried; /* the signal of this group */
static volatile sig_atomic_t handled, depth, deepest;
static sigjmp_buf jump;

static double between_ms = 6;

static void between(void)
{
    burn_ms(between_ms);
}

/* ---- printing ---- */

static const char *name_of(sighandler_t handler);

static void print_set(const char *what, const sigset_t *set)
{
    printf("%s {", what);
    for (int number = 1; number <= 64; number++) {
        if (sigismember(set, number) == 1) {
            printf(" %d", number);
        }
    }
    printf(" }\n");
}

static void print_mask(const char *what)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    print_set(what, &now);
}

static void print_pending(const char *what)
{
    sigset_t now;
    printf("sigpending %d ", sigpending(&now));
    print_set(what, &now);
}

static bool is_pending(int number)
{
    sigset_t now;
    return sigpending(&now) == 0 && sigismember(&now, number) == 1;
}

static void print_action(const char *what)
{
    struct sigaction now;
    memset(&now, 0, sizeof now);
    int result = sigaction(tried, NULL, &now);
    printf("%s: %d %s flags %x ", what, result, name_of(now.sa_handler), (unsigned)now.sa_flags);
    print_set("mask", &now.sa_mask);
}

static void note(const char *what, long result)
{
    int error = errno;
    printf("%s = %ld", what, result);
    if (result == -1) {
        printf(" errno %d", error);
    }
    printf("\n");
    errno = 0;
}

static void note_handler(const char *what, sighandler_t result)
{
    printf("%s = %s errno %d\n", what, name_of(result), result == SIG_ERR ? errno : 0);
    errno = 0;
}

/* ---- handlers ---- */

static void plain(int number)
{
    handled += number == tried;
    depth++;
    deepest = depth > deepest ? depth : deepest;
    between();
    depth--;
}

static void with_info(int number, siginfo_t *info, void *context)
{
    const ucontext_t *interrupted = context;
    printf("handler: signal %d code %d value %d, before it ", number, info->si_code,
           info->si_code == SI_QUEUE ? info->si_value.sival_int : 0);
    print_set("mask", &interrupted->uc_sigmask);
    print_mask("in the handler: mask");
    plain(number);
}

static void jumps_out(int number)
{
    plain(number);
    siglongjmp(jump, 1);
}

static void where(int number)
{
    stack_t now;
    char here = 0;
    sigaltstack(NULL, &now);
    printf("handler on the alternate stack: %d\n",
           (uintptr_t)&here - (uintptr_t)now.ss_sp < now.ss_size &&
               (now.ss_flags & SS_ONSTACK) != 0);
    plain(number);
}

static const char *name_of(sighandler_t handler)
{
    return handler == SIG_DFL                              ? "default"
           : handler == SIG_IGN                            ? "ignored"
           : handler == SIG_ERR                            ? "error"
           : handler == SIG_HOLD                           ? "held"
           : handler == plain                              ? "plain"
           : handler == jumps_out                          ? "jumps_out"
           : handler == where                              ? "where"
           : handler == (sighandler_t)(uintptr_t)with_info ? "with_info"
                                                           : "somebody else's";
}

/* ---- groups ---- */

/* Every way to set an action, and what each says of the one before. */
static void actions(void)
{
    static const int flags[] = {0,
                                SA_RESTART,
                                SA_NODEFER,
                                (int)SA_RESETHAND,
                                SA_ONSTACK,
                                SA_NOCLDSTOP,
                                SA_NODEFER | (int)SA_RESETHAND | SA_RESTART};
    print_action("at first");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        struct sigaction action = {.sa_handler = plain, .sa_flags = flags[i]};
        sigaddset(&action.sa_mask, SIGUSR2);
        note("sigaction", sigaction(tried, &action, NULL));
        print_action("then");
        between();
        raise(tried);
        print_action("after it");
    }
    struct sigaction action = {.sa_sigaction = with_info, .sa_flags = SA_SIGINFO};
    sigfillset(&action.sa_mask);
    note("sigaction", sigaction(tried, &action, &action)); /* old may be the new one */
    printf("before: %s flags %x\n", name_of(action.sa_handler), (unsigned)action.sa_flags);
    raise(tried);
    note_handler("signal", signal(tried, plain));
    print_action("signal");
    raise(tried);
    print_action("after it");
    note_handler("bsd_signal", bsd_signal(tried, SIG_IGN));
    raise(tried);
    print_action("bsd_signal");
#ifdef __GLIBC__
    note_handler("__sysv_signal", __sysv_signal(tried, plain));
    print_action("__sysv_signal");
    raise(tried);
    print_action("after it");
    note_handler("sysv_signal", sysv_signal(tried, plain));
    raise(tried);
    note_handler("ssignal", ssignal(tried, plain));
#endif
    note("siginterrupt", siginterrupt(tried, 1));
    print_action("siginterrupt");
    note_handler("signal", signal(tried, plain));
    print_action("signal after siginterrupt");
    note("siginterrupt", siginterrupt(tried, 0));
    note_handler("sigset", sigset(tried, SIG_HOLD));
    print_mask("sigset");
    note_handler("sigset", sigset(tried, plain));
    print_mask("sigset");
    print_action("sigset");
    raise(tried);
    note("sigignore", sigignore(tried));
    print_action("sigignore");
    raise(tried);
    note_handler("signal", signal(tried, SIG_DFL));
    note_handler("signal", signal(tried, SIG_ERR));
    if (tried != SIGIO) { /* which is told without SA_RESTART (docs/SIGNALS.md) */
        print_action("default by signal");
    }
    struct sigaction dfl = {.sa_handler = SIG_DFL, .sa_flags = SA_RESTART};
    sigaddset(&dfl.sa_mask, SIGUSR1);
    note("sigaction", sigaction(tried, &dfl, NULL));
    if (tried != SIGIO) { /* which is told without SA_RESTART (docs/SIGNALS.md) */
        print_action("default by sigaction");
    }
    note("sigaction of none", sigaction(0, &dfl, NULL));
    note("sigaction of 32", sigaction(32, &dfl, NULL));
    note("sigaction of 65", sigaction(65, &dfl, NULL));
    printf("handled %d\n", (int)handled);
}

/* The kernel goes by the handler's value alone. */
static void default_with_info(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN, .sa_flags = SA_SIGINFO};
    sigaction(tried, &action, NULL);
    print_action("ignored with SA_SIGINFO");
    raise(tried);
    between();
    action.sa_handler = SIG_DFL;
    sigaction(tried, &action, NULL);
    fflush(stdout);
    raise(tried);
    between();
}

static void nesting(void)
{
    struct sigaction action = {.sa_handler = plain, .sa_flags = 0};
    sigset_t all;
    sigfillset(&all);
    sigaction(tried, &action, NULL);
    between();
    kill(getpid(), tried);
    between();
    printf("deepest %d\n", (int)deepest);
    print_mask("after");
    action.sa_mask = all;
    sigaction(tried, &action, NULL);
    kill(getpid(), tried);
    between();
    print_mask("after a full mask");
    action = (struct sigaction){.sa_sigaction = with_info, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(tried, &action, NULL);
    union sigval value = {.sival_int = 77};
    note("sigqueue", sigqueue(getpid(), tried, value));
    between();
    printf("handled %d\n", (int)handled);
}

/* The mask after a jump is the one that was saved. */
static void jumps(void)
{
    sigset_t set;
    signal(tried, jumps_out);
    if (sigsetjmp(jump, 1) == 0) {
        between();
        raise(tried);
    }
    print_mask("after siglongjmp");
    between();
    if (sigsetjmp(jump, 0) == 0) {
        raise(tried);
    }
    print_mask("after siglongjmp without the mask");
    sigemptyset(&set);
    sigprocmask(SIG_SETMASK, &set, NULL);
    /* Saved blocked, jumped to open; and the other way round. */
    sigaddset(&set, tried);
    sigprocmask(SIG_BLOCK, &set, NULL);
    volatile int round = 0;
    if (sigsetjmp(jump, 1) == 0) {
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        between();
        round = 1;
        siglongjmp(jump, 1);
    }
    print_mask("back where it was blocked");
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    if (sigsetjmp(jump, 1) == 0) {
        sigfillset(&set);
        sigprocmask(SIG_BLOCK, &set, NULL);
        between();
        siglongjmp(jump, 1);
    }
    print_mask("back where it was open");
    ucontext_t context;
    volatile int second = 0;
    getcontext(&context);
    if (second == 0) {
        second = 1;
        sigprocmask(SIG_BLOCK, &set, NULL);
        between();
        setcontext(&context);
    }
    print_mask("after setcontext");
    printf("handled %d round %d\n", (int)handled, (int)round);
}

static void masks(void)
{
    static const int hows[] = {SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK};
    sigset_t set;
    sigset_t old;
    signal(tried, plain);
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
        sigfillset(&set);
        note("sigprocmask", sigprocmask(hows[i], &set, &old));
        print_set("old", &old);
        between();
        print_mask("now");
        sigemptyset(&set);
        sigaddset(&set, tried);
        note("pthread_sigmask", pthread_sigmask(hows[i], &set, &set));
        print_set("old", &set);
        between();
        print_mask("now");
    }
    note("pthread_sigmask of no way", pthread_sigmask(77, &set, &old));
    note("sigprocmask of no way", sigprocmask(77, &set, &old));
    note("sighold", sighold(tried));
    print_mask("sighold");
    between();
    note("sigrelse", sigrelse(tried));
    print_mask("sigrelse");
    printf("handled %d\n", (int)handled);
}

/* Blocked, sent, and found by each of those who look. */
static void pending(void)
{
    const struct timespec at_once = {0};
    siginfo_t info;
    sigset_t set;
    sigset_t all;
    int number = 0;
    sigfillset(&all);
    sigemptyset(&set);
    sigaddset(&set, tried);
    sigprocmask(SIG_BLOCK, &all, NULL);
    print_pending("nothing");
    between();
    print_pending("nothing after a while");
    errno = 0;
    note("sigtimedwait", sigtimedwait(&all, &info, &at_once));
    kill(getpid(), tried);
    print_pending("sent");
    between();
    print_pending("sent a while ago");
    note("sigwait", sigwait(&set, &number));
    printf("number %d\n", number);
    print_pending("taken");
    pthread_kill(pthread_self(), tried);
    between();
    note("sigwaitinfo", sigwaitinfo(&all, &info));
    printf("signal %d code %d\n", info.si_signo, info.si_code);
    union sigval value = {.sival_int = 5};
    sigqueue(getpid(), tried, value);
    note("sigtimedwait", sigtimedwait(&set, &info, &at_once));
    printf("signal %d code %d value %d\n", info.si_signo, info.si_code, info.si_value.sival_int);
    note("sigtimedwait of nothing", sigtimedwait(&all, &info, &at_once));
    struct itimerval timer = {.it_value.tv_usec = 2000};
    setitimer(ITIMER_PROF, &timer, NULL);
    /* It goes by the kernel's ticks, of which a busy machine lets a thread see few. */
    for (int i = 0; i < 100 && !is_pending(tried); i++) {
        burn_ms(20);
    }
    print_pending("interval timer");
    note("sigtimedwait", sigtimedwait(&all, &info, &at_once));
    /* Ignored, it is lost; that it is blocked makes no difference. */
    kill(getpid(), tried);
    signal(tried, SIG_IGN);
    print_pending("ignored while it was pending");
    kill(getpid(), tried);
    print_pending("ignored when it came");
    signal(tried, plain);
    kill(getpid(), tried);
    between();
    printf("handled %d\n", (int)handled);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    printf("handled %d\n", (int)handled);
}

static void descriptors(void)
{
    struct signalfd_siginfo info;
    struct epoll_event event = {.events = EPOLLIN};
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    int fd = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
    int poller = epoll_create1(0);
    struct pollfd one = {.fd = fd, .events = POLLIN};
    note("epoll_ctl", epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event));
    between();
    note("read of nothing", read(fd, &info, sizeof info));
    note("poll of nothing", poll(&one, 1, 0));
    kill(getpid(), tried);
    between();
    note("epoll_wait", epoll_wait(poller, &event, 1, -1));
    note("poll", poll(&one, 1, -1));
    note("read", read(fd, &info, sizeof info));
    printf("signal %u code %d\n", info.ssi_signo, info.ssi_code);
    note("read of nothing", read(fd, &info, sizeof info));
    between();
    note("poll of nothing", poll(&one, 1, 0));
}

/*
 * Calls that wait with a mask of their own, or are interrupted by a handler. The signal is the
 * thread's: where it is the process's, or has a higher number, the kernel may deliver a sample
 * first, and the call ends before the handler has run (docs/SIGNALS.md, known and left).
 */
static void interrupted_calls(void)
{
    static const int flags[] = {0, SA_RESTART};
    const struct timespec long_time = {.tv_sec = 60};
    sigset_t all;
    sigset_t but_one;
    sigfillset(&all);
    but_one = all;
    sigdelset(&but_one, tried);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        struct sigaction action = {.sa_handler = plain, .sa_flags = flags[i]};
        sigaction(tried, &action, NULL);
        sigprocmask(SIG_BLOCK, &all, NULL);
        between();
        pthread_kill(pthread_self(), tried);
        note("sigsuspend", sigsuspend(&but_one));
        pthread_kill(pthread_self(), tried);
        note("ppoll", ppoll(NULL, 0, &long_time, &but_one));
        pthread_kill(pthread_self(), tried);
        note("pselect", pselect(0, NULL, NULL, NULL, &long_time, &but_one));
        pthread_kill(pthread_self(), tried);
        note("sigpause", sigpause(tried));
        print_mask("after them");
        sigprocmask(SIG_UNBLOCK, &all, NULL);
    }
    printf("handled %d\n", (int)handled);
}

static volatile sig_atomic_t over;

static void quick(int number)
{
    handled += number == tried;
}

/* Its own signal interrupts a read where it asked for that, and nowhere else. */
static void *sends(void *context)
{
    const pthread_t *target = context;
    while (!over) { /* it may not be in its call yet */
        pthread_kill(*target, tried);
        usleep(5000);
    }
    return context;
}

static void interrupted_read(void)
{
    struct sigaction action = {.sa_handler = quick};
    pthread_t self = pthread_self();
    pthread_t sender;
    int ends[2];
    char byte;
    sigaction(tried, &action, NULL);
    if (pipe(ends) != 0) {
        return;
    }
    pthread_create(&sender, NULL, sends, &self);
    note("read", read(ends[0], &byte, 1));
    over = 1;
    pthread_join(sender, NULL);
    printf("handled at all %d\n", handled > 0);
}

static void alternate_stacks(void)
{
    static char memory[64 * 1024];
    stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
    stack_t old;
    struct sigaction action = {.sa_handler = where, .sa_flags = SA_ONSTACK};
    memset(&old, 0, sizeof old);
    note("sigaltstack", sigaltstack(&stack, &old));
    printf("before: flags %x size %zu\n", (unsigned)old.ss_flags, old.ss_size);
    between();
    sigaction(tried, &action, NULL);
    raise(tried);
    action.sa_flags = 0;
    sigaction(tried, &action, NULL);
    raise(tried);
    stack.ss_size = 100;
    note("sigaltstack, too small", sigaltstack(&stack, NULL));
    note("sigaltstack", sigaltstack(NULL, &old));
    printf("now: flags %x size %zu\n", (unsigned)old.ss_flags, old.ss_size);
    stack.ss_flags = SS_DISABLE;
    note("sigaltstack, off", sigaltstack(&stack, &old));
    between();
}

/* What a child and another program inherit. */
static void inheritance(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, tried);
    signal(tried, SIG_IGN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    fflush(stdout);
    if (fork() == 0) {
        print_action("in the child");
        print_mask("in the child: mask");
        print_pending("in the child");
        between();
        fflush(stdout);
        _exit(0);
    }
    wait(NULL);
    char *const argv[] = {"grep", "-E", "^Sig(Ign|Blk)|^ShdPnd|^SigPnd", "/proc/self/status", NULL};
    char *const envp[] = {NULL};
    pid_t pid = 0;
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    int error = posix_spawn(&pid, "/bin/grep", NULL, NULL, argv, envp);
    waitpid(pid, NULL, 0);
    note("posix_spawn", error);
    posix_spawnattr_setsigdefault(&attributes, &set);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(&attributes, &set);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    fflush(stdout);
    error = posix_spawn(&pid, "/bin/grep", NULL, &attributes, argv, envp);
    waitpid(pid, NULL, 0);
    note("posix_spawn", error);
    fflush(stdout);
    if (vfork() == 0) {
        signal(tried, SIG_DFL);
        execve("/bin/grep", argv, envp);
        _exit(1);
    }
    wait(NULL);
    print_action("after vfork");
    fflush(stdout);
    execve("/bin/grep", argv, envp);
}

/* "Block everything, one thread waits", and it is killed from outside. */
static void *waits(void *context)
{
    sigset_t all;
    int number = 0;
    sigfillset(&all);
    sigwait(&all, &number);
    printf("sigwait in a thread: %d\n", number);
    return context;
}

static void *computes(void *context)
{
    burn_ms(50);
    return context;
}

static void signal_thread(void)
{
    sigset_t all;
    pthread_t threads[3];
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    pthread_create(&threads[0], NULL, waits, NULL);
    pthread_create(&threads[1], NULL, computes, NULL);
    pthread_create(&threads[2], NULL, computes, NULL);
    between();
    kill(getpid(), tried);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    print_pending("after it");
}

static void ends_by_default(void)
{
    signal(tried, SIG_DFL);
    between();
    raise(tried);
    between();
}

static void ends_blocked(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    raise(tried);
    between();
    printf("lives while it is blocked\n");
    fflush(stdout);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    between();
}

static void ends_by_reset(void)
{
    __sysv_signal(tried, plain);
    raise(tried);
    between();
    printf("handled %d\n", (int)handled);
    fflush(stdout);
    raise(tried);
    between();
}

static const struct {
    const char *name;
    void (*run)(void);
} groups[] = {
    {"actions", actions},
    {"default with SA_SIGINFO", default_with_info},
    {"nesting", nesting},
    {"jumps", jumps},
    {"masks", masks},
    {"pending", pending},
    {"descriptors", descriptors},
    {"interrupted calls", interrupted_calls},
    {"interrupted read", interrupted_read},
    {"alternate stacks", alternate_stacks},
    {"inheritance", inheritance},
    {"signal thread", signal_thread},
    {"ends by default", ends_by_default},
    {"ends blocked", ends_blocked},
    {"ends by reset", ends_by_reset},
};

static void run_groups(int number)
{
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        int status = 0;
        printf("---- %d %s\n", number, groups[g].name);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            tried = number;
            if (groups[g].run != interrupted_calls || tried < SIGRTMIN) {
                groups[g].run();
            }
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, &status, 0);
        printf("status %x\n", (unsigned)status);
    }
}

int main(int argc, char **argv)
{
    static const int signals[] = {SIGPROF, SIGTERM, SIGINT, SIGIO, SIGUSR1, SIGVTALRM, 34};
    between_ms = argc > 1 ? strtod(argv[1], NULL) : between_ms;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t s = 0; argc <= 2 && s < sizeof signals / sizeof *signals; s++) {
        run_groups(signals[s]);
    }
    for (int i = 2; i < argc; i++) {
        run_groups(atoi(argv[i]));
    }
    return 0;
}
