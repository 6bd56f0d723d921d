/* SPDX-License-Identifier: MIT
 *
 * leak_stacks.c: finds the stack pointers of threads that wait, in the mappings of their stacks.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: e2e.leak
 */
#include "kinds/heap/leak_stacks.h"

#include "sys/own_threads.h"
#include "sys/task_state.h"
#include "sys/tasks.h"
#include "threads/thread_table.h"
#include "unwind/stack_memory.h"

#include <errno.h>

enum {
    RED_ZONE = 128, /* below SP, that a function may use without moving it (x86-64 psABI) */
    ENTRIES_BYTES = 1024
};

static bool is_main_stack(const pp_leak_range *range)
{
    return range != NULL && range->main_stack;
}

/* Where the unused part of the calling thread's stack begins; 0: not sure. A thread of the library in a process that was
 * attached to has a stack of libc's, in a mapping of its own. */
static uintptr_t own_start(const pp_leak_memory *memory, uintptr_t sp)
{
    const pp_leak_range *range = pp_leak_memory_find(memory, sp);
    uintptr_t room = pp_stack_room(sp);
    uintptr_t variable = (uintptr_t)&pp_thread_marks;
    if (range == NULL || is_main_stack(range) || room != 0) {
        return is_main_stack(range) ? range->at.start : sp - room;
    }
    bool own =
        range->guarded && pp_stack_limit() == 0 && variable > sp && variable < range->at.limit;
    return own ? range->at.start : 0;
}

/* The newest record of the id; NULL: there is none. */
static const pp_thread_record *record_of(const pp_thread_record *records, size_t count, int tid)
{
    const pp_thread_record *newest = NULL;
    for (size_t i = 0; i < count; i++) {
        if (records[i].tid == tid && (newest == NULL || records[i].serial > newest->serial)) {
            newest = &records[i];
        }
    }
    return newest;
}

/* The same of another thread. Its stack may be a part of a mapping: what is below is not the thread's. A thread
 * on another stack than its own has its variables elsewhere. */
static uintptr_t other_start(const pp_leak_memory *memory, uintptr_t sp, const pp_thread_record *r)
{
    const pp_leak_range *range = pp_leak_memory_find(memory, sp);
    if (is_main_stack(range)) {
        return range->at.start;
    }
    bool own = r != NULL && r->stack != 0 && r->stack <= sp && (uintptr_t)r->place > sp;
    return own ? r->stack : 0;
}

/* A buffer that a call fills may be in no memory. */
static void add_arguments(pp_leak_stacks *stacks, const pp_task_place *place)
{
    for (unsigned i = 0; i < PP_TASK_ARGUMENTS; i++) {
        stacks->arguments[stacks->argument_count++] = place->argument[i];
    }
}

typedef struct looking {
    pp_leak_stacks *stacks;
    pp_leak_memory *memory;
    const pp_thread_record *records;
    size_t record_count, capacity;
    int folder, self;
} looking;

/* A thread that waits in a system call, all the while between two looks at its clock. */
static void look_at(int tid, void *context)
{
    looking *l = context;
    pp_task_place place;
    int64_t clock_ns = tid != l->self ? pp_task_cpu_ns(tid) : -1;
    if (clock_ns < 0 || l->stacks->argument_count == l->capacity * PP_TASK_ARGUMENTS ||
        pp_task_look(l->folder, tid, &place) != PP_TASK_WAITS || pp_task_cpu_ns(tid) != clock_ns) {
        return;
    }
    add_arguments(l->stacks, &place);
    uintptr_t sp = place.sp - RED_ZONE;
    uintptr_t start = other_start(l->memory, sp, record_of(l->records, l->record_count, tid));
    if (start != 0) {
        l->stacks->rests[l->stacks->rest_count++] = (pp_leak_rest){{start, sp}, tid, clock_ns};
        pp_leak_memory_hide(l->memory, start, sp);
    }
}

static void look_at_all(looking *l)
{
    char entries[ENTRIES_BYTES];
    l->folder = pp_task_open();
    if (l->folder >= 0) {
        pp_tasks_each(entries, sizeof entries, look_at, l);
        pp_task_close(l->folder);
    }
}

int pp_leak_stacks_read(pp_leak_stacks *stacks, uintptr_t sp, bool alone, pp_leak_memory *memory,
                        pp_arena *arena)
{
    *stacks = (pp_leak_stacks){0};
    uintptr_t own = own_start(memory, sp);
    pp_leak_memory_hide(memory, own != 0 ? own : sp, sp);
    if (alone) {
        return 0;
    }
    size_t capacity = pp_thread_table_count();
    pp_thread_record *records = pp_arena_array(arena, capacity + 1, sizeof *records);
    looking l = {.stacks = stacks,
                 .memory = memory,
                 .records = records,
                 .capacity = pp_tasks_count(),
                 .self = pp_task_self()};
    stacks->rests = pp_arena_array(arena, l.capacity + 1, sizeof *stacks->rests);
    stacks->arguments =
        pp_arena_array(arena, (l.capacity + 1) * PP_TASK_ARGUMENTS, sizeof *stacks->arguments);
    if (records == NULL || stacks->rests == NULL || stacks->arguments == NULL) {
        return -ENOMEM;
    }
    l.record_count = pp_thread_table_read(records, NULL, capacity);
    look_at_all(&l);
    return 0;
}

int pp_leak_stacks_read_rest(const pp_leak_stacks *stacks, pp_leak_memory *memory,
                             pp_leak_visit *visit, void *context)
{
    int error = 0;
    visit(context, (uintptr_t)stacks->arguments, stacks->arguments, stacks->argument_count);
    for (size_t i = 0; i < stacks->rest_count && error == 0; i++) {
        const pp_leak_rest *rest = &stacks->rests[i];
        if (pp_task_cpu_ns(rest->tid) != rest->clock_ns) {
            error = pp_leak_memory_read_span(memory, &rest->below, visit, context);
        }
    }
    return error;
}
