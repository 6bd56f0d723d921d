/* SPDX-License-Identifier: MIT
 *
 * stack_ranks.c: a sorted list of stacks; the rank of a stack is its place there + 1.
 *
 * New stacks are sorted by themselves, and then merged into the list from its end to its beginning,
 * which ends at the place of the first new one. Only stacks behind it get other ranks.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: the list.
 */
#include "store/stack_ranks.h"

#include "base/memory.h"
#include "base/sort.h"
#include "sys/lock.h"
#include "sys/tasks.h"

#include <stdint.h>

enum { STACKS_MIN = 8192 };

static struct {
    pp_lock lock;
    pp_ranked_stack *sorted;
    size_t count, capacity;
} ranks;

bool pp_stack_ranks_begin(void)
{
    return pp_lock_try(&ranks.lock, pp_task_self());
}

void pp_stack_ranks_end(void)
{
    pp_lock_release(&ranks.lock);
}

size_t pp_stack_ranks_bytes(void)
{
    return __atomic_load_n(&ranks.count, __ATOMIC_RELAXED) * sizeof *ranks.sorted;
}

static int compare_items(const void *a, const void *b, void *context)
{
    const pp_ranked_stack *x = a;
    const pp_ranked_stack *y = b;
    (void)context;
    return pp_trie_stack_compare(x->stack, y->stack);
}

/* Equal stacks are one. */
static size_t leave_out_repeated(pp_ranked_stack *stacks, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || stacks[kept - 1].stack != stacks[i].stack) {
            stacks[kept++] = stacks[i];
        }
    }
    return kept;
}

static bool make_room(size_t needed)
{
    size_t capacity = ranks.capacity > 0 ? ranks.capacity : STACKS_MIN;
    while (capacity < needed) {
        capacity *= 2;
    }
    if (capacity == ranks.capacity) {
        return true;
    }
    size_t bytes = capacity * sizeof *ranks.sorted;
    void *list = ranks.sorted == NULL
                     ? pp_memory_map(bytes)
                     : pp_memory_resize(ranks.sorted, ranks.capacity * sizeof *ranks.sorted, bytes);
    if (list == NULL) {
        return false;
    }
    ranks.sorted = list;
    ranks.capacity = capacity;
    return true;
}

/* The trie leaves the rank to this file. */
static void put(size_t place, const pp_trie_stack *stack)
{
    ranks.sorted[place].stack = stack;
    ((pp_trie_stack *)(uintptr_t)stack)->rank = (uint32_t)(place + 1);
}

static void merge(const pp_ranked_stack *stacks, size_t count)
{
    size_t old = ranks.count;
    for (size_t to = old + count; count > 0; to--) {
        bool is_old = old > 0 && pp_trie_stack_compare(ranks.sorted[old - 1].stack,
                                                       stacks[count - 1].stack) > 0;
        put(to - 1, is_old ? ranks.sorted[--old].stack : stacks[--count].stack);
    }
}

bool pp_stack_ranks_add(pp_ranked_stack *stacks, size_t count)
{
    pp_sort(stacks, count, sizeof *stacks, compare_items, NULL);
    count = leave_out_repeated(stacks, count);
    if (ranks.count + count > UINT32_MAX - 1 || !make_room(ranks.count + count)) {
        return false;
    }
    merge(stacks, count);
    __atomic_store_n(&ranks.count, ranks.count + count, __ATOMIC_RELAXED);
    return true;
}
