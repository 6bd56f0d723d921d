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

enum {
    COMPARE_NO_PTRACE = 77,
    LOOK_AFTER_SECONDS = 5,
    DR7_EXECUTE_0 = 1,       /* local enable of breakpoint 0, to be executed, one byte */
    FLAGS_TO_CLEAR = 0x40500 /* trap, direction, alignment check */
};

tracee tracee_the;

/* ---- stops ---- */

static void read_registers(void)
{
    ptrace(PTRACE_GETREGS, tracee_the.pid, NULL, &tracee_the.now);
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

static void set_breakpoint(uint64_t pc)
{
    size_t debug = offsetof(struct user, u_debugreg);
    ptrace(PTRACE_POKEUSER, tracee_the.pid, debug, pc);
    ptrace(PTRACE_POKEUSER, tracee_the.pid, debug + 7 * sizeof(long), pc != 0 ? DR7_EXECUTE_0 : 0);
}

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
        int signal = tracee_the.signal;
        tracee_the.signal = 0;
        ptrace(PTRACE_CONT, tracee_the.pid, NULL, (void *)(intptr_t)signal);
        if (!wait_or_look(&status)) {
            return TRACEE_GONE;
        }
        event = sort_stop(status);
        bool stopped_to_look = event == TRACEE_SIGNAL && tracee_the.signal == 0;
        if (event == TRACEE_EXEC || event == TRACEE_GONE ||
            ((event == TRACEE_STEPPED || stopped_to_look) && tracee_the.now.rsp > slot)) {
            break;
        }
    }
    if (event != TRACEE_GONE) {
        set_breakpoint(0);
    }
    return event == TRACEE_SIGNAL ? TRACEE_STEPPED : event;
}

/* ---- the agent ---- */

static void fill_context(gregset_t to, const struct user_regs_struct *from)
{
    memset(to, 0, sizeof(gregset_t));
    to[REG_RAX] = (greg_t)from->rax;
    to[REG_RBX] = (greg_t)from->rbx;
    to[REG_RCX] = (greg_t)from->rcx;
    to[REG_RDX] = (greg_t)from->rdx;
    to[REG_RSI] = (greg_t)from->rsi;
    to[REG_RDI] = (greg_t)from->rdi;
    to[REG_RBP] = (greg_t)from->rbp;
    to[REG_RSP] = (greg_t)from->rsp;
    to[REG_R8] = (greg_t)from->r8;
    to[REG_R9] = (greg_t)from->r9;
    to[REG_R10] = (greg_t)from->r10;
    to[REG_R11] = (greg_t)from->r11;
    to[REG_R12] = (greg_t)from->r12;
    to[REG_R13] = (greg_t)from->r13;
    to[REG_R14] = (greg_t)from->r14;
    to[REG_R15] = (greg_t)from->r15;
    to[REG_RIP] = (greg_t)from->rip;
}

bool tracee_ask(compare_shared *shared, uint64_t ways, uint64_t stack_top)
{
    struct user_regs_struct call = tracee_the.now;
    int status = 0;
    fill_context(shared->registers, &tracee_the.now);
    shared->ways = ways;
    call.rip = shared->entry;
    call.rsp = stack_top;
    call.orig_rax = (unsigned long long)-1; /* no system call to be restarted */
    call.eflags &= ~(unsigned long long)FLAGS_TO_CLEAR;
    ptrace(PTRACE_SETREGS, tracee_the.pid, NULL, &call);
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
            ptrace(PTRACE_GETREGS, tracee_the.pid, NULL, &at);
            fprintf(stderr, "compare: the agent got signal %d at %llx, for rip %llx, rsp %llx\n",
                    WSTOPSIG(status), at.rip, tracee_the.now.rip, tracee_the.now.rsp);
            return false;
        }
        if (WSTOPSIG(status) != SIGSTOP) {
            tracee_the.signal = WSTOPSIG(status); /* delivered when the program goes on */
        }
    }
    ptrace(PTRACE_SETREGS, tracee_the.pid, NULL, &tracee_the.now);
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
