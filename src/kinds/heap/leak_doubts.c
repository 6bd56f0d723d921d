/* SPDX-License-Identifier: MIT
 *
 * leak_doubts.c: finds the heads of lost structures, by two searches of the edges in depth
 * [Kosaraju, Sharir], and compares them with the threads.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: unit.leak_blocks, e2e.leak
 */
#include "kinds/heap/leak_doubts.h"

#include "base/sort.h"
#include "sys/tasks.h"
#include "threads/thread_table.h"
#include "unwind/callers.h"

#include "pprof.h"

#include <string.h>

enum { OUTERMOST = 2 /* frames: _start and its callee, or clone and its callee */ };

typedef struct graph {
    const pp_leak_blocks *blocks;
    uint32_t *cursor; /* the next edge of a block */
    uint32_t *above;  /* in the search: the block from which it came, index + 1 */
    uint8_t *seen;    /* by the first, by both */
    uint32_t *order;  /* blocks, as the first search ends with them */
    uint32_t ended;
    uint32_t *heads; /* the end of `order` */
    uint32_t head_count;
} graph;

/* Follows edges in depth from `root`, which is not seen, to blocks that were seen less than
 * `round` times. */
static void follow(graph *g, uint32_t root, uint8_t round)
{
    const pp_leak_block *list = g->blocks->list;
    uint32_t at = root + 1;
    g->seen[root] = round;
    g->above[root] = 0;
    g->cursor[root] = list[root].first_edge;
    while (at != 0) {
        uint32_t i = at - 1;
        const pp_leak_edge *edge = pp_leak_blocks_edge(g->blocks, g->cursor[i]);
        if (edge == NULL) {
            at = g->above[i];
            if (round == 1) {
                g->order[g->ended++] = i;
            }
            continue;
        }
        g->cursor[i] = edge->next;
        if (!list[edge->to].reached && g->seen[edge->to] < round) {
            g->seen[edge->to] = round;
            g->above[edge->to] = at;
            g->cursor[edge->to] = list[edge->to].first_edge;
            at = edge->to + 1;
        }
    }
}

/* The second search goes backwards through `order`, and leaves room for the heads. */
static void find_heads(graph *g)
{
    for (uint32_t i = 0; i < g->blocks->count; i++) {
        if (!g->blocks->list[i].reached && g->seen[i] == 0) {
            follow(g, i, 1);
        }
    }
    g->heads = g->order + g->ended;
    for (uint32_t k = g->ended; k-- > 0;) {
        uint32_t i = g->order[k];
        if (g->seen[i] == 1) {
            follow(g, i, 2);
            *--g->heads = i;
            g->head_count++;
        }
    }
}

static const pp_trie_stack *stack_of(const pp_leak_blocks *blocks, uint32_t index)
{
    return pp_heap_block_bucket(blocks->list[index].record)->stack;
}

static int compare_stacks(const void *a, const void *b, void *of_blocks)
{
    uintptr_t x = (uintptr_t)stack_of(of_blocks, *(const uint32_t *)a);
    uintptr_t y = (uintptr_t)stack_of(of_blocks, *(const uint32_t *)b);
    return (x > y) - (x < y);
}

/* ---- threads ---- */

/* The outermost frames of threads by pthread_create, which are the C library's; 0: not known yet. */
static uintptr_t created_root[OUTERMOST];

static void learn_root(const pp_threads *threads)
{
    for (size_t i = 0; i < threads->count; i++) {
        const pp_thread_row *row = &threads->rows[i];
        if (row->whole && row->entry != 0 && row->depth >= OUTERMOST) {
            memcpy(created_root, row->pc + row->depth - OUTERMOST, sizeof created_root);
            return;
        }
    }
}

/* A thread that runs has no stack here, but may be known to be by pthread_create. */
static bool is_by_create(const pp_thread_row *row)
{
    return !row->whole && row->entry != 0 && created_root[0] != 0;
}

/* NULL: not known, or there are not so many frames. */
static const uintptr_t *root_of(const pp_thread_row *row)
{
    if (is_by_create(row)) {
        return created_root;
    }
    return row->whole && row->depth >= OUTERMOST ? row->pc + row->depth - OUTERMOST : NULL;
}

static bool is_root_of(const pp_thread_row *row, const pp_trie_stack *stack)
{
    const uintptr_t *root = root_of(row);
    return root != NULL && stack->depth >= OUTERMOST &&
           memcmp(root, stack->pc + stack->depth - OUTERMOST, sizeof created_root) == 0;
}

static bool is_unknown(const pp_thread_row *row)
{
    return !row->whole && !is_by_create(row);
}

static bool any_is_unknown(const pp_threads *threads, size_t first_other)
{
    learn_root(threads);
    for (size_t i = first_other; i < threads->count; i++) {
        if (is_unknown(&threads->rows[i])) {
            return true;
        }
    }
    return false;
}

/* The other threads that may hold a block that was allocated there. A thread with unknown frames may
 * hold a block of any place. */
static uint32_t count_holders(const pp_threads *threads, size_t first_other,
                              const pp_trie_stack *stack)
{
    uint32_t holders = 0;
    uint32_t unknown = 0;
    bool known = false;
    for (size_t i = 0; i < threads->count; i++) {
        const pp_thread_row *row = &threads->rows[i];
        bool same = is_root_of(row, stack);
        known |= same;
        holders += i >= first_other && same;
        unknown += i >= first_other && is_unknown(row);
    }
    return known ? holders + unknown : (uint32_t)(threads->count - first_other);
}

uint32_t pp_leak_doubts_leave_out_of(pp_leak_blocks *blocks, const pp_threads *threads,
                                     size_t first_other, uint32_t unseen, pp_arena *arena)
{
    uint32_t before = blocks->candidates;
    graph g = {.blocks = blocks,
               .cursor = pp_arena_array(arena, blocks->count + 1, sizeof(uint32_t)),
               .above = pp_arena_array(arena, blocks->count + 1, sizeof(uint32_t)),
               .order = pp_arena_array(arena, blocks->count + 1, sizeof(uint32_t)),
               .seen = pp_arena_array(arena, blocks->count + 1, sizeof(uint8_t))};
    if (arena->failed) {
        for (uint32_t i = 0; i < blocks->count; i++) {
            blocks->list[i].reached = true;
        }
        blocks->candidates = 0;
        return before;
    }
    find_heads(&g);
    learn_root(threads);
    pp_sort(g.heads, g.head_count, sizeof *g.heads, compare_stacks, blocks);
    for (uint32_t first = 0, last = 0; first < g.head_count; first = last) {
        const pp_trie_stack *stack = stack_of(blocks, g.heads[first]);
        for (last = first; last < g.head_count && stack_of(blocks, g.heads[last]) == stack;) {
            last++;
        }
        uint32_t holders = count_holders(threads, first_other, stack) + unseen;
        for (uint32_t i = first; last - first <= holders && i < last; i++) {
            pp_leak_blocks_reach(blocks, g.heads[i]);
        }
    }
    pp_leak_blocks_end(blocks);
    return before - blocks->candidates;
}

static bool may_look; /* at other threads */

void pp_leak_doubts_permit(bool look)
{
    __atomic_store_n(&may_look, look, __ATOMIC_RELAXED);
}

/* A snapshot has no row of a thread of the library, which may be the calling one. */
static size_t first_other(const pp_threads *threads)
{
    return threads->count > 0 && threads->rows[0].tid == pp_task_self() ? 1 : 0;
}

/* The program's threads that have no row. */
static uint32_t count_unseen(const pp_threads *threads)
{
    size_t all = pp_tasks_count();
    size_t seen = threads->count + pp_thread_table_count_ours();
    return all > seen ? (uint32_t)(all - seen) : 0;
}

/* Threads that run are asked only if they have to be: on a busy machine their answers take long. */
static void read_threads(pp_threads_wish *wish, pp_arena *arena, pp_threads *threads)
{
    for (int asks = 0; asks < 2; asks++) {
        pp_threads_release(threads);
        wish->asks_none = asks == 0;
        int error = pp_threads_snapshot(wish, arena, threads);
        if (error != 0 || !any_is_unknown(threads, first_other(threads))) {
            return; /* those that are not read are unseen */
        }
    }
}

uint32_t pp_leak_doubts_leave_out(pp_leak_blocks *blocks, pp_arena *arena)
{
    pp_threads threads = {.count = 0};
    uintptr_t *pcs = pp_arena_array(arena, PPROF_MAX_STACK, sizeof *pcs);
    if (pcs != NULL) {
        pp_threads_wish wish = {.pc = pcs,
                                .depth = (uint32_t)pp_callers_uncut(0, pcs, PPROF_MAX_STACK),
                                .alone = !__atomic_load_n(&may_look, __ATOMIC_RELAXED),
                                .with_stacks = true};
        read_threads(&wish, arena, &threads);
    }
    uint32_t in_doubt = pp_leak_doubts_leave_out_of(blocks, &threads, first_other(&threads),
                                                    count_unseen(&threads), arena);
    pp_threads_release(&threads);
    return in_doubt;
}
