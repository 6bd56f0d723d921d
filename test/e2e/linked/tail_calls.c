/* SPDX-License-Identifier: MIT
 *
 * tail_calls.c: functions that end in a call which takes their stack. Each has to be in it,
 * whatever the compiler makes of the call. Valid C and C++; test_tail_calls.sh compiles it with
 * several compilers and optimisations.
 */
#include <pprof.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* A function in a section of its own: the linker says where that begins and ends. */
#ifdef __cplusplus
#define LINKER extern "C"
#else
#define LINKER extern
#endif
#define FUNCTION(name)                                                                             \
    LINKER const char __start_in_##name[], __stop_in_##name[];                                     \
    __attribute__((noinline, section("in_" #name)))
#define IS_IN(pc, name) ((pc) > (uintptr_t)__start_in_##name && (pc) <= (uintptr_t)__stop_in_##name)

enum { CAPACITY = 64 };

static int missing;
static uintptr_t found[PPROF_MAX_STACK];
static size_t depth;
static pprof_profile *values;

static void check(const char *name, int is_there)
{
    if (!is_there) {
        printf("%s is not in its stack\n", name);
        missing = 1;
    }
}

/* ---- pprof_callers ---- */

FUNCTION(asks_callers) static size_t asks_callers(void)
{
    return pprof_callers(0, found, CAPACITY);
}

static void check_callers(void)
{
    memset(found, 0, sizeof found);
    depth = asks_callers();
    check("asks_callers", IS_IN(found[0], asks_callers));
}

/* ---- pprof_profile_add ---- */

FUNCTION(adds) static int adds(const void *value)
{
    return pprof_profile_add(values, value, 0);
}

static char text[1 << 20];
static size_t length;

static int keep(void *context, const void *data, size_t bytes)
{
    (void)context;
    if (bytes < sizeof text - length) {
        memcpy(text + length, data, bytes);
        length += bytes;
    }
    return 0;
}

static const pprof_writer keeper = {keep, NULL};

/* What stands in the text behind `before`, as an address. */
static uintptr_t address_behind(const char *before)
{
    const char *at = strstr(text, before);
    unsigned long long address = 0;
    if (at != NULL && sscanf(at + strlen(before), "%llx", &address) != 1)
        address = 0;
    return (uintptr_t)address;
}

static void check_add(void)
{
    values = pprof_new_profile("values");
    adds(&values);
    length = 0;
    memset(text, 0, sizeof text);
    pprof_profile_write(values, keeper, PPROF_DEBUG_BARE);
    check("adds", IS_IN(address_behind("1 @ 0x"), adds));
}

/* ---- heaps ---- */

FUNCTION(records_alloc) static void records_alloc(void *object)
{
    pprof_heap_record_alloc(object, 4711);
}

static void check_record_alloc(void)
{
    static pprof_mem_record records[4096];
    size_t n = 0;
    int is_there = 0;
    pprof_set_mem_profile_rate(1);
    records_alloc(&n);
    pprof_set_mem_profile_rate(0);
    pprof_mem_profile(records, 4096, &n, true);
    for (size_t i = 0; i < n && i < 4096; i++)
        is_there |= records[i].alloc_bytes == 4711 && IS_IN(records[i].stack.pc[0], records_alloc);
    check("records_alloc", is_there);
}

/* Their stacks are in the trace alone, which the script reads. */
FUNCTION(records_free) static void records_free(void *object)
{
    pprof_heap_record_free(object);
}

FUNCTION(records_sweep) static void records_sweep(void *object)
{
    pprof_heap_record_sweep(object);
}

FUNCTION(ends_cycle) static void ends_cycle(void)
{
    pprof_heap_cycle_next();
}

static void collect(void)
{
}

/* ---- threads ---- */

FUNCTION(writes_thread) static int writes_thread(int debug)
{
    return pprof_profile_write(pprof_lookup("thread"), keeper, debug);
}

FUNCTION(asks_stack_text) static size_t asks_stack_text(void)
{
    return pprof_stack_text(text, sizeof text - 1, false);
}

FUNCTION(asks_threads) static bool asks_threads(pprof_thread_record *records, size_t *n)
{
    return pprof_thread_profile(records, CAPACITY, n);
}

static void check_threads(void)
{
    static pprof_thread_record records[CAPACITY];
    size_t n = 0;
    length = 0;
    memset(text, 0, sizeof text);
    writes_thread(PPROF_DEBUG_BARE);
    check("writes_thread", IS_IN(address_behind("1 @ 0x"), writes_thread));
    memset(text, 0, sizeof text);
    asks_stack_text();
    check("asks_stack_text", strstr(text, "asks_stack_text") != NULL);
    asks_threads(records, &n);
    check("asks_threads", n == 1 && IS_IN(records[0].stack.pc[0], asks_threads));
    pprof_thread_records_release(records, n);
}

/* ---- labels ---- */

static void is_done(void *unused)
{
    (void)unused;
    depth = pprof_callers(0, found, CAPACITY);
}

FUNCTION(does) static void does(void)
{
    static const char *const labels[] = {"key", "value"};
    pprof_do(labels, 1, is_done, NULL);
}

static void check_do(void)
{
    int is_there = 0;
    does();
    for (size_t i = 0; i < depth; i++)
        is_there |= IS_IN(found[i], does);
    check("does", is_there);
}

int main(void)
{
    check_callers();
    check_add();
    check_record_alloc();
    check_threads();
    check_do();
    pprof_set_collector(collect);
    records_free(&missing);
    records_sweep(&missing);
    ends_cycle();
    return missing;
}
