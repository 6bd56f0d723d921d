/* SPDX-License-Identifier: MIT
 *
 * jemalloc_samples.c: records what jemalloc's hooks report.
 *
 * Zone: HOOK. errno is preserved.
 * Owns: which jemalloc it is; the addresses that are reported twice.
 * Tested by: unit.jemalloc_samples, e2e.jemalloc_samples
 */
#include "kinds/heap/jemalloc_samples.h"

#include "arch/stubs.h"
#include "base/stack_hash.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/lifetimes.h"
#include "kinds/heap/live_table.h"
#include "kinds/heap/memory_probes.h"
#include "store/labels.h"
#include "sys/own_work.h"
#include "unwind/scratch.h"

#include <errno.h>
#include <string.h>

/* The arguments of the hooks. */
enum {
    BLOCK,
    STACK = 2,
    STACK_DEPTH,
    BLOCK_SIZE, /* the size class; the second argument is what was asked for */
    FREED_SIZE = 1,
    WALK_STACK = 0,
    WALK_DEPTH,
    WALK_ROOM
};

enum {
    DEEPEST = 8, /* frames at the leaf, at most, that may be jemalloc's */
    MOST_TWICE = 16,
    ABOUT = 192
};

typedef void sample_hook(const void *block, size_t size, void **stack, unsigned depth,
                         size_t size_class);
typedef void free_hook(const void *block, size_t size_class);
typedef void walk_hook(void **stack, unsigned *depth, unsigned room);

static struct {
    const pp_jemalloc *jemalloc; /* NULL: no hooks are set */
    sample_hook *sample_before;  /* the program's own; NULL: none */
    free_hook *free_before;
    walk_hook *walk_before; /* jemalloc's own */
    bool is_active;         /* it takes samples, or has taken one */
    uint32_t twice_count;
    uintptr_t twice[MOST_TWICE]; /* 0 = free */
    char about[ABOUT];           /* "": nothing */
} state;

/* jemalloc has a stack of this thread from us, which is whole. Then comes its sample. */
static bool *has_walked(void)
{
    return pp_heap_mark();
}

/* Only the stubs call these functions, and only jemalloc calls the stubs. */
void pp_jemalloc_sampled(const pp_stub_call *call);
void pp_jemalloc_freed(const pp_stub_call *call);
void pp_jemalloc_walks(const pp_stub_call *call);

extern char pp_jemalloc_sample_entry[], pp_jemalloc_free_entry[], pp_jemalloc_walk_entry[];

PP_STUB_CALL("pp_jemalloc_sample_stub", "pp_jemalloc_sample_entry", "pp_jemalloc_sampled");
PP_STUB_CALL("pp_jemalloc_free_stub", "pp_jemalloc_free_entry", "pp_jemalloc_freed");
PP_STUB_CALL("pp_jemalloc_walk_stub", "pp_jemalloc_walk_entry", "pp_jemalloc_walks");
__asm__(".hidden pp_jemalloc_sample_stub\n.hidden pp_jemalloc_free_stub\n.hidden "
        "pp_jemalloc_walk_stub\n");

/* ---- which code is jemalloc's ---- */

static const pp_jemalloc *present(void)
{
    return __atomic_load_n(&state.jemalloc, __ATOMIC_ACQUIRE);
}

bool pp_jemalloc_is_on(void)
{
    return present() != NULL;
}

bool pp_jemalloc_has(uintptr_t address)
{
    const pp_jemalloc *jemalloc = present();
    return jemalloc != NULL && address >= jemalloc->start && address < jemalloc->limit;
}

static const pp_jemalloc_function *function_of(const pp_jemalloc *jemalloc, uintptr_t address)
{
    for (size_t i = 0; i < jemalloc->count; i++) {
        const pp_jemalloc_function *f = &jemalloc->function[i];
        if (address >= f->start && address < f->limit) {
            return f;
        }
    }
    return NULL;
}

bool pp_jemalloc_maps(uintptr_t address)
{
    const pp_jemalloc *jemalloc = present();
    if (jemalloc == NULL || !__atomic_load_n(&state.is_active, __ATOMIC_RELAXED)) {
        return false;
    }
    const pp_jemalloc_function *f = function_of(jemalloc, address);
    return (f != NULL && f->shown_as == 0) || pp_jemalloc_has(address);
}

/* ---- addresses that are reported twice ---- */

static void note_twice(uintptr_t block)
{
    for (unsigned i = 0; i < MOST_TWICE; i++) {
        uintptr_t none = 0;
        if (__atomic_compare_exchange_n(&state.twice[i], &none, block, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            __atomic_add_fetch(&state.twice_count, 1, __ATOMIC_RELEASE);
            return;
        }
    }
}

static bool take_twice(uintptr_t block)
{
    for (unsigned i = 0;
         __atomic_load_n(&state.twice_count, __ATOMIC_ACQUIRE) != 0 && i < MOST_TWICE; i++) {
        uintptr_t there = block;
        if (__atomic_compare_exchange_n(&state.twice[i], &there, 0, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            __atomic_sub_fetch(&state.twice_count, 1, __ATOMIC_RELEASE);
            return true;
        }
    }
    return false;
}

/* ---- samples ---- */

uint64_t pp_jemalloc_rate(const pp_jemalloc *jemalloc)
{
    size_t shift = 0;
    size_t size = sizeof shift;
    bool known = jemalloc->ask("prof.lg_sample", &shift, &size, NULL, 0) == 0 && shift < 63;
    return known ? UINT64_C(1) << shift : PP_HEAP_RATE_DEFAULT;
}

/* The stack begins inside jemalloc. Puts the function that the program has called in place of
 * jemalloc's frames, as our own hooks do, and returns its place. */
static uint32_t show_leaf(uintptr_t *pcs, uint32_t depth)
{
    const pp_jemalloc *jemalloc = present();
    uint32_t leaf = 0;
    for (uint32_t i = 0; jemalloc != NULL && i < depth && i < DEEPEST; i++) {
        const pp_jemalloc_function *f = function_of(jemalloc, pcs[i] - 1);
        if (f != NULL && f->shown_as != 0) {
            pcs[i] = f->shown_as + 1;
            leaf = i;
        }
    }
    return leaf;
}

/* The list is that of heap.c, which needs it no more. */
static pp_heap_block find_block(const uintptr_t *pcs, uint32_t depth, uint64_t hash, uint64_t size,
                                uint64_t rate, pprof_labels *labels)
{
    uintptr_t *list = (uintptr_t *)(uintptr_t)pcs;
    uint32_t leaf = show_leaf(list, depth);
    if (leaf > 0) {
        hash = pp_stack_hash(list + leaf, depth - leaf);
    }
    return pp_heap_block_find(list + leaf, depth - leaf, hash, size, rate, labels);
}

static pp_caller caller_of(const pp_stub_call *call)
{
    return (pp_caller){.return_address = call->return_address,
                       .sp = (uintptr_t)(call + 1),
                       .fp = call->fp,
                       .bx = call->bx};
}

/* The stack is jemalloc's, which keeps it. 0: there is no memory. */
static pp_heap_block find_block_of(const void *stack, uint32_t depth, uint64_t size, uint64_t rate,
                                   uintptr_t sp)
{
    pp_scratch *scratch = pp_scratch_take_at(sp);
    if (scratch == NULL) {
        return 0;
    }
    uintptr_t *pcs = scratch->pcs;
    memcpy(pcs, stack, depth * sizeof *pcs);
    pp_heap_count_whole_stack();
    uint32_t leaf = show_leaf(pcs, depth);
    pp_heap_block block =
        pp_heap_block_find(pcs + leaf, depth - leaf, pp_stack_hash(pcs + leaf, depth - leaf), size,
                           rate, pp_labels_current());
    pp_scratch_give(scratch);
    return block;
}

static void record(const pp_jemalloc *jemalloc, const pp_stub_call *call)
{
    const uintptr_t *a = call->argument;
    pp_caller caller = caller_of(call);
    uint64_t rate = pp_jemalloc_rate(jemalloc);
    pp_heap_block block = *has_walked() && a[STACK_DEPTH] <= PP_SCRATCH_DEPTH
                              ? find_block_of((const void *)a[STACK], (uint32_t)a[STACK_DEPTH],
                                              a[BLOCK_SIZE], rate, caller.sp)
                              : pp_heap_find_block(0, a[BLOCK_SIZE], rate, &caller, find_block);
    if (pp_heap_record_block(a[BLOCK], a[BLOCK_SIZE], rate, block)) {
        note_twice(a[BLOCK]);
    }
}

__attribute__((visibility("hidden"), used)) void pp_jemalloc_sampled(const pp_stub_call *call)
{
    int saved_errno = errno;
    const uintptr_t *a = call->argument;
    const pp_jemalloc *jemalloc = present();
    __atomic_store_n(&state.is_active, true, __ATOMIC_RELAXED);
    if (jemalloc != NULL && pp_heap_rate() != 0 && !pp_own_work_has((uintptr_t)call)) {
        record(jemalloc, call);
    }
    *has_walked() = false;
    if (state.sample_before != NULL) {
        state.sample_before((const void *)a[0], a[1], (void **)a[2], (unsigned)a[3], a[4]);
    }
    errno = saved_errno;
}

/* False: the stack is not known to be whole. */
static bool walk_for_jemalloc(const pp_stub_call *call)
{
    const uintptr_t *a = call->argument;
    pp_caller caller = caller_of(call);
    pp_scratch *scratch = pp_scratch_take_at(caller.sp);
    if (scratch == NULL) {
        return false;
    }
    pp_walk *walk = &scratch->walk;
    *walk = (pp_walk){.pcs = (uintptr_t *)a[WALK_STACK],
                      .space = &scratch->space,
                      .capacity = (uint32_t)a[WALK_ROOM]};
    pp_walk_from_caller(&caller, walk);
    bool is_whole = walk->stop == PP_STOP_END && !walk->guessed;
    if (is_whole) {
        *(unsigned *)a[WALK_DEPTH] = walk->depth;
    }
    pp_scratch_give(scratch);
    return is_whole;
}

__attribute__((visibility("hidden"), used)) void pp_jemalloc_walks(const pp_stub_call *call)
{
    int saved_errno = errno;
    const uintptr_t *a = call->argument;
    *has_walked() = present() != NULL && pp_heap_rate() != 0 && walk_for_jemalloc(call);
    if (!*has_walked()) {
        state.walk_before((void **)a[WALK_STACK], (unsigned *)a[WALK_DEPTH],
                          (unsigned)a[WALK_ROOM]);
    }
    errno = saved_errno;
}

static void forget_block(uintptr_t block, const pp_stub_call *call)
{
    uint64_t birth_ns = pp_lifetimes_are_wanted() ? pp_live_table_birth(block) : 0;
    uint64_t record = take_twice(block) ? 0 : pp_heap_detach(block);
    if (record != 0) {
        pp_caller caller = caller_of(call);
        pp_lifetimes_record(record, birth_ns, &caller);
        pp_memory_probe_free(block);
        pp_heap_freed(record);
    }
}

__attribute__((visibility("hidden"), used)) void pp_jemalloc_freed(const pp_stub_call *call)
{
    int saved_errno = errno;
    forget_block(call->argument[BLOCK], call);
    if (state.free_before != NULL) {
        state.free_before((const void *)call->argument[BLOCK], call->argument[FREED_SIZE]);
    }
    errno = saved_errno;
}

/* ---- the hooks ---- */

static const char sample_name[] = "experimental.hooks.prof_sample";
static const char free_name[] = "experimental.hooks.prof_sample_free";
static const char walk_name[] = "experimental.hooks.prof_backtrace";

static int exchange(const pp_jemalloc *jemalloc, const char *name, void *ours, void **before)
{
    size_t size = sizeof *before;
    return jemalloc->ask(name, before, &size, &ours, sizeof ours);
}

/* A walk of the program's own stays; then ours finds the stack once more. */
static void begin_to_walk(const pp_jemalloc *jemalloc)
{
    void *before = NULL;
    size_t size = sizeof before;
    if (jemalloc->ask(walk_name, &before, &size, NULL, 0) == 0 && before != NULL &&
        ((uintptr_t)before == jemalloc->walk || pp_jemalloc_has((uintptr_t)before))) {
        state.walk_before = (walk_hook *)before;
        exchange(jemalloc, walk_name, pp_jemalloc_walk_entry, &before);
    }
}

static void end_to_walk(const pp_jemalloc *jemalloc)
{
    void *ours = NULL;
    size_t size = sizeof ours;
    if (jemalloc->ask(walk_name, &ours, &size, NULL, 0) == 0 && ours == pp_jemalloc_walk_entry) {
        exchange(jemalloc, walk_name, (void *)state.walk_before, &ours);
    }
}

/* The hook of frees is set first, so that no sample stays for ever. */
int pp_jemalloc_begin(const pp_jemalloc *jemalloc, bool is_active)
{
    void *before = NULL;
    if (present() != NULL) {
        return 0;
    }
    state.is_active = is_active;
    int error = exchange(jemalloc, free_name, pp_jemalloc_free_entry, &before);
    if (error != 0) {
        return error;
    }
    state.free_before = before != pp_jemalloc_free_entry ? (free_hook *)before : NULL;
    __atomic_store_n(&state.jemalloc, jemalloc, __ATOMIC_RELEASE);
    error = exchange(jemalloc, sample_name, pp_jemalloc_sample_entry, &before);
    if (error != 0) {
        pp_jemalloc_end();
        return error;
    }
    state.sample_before = before != pp_jemalloc_sample_entry ? (sample_hook *)before : NULL;
    begin_to_walk(jemalloc);
    return 0;
}

void pp_jemalloc_end(void)
{
    const pp_jemalloc *jemalloc = present();
    void *ours = NULL;
    if (jemalloc != NULL) {
        __atomic_store_n(&state.jemalloc, NULL, __ATOMIC_RELEASE);
        end_to_walk(jemalloc);
        exchange(jemalloc, sample_name, (void *)state.sample_before, &ours);
        exchange(jemalloc, free_name, (void *)state.free_before, &ours);
    }
}

/* ---- comments ---- */

void pp_jemalloc_set_about(const char *text, size_t length)
{
    length = length < ABOUT ? length : ABOUT - 1;
    memcpy(state.about, text, length);
    state.about[length] = '\0';
}

const char *pp_jemalloc_about(void)
{
    return state.about[0] != '\0' ? state.about : NULL;
}
