/* SPDX-License-Identifier: MIT
 *
 * leaks.c: allocates structures of every kind, loses some, and keeps the others in every place where a
 * pointer may be. Each kind has a function of its own, which is the only caller of malloc.
 *
 * Prints what it has done: "lost FUNCTION BLOCKS BYTES" or "kept FUNCTION".
 *
 * usage: leaks            ends when it has done so
 *        leaks wait       waits for its input to end
 *        leaks threads    the same in threads, which wait until the input ends
 *
 * Flags: -fno-builtin
 */
#include "bare_call.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { COUNT = 500 };

typedef struct node {
    struct node *next, *other;
    uint64_t payload[2];
} node;

/* What the program keeps is reached from here; the compiler does not know that nobody reads it. */
node *kept_list_head, *kept_tree_root, *kept_ring_entry, *kept_double_head;
node **kept_table;
char *kept_interior[COUNT], *kept_end[COUNT];
uintptr_t kept_low_bits[COUNT], kept_top_byte[COUNT];
uintptr_t kept_xor_head;
node *kept_first;
void **kept_arena;
void **in_mapping;
__thread void *in_variable[COUNT];

static void lost(const char *name, long blocks, long bytes)
{
    printf("lost %s %ld %ld\n", name, blocks, bytes);
}

static void kept(const char *name)
{
    printf("kept %s\n", name);
}

/* ---- structures ---- */

static node *make_list(void *(*get)(size_t))
{
    node *head = NULL;
    for (int i = 0; i < COUNT; i++) {
        node *n = get(sizeof *n);
        *n = (node){.next = head};
        head = n;
    }
    return head;
}

static node *make_double(void *(*get)(size_t))
{
    node *head = make_list(get);
    for (node *n = head; n->next != NULL; n = n->next) {
        n->next->other = n;
    }
    return head;
}

static node *make_ring(void *(*get)(size_t))
{
    node *head = make_double(get);
    node *last = head;
    while (last->next != NULL) {
        last = last->next;
    }
    last->next = head;
    head->other = last;
    return head;
}

static node *make_tree(void *(*get)(size_t), int depth)
{
    node *n = get(sizeof *n);
    *n = (node){0};
    if (depth > 1) {
        n->next = make_tree(get, depth - 1);
        n->other = make_tree(get, depth - 1);
    }
    return n;
}

static node **make_table(void *(*get)(size_t))
{
    node **table = get(64 * sizeof(void *));
    memset(table, 0, 64 * sizeof(void *));
    for (uint64_t i = 0; i < COUNT; i++) {
        node *n = get(sizeof *n);
        *n = (node){.next = table[i % 64], .payload = {i}};
        table[i % 64] = n;
    }
    return table;
}

#define GETTER(name)                                                                               \
    static void *name(size_t size)                                                                 \
    {                                                                                              \
        void *block = malloc(size);                                                                \
        __asm__ volatile("" ::: "memory");                                                         \
        return block;                                                                              \
    }

GETTER(lost_list)
GETTER(kept_list)
GETTER(lost_double)
GETTER(kept_double)
GETTER(lost_ring)
GETTER(kept_ring)
GETTER(lost_tree)
GETTER(kept_tree)
GETTER(lost_hash)
GETTER(kept_hash)
GETTER(lost_blocks)
GETTER(lost_of_freed)
GETTER(lost_large)
GETTER(kept_by_interior)
GETTER(kept_by_end)
GETTER(kept_by_low_bits)
GETTER(kept_by_top_byte)
GETTER(kept_by_variable)
GETTER(kept_by_mapping)
GETTER(kept_by_stack)
GETTER(kept_by_arena)
GETTER(lost_by_arena)
GETTER(missed_xor)
GETTER(lost_by_call)

static void structures(void)
{
    make_list(lost_list);
    kept_list_head = make_list(kept_list);
    make_double(lost_double);
    kept_double_head = make_double(kept_double);
    make_ring(lost_ring);
    kept_ring_entry = make_ring(kept_ring)->next->next;
    make_tree(lost_tree, 9);
    kept_tree_root = make_tree(kept_tree, 9);
    make_table(lost_hash);
    kept_table = make_table(kept_hash);
    lost("lost_list", COUNT, COUNT * (long)sizeof(node));
    lost("lost_double", COUNT, COUNT * (long)sizeof(node));
    lost("lost_ring", COUNT, COUNT * (long)sizeof(node));
    lost("lost_tree", 511, 511 * (long)sizeof(node));
    lost("lost_hash", COUNT + 1, COUNT * (long)sizeof(node) + 64 * (long)sizeof(node *));
    kept("kept_list");
    kept("kept_double");
    kept("kept_ring");
    kept("kept_tree");
    kept("kept_hash");
}

static void lose_blocks(void)
{
    for (int i = 0; i < COUNT; i++) {
        char *block = lost_blocks(24 + (size_t)i % 100);
        memset(block, 0, 24);
        /* cppcheck-suppress memleak */
    }
    for (int i = 0; i < 4; i++) {
        char *block = lost_large(1 << 20);
        memset(block, 1, 1 << 20);
        /* cppcheck-suppress memleak */
    }
    long bytes = 0;
    for (int i = 0; i < COUNT; i++) {
        bytes += 24 + i % 100;
    }
    lost("lost_blocks", COUNT, bytes);
    lost("lost_large", 4, 4 << 20);
}

/* An array that had the only pointers is freed: the words are still there. */
static void lose_of_freed(void)
{
    for (int k = 0; k < 10; k++) {
        void **array = malloc(50 * sizeof *array);
        for (int i = 0; i < 50; i++) {
            array[i] = lost_of_freed(40);
        }
        free(array);
    }
    lost("lost_of_freed", 500, 500 * 40);
}

/* ---- places ---- */

static void keep_pointers(void)
{
    for (int i = 0; i < COUNT; i++) {
        kept_interior[i] = (char *)kept_by_interior(100) + 50;
        kept_end[i] = (char *)kept_by_end(104) + 104;
        kept_low_bits[i] = (uintptr_t)kept_by_low_bits(64) | 3;
        kept_top_byte[i] = (uintptr_t)kept_by_top_byte(64) | (uintptr_t)0xa5 << 56;
        in_variable[i] = kept_by_variable(64);
    }
    in_mapping = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < COUNT; i++) {
        in_mapping[2 * i + 5] = kept_by_mapping(64);
    }
    mprotect(in_mapping, 1 << 20, PROT_READ);
    kept_arena = kept_by_arena(1 << 16);
    memset(kept_arena, 0, 1 << 16);
    void **arena = lost_by_arena(1 << 16);
    memset(arena, 0, 1 << 16);
    for (int i = 0; i < COUNT; i++) {
        kept_arena[3 * i] = kept_by_arena(48);
        arena[3 * i] = lost_by_arena(48);
    }
    kept_arena += 1000;
    kept("kept_by_interior");
    kept("kept_by_end");
    kept("kept_by_low_bits");
    kept("kept_by_top_byte");
    kept("kept_by_variable");
    kept("kept_by_mapping");
    kept("kept_by_arena");
    lost("lost_by_arena", COUNT + 1, COUNT * 48L + (1 << 16));
}

/* A list whose links are the two neighbours' addresses in one word: no search can follow it. */
static void make_xor(void)
{
    node *before = NULL;
    node *at = missed_xor(sizeof *at);
    kept_first = at;
    for (int i = 0; i < COUNT; i++) {
        node *next = missed_xor(sizeof *next);
        at->payload[0] = (uintptr_t)before ^ (uintptr_t)next;
        at->next = at->other = NULL;
        before = at;
        at = next;
    }
    at->payload[0] = (uintptr_t)before;
    at->next = at->other = NULL;
    kept_xor_head = (uintptr_t)at ^ UINT64_C(0x5555555555);
    printf("missed missed_xor %d\n", COUNT);
}

static void clear_stack(void)
{
    volatile char below[16384];
    memset((char *)below, 0, sizeof below);
}

enum {
    LOST_BY_CALL = 20,
    CALL_BYTES = 60 /* the allocator's memory after the block begins later than the block ends */
};

/* The only pointers to what the call fills are registers; one is the call's argument. Before that, the
 * same place loses some. */
static void wait_in_call(volatile int lose)
{
    void *buffer = NULL;
    do {
        buffer = lost_by_call(CALL_BYTES);
    } while (lose-- > 0);
    clear_stack();
    while (bare_call(SYS_read, 0, (long)buffer, 1) > 0) {
    }
}

static void everything(void)
{
    structures();
    lose_blocks();
    lose_of_freed();
    keep_pointers();
    make_xor();
    fflush(stdout);
}

static void wait_for_end(void)
{
    char byte;
    while (read(0, &byte, 1) > 0) {
    }
}

static void *work(void *unused)
{
    void *on_stack[COUNT];
    for (int i = 0; i < COUNT; i++) {
        on_stack[i] = kept_by_stack(64);
    }
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    static int done;
    pthread_mutex_lock(&one);
    int lose = 0;
    if (!done++) {
        everything();
        kept("kept_by_stack");
        lose = LOST_BY_CALL;
        lost("lost_by_call", LOST_BY_CALL, LOST_BY_CALL * CALL_BYTES);
        printf("done\n");
        fflush(stdout);
    }
    pthread_mutex_unlock(&one);
    wait_in_call(lose);
    __asm__ volatile("" ::"r"(on_stack) : "memory");
    return unused;
}

enum { THREADS = 4, STACK_BYTES = 256 * 1024 };

/* `side_by_side`: their stacks are one mapping, above a guard. */
static void run_threads(bool side_by_side)
{
    pthread_t threads[THREADS];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    char *stacks = mmap(NULL, (THREADS + 1) * STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stacks == MAP_FAILED || mprotect(stacks, STACK_BYTES, PROT_NONE) != 0) {
        abort();
    }
    for (int i = 0; i < THREADS; i++) {
        if (side_by_side) {
            pthread_attr_setstack(&attributes, stacks + (i + 1) * STACK_BYTES, STACK_BYTES);
        }
        pthread_create(&threads[i], &attributes, work, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    void *on_stack[COUNT];
    static char buffer[4096];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    if (strcmp(mode, "threads") == 0 || strcmp(mode, "side-by-side") == 0) {
        run_threads(mode[0] == 's');
        return 0;
    }
    everything();
    for (int i = 0; i < COUNT; i++) {
        on_stack[i] = kept_by_stack(64);
    }
    kept("kept_by_stack");
    clear_stack();
    if (strcmp(mode, "wait") == 0) {
        printf("done\n");
        fflush(stdout);
        wait_for_end();
    }
    fflush(stdout);
    __asm__ volatile("" ::"r"(on_stack) : "memory");
    exit(0); /* the frame of main stays */
}
