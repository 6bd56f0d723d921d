/* SPDX-License-Identifier: MIT
 *
 * alloctrace.c: formats one event at a time in a buffer, and writes it when it is complete.
 *
 *   event --> lock --> stack --> names, from a table --> buffer --> log
 *                                     |not in the table
 *                                     v
 *                              namer (alloctrace_names.c)
 *
 * Zone: HOOK.
 * Locks: `lock`.
 * Owns: the buffer; the table of names.
 */
#include "kinds/heap/alloctrace.h"

#include "arch/system_call.h"
#include "base/text.h"
#include "store/bump.h"
#include "sys/lock.h"
#include "sys/log.h"
#include "sys/sandbox.h"
#include "sys/signal_mask.h"
#include "sys/tasks.h"
#include "threads/thread_snapshot.h"
#include "unwind/callers.h"
#include "unwind/own_frames.h"

#include "pprof.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    BUFFER_BYTES = 32 * 1024, /* holds most events; a longer one takes several writes */
    TABLE_BITS = 12,
    THREAD_NAME_BYTES = 16, /* prctl(2) */
    OWN_FRAMES = 8,         /* the most frames between the program and this file */
    PATIENCE_NS = 50000000  /* after that, the holder may be a thread that has ended */
};

typedef struct place {
    struct place *next;
    pp_trace_place is;
} place;

/* The lock guards the members after it. `name_places` is set before the trace begins. */
static struct {
    bool on;
    pp_trace_namer *name_places;
    pp_lock lock;
    pp_bump memory; /* of the table's entries */
    size_t used;    /* bytes of the buffer */
    char buffer[BUFFER_BYTES];
    uintptr_t stack[PPROF_MAX_STACK];
    pp_trace_place wanted[PPROF_MAX_STACK]; /* the addresses of a stack that the table lacks */
    place *table[1 << TABLE_BITS];
} trace = {.memory = PP_BUMP_INIT};

bool pp_alloctrace_is_on(void)
{
    return __atomic_load_n(&trace.on, __ATOMIC_RELAXED);
}

/* ---- the lock ---- */

static bool holder_is_gone(int owner)
{
    int holder = owner & ~PP_LOCK_AWAITED;
    long pid = pp_system_call(SYS_getpid);
    return holder != 0 && pp_system_call(SYS_tgkill, pid, holder, 0) == -ESRCH;
}

static void take_lock(void)
{
    int self = pp_task_self();
    while (!pp_lock_take_within(&trace.lock, self, PATIENCE_NS)) {
        int owner = __atomic_load_n(&trace.lock.owner, __ATOMIC_RELAXED);
        if (holder_is_gone(owner) &&
            __atomic_compare_exchange_n(&trace.lock.owner, &owner, self | PP_LOCK_AWAITED, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            return;
        }
    }
}

typedef struct held {
    pp_signal_mask mask;
    int saved_errno;
} held;

static void begin(held *h)
{
    h->saved_errno = errno;
    pp_signals_block(&h->mask);
    take_lock();
    trace.used = 0;
}

static void end(const held *h)
{
    pp_log_lines(trace.buffer, trace.used);
    pp_lock_release(&trace.lock);
    pp_signals_restore(&h->mask);
    errno = h->saved_errno;
}

/* ---- text ---- */

static void add_bytes(const char *bytes, size_t length)
{
    while (length > 0) {
        size_t part =
            length < sizeof trace.buffer - trace.used ? length : sizeof trace.buffer - trace.used;
        memcpy(trace.buffer + trace.used, bytes, part);
        trace.used += part;
        bytes += part;
        length -= part;
        if (trace.used == sizeof trace.buffer) {
            pp_log_lines(trace.buffer, trace.used);
            trace.used = 0;
        }
    }
}

static void add(const char *text)
{
    add_bytes(text, strlen(text));
}

static void add_hex(uint64_t number)
{
    char digits[PP_HEX_BYTES];
    add("0x");
    add(pp_hex(number, digits));
}

static void add_size(uint64_t size)
{
    if (size == PP_TRACE_SIZE_UNKNOWN) {
        add("unknown");
    } else {
        add_hex(size);
    }
}

static void add_decimal(uint64_t number)
{
    char digits[PP_DECIMAL_BYTES];
    add(pp_decimal(number, digits));
}

/* Escapes some characters, as \x0a, so that a line remains a line, whatever the name. */
static void add_name(const char *name)
{
    enum { FIRST_PRINTABLE = 0x20, DELETE = 0x7f };
    static const char digits[] = "0123456789abcdef";
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;
        if (c < FIRST_PRINTABLE || c == DELETE || c == '"' || c == '\\') {
            const char escape[] = {'\\', 'x', digits[c >> 4], digits[c & 15]};
            add_bytes(escape, sizeof escape);
        } else {
            add_bytes(name, 1);
        }
    }
}

static void add_header(int tid, const char *name, const char *state)
{
    add("thread ");
    add_decimal((uint64_t)tid);
    add(" \"");
    add_name(name);
    add("\" [");
    add(state);
    add("]:\n");
}

static void add_thread(void)
{
    char name[THREAD_NAME_BYTES + 1] = "";
    pp_system_call(SYS_prctl, PR_GET_NAME, name, 0, 0, 0);
    add_header(pp_task_self(), name, "running");
}

/* ---- names ---- */

static place **slot_of(uintptr_t address)
{
    uint64_t hash = address * UINT64_C(0x9e3779b97f4a7c15);
    return &trace.table[hash >> (64 - TABLE_BITS)];
}

static const place *cached_place(uintptr_t address)
{
    const place *p = *slot_of(address);
    while (p != NULL && p->is.address != address) {
        p = p->next;
    }
    return p;
}

static const char *keep(const char *text)
{
    size_t size = text != NULL ? strlen(text) + 1 : 0;
    char *copy = size > 0 && size < 4096 ? pp_bump_alloc(&trace.memory, size) : NULL;
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

static void remember(const pp_trace_place *named)
{
    place *p = pp_bump_alloc(&trace.memory, sizeof *p);
    if (p != NULL) {
        p->is = *named;
        p->is.function = keep(named->function);
        p->is.module = keep(named->module);
        p->next = *slot_of(named->address);
        *slot_of(named->address) = p;
    }
}

static void look_up(const uintptr_t *pcs, size_t depth)
{
    size_t count = 0;
    for (size_t i = 0; i < depth; i++) {
        if (cached_place(pcs[i] - 1) == NULL) {
            trace.wanted[count++] = (pp_trace_place){.address = pcs[i] - 1};
        }
    }
    if (count > 0 && trace.name_places != NULL) {
        trace.name_places(trace.wanted, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (cached_place(trace.wanted[i].address) == NULL) {
            remember(&trace.wanted[i]);
        }
    }
}

/* ---- stacks ---- */

static void add_frame(uintptr_t pc)
{
    const place *p = cached_place(pc - 1);
    add("\t");
    add_hex(pc);
    if (p != NULL && p->is.function != NULL) {
        add(" ");
        add(p->is.function);
        add("+");
        add_hex(p->is.offset);
    }
    if (p != NULL && p->is.module != NULL) {
        add(" ");
        add(p->is.module);
        add("+");
        add_hex(p->is.module_offset);
    }
    add("\n");
}

static void add_frames(const uintptr_t *pcs, size_t depth)
{
    look_up(pcs, depth);
    for (size_t i = 0; i < depth; i++) {
        add_frame(pcs[i]);
    }
}

static void add_stack(uintptr_t return_address)
{
    size_t depth = pp_callers_uncut(0, trace.stack, PPROF_MAX_STACK);
    size_t first = 0;
    while (first < depth && first < OWN_FRAMES && trace.stack[first] != return_address) {
        first++;
    }
    first = first < depth && first < OWN_FRAMES ? first : 0;
    add_frames(trace.stack + first,
               pp_own_frames_leave_out(trace.stack + first, (uint32_t)(depth - first)));
}

/* Adds all threads of a snapshot except the caller, whose row is the first. */
static void add_others(const pp_threads *threads)
{
    for (size_t i = 1; i < threads->count; i++) {
        const pp_thread_row *row = &threads->rows[i];
        add("\n");
        add_header(row->tid, row->name, pp_thread_state_text(row));
        add_frames(row->pc, row->depth < PPROF_MAX_STACK ? row->depth : PPROF_MAX_STACK);
    }
}

/* ---- events ---- */

void pp_alloctrace_allocation(uintptr_t block, uint64_t size, const char *function,
                              uintptr_t return_address)
{
    held h;
    begin(&h);
    add("tracealloc(");
    add_hex(block);
    add(", ");
    add_size(size);
    add(", ");
    add(function);
    add(")\n");
    add_thread();
    add_stack(return_address);
    add("\n");
    end(&h);
}

void pp_alloctrace_free(uintptr_t block, uint64_t size, uintptr_t return_address)
{
    held h;
    begin(&h);
    add("tracefree(");
    add_hex(block);
    add(", ");
    add_size(size);
    add(")\n");
    add_thread();
    add_stack(return_address);
    add("\n");
    end(&h);
}

/* Takes the snapshot before the lock: a thread that waits for the lock is to be seen there. */
static void look_at_others(pp_arena *arena, pp_threads *threads)
{
    bool refused = pp_sandbox_probe() == PP_SANDBOX_REFUSES;
    const pp_threads_wish wish = {.alone = refused, .with_stacks = true, .with_names = true};
    threads->count = 0;
    pp_threads_snapshot(&wish, arena, threads);
}

void pp_alloctrace_collection(uintptr_t return_address)
{
    held h;
    pp_arena arena = PP_ARENA_INIT;
    pp_threads threads;
    int saved_errno = errno;
    look_at_others(&arena, &threads);
    begin(&h);
    add("tracegc()\n");
    add_thread();
    add_stack(return_address);
    add_others(&threads);
    add("end tracegc\n\n");
    end(&h);
    pp_threads_release(&threads);
    pp_arena_release(&arena);
    errno = saved_errno;
}

/* ---- start and fork ---- */

void pp_alloctrace_start(pp_trace_namer *namer)
{
    trace.name_places = namer;
    pp_sandbox_probe(); /* a collection then finds the answer */
    __atomic_store_n(&trace.on, true, __ATOMIC_RELEASE);
}

bool pp_alloctrace_stop(void)
{
    return __atomic_exchange_n(&trace.on, false, __ATOMIC_RELAXED);
}

/* A thread that held the lock does not exist in the child. */
void pp_alloctrace_after_fork_in_child(bool traced)
{
    if (!traced) {
        pp_alloctrace_stop();
    }
    if (!pp_lock_held_by(&trace.lock, pp_task_self())) {
        pp_lock_release(&trace.lock);
    }
}
