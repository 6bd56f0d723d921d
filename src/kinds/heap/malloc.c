/* SPDX-License-Identifier: MIT
 *
 * malloc.c: the slow path of the allocation hooks: takes samples, and sees the frees of sampled
 * blocks.
 *
 *   entry (in .S) --> pp_malloc_slow_alloc --> due? --no--> real function
 *                                               |yes
 *                                               v
 *                                     real function --> pp_heap_record
 *
 *   entry (in .S) --> pp_malloc_slow_free --> pp_heap_detach --> the entry jumps to the real free
 *
 * A free removes the record before the real function can give the address to another thread.
 *
 * The guard prevents a second count of what the real function itself allocates through a hook. The
 * guard cannot be a flag, since operator new may leave by an exception. It has the address of the
 * guarded call on the stack, and that call's return address, to detect a call that has ended. An
 * ended call may leave both on the stack until something overwrites them, and then looks like a
 * running one. So the guard ends after GUARD_PATIENCE inner calls; no allocator makes so many.
 *
 * Zone: HOOK. errno is the real function's.
 * Owns: the guard (24 bytes of TLS).
 * Tested by: unit.malloc_early, e2e.heap, e2e.heap_hostile, e2e.alloctrace
 */
#include "arch/registers.h"
#include "base/compiler.h"
#include "kinds/heap/alloctrace.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/heap_early.h"
#include "kinds/heap/jemalloc_samples.h"
#include "kinds/heap/lifetimes.h"
#include "kinds/heap/live_table.h"
#include "kinds/heap/malloc_bootstrap.h"
#include "kinds/heap/malloc_real.h"
#include "kinds/heap/memory_probes.h"
#include "sys/own_work.h"
#include "sys/safe_read.h"

#include <errno.h>
#include <string.h>

enum { GUARD_PATIENCE = 64 };

typedef struct guard {
    const pp_malloc_call *call; /* NULL = none */
    uintptr_t return_address;   /* of that call, as long as it runs */
    uint64_t kept_out;          /* calls that counted as inner ones */
} guard;

static PP_TLS guard guarded;

/* NULL in a fully static program whose own malloc lacks this function. */
size_t malloc_usable_size(void *block) __attribute__((weak));

/* Only the entries jump here. */
uintptr_t pp_malloc_slow_alloc(pp_malloc_call *call);
pp_malloc_function *pp_malloc_slow_free(uintptr_t block, pp_malloc_hook *hook, uintptr_t caller,
                                        uintptr_t sp, uintptr_t fp, uintptr_t bx);
uintptr_t pp_malloc_too_large(void);

static uintptr_t call_real(const pp_malloc_call *call)
{
    return call->hook->real(call->argument[0], call->argument[1], call->argument[2],
                            call->argument[3]);
}

/* ---- sampling ---- */

/* Reads the stack safely: an exception may have left the guarded call, and its stack may be
 * unmapped. */
static bool is_inside_guarded(const pp_malloc_call *call)
{
    uintptr_t there = 0;
    if (pp_likely(guarded.call == NULL)) {
        return false;
    }
    if (call < guarded.call && guarded.kept_out++ < GUARD_PATIENCE &&
        pp_safe_copy(&there, (uintptr_t)&guarded.call->return_address, sizeof there) &&
        there == guarded.return_address) {
        return true;
    }
    guarded.call = NULL;
    return false;
}

/* The first allocation asks for the rate, because it may come before any constructor. */
PP_COLD_PATH static void ask_for_rate(void)
{
    int64_t rate = 0;
    if (!pp_malloc_is_too_early() && pp_heap_first_rate(&rate)) {
        pp_heap_set_rate(rate);
    }
}

/* The direct code of operator new calls malloc. */
static bool is_sampled_by_jemalloc(const pp_malloc_call *call)
{
    const pp_malloc_hook *hook = call->hook;
    bool direct = hook->direct != NULL && hook->target == hook->direct;
    return pp_jemalloc_is_on() &&
           pp_jemalloc_has((uintptr_t)(direct ? pp_malloc_hook_malloc.real : hook->real));
}

static uint64_t rate_if_due(const pp_malloc_call *call, uint64_t size)
{
    if (pp_unlikely(!pp_heap_rate_is_known())) {
        ask_for_rate();
    }
    if (is_inside_guarded(call)) {
        return 0;
    }
    uint64_t rate = pp_heap_due(size); /* the countdown includes our own work */
    return pp_own_work_has((uintptr_t)call) || is_sampled_by_jemalloc(call) ? 0 : rate;
}

static uintptr_t call_guarded(const pp_malloc_call *call)
{
    guard before = guarded;
    uint64_t countdown = pp_heap_countdown;
    guarded = (guard){.call = call, .return_address = call->return_address};
    uintptr_t result = call_real(call);
    guarded = before;
    pp_heap_countdown = countdown; /* undoes what the entries of inner calls subtracted */
    return result;
}

static pp_caller caller_of(const pp_malloc_call *call)
{
    return (pp_caller){.leaf = (uintptr_t)call->hook->entry,
                       .return_address = call->return_address,
                       .sp = (uintptr_t)(call + 1),
                       .fp = call->fp,
                       .bx = call->bx};
}

static void record(const pp_malloc_call *call, uintptr_t block, uint64_t size, uint64_t rate)
{
    pp_caller caller = caller_of(call);
    pp_heap_record(block, size, rate, &caller);
}

/* ---- the trace ---- */

static uint64_t size_set_aside(const pp_malloc_hook *hook, uintptr_t block)
{
    /* libc cannot measure a block of another allocator. */
    static const char *const prefixes[] = {"je_", "_rjem_", "mi_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (strncmp(hook->name, prefixes[i], strlen(prefixes[i])) == 0) {
            return PP_TRACE_SIZE_UNKNOWN;
        }
    }
    return malloc_usable_size != NULL ? malloc_usable_size((void *)block) : PP_TRACE_SIZE_UNKNOWN;
}

PP_COLD_PATH static void trace_free(const pp_malloc_hook *hook, uintptr_t block, uintptr_t caller)
{
    pp_alloctrace_free(block, size_set_aside(hook, block), caller);
}

PP_COLD_PATH static void trace_allocation(const pp_malloc_call *call, uintptr_t block,
                                          uint64_t size)
{
    pp_alloctrace_allocation(block, size, call->hook->name, call->return_address);
}

static bool is_traced(const pp_malloc_call *call)
{
    return pp_unlikely(pp_alloctrace_is_on()) && !is_inside_guarded(call) &&
           !pp_own_work_has((uintptr_t)call);
}

/* ---- new blocks ---- */

/* False if the size is impossible; then the real function reports the error. */
static bool size_wanted(const pp_malloc_call *call, uint64_t *size)
{
    const uintptr_t *argument = call->argument;
    switch (call->hook->shape) {
    case PP_SHAPE_MALLOC:
    case PP_SHAPE_ALLOC0:
    case PP_SHAPE_NEW:
        *size = argument[0];
        break;
    case PP_SHAPE_CALLOC:
        if (__builtin_mul_overflow(argument[0], argument[1], size)) {
            return false;
        }
        break;
    case PP_SHAPE_CALLOC_IN:
        if (__builtin_mul_overflow(argument[1], argument[2], size)) {
            return false;
        }
        break;
    case PP_SHAPE_POSIX:
    case PP_SHAPE_RESIZE_IN:
        *size = argument[2];
        break;
    default:
        *size = argument[1];
        break;
    }
    return *size <= PTRDIFF_MAX;
}

static uintptr_t allocate(const pp_malloc_call *call)
{
    uint64_t size = 0;
    uint64_t rate = size_wanted(call, &size) ? rate_if_due(call, size) : 0;
    bool traced = is_traced(call);
    if (rate == 0 && !traced) {
        return call_real(call);
    }
    uintptr_t result = call_guarded(call);
    uintptr_t block = result;
    if (call->hook->shape == PP_SHAPE_POSIX) {
        block = result == 0 ? *(uintptr_t *)call->argument[0] : 0;
    }
    if (block != 0 && traced) {
        trace_allocation(call, block, size);
    }
    if (block != 0 && rate != 0) {
        record(call, block, size, rate);
    }
    return result;
}

/* ---- blocks of another size ---- */

static uintptr_t block_to_resize(const pp_malloc_call *call)
{
    return call->argument[call->hook->shape == PP_SHAPE_RESIZE_IN ? 1 : 0];
}

static uintptr_t resize_bootstrap(const pp_malloc_call *call, uint64_t size)
{
    const void *old = (const void *)block_to_resize(call);
    size_t kept = pp_malloc_bootstrap_size((uintptr_t)old);
    void *block = (void *)pp_malloc_hook_malloc.real(size, 0, 0, 0);
    if (block != NULL) {
        memcpy(block, old, kept < size ? kept : size);
    } else {
        pp_heap_remember((uintptr_t)old); /* the program still has it, and may free it */
    }
    return (uintptr_t)block;
}

/* Whether the old block does not exist any more. realloc(block, 0) may free it and return NULL. */
static bool has_resized(const pp_malloc_call *call, uintptr_t size, uintptr_t result)
{
    return call->hook->shape == PP_SHAPE_IN_PLACE ? result >= size && result != 0
                                                  : result != 0 || size == 0;
}

/* jemalloc aligns the blocks that it samples to pages, and reports their end itself. */
static bool has_record_of_ours(const pp_malloc_call *call, uintptr_t old)
{
    const uintptr_t within_page = 4095;
    return old != 0 && ((old & within_page) != 0 || !is_sampled_by_jemalloc(call));
}

static uintptr_t resize(const pp_malloc_call *call)
{
    uintptr_t old = block_to_resize(call);
    uint64_t size = 0;
    bool possible = size_wanted(call, &size);
    uint64_t birth_ns = old != 0 ? pp_live_table_birth(old) : 0;
    uint64_t before = has_record_of_ours(call, old) ? pp_heap_detach(old) : 0;
    if (before == PP_HEAP_FOREIGN) {
        return resize_bootstrap(call, size);
    }
    uint64_t rate = possible ? rate_if_due(call, size) : 0;
    bool traced = is_traced(call);
    uint64_t size_before = traced && old != 0 ? size_set_aside(call->hook, old) : 0;
    if (traced && old != 0) {
        pp_alloctrace_free(old, size_before, call->return_address);
    }
    bool in_place = call->hook->shape == PP_SHAPE_IN_PLACE;
    if (before != 0 && !in_place) {
        pp_memory_probe_free(old); /* a call that fails, which is rare, has it, too */
    }
    uintptr_t result = call_guarded(call);
    if (!has_resized(call, size, result)) {
        if (traced && old != 0) {
            trace_allocation(call, old, size_before);
        }
        if (before != 0) {
            pp_heap_reattach(old, before, birth_ns);
        }
        return result;
    }
    if (before != 0) {
        pp_caller caller = caller_of(call);
        pp_lifetimes_record(before, birth_ns, &caller);
        pp_heap_freed(before);
        if (in_place) {
            pp_memory_probe_free(old);
        }
    }
    uintptr_t block = in_place ? old : result;
    if (traced && result != 0) {
        trace_allocation(call, block, size);
    }
    if (rate != 0 && result != 0) {
        record(call, block, size, rate);
    }
    return result;
}

/* ---- calls by the loader while a thread asks it ---- */

/*
 * Such a block came from malloc_bootstrap.c, since no real function is known yet: malloc_real.c
 * adopts all of libc's functions at once. The size of any other block is unknown (the loader's
 * first memory, or a block that was allocated without a hook): such a block stays unchanged, as if
 * there were no memory.
 */
static void *resize_early(uintptr_t old, uint64_t size)
{
    if (old != 0 && !pp_malloc_is_bootstrap(old)) {
        return NULL;
    }
    void *block = pp_malloc_bootstrap(size, 0);
    if (block != NULL && old != 0) {
        size_t kept = pp_malloc_bootstrap_size(old);
        memcpy(block, (const void *)old, kept < size ? kept : size);
    }
    return block;
}

static uintptr_t or_no_memory(void *block)
{
    if (block == NULL) {
        errno = ENOMEM;
    }
    return (uintptr_t)block;
}

/* calloc needs nothing more: malloc_bootstrap.c returns zeroed memory, since it uses none twice. */
static uintptr_t serve_early(const pp_malloc_call *call)
{
    uint64_t size = 0;
    void *block = NULL;
    if (!size_wanted(call, &size)) {
        return call->hook->shape == PP_SHAPE_POSIX ? ENOMEM : or_no_memory(NULL);
    }
    switch (call->hook->shape) {
    case PP_SHAPE_ALLOC1:
        return or_no_memory(pp_malloc_bootstrap(size, call->argument[0]));
    case PP_SHAPE_POSIX:
        block = pp_malloc_bootstrap(size, call->argument[1]);
        if (block != NULL) {
            *(void **)call->argument[0] = block;
        }
        return block != NULL ? 0 : ENOMEM;
    case PP_SHAPE_IN_PLACE:
        return 0;
    case PP_SHAPE_REALLOC:
    case PP_SHAPE_RESIZE:
    case PP_SHAPE_RESIZE_IN:
        return or_no_memory(resize_early(block_to_resize(call), size));
    default:
        return or_no_memory(pp_malloc_bootstrap(size, 0));
    }
}

static uintptr_t do_nothing(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d)
{
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return 0;
}

/* ---- called by the entries ---- */

__attribute__((visibility("hidden"), used)) uintptr_t pp_malloc_slow_alloc(pp_malloc_call *call)
{
    if (!pp_malloc_resolve(call->hook, call->return_address)) {
        return serve_early(call);
    }
    if (call->hook->passes) {
        return call_real(call);
    }
    switch (call->hook->shape) {
    case PP_SHAPE_REALLOC:
    case PP_SHAPE_RESIZE:
    case PP_SHAPE_RESIZE_IN:
    case PP_SHAPE_IN_PLACE:
        return resize(call);
    default:
        return allocate(call);
    }
}

/* Returns the address to which the entry jumps. The registers are those of the caller. */
__attribute__((visibility("hidden"), used)) pp_malloc_function *
pp_malloc_slow_free(uintptr_t block, pp_malloc_hook *hook, uintptr_t caller, uintptr_t sp,
                    uintptr_t fp, uintptr_t bx)
{
    uint64_t birth_ns = pp_lifetimes_are_wanted() ? pp_live_table_birth(block) : 0;
    uint64_t before = block != 0 ? pp_heap_detach(block) : 0;
    if (before == PP_HEAP_FOREIGN) {
        return do_nothing;
    }
    if (before != 0) {
        pp_caller from = {
            .leaf = (uintptr_t)hook->entry, .return_address = caller, .sp = sp, .fp = fp, .bx = bx};
        pp_lifetimes_record(before, birth_ns, &from);
        pp_memory_probe_free(block);
        pp_heap_freed(before);
    }
    if (block != 0 && pp_unlikely(pp_alloctrace_is_on()) && !pp_own_work_has(PP_FRAME_TOP())) {
        trace_free(hook, block, caller);
    }
    return pp_malloc_resolve(hook, caller) ? hook->real : do_nothing;
}

__attribute__((visibility("hidden"), used)) uintptr_t pp_malloc_too_large(void)
{
    errno = ENOMEM;
    return 0;
}
