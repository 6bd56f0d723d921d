/* SPDX-License-Identifier: MIT
 *
 * safe_point.c: see safe_point.h.
 *
 * Tested by: e2e.cpprof_attach
 */
#include "remote/safe_point.h"

#include "remote/attach_symbols.h"

#include "arch/system_call.h"
#include "base/path.h"
#include "modules/maps.h"
#include "symbol/names.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13 /* Linux 5.14 */
#endif

enum {
    ROOM = 64 * 1024, /* of stack: dlopen and our constructor take less than a quarter */
    STACK_COPY = 16 * 1024
};

/* System calls that wait for something outside. No lock of the loader or of malloc is held then. */
static const long outside[] = {
    SYS_read,       SYS_pread64,   SYS_readv,          SYS_recvfrom,        SYS_recvmsg,
    SYS_recvmmsg,   SYS_accept,    SYS_accept4,        PP_CALL_POLL,        SYS_ppoll,
    PP_CALL_SELECT, SYS_pselect6,  PP_CALL_EPOLL_WAIT, SYS_epoll_pwait,     SYS_wait4,
    SYS_waitid,     SYS_nanosleep, PP_CALL_PAUSE,      SYS_clock_nanosleep, SYS_rt_sigtimedwait,
    SYS_connect,    SYS_write,     SYS_writev,         SYS_pwrite64,        SYS_sendto,
    SYS_sendmsg,    SYS_sendmmsg,  SYS_sendfile,       SYS_splice,          SYS_io_getevents,
    SYS_msgrcv,     SYS_semop,     SYS_flock,          SYS_semtimedop,      SYS_mq_timedreceive,
};

/* Functions of libc in which a program waits for its own threads. */
static const char *const waits[] = {
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_cond_clockwait",
    "cnd_wait",
    "cnd_timedwait",
    "pthread_mutex_lock",
    "pthread_mutex_timedlock",
    "pthread_mutex_clocklock",
    "mtx_lock",
    "mtx_timedlock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_timedrdlock",
    "pthread_rwlock_timedwrlock",
    "pthread_rwlock_clockrdlock",
    "pthread_rwlock_clockwrlock",
    "sem_wait",
    "sem_timedwait",
    "sem_clockwait",
    "pthread_barrier_wait",
    "pthread_join",
    "pthread_timedjoin_np",
    "pthread_clockjoin_np",
    "thrd_join",
};

/* Those of them in which an allocator does not wait, for a program that has its own. */
static const char *const never_of_allocators[] = {"pthread_cond_wait", "pthread_join", "sem_wait"};

/* Functions of libc that call back without a lock. */
static const char *const call_back[] = {"qsort", "qsort_r", "bsearch", "lfind",        "lsearch",
                                        "twalk", "tsearch", "tfind",   "pthread_once", "call_once"};

/* Where threads begin. */
static const char *const begin[] = {"__libc_start_main",
                                    "__libc_start_call_main",
                                    "_libc_start_call_main",
                                    "start_thread",
                                    "clone",
                                    "clone3",
                                    "__clone",
                                    "__clone3",
                                    "thread_start",
                                    "_start"};

static bool is_in(const char *name, const char *const *list, size_t count)
{
    while (*name == '_' && strncmp(name, "__libc_start", 12) != 0 &&
           strncmp(name, "__clone", 7) != 0 && strcmp(name, "_start") != 0) {
        name++;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], name) == 0) {
            return true;
        }
    }
    return false;
}

#define IS_IN(name, list) is_in(name, list, sizeof(list) / sizeof *(list))

/* libpprof.so, libpprof-attach.so, libpprof-http.so and so on. */
static bool is_own(const pp_mapping *m)
{
    return strncmp(pp_base_name(m->path), "libpprof", 8) == 0;
}

static void find_anchors(pp_safe_looks *looks)
{
    for (size_t i = 0; i < looks->objects->mapping_count; i++) {
        const pp_mapping *m = &looks->objects->mappings[i];
        bool is_anchor = i == 0 || m->code_of != 0;
        if (is_anchor && looks->anchor_count < PP_SAFE_ANCHORS) {
            looks->anchors[looks->anchor_count++] = m;
        }
    }
}

int pp_safe_looks_begin(pp_safe_looks *looks, const pp_target *target, const pp_profile *objects,
                        pp_arena *arena)
{
    bool *allocates = pp_arena_array(arena, objects->mapping_count + 1, sizeof *allocates);
    *looks = (pp_safe_looks){
        .target = target, .objects = objects, .allocates = allocates, .arena = arena};
    looks->space = pp_arena_alloc(arena, sizeof *looks->space);
    looks->pcs = pp_arena_array(arena, PP_SAFE_DEPTH, sizeof *looks->pcs);
    looks->known = pp_arena_array(arena, PP_SAFE_KNOWN, sizeof *looks->known);
    if (arena->failed) {
        return -ENOMEM;
    }
    looks->space->target = &target->walked;
    for (size_t i = 0; i < objects->mapping_count; i++) {
        const pp_mapping *m = &objects->mappings[i];
        allocates[i] = (m->code_of & PP_CODE_OF_LIBC) == 0 && m->path[0] == '/' && !is_own(m) &&
                       pp_target_symbol(m, "malloc") != 0;
    }
    looks->program_allocates = objects->mapping_count > 0 && allocates[0];
    find_anchors(looks);
    return 0;
}

/* ---- frames ---- */

/* OWN: of libpprof. NEW: mapped since the objects were read, as another cpprof may have loaded libpprof. */
typedef enum kind { OTHER, LIBC, OWN, LOADER, ALLOCATOR, HANDLER, NEW } kind;

typedef struct frame {
    kind kind;
    const char *name; /* "" = not known */
    bool is_exported;
} frame;

static size_t mapping_of(const pp_profile *objects, uintptr_t address)
{
    size_t i = 0;
    while (i < objects->mapping_count &&
           (address < objects->mappings[i].start || address >= objects->mappings[i].limit)) {
        i++;
    }
    return i;
}

static bool is_restorer(const pp_safe_looks *looks, uintptr_t at)
{
    return pp_target_has_code(&looks->target->walked, at, pp_signal_restorer,
                              sizeof pp_signal_restorer);
}

/* musl's caller of a thread's function, which has no name: what stands before it in the file lends it one. */
static bool ends_thread(const pp_safe_looks *looks, uintptr_t at)
{
    return pp_target_has_code(&looks->target->walked, at, pp_thread_exit, sizeof pp_thread_exit);
}

static kind kind_of(const pp_safe_looks *looks, size_t index, uintptr_t address)
{
    const pp_mapping *m = &looks->objects->mappings[index];
    if (m->code_of == PP_CODE_OF_LOADER) {
        return LOADER;
    }
    if (is_restorer(looks, address)) {
        return HANDLER;
    }
    if (is_own(m)) {
        return OWN;
    }
    if ((m->code_of & PP_CODE_OF_LIBC) != 0 ||
        strncmp(pp_base_name(m->path), "libpthread", 10) == 0) {
        return LIBC;
    }
    return index > 0 && looks->allocates[index] ? ALLOCATOR : OTHER;
}

/* Where libc is the loader, its functions of that are dlopen, dlsym, dl_iterate_phdr and the like. */
static bool is_loaders(const pp_mapping *libc, const char *name)
{
    return (libc->code_of & PP_CODE_OF_LOADER) != 0 && strncmp(name, "dl", 2) == 0;
}

/* Hooks of libpprof have the names of the functions of libc before which they stand. */
static bool is_within_libc(kind k)
{
    return k == LIBC || k == OWN;
}

static frame look_up(const pp_safe_looks *looks, uintptr_t address)
{
    size_t index = mapping_of(looks->objects, address);
    frame f = {OTHER, "", false};
    pp_symbol symbol = {0};
    if (index == looks->objects->mapping_count) {
        f.kind = NEW;
        return f;
    }
    f.kind = kind_of(looks, index, address);
    if (is_within_libc(f.kind) && pp_symbols_resolve(&looks->objects->mappings[index], &address, 1,
                                                     &symbol, looks->arena) == 1) {
        f.name = symbol.name;
        f.is_exported = !symbol.is_local && !ends_thread(looks, address + 1);
        f.kind = is_loaders(&looks->objects->mappings[index], f.name) ? LOADER : f.kind;
    }
    return f;
}

/* Threads wait at few places, and a stopped one is not to wait for symbol tables. */
static frame frame_at(pp_safe_looks *looks, uintptr_t pc)
{
    pp_safe_frame *known = &looks->known[pc % PP_SAFE_KNOWN];
    if (known->pc != pc) {
        frame f = look_up(looks, pc - 1);
        *known = (pp_safe_frame){pc, f.name, (int)f.kind, f.is_exported};
    }
    return (frame){(kind)known->kind, known->name, known->is_exported};
}

/* ---- the rules ---- */

static const char in_own[] = "in a function of libpprof";

static bool say(const char **why, const char *words)
{
    *why = words;
    return false;
}

static bool is_outside(long call)
{
    size_t i = 0;
    while (i < sizeof outside / sizeof *outside && outside[i] != call) {
        i++;
    }
    return i < sizeof outside / sizeof *outside;
}

/* libc waits for its own locks, those of malloc among them, with FUTEX_WAIT: for conditions,
 * semaphores, rwlocks and threads with another operation. The names of the functions do not tell,
 * since functions of libc jump to others without a name. */
static bool is_no_lock_of_libc(const pp_safe_call *call)
{
    int operation = (int)call->operation & FUTEX_CMD_MASK;
    return call->number == SYS_futex &&
           (operation == FUTEX_WAIT_BITSET || operation == FUTEX_LOCK_PI ||
            operation == FUTEX_LOCK_PI2 || operation == FUTEX_WAIT_REQUEUE_PI);
}

/* Of libpprof, at the leaf of a thread, only a hook is left behind when the function of libc before which it stands
 * returns: other frames hold its locks, or wait for a thread that works on the same stack (sys/apart.h). */
static bool is_hook(const frame *entry)
{
    return entry->is_exported && strncmp(entry->name, "pprof", 5) != 0;
}

/* `entry` is the outermost of the frames of libc and libpprof at the leaf: what the program has called. */
static bool leaf_is_safe(const pp_safe_looks *looks, const frame *entry, const pp_safe_call *call,
                         const char **why)
{
    if (entry->kind == OWN && !is_hook(entry)) {
        return say(why, in_own);
    }
    if (is_outside(call->number) || is_no_lock_of_libc(call)) {
        return true;
    }
    if (call->number != SYS_futex || !IS_IN(entry->name, waits)) {
        return say(why, "in a function of libc that may hold a lock");
    }
    if (looks->program_allocates && !IS_IN(entry->name, never_of_allocators)) {
        return say(why, "perhaps in the allocator that the program brings with it");
    }
    return true;
}

/* libc between the program's frames, or at the root. */
static bool middle_is_safe(const frame *f)
{
    return !f->is_exported || IS_IN(f->name, call_back) || IS_IN(f->name, begin);
}

static bool frame_is_safe(const frame *f, bool at_leaf, const char **why)
{
    switch (f->kind) {
    case LOADER:
        return say(why, "in the dynamic loader");
    case HANDLER:
        return say(why, "in a signal handler");
    case ALLOCATOR:
        return say(why, "in the allocator");
    case NEW:
        return say(why, "in code that has just been mapped");
    case LIBC:
    case OWN:
        return at_leaf || middle_is_safe(f) ? true
                                            : say(why, "in a function of libc that calls back");
    default:
        return true;
    }
}

/* A thread of libpprof.a, which is in the program, is known by how it waits: as locks that are not libc's do, too. */
static bool innermost_is_safe(const pp_safe_looks *looks, const frame *f, const pp_safe_call *call,
                              const char **why)
{
    if (f->kind == OWN) {
        return say(why, in_own);
    }
    if (f->kind == OTHER && call->number == SYS_futex && !is_no_lock_of_libc(call)) {
        return say(why, "waiting, perhaps for a lock of an allocator");
    }
    if (f->kind == OTHER && call->number < 0 && looks->program_allocates) {
        return say(why, "perhaps in the allocator that the program brings with it");
    }
    return true;
}

static bool stack_is_safe(pp_safe_looks *looks, const pp_walk *walk, const pp_safe_call *call,
                          const char **why)
{
    frame previous = {OTHER, "", false};
    bool at_leaf = true;
    for (uint32_t i = 0; i < walk->depth; i++) {
        frame f = frame_at(looks, walk->pcs[i]);
        looks->is_other |= f.kind == NEW;
        if (i == 0 && !innermost_is_safe(looks, &f, call, why)) {
            return false;
        }
        bool leaves_libc = at_leaf && !is_within_libc(f.kind);
        if (leaves_libc && i > 0 && !leaf_is_safe(looks, &previous, call, why)) {
            return false;
        }
        at_leaf = at_leaf && !leaves_libc;
        if (!frame_is_safe(&f, at_leaf, why)) {
            return false;
        }
        previous = f;
    }
    return at_leaf ? say(why, "in libc only") : true;
}

/* ---- the stack's memory ---- */

/* Whether `line` is the stack on which the thread began: of the kernel's making, or of libc's, which
 * has a page without rights below it. `below` is the line before. */
static bool is_stack_of(const pp_map_line *line, const pp_map_line *below, uintptr_t sp,
                        uintptr_t thread_pointer)
{
    bool has_room = sp - line->start >= ROOM;
    if (strcmp(line->path, "[stack]") == 0) {
        return has_room || line->start - below->limit >= 2 * (uintptr_t)ROOM; /* it grows */
    }
    bool is_guarded =
        below->limit == line->start && !below->readable && !below->writable && !below->executable;
    return has_room && is_guarded && thread_pointer >= line->start && thread_pointer < line->limit;
}

static unsigned count_anchors(const pp_safe_looks *looks, const pp_map_line *line)
{
    unsigned count = 0;
    for (unsigned i = 0; i < looks->anchor_count; i++) {
        const pp_mapping *m = looks->anchors[i];
        count += line->executable && line->start == m->start &&
                 strncmp(line->path, m->path, strlen(m->path)) == 0; /* or "... (deleted)" */
    }
    return count;
}

/* The process may have executed another program since its objects were read. It cannot do so while
 * this thread is stopped. */
static bool memory_is_safe(pp_safe_looks *looks, uintptr_t sp, uintptr_t thread_pointer,
                           const char **why)
{
    pp_arena scratch = PP_ARENA_INIT;
    pp_map_line below = {.path = ""};
    pp_map_line line = {.path = ""};
    unsigned anchors = 0;
    char path[64];
    char *text = NULL;
    size_t length = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", looks->target->thread);
    bool found = false;
    if (pp_maps_text_of(path, &scratch, &text, &length) == 0) {
        while (pp_maps_next(&text, &line)) {
            anchors += count_anchors(looks, &line);
            found |= sp >= line.start && sp < line.limit &&
                     is_stack_of(&line, &below, sp, thread_pointer);
            below = line;
        }
    }
    pp_arena_release(&scratch);
    if (anchors != looks->anchor_count) {
        looks->is_other = true;
        return say(why, "in a program that the process has just executed");
    }
    return found ? true : say(why, "on a stack of its own making, or on a small one");
}

/* ---- the looks ---- */

bool pp_safe_waiting(pp_safe_looks *looks, const pp_task_place *place, const char **why)
{
    pp_walk walk = {.pcs = looks->pcs, .capacity = PP_SAFE_DEPTH};
    const pp_safe_call call = {place->call, place->argument[1]};
    pp_walk_other(place->pc, place->sp, looks->space, &walk);
    return stack_is_safe(looks, &walk, &call, why);
}

bool pp_safe_stopped(pp_safe_looks *looks, const pp_registers *registers, const pp_safe_call *call,
                     uintptr_t thread_pointer, const char **why)
{
    static uint8_t copy[STACK_COPY] __attribute__((aligned(16)));
    uintptr_t sp = registers->r[PP_REG_SP];
    uintptr_t low = sp & ~(uintptr_t)15;
    pp_walk walk = {.pcs = looks->pcs, .capacity = PP_SAFE_DEPTH};
    if (!memory_is_safe(looks, sp, thread_pointer, why)) {
        return false;
    }
    size_t copied = pp_memory_copy_part(&looks->target->walked.memory, copy, low, sizeof copy);
    const pp_stack_image image = {low, low + (copied & ~(size_t)15), copy};
    pp_walk_other_from(registers, &image, looks->space, &walk);
    return stack_is_safe(looks, &walk, call, why);
}
