/* SPDX-License-Identifier: MIT
 *
 * small_stacks.c STACK WAY: ends the process on a stack with little room.
 *
 *   STACK   alternate   a signal handler on an alternate stack
 *           coroutine   a stack of the program's own
 *           thread      a thread with the smallest stack that libc allows
 *           rest        what recursion has left of the first thread's stack
 *   WAY     _exit exit quick_exit   status 42
 *           exec                    executes itself, which ends with status 42
 *           SIGTERM                 by this signal
 *
 * Without arguments it lists the pairs. A stack has hardly more room than a signal and the function
 * of libc that ends the process take.
 */
#include "burn.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

enum { STATUS = 42, KIB = 1024, PAGE = 4096, ROOM = 5 * 1024 };

static const char *program;
static const char *way;

/* Room for a signal's frame, and for what the loader saves and needs when it binds a function. */
static size_t small_size(void)
{
    size_t signal_frame = getauxval(AT_MINSIGSTKSZ);
    return ((signal_frame > 2 * KIB ? signal_frame : 2 * KIB) + ROOM) & ~(size_t)63;
}

/* What lies below the memory faults. */
static char *map_stack(size_t size)
{
    size_t pages = (size + PAGE - 1) / PAGE * PAGE;
    char *memory = mmap(NULL, pages + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + PAGE, pages, PROT_READ | PROT_WRITE) != 0) {
        _exit(77);
    }
    return memory + PAGE;
}

void end_here(void)
{
    static char *const arguments[] = {"small_stacks", "over", NULL};
    if (strcmp(way, "_exit") == 0) {
        _exit(STATUS);
    } else if (strcmp(way, "exit") == 0) {
        exit(STATUS);
    } else if (strcmp(way, "quick_exit") == 0) {
        quick_exit(STATUS);
    } else if (strcmp(way, "exec") == 0) {
        execv(program, arguments);
    } else if (strcmp(way, "SIGTERM") == 0) {
        raise(SIGTERM);
    }
    abort();
}

static void handle(int number)
{
    (void)number;
    end_here();
}

static void end_on_alternate(void)
{
    const stack_t alternate = {.ss_sp = map_stack(small_size()), .ss_size = small_size()};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    sigaltstack(&alternate, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}

static void end_in_coroutine(void)
{
    static ucontext_t coroutine;
    static ucontext_t back;
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = map_stack(small_size());
    coroutine.uc_stack.ss_size = small_size();
    makecontext(&coroutine, end_here, 0);
    swapcontext(&back, &coroutine);
}

static void *entry(void *unused)
{
    end_here();
    return unused;
}

static void end_in_thread(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN));
    if (pthread_create(&thread, &attributes, entry, NULL) != 0) {
        _exit(77);
    }
    pthread_join(thread, NULL);
}

static uintptr_t lowest;

static volatile int always = 1;

int use_up(int n)
{
    volatile char frame[256];
    frame[0] = (char)n;
    if ((uintptr_t)__builtin_frame_address(0) - lowest < small_size()) {
        end_here();
    }
    return always ? use_up(n + 1) + frame[0] : 0;
}

static void end_on_the_rest(void)
{
    struct rlimit size;
    getrlimit(RLIMIT_STACK, &size);
    uintptr_t top = (uintptr_t)getauxval(AT_EXECFN);
    if (size.rlim_cur > (rlim_t)1 << 30) {
        _exit(77);
    }
    /* The kernel keeps a gap between the stack's limit and what is mapped below it. */
    lowest = top - size.rlim_cur + PAGE;
    use_up(0);
}

static const struct {
    const char *name;
    void (*end)(void);
} stacks[] = {{"alternate", end_on_alternate},
              {"coroutine", end_in_coroutine},
              {"thread", end_in_thread},
              {"rest", end_on_the_rest}};

static const char *const ways[] = {"_exit", "exit", "quick_exit", "exec", "SIGTERM"};

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc == 2) {
        return STATUS;
    }
    if (argc == 3) {
        way = argv[2];
        burn_ms(30);
        for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
            if (strcmp(stacks[i].name, argv[1]) == 0) {
                stacks[i].end();
            }
        }
        return 1;
    }
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            printf("%s %s\n", stacks[i].name, ways[k]);
        }
    }
    return 0;
}
