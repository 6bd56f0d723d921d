/* SPDX-License-Identifier: MIT
 *
 * tasks.c: reads /proc/self/task.
 *
 * Zone: SIGNAL.
 */
#include "sys/tasks.h"

#include "arch/system_call.h"
#include "libc/tls.h"
#include "sys/clock.h"
#include "sys/numbers.h"
#include "sys/own_threads.h"
#include "sys/safe_read.h"

#include <signal.h>

int pp_task_self(void)
{
    int other = pp_own_threads_acts_for();
    return other != 0 ? other : (int)pp_system_call(SYS_gettid);
}

int pp_task_process(void)
{
    return (int)pp_system_call(SYS_getpid);
}

bool pp_task_has_variables(void)
{
    uintptr_t pointer = pp_thread_pointer_from_kernel();
    uintptr_t itself = 0;
    return pp_safe_copy(&itself, pointer + PP_CONTROL_WORD, sizeof itself) &&
           pp_is_control_block(pointer, itself);
}

enum { SIGEVENT_INTS = (64 - sizeof(union sigval)) / sizeof(int) };

static const char task_folder[] = "/proc/self/task";

unsigned pp_tasks_count(void)
{
    unsigned count = pp_tasks_count_all();
    unsigned lent = count > 0 ? pp_own_threads_lent() : 0;
    return count > lent ? count - lent : count > 0;
}

typedef struct listing {
    pp_task_visit *visit;
    void *context;
    int count;
} listing;

static void visit_one(int tid, void *context)
{
    listing *l = context;
    if (!pp_own_threads_acts(tid)) {
        l->count++;
        l->visit(tid, l->context);
    }
}

int pp_tasks_each(void *buffer, size_t size, pp_task_visit *visit, void *context)
{
    listing l = {.visit = visit, .context = context};
    int error = pp_numbers_each(task_folder, buffer, size, visit_one, &l);
    return error < 0 ? error : l.count;
}

/* The vDSO has no clock of another thread: it would only add a way to the system call. */
int64_t pp_task_cpu_ns(int tid)
{
    struct timespec now = {.tv_sec = 0};
    if (pp_system_call(SYS_clock_gettime, pp_task_cpu_clock(tid), &now) != 0) {
        return -1;
    }
    return (int64_t)now.tv_sec * PP_NS_PER_S + now.tv_nsec;
}

/* The kernel's struct sigevent: the C libraries give the last member different names. */
typedef struct kernel_event {
    union sigval value;
    int signal, notify, tid;
    int rest[SIGEVENT_INTS - 3];
} kernel_event;
_Static_assert(sizeof(kernel_event) == sizeof(struct sigevent), "as the kernel reads it");

int pp_task_timer_create(int tid, clockid_t clock, int signal, void *value, int *timer)
{
    kernel_event event = {
        .value.sival_ptr = value, .signal = signal, .notify = SIGEV_THREAD_ID, .tid = tid};
    int error = (int)pp_system_call(SYS_timer_create, clock, &event, timer);
    *timer = error == 0 ? *timer : -1;
    return error;
}
