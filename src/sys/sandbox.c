/* SPDX-License-Identifier: MIT
 *
 * sandbox.c: tries the needed system calls in a child.
 *
 * Zone: NORMAL.
 * Owns: the answers.
 * Tested by: e2e.seccomp, e2e.attached
 */
#include "sys/sandbox.h"

#include "arch/system_call.h"
#include "sys/apart.h"
#include "sys/clock.h"
#include "sys/file_calls.h"
#include "sys/own_files.h"
#include "sys/program.h"
#include "sys/signal_mask.h"
#include "sys/safe_read.h"
#include "sys/sampling_signal.h"
#include "sys/task_state.h"
#include "sys/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/prctl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    STACK_BYTES = 32 * 1024,
    STATUS_BYTES = 4096, /* `status` is about 1.5 KiB */
    RELEASE_BYTES = 64   /* 5.10.0-35-amd64, and the like */
};

static struct {
    int calls;     /* a pp_sandbox; -1: unknown */
    int perf;      /* 0 or -errno; 1: unknown */
    int questions; /* -1: unknown */
    bool filtered; /* at the probe of the calls */
} answers = {.calls = -1, .perf = 1, .questions = -1};

/* Whether a filter is in force for this thread, by `status`. False if `status` cannot be read. */
static bool is_filtered(void)
{
    static const char key[] = "\nSeccomp:\t";
    char status[STATUS_BYTES];
    int fd = pp_program_status_open();
    if (fd < 0) {
        return false;
    }
    long got = pp_file_read(fd, status, sizeof status - 1);
    pp_own_close(fd);
    if (got <= 0) {
        return false;
    }
    status[got] = '\0';
    const char *found = strstr(status, key);
    return found != NULL && found[sizeof key - 1] != '0';
}

static bool try_timer(void)
{
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_NONE;
    struct itimerspec never = {.it_value.tv_sec = 1 << 30};
    int id = -1;
    if (pp_system_call(SYS_timer_create, pp_task_cpu_clock(pp_task_self()), &event, &id) != 0) {
        return false;
    }
    bool set = pp_system_call(SYS_timer_settime, id, TIMER_ABSTIME, &never, NULL) == 0;
    return pp_system_call(SYS_timer_delete, id) == 0 && set;
}

static bool try_copy(void)
{
    int from = 1;
    int to = 0;
    struct iovec local = {&to, sizeof to};
    struct iovec remote = {&from, sizeof from};
    return pp_system_call(SYS_process_vm_readv, pp_system_call(SYS_gettid), &local, 1, &remote, 1,
                          0) == (long)sizeof to;
}

/* Makes the calls of kinds/cpu/cpu_perf.c. Their descriptors are only in the child. */
static int try_perf(void)
{
    struct perf_event_attr event;
    struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = pp_task_self()};
    uint64_t word = 0;
    memset(&event, 0, sizeof event);
    event.size = sizeof event;
    event.type = PERF_TYPE_SOFTWARE;
    event.config = PERF_COUNT_SW_TASK_CLOCK;
    event.sample_period = 1000000000;
    event.disabled = 1;
    event.exclude_kernel = 1;
    event.exclude_hv = 1;
    long fd = pp_system_call(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        return (int)fd;
    }
    const long results[] = {
        pp_system_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 0) < 0 ? -EPERM : 0,
        pp_system_call(SYS_fcntl, fd, F_SETOWN_EX, &owner),
        pp_system_call(SYS_fcntl, fd, F_GETOWN_EX, &owner),
        pp_system_call(SYS_fcntl, fd, F_SETSIG, PP_SAMPLING_SIGNAL),
        pp_system_call(SYS_fcntl, fd, F_GETSIG) < 0 ? -EPERM : 0,
        pp_system_call(SYS_fcntl, fd, F_SETFL, O_NONBLOCK | O_ASYNC),
        pp_system_call(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &word),
    };
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        if (results[i] != 0) {
            return (int)results[i];
        }
    }
    return 0;
}

/* Makes all other calls that a profile needs on the host's threads (docs/SYSTEM_CALLS.md), in forms
 * that change nothing. The results do not matter; the child only has to survive. */
static void try_the_rest(void)
{
    char path[64];
    const uint64_t no_signal = 0;
    const struct timespec no_time = {0};
    pp_call_readlink("/proc/self/exe", path, sizeof path);
    pp_system_call(SYS_getcwd, path, sizeof path);
    pp_system_call(SYS_newfstatat, AT_FDCWD, "/proc/self/task", NULL, 0);
    struct stat status;
    pp_file_status(-1, &status);
    long maps = pp_system_call(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    pp_system_call(SYS_read, maps, path, sizeof path);
    pp_system_call(SYS_pread64, maps, path, sizeof path, 0);
    pp_system_call(SYS_close, maps);
    pp_system_call(SYS_write, -1, path, 0);
    pp_call_rename("", "");
    pp_call_unlink("");
    pp_call_poll(NULL, 0);
    pp_system_call(SYS_prlimit64, 0, -1, NULL, NULL);
    pp_system_call(SYS_sched_yield);
    pp_system_call(SYS_nanosleep, &no_time, NULL);
    pp_system_call(SYS_rt_sigaction, PP_SAMPLING_SIGNAL, NULL, NULL, sizeof no_signal);
    pp_system_call(SYS_rt_sigpending, path, sizeof no_signal);
    pp_system_call(SYS_rt_sigprocmask, SIG_BLOCK, &no_signal, NULL, sizeof no_signal);
    pp_system_call(SYS_rt_sigtimedwait, &no_signal, NULL, &no_time, sizeof no_signal);
    pp_system_call(SYS_sigaltstack, NULL, NULL);
    long memory =
        pp_system_call(SYS_mmap, NULL, STACK_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pp_system_call(SYS_madvise, memory, STACK_BYTES, MADV_DONTDUMP);
    pp_system_call(SYS_munmap, memory, STACK_BYTES);
    pp_system_call(SYS_getpid);
    pp_clock_ask_for_counter();
}

/* Makes the calls of recorder.c and of host/exec_target.c that are not among the rest. */
static void try_recorder(void)
{
    char nothing[1] = "";
    pp_system_call(SYS_faccessat, AT_FDCWD, "", 0);
    pp_system_call(SYS_getppid);
    pp_system_call(SYS_getrusage, RUSAGE_CHILDREN, NULL);
    pp_system_call(SYS_sendto, -1, nothing, 0, MSG_NOSIGNAL, NULL, 0);
}

/* Makes the calls of store/process_context.c that are not among the rest. */
static void try_context(void)
{
    char nothing[1] = "";
    pp_system_call(SYS_memfd_create, NULL, 0);
    pp_system_call(SYS_ftruncate, -1, 0);
    pp_system_call(SYS_madvise, nothing, 0, MADV_DONTFORK);
    pp_system_call(SYS_prctl, PR_SET_VMA, PR_SET_VMA_ANON_NAME, NULL, 0, NULL);
    pp_system_call(SYS_getrandom, nothing, 0, 0);
}

/* Asks what modules/code_query.c and kinds/heap/page_runs.c ask (PROCMAP_QUERY, PAGEMAP_SCAN, mincore), and
 * makes the calls of sys/beside.c that are not among the rest. */
static void try_questions(void)
{
    pp_system_call(SYS_ioctl, -1, _IOWR('f', 17, char[104]), NULL);
    pp_system_call(SYS_ioctl, -1, _IOWR('f', 16, char[96]), NULL);
    pp_system_call(SYS_mincore, NULL, 0, NULL);
    pp_system_call(SYS_prctl, PR_SET_PDEATHSIG, 0);
    pp_system_call(SYS_getppid);
}

static void ignore_task(int tid, void *context)
{
    (void)tid;
    (void)context;
}

/* The results, which the child writes to memory that the parent has; `survived` comes last. */
typedef struct trial {
    enum {
        TRY_TIMER,
        TRY_COPY,
        TRY_PERF,
        TRY_APART,
        TRY_RECORDER,
        TRY_CONTEXT,
        TRY_QUESTIONS
    } what;
    bool survived;
    bool timer, copy, apart;
    int perf;
} trial;

static int run_trial(void *argument)
{
    trial *t = argument;
    char buffer[1024] __attribute__((aligned(16)));
    if (t->what == TRY_COPY) {
        t->copy = try_copy();
    } else if (t->what == TRY_PERF) {
        t->perf = try_perf();
    } else if (t->what == TRY_APART) {
        t->apart = pp_apart_try();
    } else if (t->what == TRY_RECORDER) {
        try_recorder();
    } else if (t->what == TRY_CONTEXT) {
        try_context();
    } else if (t->what == TRY_QUESTIONS) {
        try_questions();
    } else {
        t->timer = try_timer();
        pp_tasks_count();
        pp_tasks_each(buffer, sizeof buffer, ignore_task, NULL);
        try_the_rest();
    }
    t->survived = true;
    pp_system_call(SYS_exit, 0);
    return 0;
}

static unsigned take_number(const char **text)
{
    unsigned number = 0;
    for (; **text >= '0' && **text <= '9'; (*text)++) {
        number = number * 10 + (unsigned)(**text - '0');
    }
    return number;
}

/*
 * Before Linux 5.16 a signal that may dump core, as that of a filter that kills, ends all processes that have the
 * memory of the one that it is sent to. There the child has a copy, as of fork, which takes longer.
 */
static bool may_share_memory(void)
{
    char release[RELEASE_BYTES] = "";
    const char *text = release;
    int fd = pp_own_open("/proc/sys/kernel/osrelease", O_RDONLY, 0);
    if (fd >= 0) {
        pp_file_read(fd, release, sizeof release - 1);
        pp_own_close(fd);
    }
    unsigned major = take_number(&text);
    text += *text == '.';
    unsigned minor = take_number(&text);
    return major > 5 || (major == 5 && minor >= 16);
}

/* The trial's memory, and a stack after it, that the child has in any case. */
static trial *map_shared(void)
{
    long at = pp_system_call(SYS_mmap, NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at < 0 && at >= -4095 ? NULL : (trial *)at;
}

/* False if the kernel gives no stack or no child. */
static bool in_child(trial *t)
{
    trial *shared = map_shared();
    if (shared == NULL) {
        return false;
    }
    *shared = *t;
    int saved_errno = errno;
    const int flags = may_share_memory() ? CLONE_VM | CLONE_VFORK : CLONE_VFORK;
    pp_signal_mask old = 0;
    pp_signals_block(&old); /* no handler of the host runs in the child */
    unsigned before = pp_apart_before_child();
    int child = clone(run_trial, (char *)shared + STACK_BYTES, flags, shared);
    if (child > 0) {
        while (pp_system_call(SYS_wait4, child, NULL, __WCLONE, NULL) == -EINTR) {
        }
    }
    pp_apart_after_child(before);
    pp_signals_restore(&old);
    errno = saved_errno;
    *t = *shared;
    pp_system_call(SYS_munmap, shared, STACK_BYTES);
    return child > 0;
}

static pp_sandbox probe(void)
{
    answers.filtered = is_filtered();
    if (!answers.filtered) {
        pp_apart_permit(true);
        return PP_SANDBOX_NONE;
    }
    trial apart = {.what = TRY_APART};
    pp_apart_permit(in_child(&apart) && apart.survived && apart.apart);
    trial timer = {.what = TRY_TIMER};
    if (!in_child(&timer) || !timer.survived || !timer.timer) {
        return PP_SANDBOX_REFUSES;
    }
    trial copy = {.what = TRY_COPY};
    if (!in_child(&copy) || !copy.survived || !copy.copy) {
        return PP_SANDBOX_NO_COPY;
    }
    return PP_SANDBOX_NONE;
}

pp_sandbox pp_sandbox_probe(void)
{
    int known = __atomic_load_n(&answers.calls, __ATOMIC_RELAXED);
    if (known < 0) {
        known = (int)probe();
        if (known == PP_SANDBOX_NONE) {
            pp_safe_read_permit_copy();
        }
        __atomic_store_n(&answers.calls, known, __ATOMIC_RELAXED);
    }
    return (pp_sandbox)known;
}

bool pp_sandbox_permits_recorder(void)
{
    trial recorder = {.what = TRY_RECORDER};
    pp_sandbox calls = pp_sandbox_probe();
    return !answers.filtered ||
           (calls != PP_SANDBOX_REFUSES && in_child(&recorder) && recorder.survived);
}

bool pp_sandbox_permits_context(void)
{
    trial context = {.what = TRY_CONTEXT};
    pp_sandbox calls = pp_sandbox_probe();
    return !answers.filtered ||
           (calls != PP_SANDBOX_REFUSES && in_child(&context) && context.survived);
}

bool pp_sandbox_permits_questions(void)
{
    trial questions = {.what = TRY_QUESTIONS};
    int known = __atomic_load_n(&answers.questions, __ATOMIC_RELAXED);
    if (known < 0) {
        known = pp_sandbox_probe() == PP_SANDBOX_NONE &&
                (!answers.filtered || (in_child(&questions) && questions.survived));
        __atomic_store_n(&answers.questions, known, __ATOMIC_RELAXED);
    }
    return known != 0;
}

bool pp_sandbox_has_filter(void)
{
    pp_sandbox_probe();
    return answers.filtered;
}

int pp_sandbox_probe_perf(void)
{
    int known = __atomic_load_n(&answers.perf, __ATOMIC_RELAXED);
    if (known > 0) {
        trial perf = {.what = TRY_PERF};
        known = 0;
        if (is_filtered()) {
            known = in_child(&perf) && perf.survived ? perf.perf : -EPERM;
        }
        __atomic_store_n(&answers.perf, known, __ATOMIC_RELAXED);
    }
    return known;
}

typedef struct filter_look {
    uint64_t own;
    int found;
} filter_look;

static void look_for_filter(int tid, void *context)
{
    filter_look *look = context;
    char status[PP_TASK_STATUS_BYTES];
    if (look->found == 0 && pp_task_filters(tid, status) > look->own) {
        look->found = tid;
    }
}

int pp_sandbox_filtered_thread(void)
{
    char buffer[PP_TASK_STATUS_BYTES] __attribute__((aligned(16)));
    filter_look look = {.own = pp_task_filters(pp_task_self(), buffer)};
    pp_tasks_each(buffer, sizeof buffer, look_for_filter, &look);
    return look.found;
}
