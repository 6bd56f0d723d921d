/* SPDX-License-Identifier: MIT
 *
 * explorer.c: threads as coroutines, and the search through all choices.
 *
 * An execution is the list of its choices. The next one has the same choices up to the last that
 * has another possibility left, takes that, and then the first of each that follows. The first
 * possibility is always that the same thread goes on and reads the newest value.
 */
#include "interleave/explorer.h"

#include "interleave/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum {
    STACK_BYTES = 128 * 1024,
    CHOICES = 4096,     /* of an execution */
    OPERATIONS = 20000, /* more, and it does not end */
    EVENTS = 4096,
    HEAP_BYTES = 64 << 20
};

typedef struct choice {
    unsigned taken, count;
} choice;

typedef struct coroutine {
    ucontext_t context;
    char *stack;
    void (*run)(void);
    bool is_done;
    char *variables;      /* of the thread, while another runs */
    const char *function; /* likewise: whose operation it is at */
} coroutine;

typedef struct event {
    unsigned thread;
    const char *function, *what;
    uintptr_t address;
    uint64_t value;
} event;

/* Around the variables of PP_TLS; absent where there are none. */
extern char __start_model_tls[] __attribute__((weak));
extern char __stop_model_tls[] __attribute__((weak));

static coroutine coroutines[MODEL_THREADS];
static ucontext_t explorer;
static unsigned self;
static model_phase phase;
static char *first_variables; /* as the program begins */

static choice choices[CHOICES];
static size_t choice_count, choices_made;
static model_bounds bounds, left;
static unsigned operations;

static const char *fault, *function = "";
static const model_mutant *mutant;
static event events[EVENTS];
static size_t event_count;
static char *heap;
static size_t heap_used;

/* ---- choices ---- */

static unsigned choose(unsigned count)
{
    if (count < 2) {
        return 0;
    }
    if (choices_made == choice_count) {
        if (choice_count == CHOICES) {
            explorer_fault("too many choices");
        }
        choices[choice_count++] = (choice){0, count};
    }
    const choice *c = &choices[choices_made++];
    if (c->count != count) {
        fprintf(stderr, "model: an execution went another way the second time\n");
        abort();
    }
    return c->taken;
}

/* False if all have been. */
static bool next_execution(void)
{
    while (choice_count > 0) {
        choice *last = &choices[choice_count - 1];
        if (++last->taken < last->count) {
            return true;
        }
        choice_count--;
    }
    return false;
}

unsigned explorer_choose_stale(unsigned count)
{
    unsigned taken = left.stale_reads > 0 ? choose(count) : 0;
    left.stale_reads -= taken > 0;
    return taken;
}

/* ---- coroutines ---- */

static size_t variables_bytes(void)
{
    /* cppcheck-suppress comparePointers ; the linker's names for one section */
    return __start_model_tls != NULL ? (size_t)(__stop_model_tls - __start_model_tls) : 0;
}

static void exchange_variables(unsigned from, unsigned to)
{
    memcpy(coroutines[from].variables, __start_model_tls, variables_bytes());
    memcpy(__start_model_tls, coroutines[to].variables, variables_bytes());
}

static void resume(unsigned next)
{
    unsigned before = self;
    exchange_variables(before, next);
    coroutines[before].function = function;
    function = coroutines[next].function;
    self = next;
    /* cppcheck-suppress swapcontextCalled ; the order is ours to choose, not the kernel's */
    swapcontext(&coroutines[before].context, &coroutines[next].context);
}

/* The n-th of the threads that can go on, the running one apart. */
static unsigned other_thread(unsigned n)
{
    for (unsigned i = 0;; i++) {
        if (i != self && !coroutines[i].is_done && n-- == 0) {
            return i;
        }
    }
}

static unsigned count_others(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < MODEL_THREADS; i++) {
        count += i != self && !coroutines[i].is_done;
    }
    return count;
}

void explorer_preempt(void)
{
    if (++operations > OPERATIONS) {
        explorer_fault("does not end");
    }
    unsigned taken = left.preemptions > 0 ? choose(1 + count_others()) : 0;
    if (taken > 0) {
        left.preemptions--;
        resume(other_thread(taken - 1));
    }
}

void model_wait(void)
{
    if (++operations > OPERATIONS) {
        explorer_fault("does not end");
    }
    unsigned others = phase == MODEL_RUNS ? count_others() : 0;
    if (others > 0) {
        resume(other_thread(choose(others)));
    }
}

static void coroutine_main(void)
{
    coroutines[self].run();
    coroutines[self].is_done = true;
    unsigned others = count_others();
    if (others > 0) {
        resume(other_thread(choose(others)));
    }
    setcontext(&explorer);
}

void explorer_fault(const char *text)
{
    fault = text;
    if (phase == MODEL_RUNS) {
        setcontext(&explorer);
    }
}

bool explorer_is_private(uintptr_t address)
{
    const char *stack = coroutines[self].stack;
    return address - (uintptr_t)stack < STACK_BYTES ||
           address - (uintptr_t)__start_model_tls < variables_bytes();
}

model_phase explorer_phase(void)
{
    return phase;
}

unsigned model_self(void)
{
    return self;
}

static void *map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        abort();
    }
    return at;
}

static void make_coroutines(void)
{
    if (heap != NULL) {
        return;
    }
    heap = map(HEAP_BYTES);
    first_variables = map(variables_bytes() + 1);
    memcpy(first_variables, __start_model_tls, variables_bytes());
    for (unsigned i = 0; i < MODEL_THREADS; i++) {
        coroutines[i].stack = map(STACK_BYTES);
        coroutines[i].variables = map(variables_bytes() + 1);
    }
}

/* ---- executions ---- */

static void begin_threads(const model_scenario *scenario)
{
    for (unsigned i = 0; i < MODEL_THREADS; i++) {
        coroutine *c = &coroutines[i];
        c->run = scenario->thread[i];
        c->is_done = c->run == NULL;
        c->function = "";
        memcpy(c->variables, first_variables, variables_bytes());
        /* cppcheck-suppress getcontextCalled ; the order is ours to choose, not the kernel's */
        getcontext(&c->context);
        c->context.uc_stack.ss_sp = c->stack;
        c->context.uc_stack.ss_size = STACK_BYTES;
        c->context.uc_link = NULL;
        /* cppcheck-suppress makecontextCalled ; the order is ours to choose, not the kernel's */
        makecontext(&c->context, coroutine_main, 0);
    }
}

static void run_threads(const model_scenario *scenario)
{
    volatile bool begun = false;
    begin_threads(scenario);
    phase = MODEL_RUNS;
    self = MODEL_THREADS; /* none: any of them may begin */
    /* cppcheck-suppress getcontextCalled ; the order is ours to choose, not the kernel's */
    getcontext(&explorer);
    if (!begun) {
        begun = true;
        self = other_thread(choose(count_others()));
        memcpy(__start_model_tls, coroutines[self].variables, variables_bytes());
        setcontext(&coroutines[self].context);
    }
    phase = MODEL_ALONE;
    self = 0;
    memcpy(__start_model_tls, first_variables, variables_bytes());
}

static void execute(const model_scenario *scenario)
{
    choices_made = operations = 0;
    event_count = heap_used = 0;
    fault = NULL;
    left = bounds;
    memory_begin();
    phase = MODEL_ALONE;
    self = 0;
    if (scenario->setup != NULL) {
        scenario->setup();
    }
    run_threads(scenario);
    if (fault == NULL && scenario->check != NULL) {
        scenario->check();
    }
    phase = MODEL_OFF;
    memory_end();
}

model_result model_explore(const model_scenario *scenario, const model_mutant *wanted,
                           model_bounds within)
{
    model_result result = {0};
    make_coroutines();
    memory_forget();
    mutant = wanted;
    bounds = within;
    choice_count = 0;
    do {
        execute(scenario);
        result.executions++;
        if (memory_has_grown()) {
            result.executions = 0;
            choice_count = 0;
            continue;
        }
        result.fault = fault;
    } while (result.fault == NULL && (memory_has_grown() || next_execution()));
    return result;
}

void *model_alloc(size_t bytes)
{
    void *at = heap + heap_used;
    heap_used += (bytes + 63) / 64 * 64;
    return heap_used <= HEAP_BYTES ? at : NULL;
}

/* ---- what an execution did ---- */

void model_check(bool holds, const char *where, const char *text)
{
    if (!holds) {
        function = where;
        explorer_note("fault", 0, 0);
        explorer_fault(text);
    }
}

void model_at(const char *name)
{
    function = name;
}

int explorer_order(unsigned kind, int order)
{
    bool applies =
        mutant != NULL && (mutant->kinds & kind) != 0 && strcmp(mutant->function, function) == 0;
    return applies ? mutant->order : order;
}

void explorer_note(const char *what, uintptr_t address, uint64_t value)
{
    if (event_count < EVENTS) {
        events[event_count++] = (event){self, function, what, address, value};
    }
}

void model_print_last(void)
{
    for (size_t i = 0; i < event_count; i++) {
        const event *e = &events[i];
        printf("  %*s%-28s %-10s %#lx %#lx\n", (int)e->thread * 8, "", e->function, e->what,
               (unsigned long)e->address, (unsigned long)e->value);
    }
}
