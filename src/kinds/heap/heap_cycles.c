/* SPDX-License-Identifier: MIT
 *
 * heap_cycles.c: the three cycles of a collected heap, and the public functions that drive them.
 *
 * Zone: HOOK.
 * Owns: the number of the cycle; the program's collector; 16 bytes of TLS.
 */
#include "kinds/heap/heap_cycles.h"

#include "arch/registers.h"
#include "arch/stubs.h"
#include "kinds/heap/alloctrace.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/heap_buckets.h"
#include "kinds/heap/live_table.h"
#include "kinds/heap/memory_probes.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/safe_read.h"
#include "sys/signal_mask.h"

#include "pprof.h"

#include <errno.h>
#include <stddef.h>

enum {
    CYCLE_AFTER_NEXT = 2, /* counts allocations and frees by hand */
    CYCLE_NEXT = 1,       /* counts frees by a sweep */
    READER_ATTEMPTS = 200
};

/*
 * A bit of an object's key in the table of live blocks. A pool's first object may have the same
 * address as the block that malloc gave to the pool; the bit makes the keys differ.
 */
static const uintptr_t described = PP_NO_ADDRESS_BIT;

static struct {
    uint32_t state; /* cycle << 1 | whether the current cycle has been published */
    uint64_t ended;
    uint64_t last_end_ns;
    uint64_t publishing_begun, publishing_done;
    void (*collector)(void);
    uint64_t runs_begun, runs_ended; /* of pp_heap_collect() */
    uint64_t runs_without_cycle;     /* those of the ended runs that have ended no cycle */
} cycles;

/* ---- cycles ---- */

uint32_t pp_heap_cycle_current(void)
{
    return __atomic_load_n(&cycles.state, __ATOMIC_ACQUIRE) >> 1;
}

static unsigned index_of(uint32_t cycles_ahead)
{
    return (pp_heap_cycle_current() + cycles_ahead) % PP_HEAP_CYCLES;
}

static bool is_driven(void)
{
    return __atomic_load_n(&cycles.ended, __ATOMIC_ACQUIRE) != 0;
}

/* Blocks signals: a handler that jumped away would leave readers waiting, and counts that are in
 * neither place. */
static void publish(unsigned index)
{
    pp_signal_mask old = 0;
    pp_signals_block(&old);
    __atomic_add_fetch(&cycles.publishing_begun, 1, __ATOMIC_SEQ_CST);
    for (pp_heap_bucket *b = pp_heap_buckets_newest_collected(); b != NULL; b = b->next) {
        pp_heap_bucket_publish(b, index);
    }
    __atomic_add_fetch(&cycles.publishing_done, 1, __ATOMIC_SEQ_CST);
    pp_signals_restore(&old);
}

void pprof_heap_cycle_flush(void)
{
    uint32_t before = __atomic_fetch_or(&cycles.state, 1, __ATOMIC_ACQ_REL);
    if (!(before & 1)) {
        publish((before >> 1) % PP_HEAP_CYCLES);
    }
}

void pprof_heap_cycle_next(void)
{
    pprof_heap_cycle_flush(); /* the new cycle's place in the ring is the one of C+3 */
    uint32_t before = __atomic_load_n(&cycles.state, __ATOMIC_ACQUIRE);
    uint32_t after = 0;
    do {
        after = ((before >> 1) + 1) % PP_HEAP_CYCLE_WRAP << 1;
    } while (!__atomic_compare_exchange_n(&cycles.state, &before, after, true, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
    __atomic_store_n(&cycles.last_end_ns, pp_clock_ns(CLOCK_REALTIME), __ATOMIC_RELAXED);
    __atomic_add_fetch(&cycles.ended, 1, __ATOMIC_RELEASE);
    if (pp_alloctrace_is_on() && __atomic_load_n(&cycles.collector, __ATOMIC_RELAXED) != NULL) {
        pp_alloctrace_collection((uintptr_t)__builtin_return_address(0));
    }
}

void pprof_heap_cycle_post_sweep(void)
{
    publish(index_of(CYCLE_NEXT));
}

/* ---- readers ---- */

static bool has_published_anything(void)
{
    const pp_heap_bucket *b = pp_heap_buckets_newest_collected();
    while (b != NULL && __atomic_load_n(&b->alloc_objects, __ATOMIC_RELAXED) == 0 &&
           __atomic_load_n(&b->free_objects, __ATOMIC_RELAXED) == 0) {
        b = b->next;
    }
    return b != NULL;
}

/* If nothing has been published, publishes all cycles, as if the program counted none [mprof.go,
 * MemProfile]: otherwise the first profiles of a program that has just begun would be empty. */
void pp_heap_cycles_publish_for_reader(void)
{
    if (pp_heap_buckets_newest_collected() == NULL) {
        return;
    }
    if (is_driven()) {
        publish(index_of(0)); /* the program has called next and not yet flush */
    }
    if (!is_driven() || !has_published_anything()) {
        for (unsigned i = 0; i < PP_HEAP_CYCLES; i++) {
            publish(i);
        }
    }
}

void pp_heap_cycles_read_begin(pp_heap_cycles_ticket *ticket)
{
    ticket->published = __atomic_load_n(&cycles.publishing_done, __ATOMIC_SEQ_CST);
}

bool pp_heap_cycles_read_again(pp_heap_cycles_ticket *ticket)
{
    if (__atomic_load_n(&cycles.publishing_begun, __ATOMIC_SEQ_CST) == ticket->published ||
        ++ticket->attempts == READER_ATTEMPTS) {
        return false;
    }
    pp_lock_pause(ticket->attempts);
    return true;
}

/* ---- blocks ---- */

/*
 * During a trace, an object that is no sample has an entry in the table of live blocks, too: its
 * size, marked by two low bits that no pp_heap_block has.
 */
enum { SIZE_TAG = 2, TAG_BITS = 2, TAG_MASK = 3 };

static bool is_size(uint64_t entry)
{
    return (entry & TAG_MASK) == SIZE_TAG;
}

static uint64_t size_of(uint64_t entry)
{
    return entry == 0       ? PP_TRACE_SIZE_UNKNOWN
           : is_size(entry) ? entry >> TAG_BITS
                            : pp_heap_block_size(entry);
}

/* Removes and returns the entry of an object that does not exist any more; 0 if there is none. */
static uint64_t take_entry(uintptr_t key, uint32_t cycles_ahead)
{
    uint64_t entry = pp_heap_detach(key);
    if (entry != 0 && !is_size(entry)) {
        pp_memory_probe_free(key & ~described);
        pp_heap_block_freed_in(entry, index_of(cycles_ahead));
    }
    return entry;
}

static void remember_size(uintptr_t object, uint64_t size)
{
    int saved_errno = errno;
    take_entry(object | described, CYCLE_AFTER_NEXT);
    if (size <= UINT64_MAX >> TAG_BITS) {
        pp_live_table_insert(object | described, size << TAG_BITS | SIZE_TAG);
    }
    errno = saved_errno;
}

static void record(uintptr_t object, uint64_t size, uint64_t rate, const pp_caller *caller)
{
    int saved_errno = errno;
    unsigned index = index_of(CYCLE_AFTER_NEXT);
    pp_heap_block block = pp_heap_find_block(0, size, rate, caller, pp_heap_block_find_collected);
    if (block == 0) {
        pp_heap_lose(size, rate);
    } else {
        take_entry(object | described, CYCLE_AFTER_NEXT); /* of an object whose free was missed */
        pp_heap_block_allocated_in(block, index);
        if (!pp_live_table_insert(object | described, block)) {
            pp_heap_block_forgotten_in(block, index);
            pp_heap_lose(size, rate);
        } else {
            pp_memory_probe_alloc(object, size, rate);
        }
    }
    errno = saved_errno;
}

PP_STUB_WITH_CALLER(pprof_heap_record_alloc, pp_heap_record_alloc_from);

/* Only the stub jumps here. The program passes no third argument. */
void pp_heap_record_alloc_from(void *object, size_t size, uintptr_t unused, uintptr_t sp,
                               uintptr_t fp, uintptr_t bx);

__attribute__((visibility("hidden"), used)) PP_RAW_MEMORY void
pp_heap_record_alloc_from(void *object, size_t size, uintptr_t unused, uintptr_t sp, uintptr_t fp,
                          uintptr_t bx)
{
    (void)unused;
    if (pp_likely(size < pp_heap_countdown)) {
        pp_heap_countdown -= size;
        return;
    }
    uint64_t rate = pp_heap_due(size);
    if (object == NULL || (rate == 0 && !pp_alloctrace_is_on())) {
        return;
    }
    pp_caller caller = pp_caller_at_entry(sp, fp, bx);
    if (pp_alloctrace_is_on()) {
        pp_alloctrace_allocation((uintptr_t)object, size, "pprof_heap_record_alloc",
                                 caller.return_address);
    }
    if (rate != 0) {
        record((uintptr_t)object, size, rate, &caller);
    } else {
        remember_size((uintptr_t)object, size);
    }
}

static void release(void *object, uint32_t cycles_ahead, uintptr_t return_address)
{
    if (object == NULL) {
        return;
    }
    uint64_t entry = take_entry((uintptr_t)object | described, cycles_ahead);
    if (pp_alloctrace_is_on()) {
        pp_alloctrace_free((uintptr_t)object, size_of(entry), return_address);
    }
}

void pprof_heap_record_free(void *object)
{
    release(object, CYCLE_AFTER_NEXT, (uintptr_t)__builtin_return_address(0));
}

void pprof_heap_record_sweep(void *object)
{
    release(object, CYCLE_NEXT, (uintptr_t)__builtin_return_address(0));
}

/* ---- the collector ---- */

/*
 * A run of the collector by the calling thread, on that thread's stack. The collector may write
 * profiles itself, which must not run it again. If a jump leaves the collector, nobody ends the
 * run: it counts as over as soon as its number is not in its place any more, or a caller is above
 * it on the stack.
 */
typedef struct run {
    uint64_t number;
} run;

static PP_TLS struct {
    const run *at; /* NULL: none */
    uint64_t number;
} running;

static bool is_running(uintptr_t here)
{
    uint64_t there = 0;
    return running.at != NULL && here < (uintptr_t)running.at &&
           pp_safe_copy(&there, (uintptr_t)&running.at->number, sizeof there) &&
           there == running.number;
}

void (*pp_heap_collector_set(void (*collect)(void)))(void)
{
    return __atomic_exchange_n(&cycles.collector, collect, __ATOMIC_ACQ_REL);
}

static void run_collector(void (*collect)(void))
{
    const run *outer = running.at; /* over, or on another stack */
    uint64_t outer_number = running.number;
    volatile run mine = {.number = __atomic_add_fetch(&cycles.runs_begun, 1, __ATOMIC_RELAXED)};
    int saved_errno = errno;
    running.at = (const run *)&mine;
    running.number = mine.number;
    collect();
    running.at = outer;
    running.number = outer_number;
    errno = saved_errno;
}

/* A run that ends no cycle counts as a collection, too. */
bool pp_heap_collect(void)
{
    void (*collect)(void) = __atomic_load_n(&cycles.collector, __ATOMIC_ACQUIRE);
    if (collect == NULL || is_running(PP_FRAME_TOP())) {
        return false;
    }
    uint64_t before = __atomic_load_n(&cycles.ended, __ATOMIC_ACQUIRE);
    run_collector(collect);
    __atomic_add_fetch(&cycles.runs_ended, 1, __ATOMIC_RELAXED);
    if (__atomic_load_n(&cycles.ended, __ATOMIC_ACQUIRE) != before) {
        return true; /* the end of the cycle was counted, and traced */
    }
    __atomic_store_n(&cycles.last_end_ns, pp_clock_ns(CLOCK_REALTIME), __ATOMIC_RELAXED);
    __atomic_add_fetch(&cycles.runs_without_cycle, 1, __ATOMIC_RELAXED);
    if (pp_alloctrace_is_on()) {
        pp_alloctrace_collection((uintptr_t)__builtin_return_address(0));
    }
    return true;
}

void pp_heap_collector_read(pp_heap_collector *read)
{
    read->exists = __atomic_load_n(&cycles.collector, __ATOMIC_RELAXED) != NULL || is_driven();
    read->collections = __atomic_load_n(&cycles.ended, __ATOMIC_RELAXED) +
                        __atomic_load_n(&cycles.runs_without_cycle, __ATOMIC_RELAXED);
    read->collections_forced = __atomic_load_n(&cycles.runs_ended, __ATOMIC_RELAXED);
    read->last_end_ns = __atomic_load_n(&cycles.last_end_ns, __ATOMIC_RELAXED);
}

/* The thread that was publishing in the parent does not exist in the child. */
void pp_heap_cycles_after_fork_in_child(void)
{
    cycles.publishing_begun = cycles.publishing_done;
}
