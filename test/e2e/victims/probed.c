/* SPDX-License-Identifier: MIT
 *
 * probed.c CASE: allocates, for tracers of samples of the heap.
 *
 *   each     some calls of each kind; prints at the end what a tracer sees at rate 1, one event a line
 *   many N   N blocks of several sizes, each freed at once
 *   wait N   the same, after a line of standard input
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64 };

static struct {
    const char *what;
    uintptr_t block;
    size_t size;
} events[MOST];
static size_t count;

static void add(const char *what, const void *block, size_t size)
{
    events[count].what = what;
    events[count].block = (uintptr_t)block;
    events[count++].size = size;
}

/* The compiler must not leave the calls out. */
static void *volatile kept;

__attribute__((noinline)) static void *allocate_here(size_t size)
{
    kept = malloc(size);
    add("alloc", kept, size);
    return kept;
}

static void free_here(void *block)
{
    add("free", block, 0);
    free(block);
}

static void *resize_here(void *block, size_t size)
{
    if (block != NULL) {
        add("free", block, 0);
    }
    void *resized = realloc(block, size);
    if (resized != NULL) {
        add("alloc", resized, size);
    }
    return resized;
}

static int each(void)
{
    char line[128];
    char *first = allocate_here(1000);
    char *second = allocate_here(100000);
    volatile size_t too_much = SIZE_MAX / 4;
    first = resize_here(first, 1010);
    first = resize_here(first, 200000);
    if (resize_here(second, too_much) != NULL) {
        return 1;
    }
    free_here(second); /* a tracer has seen its end already, and knows no such block */
    kept = calloc(10, 30);
    add("alloc", kept, 300);
    free_here(kept);
    void *aligned = NULL;
    if (posix_memalign(&aligned, 64, 500) != 0) {
        return 1;
    }
    add("alloc", aligned, 500);
    free_here(aligned);
    free_here(resize_here(NULL, 77));
    free_here(first);
    for (size_t i = 0; i < count; i++) {
        int length =
            events[i].what[0] == 'a'
                ? snprintf(line, sizeof line, "alloc %#lx %zu %zu\n",
                           (unsigned long)events[i].block, events[i].size, events[i].size)
                : snprintf(line, sizeof line, "free %#lx\n", (unsigned long)events[i].block);
        if (write(STDOUT_FILENO, line, (size_t)length) != length) {
            return 1;
        }
    }
    return 0;
}

static void many(unsigned long blocks)
{
    for (unsigned long i = 0; i < blocks; i++) {
        kept = malloc(100 + i % 7 * 900);
        free(kept);
    }
}

int main(int argc, char **argv)
{
    char letter = 0;
    if (argc > 1 && strcmp(argv[1], "each") == 0) {
        return each();
    }
    if (argc < 3) {
        return 2;
    }
    if (strcmp(argv[1], "wait") == 0 && read(STDIN_FILENO, &letter, 1) != 1) {
        return 1;
    }
    many(strtoul(argv[2], NULL, 10));
    return 0;
}
