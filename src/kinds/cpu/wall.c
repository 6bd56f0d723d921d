/* SPDX-License-Identifier: MIT
 *
 * wall.c: see wall.h.
 *
 * Zone: NORMAL.
 * Owns: the looker; who uses it.
 * Tested by: e2e.wall, e2e.http_wall
 */
#include "kinds/cpu/wall.h"

#include "arch/apart_call.h"
#include "arch/system_call.h"
#include "base/memory.h"
#include "host/worker.h"
#include "kinds/cpu/cpu_control.h"
#include "kinds/cpu/cpu_threads.h"
#include "kinds/cpu/thread_label.h"
#include "kinds/cpu/wall_profile.h"
#include "modules/loader_use.h"
#include "modules/single_thread.h"
#include "profile/delta.h"
#include "sys/apart.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/own_threads.h"
#include "sys/sandbox.h"
#include "sys/signal_mask.h"
#include "sys/tasks.h"
#include "threads/thread_snapshot.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>

enum { MIN_HZ = 1, MAX_HZ = 1000, CPU_HZ = 100, SLICE_NS = 100000, SLACK = 64 };

static const uint64_t patience_ns = 5000000000;
static const uint64_t fatal_patience_ns = 200000000;

static void look_when_due(void);
static void leave_looker(void);

static struct {
    pp_lock turn;
    unsigned users;
    bool rides;   /* the CPU profile is not shared */
    bool has_cpu; /* there is one; else the next look tries again */
    bool confined;
    int64_t cpu_time_ns; /* when that profile began; another one is not ours */
    /* What it had counted when it began to serve: with labels, and without. */
    pp_profile cpu_before[2];
    pp_arena before_memory;
    int hz;
    int64_t period_ns;
    int64_t time_ns;   /* wall clock: when the first user joined */
    uint64_t start_ns; /* the same, monotonic */
    uint64_t looks;
    uint64_t placeless;  /* sights of a wait of which the kernel does not say where */
    bool has_new_thread; /* the looker */
    bool looks_for_all;  /* the looker, also for threads that the CPU profile does not know */
    pp_task_files files; /* its own */
    pp_arena memory;     /* of a look, empty between two */
    void *scratch;       /* of all looks; NULL: there is none, or no memory */
    pp_worker looker;
} wall = {.before_memory = PP_ARENA_INIT,
          .memory = PP_ARENA_INIT,
          .looker = {.work = look_when_due, .leaves = leave_looker, .avoids_libc = true}};

/* ---- states ---- */

typedef struct call_state {
    const char *call;
    pp_wall_state state;
} call_state;

/* What a thread waits for in a call; calls that are not listed: other. */
static const call_state call_states[] = {
    {"futex", PP_WALL_LOCK},
    {"futex_waitv", PP_WALL_LOCK},
    {"semop", PP_WALL_LOCK},
    {"semtimedop", PP_WALL_LOCK},
    {"flock", PP_WALL_LOCK},
    {"fcntl", PP_WALL_LOCK},
    {"accept", PP_WALL_NET},
    {"accept4", PP_WALL_NET},
    {"connect", PP_WALL_NET},
    {"recvfrom", PP_WALL_NET},
    {"recvmsg", PP_WALL_NET},
    {"recvmmsg", PP_WALL_NET},
    {"sendto", PP_WALL_NET},
    {"sendmsg", PP_WALL_NET},
    {"sendmmsg", PP_WALL_NET},
    {"nanosleep", PP_WALL_SLEEP},
    {"clock_nanosleep", PP_WALL_SLEEP},
    {"poll", PP_WALL_POLL},
    {"ppoll", PP_WALL_POLL},
    {"select", PP_WALL_POLL},
    {"pselect6", PP_WALL_POLL},
    {"epoll_wait", PP_WALL_POLL},
    {"epoll_pwait", PP_WALL_POLL},
    {"epoll_pwait2", PP_WALL_POLL},
    {"wait4", PP_WALL_CHILD},
    {"waitid", PP_WALL_CHILD},
    {"vfork", PP_WALL_CHILD}, /* until the child executes a program or ends, as posix_spawn does */
    {"clone", PP_WALL_CHILD},
    {"clone3", PP_WALL_CHILD},
    {"read", PP_WALL_IO},
    {"write", PP_WALL_IO},
    {"readv", PP_WALL_IO},
    {"writev", PP_WALL_IO},
    {"pread64", PP_WALL_IO},
    {"pwrite64", PP_WALL_IO},
    {"preadv", PP_WALL_IO},
    {"pwritev", PP_WALL_IO},
    {"preadv2", PP_WALL_IO},
    {"pwritev2", PP_WALL_IO},
    {"open", PP_WALL_IO},
    {"openat", PP_WALL_IO},
    {"close", PP_WALL_IO},
    {"fsync", PP_WALL_IO},
    {"fdatasync", PP_WALL_IO},
    {"sync", PP_WALL_IO},
    {"syncfs", PP_WALL_IO},
    {"sync_file_range", PP_WALL_IO},
    {"msync", PP_WALL_IO},
    {"sendfile", PP_WALL_IO},
    {"splice", PP_WALL_IO},
    {"tee", PP_WALL_IO},
    {"vmsplice", PP_WALL_IO},
    {"copy_file_range", PP_WALL_IO},
    {"io_getevents", PP_WALL_IO},
    {"io_uring_enter", PP_WALL_IO},
    {"ioctl", PP_WALL_IO},
    {"readahead", PP_WALL_IO},
    {"fadvise64", PP_WALL_IO},
    {"fallocate", PP_WALL_IO},
    {"ftruncate", PP_WALL_IO},
    {"truncate", PP_WALL_IO},
    {"getdents64", PP_WALL_IO},
    {"statx", PP_WALL_IO},
    {"newfstatat", PP_WALL_IO},
    {"fstat", PP_WALL_IO},
    {"faccessat", PP_WALL_IO},
    {"faccessat2", PP_WALL_IO},
    {"readlinkat", PP_WALL_IO},
    {"unlinkat", PP_WALL_IO},
    {"mkdirat", PP_WALL_IO},
    {"renameat", PP_WALL_IO},
    {"renameat2", PP_WALL_IO},
    {"linkat", PP_WALL_IO},
    {"symlinkat", PP_WALL_IO},
    {"stat", PP_WALL_IO},
    {"lstat", PP_WALL_IO},
    {"access", PP_WALL_IO},
    {"readlink", PP_WALL_IO},
    {"unlink", PP_WALL_IO},
    {"mkdir", PP_WALL_IO},
    {"rmdir", PP_WALL_IO},
    {"rename", PP_WALL_IO},
    {"link", PP_WALL_IO},
    {"symlink", PP_WALL_IO},
};

/* Whether the call reads or writes a descriptor that may be a socket. */
static bool takes_any_descriptor(const char *call)
{
    return strcmp(call, "read") == 0 || strcmp(call, "write") == 0 || strcmp(call, "readv") == 0 ||
           strcmp(call, "writev") == 0;
}

static pp_wall_state state_in_call(int folder, int tid, const pp_task_place *place)
{
    const char *name = pp_task_call_name(place->call);
    for (size_t i = 0; name != NULL && i < sizeof call_states / sizeof *call_states; i++) {
        if (strcmp(call_states[i].call, name) == 0) {
            return takes_any_descriptor(name) && pp_task_has_socket(folder, tid, place->argument[0])
                       ? PP_WALL_NET
                       : call_states[i].state;
        }
    }
    return PP_WALL_OTHER;
}

/* After a signal without a handler, as of a stop and what continues it, the kernel starts some calls again by this one. */
static bool is_restarted(const pp_thread_row *row)
{
    return row->state == PP_THREAD_WAITS_IN_CALL && row->place.call == SYS_restart_syscall;
}

/*
 * Whether it waits for the library itself: for a look, when it joins or leaves, or for what runs apart. The
 * program has no such wait, and a look meets it too often: it lasts until the look is over.
 */
static bool waits_for_us(const pp_thread_row *row)
{
    bool waits_for_turn =
        row->place.call == SYS_futex && row->place.argument[0] == (uintptr_t)&wall.turn;
    return waits_for_turn || pp_apart_call_waits(row->place.pc);
}

static pp_wall_state state_of(int folder, const pp_thread_row *row)
{
    switch (row->state) {
    case PP_THREAD_RUNS:
    case PP_THREAD_IS_SILENT:
        return PP_WALL_RUNNING;
    case PP_THREAD_WAITS_IN_CALL:
        return waits_for_us(row) ? PP_WALL_RUNNING : state_in_call(folder, row->tid, &row->place);
    case PP_THREAD_WAITS:
        return row->place.call < 0 && row->place.pc != 0 ? PP_WALL_PAGE : PP_WALL_OTHER;
    default:
        return PP_WALL_OTHER;
    }
}

/* ---- looks ---- */

static void see_row(const pp_threads_wish *wish, const pp_thread_row *row, uint64_t now_ns)
{
    bool is_proven = row->place.pc != 0; /* that it waits */
    int64_t cpu_ns = is_proven ? row->clock_ns : pp_task_cpu_ns(row->tid);
    if (cpu_ns >= 0) {
        pp_wall_sight sight = {.tid = row->tid,
                               .now_ns = now_ns,
                               .cpu_ns = cpu_ns,
                               .delay_ns = pp_task_delay_ns(wish->files, *wish->folder, row->tid),
                               .state = state_of(*wish->folder, row),
                               .is_restarted = is_restarted(row),
                               .pc = row->pc,
                               .depth = row->depth,
                               .labels = row->labels};
        wall.placeless += row->state == PP_THREAD_WAITS && !is_proven;
        if (pp_thread_label_is_wanted()) {
            pp_task_name(*wish->folder, row->tid, sight.name);
        }
        pp_wall_see(&sight);
    }
}

typedef struct moment {
    bool everyone;        /* no thread is left to a later look */
    pp_task_files *files; /* of the calling thread; NULL: it has none */
    uint64_t now_ns;
} moment;

/* For the names of many threads, and for the files of many. */
static bool wants_folder(bool all_known, size_t moved)
{
    return pp_thread_label_is_wanted() || !all_known || moved > PP_TASK_KEPT;
}

static void look_apart(void *of_moment)
{
    moment *m = of_moment;
    pp_threads threads = {.count = 0};
    size_t capacity = pp_wall_accounts_count() + SLACK;
    size_t moved = 0;
    int *tids = pp_arena_array(&wall.memory, capacity, sizeof *tids);
    int folder = wants_folder(true, 0) ? pp_task_open() : PP_TASK_ANY_FOLDER;
    bool all_known =
        tids != NULL && pp_wall_list_moved(m->everyone, folder, tids, capacity, &moved);
    const pp_threads_wish wish = {.with_stacks = true,
                                  .asks_none = true,
                                  .only = all_known ? tids : NULL,
                                  .only_count = moved,
                                  .folder = &folder,
                                  .files = m->files,
                                  .scratch = wall.scratch};
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    if (folder == PP_TASK_ANY_FOLDER && wants_folder(all_known, moved)) {
        folder = pp_task_open();
    }
    if ((!all_known || moved > 0) && pp_task_is_folder(folder) &&
        pp_threads_snapshot(&wish, &wall.memory, &threads) == 0) {
        for (size_t i = 0; i < threads.count; i++) {
            see_row(&wish, &threads.rows[i], now_ns);
        }
    }
    wall.looks++;
    pp_threads_release(&threads);
    pp_arena_empty(&wall.memory);
    pp_task_close(folder);
    m->now_ns = now_ns;
}

/* Looks at the threads, and returns the time of the look. The caller has the turn. */
static uint64_t look_at_threads(bool everyone, pp_task_files *files)
{
    moment m = {.everyone = everyone, .files = files};
    pp_signal_mask old = 0;
    pp_signals_block(&old);
    if (wall.confined) {
        m.now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    } else {
        pp_apart(look_apart, &m);
    }
    pp_signals_restore(&old);
    return m.now_ns;
}

/*
 * Asks for a short slice of the processor, at once when there is work (EEVDF, Linux 6.12; sched(7)). A look
 * that comes when a thread of the program stops running would see waits too often that follow that. The
 * attributes are struct sched_attr of sched_setattr(2), which libc does not declare.
 */
static void ask_for_promptness(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes = {.size = sizeof attributes, .runtime = SLICE_NS};
    if (!pp_sandbox_has_filter()) {
        pp_system_call(SYS_sched_setattr, 0, &attributes, 0);
    }
}

/* ---- the CPU profile ---- */

/* The CPU profile may end, with its stacks, while there are users. */
static int keep_before(const pp_cpu_result *result, bool with_labels, pp_profile *before)
{
    const pp_wall_counts counts = {.cpu = result};
    int error = pp_wall_profile_build(&counts, with_labels, &wall.before_memory, before);
    return error != 0 ? error : pp_profile_copy_samples(before, &wall.before_memory, before);
}

/* It ran before. */
static int note_cpu(const pp_cpu_result *result, void *of_runs)
{
    *(bool *)of_runs = true;
    wall.cpu_time_ns = result->facts.time_ns;
    int error = keep_before(result, true, &wall.cpu_before[0]);
    return error != 0 ? error : keep_before(result, false, &wall.cpu_before[1]);
}

/* It begins with us: all that it counts is ours. */
static int note_start(const pp_cpu_result *result, void *unused)
{
    (void)unused;
    wall.cpu_time_ns = result->facts.time_ns;
    return 0;
}

static void leave_cpu(void)
{
    if (wall.has_cpu && !wall.rides) {
        pp_cpu_control_leave(NULL, NULL);
    }
    wall.has_cpu = false;
}

/* 0, also if no thread could be armed yet. */
static int begin_cpu(void)
{
    bool ran = false;
    memset(wall.cpu_before, 0, sizeof wall.cpu_before);
    int error = pp_cpu_control_join(wall.hz > CPU_HZ ? wall.hz : CPU_HZ, note_cpu, &ran);
    wall.rides = error == -EBUSY;
    if (wall.rides) {
        error = pp_cpu_control_look(note_cpu, &ran);
    } else if (error == 0 && !ran) {
        error = pp_cpu_control_look(note_start, NULL);
    }
    wall.has_cpu = error == 0;
    return error == -EAGAIN ? 0 : error;
}

/* A filter may refuse to read a file again (pread64). */
static pp_task_files *looker_files(void)
{
    if (!pp_apart_has_table() || pp_sandbox_has_filter()) {
        return NULL;
    }
    pp_task_files_begin_look(&wall.files);
    return &wall.files;
}

/* No handler looks for new threads from before the looker begins, which is one for a moment, until after it ends. */
static void look_for_all(bool looks)
{
    if (wall.looks_for_all != looks) {
        wall.looks_for_all = looks;
        (looks ? pp_cpu_threads_looker_begins : pp_cpu_threads_looker_ends)();
    }
}

static void leave_looker(void)
{
    pp_task_files_close(&wall.files);
    __atomic_store_n(&wall.has_new_thread, true, __ATOMIC_RELAXED);
}

static void look_when_due(void)
{
    const int self = pp_task_self();
    if (__atomic_exchange_n(&wall.has_new_thread, false, __ATOMIC_RELAXED)) {
        ask_for_promptness();
    }
    pp_own_threads_act_for(self);
    if (pp_lock_try(&wall.turn, self)) {
        if (wall.users > 0) {
            pp_loader_go_out();
            look_at_threads(false, looker_files());
            pp_cpu_threads_looker_looks();
            pp_loader_go_in();
            if (!wall.has_cpu && !wall.confined && pp_single_thread_may_lock()) {
                begin_cpu();
            }
        }
        pp_lock_release(&wall.turn);
    }
    pp_own_threads_act_for(0);
}

typedef struct seeing {
    pp_wall_look *look;
    void *context;
    pp_wall_counts counts;
} seeing;

static int see_both(const pp_cpu_result *result, void *of_seeing)
{
    seeing *s = of_seeing;
    s->counts.cpu = result->facts.time_ns == wall.cpu_time_ns ? result : NULL;
    return s->look(&s->counts, s->context);
}

/* Calls `look` with what has been counted until now; `leaves`: the CPU profile ends with it. `is_first`: as in
 * pp_wall_counts. */
static int show(pp_wall_look *look, void *context, bool leaves, bool is_first)
{
    uint64_t now_ns = look_at_threads(true, NULL);
    seeing s = {.look = look,
                .context = context,
                .counts = {.is_first = is_first,
                           .cpu_before = wall.cpu_before,
                           .places = pp_wall_settle_all(now_ns),
                           .now_ns = now_ns,
                           .period_ns = wall.period_ns,
                           .time_ns = wall.time_ns,
                           .start_ns = wall.start_ns,
                           .looks = wall.looks,
                           .placeless = wall.placeless}};
    if (!leaves || wall.rides) {
        pp_cpu_threads_show_preempted();
    }
    if (!wall.has_cpu) {
        return look(&s.counts, context);
    }
    wall.has_cpu = !leaves;
    int error = leaves && !wall.rides ? pp_cpu_control_leave(see_both, &s)
                                      : pp_cpu_control_look(see_both, &s);
    return error == -ESRCH ? look(&s.counts, context) : error;
}

/* ---- users ---- */

static void release_memory(void)
{
    void *scratch = wall.scratch;
    wall.scratch = NULL; /* first: a child of a fork does not release it again */
    if (scratch != NULL) {
        pp_memory_unmap(scratch, PP_THREADS_SCRATCH);
    }
    pp_arena_release(&wall.memory);
    pp_arena_release(&wall.before_memory);
}

static int begin_first(int hz)
{
    wall.hz = hz;
    wall.period_ns = (int64_t)PP_NS_PER_S / hz;
    wall.time_ns = (int64_t)pp_clock_ns(CLOCK_REALTIME);
    wall.start_ns = pp_clock_ns(CLOCK_MONOTONIC);
    wall.looks = 0;
    wall.placeless = 0;
    wall.confined = false;
    int error = pp_wall_accounts_begin(!pp_sandbox_has_filter(), &wall.looker);
    if (error != 0) {
        return error;
    }
    look_for_all(true);
    wall.scratch = pp_memory_map(PP_THREADS_SCRATCH);
    error = begin_cpu();
    if (error == 0) {
        wall.has_new_thread = true; /* the first look is that of the caller (show) */
        error = pp_worker_begin_at_random(&wall.looker, (uint64_t)wall.period_ns);
        if (error != 0) {
            leave_cpu();
        }
    }
    if (error != 0) {
        look_for_all(false);
        pp_wall_accounts_end();
        release_memory();
    }
    return error;
}

/* What to do with the turn. */
typedef struct task {
    int (*what)(const struct task *t);
    int hz;
    pp_wall_look *look;
    void *context;
    bool fatal;
} task;

/* Calls t->what with the turn, and cancellation off. */
static int with_turn(const task *t)
{
    int error = -EBUSY;
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    if (pp_lock_take_within(&wall.turn, pp_task_self(),
                            t->fatal ? fatal_patience_ns : patience_ns)) {
        error = t->what(t);
        pp_lock_release(&wall.turn);
    }
    pthread_setcancelstate(cancel_state, NULL);
    return error;
}

static int leave(const task *t)
{
    if (wall.users == 0) {
        return -ECANCELED;
    }
    bool is_last = wall.users == 1;
    int error = 0;
    if (t->look != NULL) {
        error = show(t->look, t->context, is_last, false);
    } else if (is_last) {
        leave_cpu();
    }
    wall.users--;
    if (is_last && !t->fatal) {
        pp_worker_end(&wall.looker);
        look_for_all(false);
        pp_wall_accounts_end();
        release_memory();
    }
    return error;
}

static int join(const task *t)
{
    bool is_first = wall.users == 0;
    int error = is_first ? begin_first(t->hz) : 0;
    if (error != 0) {
        return error;
    }
    wall.users++;
    error = show(t->look, t->context, false, is_first);
    if (error != 0) {
        leave(&(task){.look = NULL});
    }
    return error;
}

int pp_wall_join(int hz, pp_wall_look *look, void *context)
{
    if (hz == 0) {
        hz = PP_WALL_HZ;
    }
    if (hz < MIN_HZ || hz > MAX_HZ) {
        return -EINVAL;
    }
    return with_turn(&(task){.what = join, .hz = hz, .look = look, .context = context});
}

int pp_wall_leave(pp_wall_look *look, void *context, bool fatal)
{
    return with_turn(&(task){.what = leave, .look = look, .context = context, .fatal = fatal});
}

static int look_so_far(const task *t)
{
    return wall.users > 0 ? show(t->look, t->context, false, false) : -ESRCH;
}

int pp_wall_so_far(pp_wall_look *look, void *context)
{
    return with_turn(&(task){.what = look_so_far, .look = look, .context = context});
}

static int confine(const task *unused)
{
    (void)unused;
    wall.confined = true;
    pp_thread_label_end();
    if (wall.users > 0) {
        pp_worker_end(&wall.looker);
        look_for_all(false);
    }
    return 0;
}

void pp_wall_confine(void)
{
    with_turn(&(task){.what = confine});
}

void pp_wall_after_fork_in_child(void)
{
    wall.users = 0;
    wall.looks_for_all = false;
    wall.files = (pp_task_files){.look = 0};
    pp_thread_label_end();
    pp_worker_after_fork(&wall.looker);
    release_memory();
    pp_wall_accounts_after_fork_in_child();
    pp_lock_release(&wall.turn);
}
