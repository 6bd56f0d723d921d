/* SPDX-License-Identifier: MIT
 *
 * heap_arguments.c: asks the allocator for what it must refuse, for nothing, and for odd
 * alignments, and prints each answer and errno; the test compares them with those of the same run
 * without the library. With the argument "plain" what differs from allocator to allocator or is
 * fatal in some (alignments that are no powers of two) is left out.
 * Flags: -fno-builtin -Wno-alloc-size-larger-than -Wno-use-after-free
 */
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void show(const char *what, size_t a, size_t b, void *block)
{
    printf("%s(%zx, %zx): %s, errno %d\n", what, a, b, block != NULL ? "block" : "NULL", errno);
    free(block);
    errno = 0;
}

static void ask_sizes(bool plain)
{
    static const size_t sizes[] = {0,
                                   1,
                                   PTRDIFF_MAX,
                                   PTRDIFF_MAX - 4096,
                                   (size_t)PTRDIFF_MAX + 1,
                                   SIZE_MAX,
                                   SIZE_MAX - 4096,
                                   SIZE_MAX / 2 + 1,
                                   (size_t)1 << 62};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        show("malloc", n, 0, malloc(n));
        show("calloc", n, 1, calloc(n, 1));
        show("calloc", 1, n, calloc(1, n));
        show("calloc", n, n, n == 1 || n == 0 ? NULL : calloc(n, n));
        show("calloc", 0, n, calloc(0, n));
        show("realloc", 0, n, realloc(NULL, n));
        if (!plain) { /* mimalloc's realloc does not set errno, its reallocarray does */
            show("reallocarray", n, 2, n > 1 ? reallocarray(NULL, n, 2) : NULL);
        }
        show("valloc", n, 0, n > 1 ? valloc(n) : NULL);
    }
}

/* A block must survive a realloc that fails. */
static void ask_too_much(char *block, size_t size)
{
    errno = 0;
    char *larger = realloc(block, size);
    if (larger != NULL) {
        puts("realloc of too much");
        exit(1);
    }
    printf("realloc(%zx): errno %d, kept %d\n", size, errno, block[99]);
}

static void ask_resizes(void)
{
    char *block = malloc(100);
    memset(block, 7, 100);
    ask_too_much(block, SIZE_MAX);
    ask_too_much(block, PTRDIFF_MAX);
    if (reallocarray(block, SIZE_MAX / 2 + 1, 2) != NULL) {
        puts("reallocarray of too much");
        exit(1);
    }
    printf("reallocarray: kept %d\n", block[99]);
    char *larger = reallocarray(block, 10, 100);
    printf("reallocarray: kept %d, room %d\n", larger[99], malloc_usable_size(larger) >= 1000);
    free(larger);
    void *none = realloc(malloc(10), 0);
    printf("realloc to 0: %d\n", none != NULL);
    free(none);
}

static void ask_alignments(bool plain)
{
    static const size_t alignments[] = {8, 16, 64, 4096, 1 << 20, 0,        1,
                                        2, 3,  24, 48,   4097,    SIZE_MAX, SIZE_MAX / 2 + 1};
    static const size_t sizes[] = {0, 1, 100, 4096, PTRDIFF_MAX, SIZE_MAX};
    size_t count = plain ? 5 : sizeof alignments / sizeof *alignments;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            size_t a = alignments[i];
            size_t n = sizes[k];
            void *block = &block;
            int error = posix_memalign(&block, a, n);
            bool untouched = block == (void *)&block;
            bool aligned = error == 0 && (uintptr_t)block % a == 0;
            printf("posix_memalign(%zx, %zx): %d untouched %d aligned %d errno %d\n", a, n, error,
                   plain || untouched, aligned, errno);
            if (error == 0) {
                free(block);
            }
            errno = 0;
            show("memalign", a, n, memalign(a, n));
            if (!plain || n % a == 0) {
                show("aligned_alloc", a, n, aligned_alloc(a, n));
            }
        }
    }
}

static void ask_errno(void)
{
    errno = 77;
    free(NULL);
    void *block = malloc(10);
    block = realloc(block, 200000);
    free(block);
    block = calloc(10, 10);
    printf("errno %d, usable %d, of nothing %zu\n", errno, malloc_usable_size(block) >= 100,
           malloc_usable_size(NULL));
    free(block);
    free(malloc(1 << 20));
    printf("errno %d\n", errno);
}

/* What calloc gives is zero, what realloc keeps is kept. */
static void look_inside(void)
{
    for (size_t i = 0; i < 20000; i++) {
        size_t n = i * 37 % 5000;
        unsigned char *block = calloc(1, n);
        for (size_t k = 0; k < n; k++) {
            if (block[k] != 0) {
                puts("calloc: not zero");
            }
        }
        memset(block, 255, n);
        block = realloc(block, n * 2 + 1);
        for (size_t k = 0; k < n; k++) {
            if (block[k] != 255) {
                puts("realloc: not kept");
            }
        }
        free(block);
    }
}

int main(int argc, char **argv)
{
    bool plain = argc > 1 && strcmp(argv[1], "plain") == 0;
    ask_sizes(plain);
    ask_resizes();
    ask_alignments(plain);
    ask_errno();
    look_inside();
    puts("end");
    return 0;
}
