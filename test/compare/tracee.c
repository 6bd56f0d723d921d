/* SPDX-License-Identifier: MIT
 *
 * tracee.c: ptrace(2) and its stops.
 *
 * Zone: tests.
 * Owns: the child.
 */
#include "tracee.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COMPARE_NO_PTRACE = 77, LOOK_AFTER_SECONDS = 5, VECTOR_STATE_MAX = 16 << 10 };

tracee tracee_the;

/* ---- stops ---- */

static ssize_t get_set(int set, void *to, size_t size)
{
    struct iovec whole = {to, size};
    return ptrace(PTRACE_GETREGSET, tracee_the.pid, set, &whole) == 0 ? (ssize_t)whole.iov_len : -1;
}

static void put_set(int set, const void *from, size_t size)
{
    struct iovec whole = {(void *)from, size};
    ptrace(PTRACE_SETREGSET, tracee_the.pid, set, &whole);
}

static void read_registers(void)
{
    get_set(NT_PRSTATUS, &tracee_the.now, sizeof tracee_the.now);
}

static bool wait_for_stop(int *status)
{
    while (waitpid(tracee_the.pid, status, 0) < 0) {
        if (errno != EINTR) {
            *status = 0;
            return false;
        }
    }
    if (WIFSTOPPED(*status)) {
        return true;
    }
    tracee_the.exit_status = *status;
    return false;
}

static tracee_event after_exec(void)
{
    int status = 0;
    ptrace(PTRACE_SINGLESTEP, tracee_the.pid, NULL, NULL); /* out of execve */
    if (!wait_for_stop(&status)) {
        return TRACEE_GONE;
    }
    read_registers();
    tracee_the.signal = 0;
    return TRACEE_EXEC;
}

static tracee_event sort_stop(int status)
{
    if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
        return after_exec();
    }
    read_registers();
    if (WSTOPSIG(status) == SIGTRAP) {
        return TRACEE_STEPPED;
    }
    if (WSTOPSIG(status) != SIGSTOP) {
        tracee_the.signal = WSTOPSIG(status);
    }
    return TRACEE_SIGNAL;
}

tracee_event tracee_step(void)
{
    int status = 0;
    int signal = tracee_the.signal;
    tracee_the.signal = 0;
    ptrace(PTRACE_SINGLESTEP, tracee_the.pid, NULL, (void *)(intptr_t)signal);
    return wait_for_stop(&status) ? sort_stop(status) : TRACEE_GONE;
}

/* ---- running ---- */

#if defined(__x86_64__)
static void set_breakpoint(uint64_t pc)
{
    enum { DR7_EXECUTE_0 = 1 /* local enable of breakpoint 0, to be executed, one byte */ };
    size_t debug = offsetof(struct user, u_debugreg);
    ptrace(PTRACE_POKEUSER, tracee_the.pid, debug, pc);
    ptrace(PTRACE_POKEUSER, tracee_the.pid, debug + 7 * sizeof(long), pc != 0 ? DR7_EXECUTE_0 : 0);
}

/* The agent keeps them. */
static void keep_vectors(bool back)
{
    (void)back;
}
#elif defined(__aarch64__)
/* struct user_hwdebug_state of <asm/ptrace.h>, with one of its breakpoints. */
static void set_breakpoint(uint64_t pc)
{
    enum { EXECUTE_4_BYTES_AT_EL0 = 0xf << 5 | 2 << 1 };
    const struct {
        uint32_t information, padding;
        uint64_t address;
        uint32_t control, padding_after;
    } state = {0, 0, pc, EXECUTE_4_BYTES_AT_EL0 | (pc != 0), 0};
    put_set(NT_ARM_HW_BREAK, &state, sizeof state);
}

/* Of SVE, where the machine has it. */
static void keep_vectors(bool back)
{
    static uint8_t state[VECTOR_STATE_MAX];
    static ssize_t size;
    static int set = NT_ARM_SVE;
    if (back) {
        put_set(set, state, (size_t)size);
        return;
    }
    size = get_set(set, state, sizeof state);
    if (size < 0) {
        set = NT_PRFPREG;
        size = get_set(set, state, sizeof state);
    }
}
#endif

static void on_alarm(int signal)
{
    (void)signal;
}

/* Like wait_for_stop, but a program that has run for long is stopped to be looked at. */
static bool wait_or_look(int *status)
{
    struct itimerval soon = {.it_value = {.tv_sec = LOOK_AFTER_SECONDS}};
    const struct itimerval never = {0};
    setitimer(ITIMER_REAL, &soon, NULL);
    while (waitpid(tracee_the.pid, status, 0) < 0 && errno == EINTR) {
        syscall(SYS_tgkill, tracee_the.pid, tracee_the.pid, SIGSTOP);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    if (!WIFSTOPPED(*status)) {
        tracee_the.exit_status = *status;
        return false;
    }
    return true;
}

tracee_event tracee_run_to(uint64_t pc, uint64_t slot)
{
    tracee_event event = TRACEE_GONE;
    int status = 0;
    set_breakpoint(pc);
    for (;;) {
        if (!MACHINE_RESUMES_AT_BREAKPOINT && machine_pc(&tracee_the.now) == pc) {
            set_breakpoint(0);
            event = tracee_step();
            if (event == TRACEE_GONE || event == TRACEE_EXEC) {
                return event;
            }
            set_breakpoint(pc);
        }
        int signal = tracee_the.signal;
        tracee_the.signal = 0;
        ptrace(PTRACE_CONT, tracee_the.pid, NULL, (void *)(intptr_t)signal);
        if (!wait_or_look(&status)) {
            return TRACEE_GONE;
        }
        event = sort_stop(status);
        bool stopped_to_look = event == TRACEE_SIGNAL && tracee_the.signal == 0;
        if (event == TRACEE_EXEC || event == TRACEE_GONE ||
            ((event == TRACEE_STEPPED || stopped_to_look) && tracee_is_over(slot, pc))) {
            break;
        }
    }
    if (event != TRACEE_GONE) {
        set_breakpoint(0);
    }
    return event == TRACEE_SIGNAL ? TRACEE_STEPPED : event;
}

/* ---- the agent ---- */

bool tracee_ask(compare_shared *shared, uint64_t ways, uint64_t stack_top)
{
    struct user_regs_struct call = tracee_the.now;
    int status = 0;
    machine_fill(shared->registers, &tracee_the.now);
    shared->ways = ways;
    machine_enter(&call, shared->entry, stack_top);
    keep_vectors(false);
    put_set(NT_PRSTATUS, &call, sizeof call);
    for (;;) {
        ptrace(PTRACE_CONT, tracee_the.pid, NULL, NULL);
        if (!wait_for_stop(&status)) {
            return false;
        }
        if (WSTOPSIG(status) == SIGTRAP) {
            break;
        }
        if (WSTOPSIG(status) == SIGSEGV || WSTOPSIG(status) == SIGBUS ||
            WSTOPSIG(status) == SIGILL) {
            struct user_regs_struct at;
            get_set(NT_PRSTATUS, &at, sizeof at);
            fprintf(stderr, "compare: the agent got signal %d at %lx, for PC %lx, SP %lx\n",
                    WSTOPSIG(status), (unsigned long)machine_pc(&at),
                    (unsigned long)machine_pc(&tracee_the.now),
                    (unsigned long)machine_sp(&tracee_the.now));
            return false;
        }
        if (WSTOPSIG(status) != SIGSTOP) {
            tracee_the.signal = WSTOPSIG(status); /* delivered when the program goes on */
        }
    }
    put_set(NT_PRSTATUS, &tracee_the.now, sizeof tracee_the.now);
    keep_vectors(true);
    return true;
}

/* ---- memory ---- */

size_t tracee_read(uint64_t address, void *to, size_t size)
{
    struct iovec local = {to, size};
    struct iovec remote = {(void *)address, size};
    ssize_t got = process_vm_readv(tracee_the.pid, &local, 1, &remote, 1, 0);
    return got < 0 ? 0 : (size_t)got;
}

bool tracee_read_word(uint64_t address, uint64_t *word)
{
    return tracee_read(address, word, sizeof *word) == sizeof *word;
}

uint64_t tracee_program_entry(void)
{
    char path[64];
    Elf64_auxv_t entry;
    uint64_t found = 0;
    snprintf(path, sizeof path, "/proc/%d/auxv", tracee_the.pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && read(fd, &entry, sizeof entry) == (ssize_t)sizeof entry) {
        if (entry.a_type == AT_ENTRY) {
            found = entry.a_un.a_val;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    return found;
}

/* ---- start and end ---- */

static void become(char *const command[], const char *agent, const char *shared_path)
{
    setenv("LD_PRELOAD", agent, 1);
    setenv(COMPARE_SHARED_VARIABLE, shared_path, 1);
    personality(ADDR_NO_RANDOMIZE);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
        _exit(COMPARE_NO_PTRACE);
    }
    raise(SIGSTOP);
    execvp(command[0], command);
    fprintf(stderr, "compare: cannot execute %s: %s\n", command[0], strerror(errno));
    _exit(127);
}

bool tracee_start(char *const command[], const char *agent, const char *shared_path)
{
    struct sigaction alarmed = {.sa_handler = on_alarm};
    int status = 0;
    sigaction(SIGALRM, &alarmed, NULL);
    tracee_the.pid = fork();
    if (tracee_the.pid == 0) {
        become(command, agent, shared_path);
    }
    if (tracee_the.pid < 0 || !wait_for_stop(&status)) {
        return false;
    }
    ptrace(PTRACE_SETOPTIONS, tracee_the.pid, NULL, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
    ptrace(PTRACE_CONT, tracee_the.pid, NULL, NULL);
    return wait_for_stop(&status) && sort_stop(status) == TRACEE_EXEC;
}

void tracee_kill(void)
{
    int status = 0;
    kill(tracee_the.pid, SIGKILL);
    while (wait_for_stop(&status)) {
    }
}
