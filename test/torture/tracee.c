/* SPDX-License-Identifier: MIT
 *
 * tracee.c: see tracee.h.
 *
 *   entry of a call --> whose is it? --> the library's: its place --> the wanted one: no call is made
 *   exit of a call  --> it was that one: its result is -errno
 *
 * There is no seccomp filter in the program: the library would notice it, and do other things.
 *
 * Zone: tests.
 */
#include "torture/tracee.h"

#include "torture/errors.h"
#include "torture/images.h"
#include "torture/machine.h"
#include "torture/touched.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TASKS_MAX = 1024, STACK_WORDS = 512, HOOK_BYTES = 512 /* of code */ };

typedef struct task {
    pid_t tid, process;
    bool fails, is_ours, maps_code;
    bool asks_for_break; /* brk(0) instead of the call */
    struct __ptrace_syscall_info entry;
} task;

static task tasks[TASKS_MAX];
static unsigned calls_of_wanted; /* so far */

void tracee_begin(void)
{
    raise(SIGSTOP);
}

/* ---- tasks ---- */

static pid_t process_of(pid_t tid)
{
    static const char key[] = "Tgid:";
    char path[64];
    char line[256];
    pid_t process = tid;
    snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, key, sizeof key - 1) == 0) {
            process = (pid_t)strtol(line + sizeof key - 1, NULL, 10);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return process;
}

static task *task_of(pid_t tid)
{
    task *unused = NULL;
    for (unsigned i = 0; i < TASKS_MAX; i++) {
        if (tasks[i].tid == tid) {
            return &tasks[i];
        }
        if (tasks[i].tid == 0 && unused == NULL) {
            unused = &tasks[i];
        }
    }
    if (unused == NULL) {
        fprintf(stderr, "torture: too many threads\n");
        exit(2);
    }
    *unused = (task){.tid = tid, .process = process_of(tid)};
    return unused;
}

static void forget_task(pid_t tid)
{
    for (unsigned i = 0; i < TASKS_MAX; i++) {
        if (tasks[i].tid == tid) {
            tasks[i].tid = 0;
        }
    }
    images_forget(tid);
}

/* ---- whose call it is ---- */

static void add_frame(place *p, const code_place *code)
{
    if (p->depth < PLACE_FRAMES) {
        p->frames[p->depth].file = code->file;
        p->frames[p->depth].offset = code->offset;
        p->depth++;
    }
}

static void complete(place *p)
{
    const uint64_t prime = UINT64_C(0x100000001b3);
    uint64_t key = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)p->number;
    for (unsigned i = 0; i < p->depth; i++) {
        key = (key ^ p->frames[i].offset) * prime;
        key ^= key >> 29;
    }
    p->key = key | 1;
}

static uintptr_t word_of(const task *t, uintptr_t address)
{
    uintptr_t word = 0;
    struct iovec local = {&word, sizeof word};
    struct iovec remote = {(void *)address, sizeof word};
    return process_vm_readv(t->tid, &local, 1, &remote, 1, 0) == sizeof word ? word : 0;
}

/* Whether this function of libc makes system calls that are the library's business. Others (dlsym, memcpy ...) leave their
 * return addresses on the stack, too. Tracer and tracee have the same libc. */
static bool calls_kernel(const code_place *function)
{
    static const char *const names[] = {"dlopen",    "clone",     "pthread_setname_np",
                                        "getrlimit", "getrusage", "pthread_getattr_default_np"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        Dl_info info;
        void *address = dlsym(RTLD_DEFAULT, names[i]);
        if (address != NULL && dladdr(address, &info) != 0 &&
            (uintptr_t)address - (uintptr_t)info.dli_fbase == function->offset) {
            return true;
        }
    }
    return false;
}

/* Return addresses of the library, from the call on. */
typedef struct returns {
    uintptr_t at[PLACE_FRAMES];
    unsigned count;
} returns;

/* Whether the library has called libc there: a function by its table, or its own hook of one, in which one of the addresses
 * before is. */
static bool is_call_of_ours(const task *t, const code_place *code, const returns *before)
{
    if (code->kind == CODE_COMPANION || code->table_slot == 0) {
        return code->kind == CODE_COMPANION; /* also by a hook */
    }
    uintptr_t called = word_of(t, code->table_slot);
    for (unsigned i = 0; i < before->count; i++) {
        if (called <= before->at[i] && before->at[i] - called < HOOK_BYTES) {
            return true;
        }
    }
    code_place function = images_find(t->process, called, false);
    return function.kind == CODE_SYSTEM && before->count == 0 && calls_kernel(&function);
}

/* Whether the library makes the call. Words on the stack may be return addresses of calls that are over; those
 * next to the call are few. */
static bool is_of_library(const task *t, const struct __ptrace_syscall_info *info, place *p)
{
    uintptr_t words[1 + STACK_WORDS] = {machine_link(t->tid)}; /* and those on the stack */
    struct iovec local = {words + 1, sizeof words - sizeof *words};
    struct iovec remote = {(void *)info->stack_pointer, local.iov_len};
    code_place code = images_find(t->process, info->instruction_pointer, true);
    bool ours = code.kind == CODE_LIBRARY || code.kind == CODE_COMPANION;
    if (!ours && code.kind != CODE_SYSTEM) {
        return false;
    }
    add_frame(p, &code);
    ssize_t got = process_vm_readv(t->tid, &local, 1, &remote, 1, 0);
    returns before = {.count = 0};
    for (ssize_t i = 0; i <= got / (ssize_t)sizeof *words && p->depth < PLACE_FRAMES; i++) {
        uintptr_t address = machine_stripped(words[i]);
        code = images_find(t->process, address, false);
        if (!code.after_call || code.kind == CODE_SYSTEM) {
            continue;
        }
        if (i > 0 && address == words[0]) {
            continue; /* the one in the register, stored */
        }
        if (code.kind == CODE_PROGRAM) {
            break; /* what is above has called the library */
        }
        ours = ours || is_call_of_ours(t, &code, &before);
        before.at[before.count++] = address;
        add_frame(p, &code);
    }
    complete(p);
    return ours;
}

/* ---- stops ---- */

/* A brk(2) that fails returns the end of the heap as it is. */
static void fail_call(task *t)
{
    long number = (long)t->entry.entry.nr;
    if (number == SYS_brk) {
        t->asks_for_break = true;
        machine_change_first_argument(t->tid, 0);
        return;
    }
    t->fails = true;
    if (!errors_after(number)) {
        machine_leave_out(t->tid);
    }
}

static void at_entry(task *t, const struct __ptrace_syscall_info *info, wanted_failure *wanted)
{
    place p = {.number = (long)info->entry.nr};
    t->fails = false;
    t->asks_for_break = false;
    t->entry = *info;
    t->maps_code = (info->entry.nr == SYS_mmap || info->entry.nr == SYS_mprotect) &&
                   (info->entry.args[2] & PROT_EXEC) != 0;
    t->is_ours = is_of_library(t, info, &p);
    if (!t->is_ours) {
        return;
    }
    if (wanted->note != NULL) {
        wanted->note(&p);
    }
    if (p.key == wanted->key && ++calls_of_wanted == wanted->call) {
        wanted->done = true;
        fail_call(t);
    }
}

static void at_exit(task *t, const struct __ptrace_syscall_info *info, const wanted_failure *wanted)
{
    if (t->maps_code) {
        images_forget(t->process);
    }
    if (t->asks_for_break) {
        machine_change_first_argument(t->tid, t->entry.entry.args[0]);
    } else if (t->fails) {
        machine_change_result(t->tid, -(long)wanted->error);
        t->fails = false;
    } else if (t->is_ours && wanted->touches != NULL && info->exit.is_error == 0) {
        touched_print(t->tid, &t->entry, wanted->touches);
    }
}

static void at_call(pid_t tid, wanted_failure *wanted)
{
    struct __ptrace_syscall_info info = {0};
    if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info) <= 0) {
        return;
    }
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        at_entry(task_of(tid), &info, wanted);
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
        at_exit(task_of(tid), &info, wanted);
    }
}

static bool is_stop_signal(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static void at_stop(pid_t tid, int status, wanted_failure *wanted)
{
    int signal = WSTOPSIG(status);
    unsigned event = (unsigned)status >> 16;
    if (signal == (SIGTRAP | 0x80)) {
        at_call(tid, wanted);
        signal = 0;
    } else if (event == PTRACE_EVENT_STOP && is_stop_signal(signal)) {
        ptrace(PTRACE_LISTEN, tid, NULL, NULL);
        return;
    } else if (event != 0) {
        if (event == PTRACE_EVENT_EXEC) {
            images_forget(tid);
        }
        signal = 0;
    }
    ptrace(PTRACE_SYSCALL, tid, NULL, (void *)(intptr_t)signal);
}

static int wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

int tracee_follow(pid_t child, wanted_failure *wanted)
{
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                         PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    int status = 0;
    if (wanted == NULL) {
        return wait_for(child);
    }
    calls_of_wanted = 0;
    memset(tasks, 0, sizeof tasks);
    waitpid(child, &status, WUNTRACED);
    if (ptrace(PTRACE_SEIZE, child, NULL, (void *)options) != 0) {
        fprintf(stderr, "torture: ptrace: %s\n", strerror(errno));
        exit(77);
    }
    kill(child, SIGCONT);
    for (;;) {
        pid_t tid = waitpid(-1, &status, __WALL);
        if (tid < 0 && errno != EINTR) {
            return -1;
        }
        if (tid > 0 && WIFSTOPPED(status)) {
            at_stop(tid, status, wanted);
        } else if (tid > 0) {
            forget_task(tid);
            if (tid == child) {
                return status;
            }
        }
    }
}

void tracee_drain(void)
{
    int status = 0;
    pid_t tid = 0;
    while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
        if (tid > 0 && WIFSTOPPED(status)) {
            ptrace(PTRACE_CONT, tid, NULL, NULL);
        } else if (tid > 0) {
            forget_task(tid);
        }
    }
}
