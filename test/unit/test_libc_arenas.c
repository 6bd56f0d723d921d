/* SPDX-License-Identifier: MIT
 *
 * test_libc_arenas.c: the memory of glibc's allocator is found in this process: the heaps of as many
 * arenas as there are threads, and a large block; and not where a program has written what looks a
 * little like it.
 * Libc: glibc
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "kinds/heap/libc_arenas.h"
#include "sys/allocator.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 5, BLOCKS = 300, BLOCK = 1 << 10, LARGE = 3 << 20 };

static pthread_barrier_t together;
static void *blocks[THREADS][BLOCKS];
static void *large;

static void *allocate(void *of_blocks)
{
    void **list = of_blocks;
    for (int i = 0; i < BLOCKS; i++) {
        list[i] = malloc(BLOCK);
        memset(list[i], 1, BLOCK);
    }
    pthread_barrier_wait(&together); /* an arena for each: none ends before the last begins */
    return NULL;
}

/* The number of the arena that has the address; UINT64_MAX: none. */
static uint64_t arena_of(const pp_libc_arenas *found, const void *address)
{
    for (size_t i = 0; i < found->count; i++) {
        if ((uintptr_t)address - found->spans[i].start <
            found->spans[i].limit - found->spans[i].start) {
            return found->spans[i].who;
        }
    }
    return UINT64_MAX;
}

static int set_up(void **state)
{
    (void)state;
    pthread_t thread[THREADS];
    mallopt(M_ARENA_MAX, 2 * THREADS);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&thread[i], NULL, allocate, blocks[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    large = malloc(LARGE);
    memset(large, 1, LARGE);
    return 0;
}

static pp_libc_arenas find_in(const pp_memory *memory, pp_arena *arena)
{
    pp_smaps areas;
    pp_libc_arenas found;
    static pp_page_runs runs;
    assert_int_equal(pp_page_runs_open(&runs, PP_OWN_PAGEMAP, true), 0);
    assert_int_equal(pp_smaps_read("/proc/thread-self/smaps", arena, &areas), 0);
    assert_int_equal(pp_libc_arenas_find(&areas, memory, &runs, arena, &found), 0);
    pp_page_runs_close(&runs);
    return found;
}

static pp_libc_arenas find(pp_arena *arena)
{
    return find_in(NULL, arena);
}

static bool is_glibcs(void)
{
    pp_allocator_use use;
    return pp_allocator_read(&use); /* not a sanitizer's */
}

static void each_block_is_in_its_arena(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    if (!is_glibcs()) {
        skip();
    }
    pp_libc_arenas found = find(&arena);
    bool seen[2 * THREADS + 2] = {false};
    assert_in_range(found.arenas, THREADS + 1, 2 * THREADS);
    for (int i = 0; i < THREADS; i++) {
        uint64_t number = arena_of(&found, blocks[i][0]);
        assert_in_range(number, PP_LIBC_MAIN_ARENA + 1, found.arenas);
        assert_false(seen[number]);
        seen[number] = true;
        for (int k = 0; k < BLOCKS; k++) {
            assert_int_equal(arena_of(&found, blocks[i][k]), number);
        }
    }
    assert_int_equal(arena_of(&found, large), PP_LIBC_LARGE);
    void *small = malloc(100);
    assert_int_equal(arena_of(&found, small), PP_LIBC_MAIN_ARENA);
    free(small);
    pp_arena_release(&arena);
}

static bool look_and_copy(const pp_memory *memory, void *to, uintptr_t from, size_t size)
{
    (void)memory;
    fail_msg("%zu bytes are copied to %p from %#lx where they may go", size, to,
             (unsigned long)from);
    return false;
}

static size_t copy_part(const pp_memory *memory, void *to, uintptr_t from, size_t size)
{
    (void)memory;
    return pp_safe_copy_part(to, from, size);
}

/* pp_safe_copy() may fault under a filter for system calls, if another thread frees a large block. */
static void memory_that_may_go_is_read_with_care(void **state)
{
    (void)state;
    static const pp_memory memory = {look_and_copy, copy_part};
    pp_arena arena = PP_ARENA_INIT;
    if (!is_glibcs()) {
        skip();
    }
    pp_libc_arenas found = find_in(&memory, &arena);
    assert_int_equal(arena_of(&found, large), PP_LIBC_LARGE);
    assert_in_range(found.arenas, THREADS + 1, 2 * THREADS);
    pp_arena_release(&arena);
}

static const char *sparse; /* of it one page is there */
static const size_t sparse_bytes = 256u << 20;
enum { PAGE_THERE = 5 };

static size_t copy_outside(const pp_memory *memory, void *to, uintptr_t from, size_t size)
{
    (void)memory;
    const uintptr_t at = from - (uintptr_t)sparse;
    assert_true(at >= sparse_bytes || at / (uintptr_t)sysconf(_SC_PAGESIZE) == PAGE_THERE);
    return pp_safe_copy_part(to, from, size);
}

/* Each page could begin something of the allocator. */
static void absent_memory_is_not_touched(void **state)
{
    (void)state;
    static const pp_memory memory = {look_and_copy, copy_outside};
    pp_arena arena = PP_ARENA_INIT;
    char *mapped = mmap(NULL, sparse_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(mapped, MAP_FAILED);
    madvise(mapped, sparse_bytes, MADV_NOHUGEPAGE);
    mapped[PAGE_THERE * sysconf(_SC_PAGESIZE)] = 1;
    sparse = mapped;
    find_in(&memory, &arena);
    munmap(mapped, sparse_bytes);
    pp_arena_release(&arena);
}

/* The kernel has joined the block's mapping with others. */
static void a_large_block_amid_other_memory_is_found(void **state)
{
    (void)state;
    enum { WHOLE = 1 << 20, BLOCK_AT = 256 << 10, BLOCK_BYTES = 128 << 10, IS_MAPPED = 2 };
    pp_arena arena = PP_ARENA_INIT;
    char *mapped = mmap(NULL, WHOLE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(mapped, MAP_FAILED);
    memset(mapped, 1, WHOLE);
    uint64_t *header = (uint64_t *)(void *)(mapped + BLOCK_AT);
    header[0] = 0;
    header[1] = BLOCK_BYTES | IS_MAPPED;
    pp_libc_arenas found = find(&arena);
    assert_int_equal(arena_of(&found, mapped + BLOCK_AT - 1), UINT64_MAX);
    assert_int_equal(arena_of(&found, mapped + BLOCK_AT), PP_LIBC_LARGE);
    assert_int_equal(arena_of(&found, mapped + BLOCK_AT + BLOCK_BYTES - 1), PP_LIBC_LARGE);
    assert_int_equal(arena_of(&found, mapped + BLOCK_AT + BLOCK_BYTES), UINT64_MAX);
    header[1] = UINT64_C(1) << 46 | IS_MAPPED; /* beyond the area's end */
    found = find(&arena);
    assert_int_equal(arena_of(&found, mapped + BLOCK_AT), UINT64_MAX);
    munmap(mapped, WHOLE);
    pp_arena_release(&arena);
}

static void others_are_not_found(void **state)
{
    (void)state;
    enum { HEAP = 64 << 20 };
    pp_arena arena = PP_ARENA_INIT;
    char *memory =
        mmap(NULL, 2 * (size_t)HEAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    uint64_t *heap = (uint64_t *)(((uintptr_t)memory + HEAP - 1) & ~(uintptr_t)(HEAP - 1));
    static const uint64_t looks[][4] = {
        {0, 0, 4096, 4096},    {16, 0, 4096, 4096},      {UINT64_MAX, 0, 4096, 4096},
        {32, 64, 4096, 4096},  {32, 0, 8192, 4096},      {32, 0, 4096, 100},
        {32, 0, 0, 0},         {32, 0, 4096, 128 << 20}, {4096, 0, 4096, 4096},
        {32, HEAP, 4096, 4096}};
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        memcpy(heap, looks[i], sizeof looks[i]);
        heap[0] += i < 2 ? 0 : (uintptr_t)heap;
        pp_libc_arenas found = find(&arena);
        assert_int_equal(arena_of(&found, heap), UINT64_MAX);
    }
    munmap(memory, 2 * (size_t)HEAP);
    pp_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_block_is_in_its_arena),
        cmocka_unit_test(memory_that_may_go_is_read_with_care),
        cmocka_unit_test(absent_memory_is_not_touched),
        cmocka_unit_test(a_large_block_amid_other_memory_is_found),
        cmocka_unit_test(others_are_not_found),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
