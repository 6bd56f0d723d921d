/* SPDX-License-Identifier: MIT
 *
 * leak_search.c: the passes of a search.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: `searching`.
 * Tested by: e2e.leak, stress.leak_storm
 */
#include "kinds/heap/leak_search.h"

#include "base/compiler.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/leak_doubts.h"
#include "kinds/heap/leak_memory.h"
#include "kinds/heap/leak_stacks.h"
#include "kinds/heap/live_table.h"
#include "modules/code_query.h"
#include "modules/libc.h"
#include "modules/own_code.h"
#include "sys/apart.h"
#include "sys/beside.h"
#include "sys/clock.h"
#include "sys/loaded_symbols.h"
#include "sys/lock.h"
#include "sys/own_threads.h"
#include "sys/safe_read.h"
#include "sys/tasks.h"
#include "unwind/in_handler.h"

#include <errno.h>
#include <link.h>
#include <string.h>

enum {
    LEAST_PASSES = 3,
    MOST_PASSES = 12,
    QUIET_PASSES = 2,     /* at the end, that find nothing */
    PAUSE_NS = 20000000,  /* between two passes: a pointer that moves is elsewhere by then */
    CONTENTS_BYTES = 1024 /* of a block, that must not change */
};

static const uint64_t patience_ns = 5000000000;

static pp_lock searching;

void pp_leaks_after_fork_in_child(void)
{
    pp_lock_release(&searching);
}

/* ---- what is left out ---- */

static void hide_chunk(uintptr_t start, size_t bytes, void *memory)
{
    pp_leak_memory_hide(memory, start, start + bytes);
}

/* Not in builds with sanitizers. */
extern void bootstrap_memory(uintptr_t *from, uintptr_t *to) __asm__("pp_malloc_bootstrap_memory")
    __attribute__((weak, visibility("hidden")));

/* Walks remember words of stacks. Among the variables is also memory that the loader has got. */
static void hide_variables(pp_leak_memory *memory)
{
    uintptr_t from = 0;
    uintptr_t to = 0;
    uintptr_t first = 0;
    uintptr_t last = 0;
    pp_own_variables(&from, &to);
    if (bootstrap_memory != NULL) {
        bootstrap_memory(&first, &last);
    }
    bool inside = first > from && last < to;
    pp_leak_memory_hide(memory, from, inside ? first : to);
    pp_leak_memory_hide(memory, inside ? last : to, to);
}

/* The library's own references to blocks. */
static void hide_own(pp_leak_memory *memory, const pp_leaks *leaks, const pp_arena *arena,
                     const pp_arena *of_pass)
{
    uintptr_t start = 0;
    size_t bytes = 0;
    pp_leak_memory_hide(memory, (uintptr_t)leaks, (uintptr_t)(leaks + 1));
    hide_variables(memory);
    pp_arena_each(arena, hide_chunk, memory);
    pp_arena_each(of_pass, hide_chunk, memory);
    for (uint32_t i = 0; pp_live_table_memory(i, &start, &bytes); i++) {
        pp_leak_memory_hide(memory, start, start + bytes);
    }
}

/* ---- what programs do with the allocator's memory ---- */

static const char *const break_names[] = {"sbrk", "brk", NULL};
static const char *const size_names[] = {"malloc_usable_size",
                                         "sallocx",
                                         "nallocx",
                                         "mi_usable_size",
                                         "mi_malloc_usable_size",
                                         "mi_good_size",
                                         "tc_malloc_size",
                                         "tc_nallocx",
                                         NULL};

static bool needs_any(const pp_loaded_symbols *symbols, const char *const *names)
{
    bool needs = false;
    for (; *names != NULL && !needs; names++) {
        needs = pp_loaded_symbols_needs(symbols, *names);
    }
    return needs;
}

static bool is_static(const pp_loaded_symbols *symbols)
{
    const ElfW(Dyn) *d = symbols->dynamic;
    while (d != NULL && d->d_tag != DT_NULL && d->d_tag != DT_NEEDED) {
        d++;
    }
    return d == NULL || d->d_tag == DT_NULL;
}

typedef struct objects {
    unsigned seen;
    bool any_moves_break, any_asks_size;
} objects;

/* The first object is the program. */
static int look_at_object(struct dl_phdr_info *info, size_t size, void *context)
{
    objects *o = context;
    pp_loaded_symbols symbols;
    (void)size;
    pp_loaded_symbols_read(&symbols, pp_loaded_dynamic(info), info->dlpi_addr);
    bool unknown = o->seen++ == 0 && is_static(&symbols);
    o->any_moves_break |= unknown || needs_any(&symbols, break_names);
    o->any_asks_size |= unknown || needs_any(&symbols, size_names);
    return 0;
}

/* What loaded objects refer to says it. The handler of a fatal signal may not list them. */
static void look_at_objects(pp_leak_blocks *blocks)
{
    objects o = {.any_moves_break = pp_in_handler()};
    o.any_asks_size = o.any_moves_break;
    if (!o.any_asks_size) {
        pp_libc_each_object(look_at_object, &o);
    }
    blocks->shares_break = o.any_moves_break;
    blocks->uses_slack = o.any_asks_size;
}

/* ---- one pass ---- */

typedef struct search {
    pp_arena *arena;
    pp_arena of_pass;
    pp_leaks *leaks;
    pp_leak_memory memory;
    pp_leak_stacks stacks;
    uintptr_t sp; /* of the calling thread: what is below is of the search */
    bool alone;   /* no other thread can change memory */
    int result;   /* 1: there is more to read; 0; -errno */
} search;

static void find_break(pp_leak_blocks *blocks, const pp_leak_memory *memory)
{
    for (size_t i = 0; i < memory->range_count; i++) {
        if (memory->ranges[i].program_break) {
            blocks->break_start = memory->ranges[i].at.start;
            blocks->break_limit = memory->ranges[i].at.limit;
        }
    }
}

static void read_on(void *of_search)
{
    search *s = of_search;
    s->result = pp_leak_memory_read(&s->memory, pp_leak_blocks_look, &s->leaks->blocks);
    if (s->result == 0) {
        s->result = pp_leak_stacks_read_rest(&s->stacks, &s->memory, pp_leak_blocks_look,
                                             &s->leaks->blocks);
    }
}

static void list_and_read(void *of_search)
{
    search *s = of_search;
    s->result = pp_leak_memory_list(&s->memory, &s->of_pass);
    if (s->result == 0) {
        s->result = pp_leak_stacks_read(&s->stacks, s->sp, s->alone, &s->memory, &s->of_pass);
    }
    if (s->result == 0) {
        find_break(&s->leaks->blocks, &s->memory);
        hide_own(&s->memory, s->leaks, s->arena, &s->of_pass);
        pp_leak_memory_hidden_end(&s->memory);
        read_on(s);
    }
}

static int pass(search *s)
{
    pp_leaks *leaks = s->leaks;
    pp_arena_release(&s->of_pass);
    int error = pp_leak_blocks_begin(&leaks->blocks, &s->of_pass);
    if (error != 0) {
        return error;
    }
    pp_apart(list_and_read, s);
    while (s->result > 0) {
        pp_apart(read_on, s);
    }
    pp_leak_blocks_end(&leaks->blocks);
    leaks->passes++;
    leaks->bytes_read = s->memory.bytes_read;
    leaks->bytes_swapped = s->memory.bytes_swapped;
    leaks->knows_swapped = !s->memory.by_core;
    leaks->bytes_refused = s->memory.bytes_refused;
    return s->result;
}

/* ---- is it still the same block ---- */

enum { MOST_FAULTS = 8 /* after them contents are copied */ };

/* Over the candidates: what is done with the sum of what is in each. */
typedef struct sums {
    pp_leak_blocks *blocks;
    uint32_t next;
    void (*take)(pp_leak_blocks *blocks, uint32_t index, uint64_t sum);
} sums;

PP_RAW_MEMORY static uint64_t sum_words(const uint64_t *words, size_t count)
{
    uint64_t sum = count;
    for (size_t i = 0; i < count; i++) {
        sum = (sum ^ __atomic_load_n(&words[i], __ATOMIC_RELAXED)) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 32;
    }
    return sum;
}

static size_t summed_bytes(const pp_leak_block *block)
{
    return block->size < CONTENTS_BYTES ? block->size : CONTENTS_BYTES;
}

static uint64_t sum_copy(const pp_leak_block *block)
{
    uint64_t words[CONTENTS_BYTES / sizeof(uint64_t)];
    size_t got = pp_safe_copy_part(words, block->start, summed_bytes(block));
    return sum_words(words, got / sizeof *words);
}

/* Another block may have been there for a while, or memory of another kind. */
static bool is_live(const pp_leak_block *block)
{
    pp_live_entry entry;
    return pp_live_table_find(block->start, &entry) && entry.value == block->record &&
           entry.birth_ns == block->birth_ns;
}

static void take_sum(const sums *s, uint32_t index, bool in_place)
{
    const pp_leak_block *block = &s->blocks->list[index];
    uint64_t sum = 0;
    if (is_live(block)) {
        sum = in_place ? sum_words((const uint64_t *)block->start,
                                   summed_bytes(block) / sizeof(uint64_t))
                       : sum_copy(block);
    }
    s->take(s->blocks, index, sum);
}

static void take_sums(sums *s, uint32_t limit, bool in_place)
{
    for (; s->next < limit; __atomic_store_n(&s->next, s->next + 1, __ATOMIC_RELEASE)) {
        if (!s->blocks->list[s->next].reached) {
            take_sum(s, s->next, in_place);
        }
    }
}

static void take_in_place(void *of_sums)
{
    sums *s = of_sums;
    take_sums(s, s->blocks->count, true);
}

/* A block whose memory goes away while it is read is copied, in part. */
static void take_all(void *of_sums)
{
    sums *s = of_sums;
    bool in_place = pp_code_query_is_permitted();
    for (unsigned faults = 0; in_place && !pp_beside(take_in_place, s); faults++) {
        take_sums(s, s->next + 1, false);
        in_place = faults + 1 < MOST_FAULTS;
    }
    take_sums(s, s->blocks->count, false);
}

static void sum_candidates(pp_leak_blocks *blocks,
                           void (*take)(pp_leak_blocks *blocks, uint32_t index, uint64_t sum))
{
    sums s = {.blocks = blocks, .take = take};
    pp_apart(take_all, &s);
}

static void remember_sum(pp_leak_blocks *blocks, uint32_t index, uint64_t sum)
{
    blocks->list[index].contents = sum;
}

/* Who writes to a block has a pointer to it. */
static void compare_sum(pp_leak_blocks *blocks, uint32_t index, uint64_t sum)
{
    if (sum != blocks->list[index].contents || !is_live(&blocks->list[index])) {
        pp_leak_blocks_reach(blocks, index);
    }
}

/* ---- a search ---- */

static void wait_a_little(void)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    pp_system_call(SYS_nanosleep, &pause, NULL);
}

/* As long as passes find pointers that the others have missed, there may be more. */
static bool wants_pass(const search *s, unsigned quiet)
{
    unsigned passes = s->leaks->passes;
    return passes == 0 ||
           (!s->alone && passes < MOST_PASSES && (passes < LEAST_PASSES || quiet < QUIET_PASSES));
}

static int search_on(search *s)
{
    pp_leaks *leaks = s->leaks;
    int error = pp_leak_blocks_read(&leaks->blocks, s->arena);
    leaks->blocks.complete = s->alone && pp_heap_has_all();
    if (leaks->blocks.complete) {
        look_at_objects(&leaks->blocks);
    }
    unsigned quiet = 0; /* passes, the last ones */
    while (error == 0 && leaks->blocks.candidates > 0 && wants_pass(s, quiet)) {
        uint32_t before = leaks->blocks.candidates;
        if (leaks->passes > 0) {
            wait_a_little();
        }
        error = pass(s);
        if (error == 0 && leaks->passes == 1 && !s->alone) {
            sum_candidates(&leaks->blocks, remember_sum);
        } else {
            leaks->moved += before - leaks->blocks.candidates;
            quiet = before == leaks->blocks.candidates ? quiet + 1 : 0;
        }
    }
    if (error == 0 && leaks->blocks.candidates > 0 && !s->alone) {
        sum_candidates(&leaks->blocks, compare_sum);
        pp_leak_blocks_end(&leaks->blocks);
        leaks->in_doubt = pp_leak_doubts_leave_out(&leaks->blocks, &s->of_pass);
    }
    return error;
}

/* The callers' frames have what their registers had. */
static __attribute__((noinline)) int find_below(pp_arena *arena, pp_leaks *leaks)
{
    search s = {.arena = arena,
                .of_pass = PP_ARENA_INIT,
                .leaks = leaks,
                .sp = (uintptr_t)__builtin_frame_address(0),
                .alone = pp_tasks_count_all() == 1};
    *leaks = (pp_leaks){.now_ns = pp_clock_ns(CLOCK_MONOTONIC)};
    pp_live_table_keep_births();
    if (!pp_lock_take_within(&searching, pp_task_self(), patience_ns)) {
        return -EBUSY;
    }
    int error = search_on(&s);
    pp_arena_release(&s.of_pass);
    pp_lock_release(&searching);
    return error;
}

int pp_leaks_find(pp_arena *arena, pp_leaks *leaks)
{
    __builtin_unwind_init(); /* the registers of the caller lie in this frame */
    int error = find_below(arena, leaks);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return error;
}
