/* SPDX-License-Identifier: MIT
 *
 * own_jemalloc.c: has an allocator in it that nobody sees from outside, with the names and the
 * variables of a jemalloc that was built for Rust. Its profiler samples every block.
 *
 * usage: OWN_JEMALLOC="VERSION 111" own_jemalloc     three digits: config.prof, opt.prof, prof.active
 *
 * Allocates 1000 blocks of 100 bytes in keep(), whose size class is 112, and 1000 of 200 bytes in
 * pass(), which are freed; 10 blocks of those in keep() become ones of 3000 bytes, in place for
 * those with even numbers, of the class 3072. Then makes the profiler active, if it is not off, and
 * calls keep() again. Prints how often its own walk of the stack was called.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef NAME
#define NAME(name) _rjem_##name
#endif

enum { BLOCKS = 1000, RESIZED = 10, ROOM = 64 << 20, PAGE = 4096, STACK = 128 };

typedef void sample_hook(const void *, size_t, void **, unsigned, size_t);
typedef void free_hook(const void *, size_t);
typedef void walk_hook(void **, unsigned *, unsigned);

static void prof_backtrace_impl(void **stack, unsigned *depth, unsigned room);

static struct {
    const char *version;
    bool config_prof, opt_prof, prof_active;
    size_t lg_sample;
    sample_hook *sample;
    free_hook *freed;
    walk_hook *walk;
    unsigned walks;
} own = {.walk = prof_backtrace_impl};

int NAME(mallctl)(const char *name, void *old, size_t *old_size, void *new, size_t new_size);
void *NAME(mallocx)(size_t size, int flags);
void *NAME(rallocx)(void *block, size_t size, int flags);
void NAME(dallocx)(void *block, int flags);
void *NAME(pages_map)(size_t size);

/* The library asks before any constructor of the program. */
static void begin(void)
{
    const char *text = getenv("OWN_JEMALLOC");
    const char *digits = text != NULL ? strchr(text, ' ') : NULL;
    if (own.version != NULL || digits == NULL) {
        return;
    }
    own.version = strndup(text, (size_t)(digits - text));
    own.config_prof = digits[1] == '1';
    own.opt_prof = digits[2] == '1';
    own.prof_active = digits[3] == '1';
}

int NAME(mallctl)(const char *name, void *old, size_t *old_size, void *new, size_t new_size)
{
    begin();
    const struct {
        const char *name;
        void *at;
        size_t size;
    } list[] = {{"version", &own.version, sizeof own.version},
                {"config.prof", &own.config_prof, sizeof(bool)},
                {"opt.prof", &own.opt_prof, sizeof(bool)},
                {"prof.active", &own.prof_active, sizeof(bool)},
                {"prof.lg_sample", &own.lg_sample, sizeof(size_t)},
                {"experimental.hooks.prof_backtrace", &own.walk, sizeof own.walk},
                {"experimental.hooks.prof_sample", &own.sample, sizeof own.sample},
                {"experimental.hooks.prof_sample_free", &own.freed, sizeof own.freed}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (strcmp(list[i].name, name) != 0) {
            continue;
        }
        if (list[i].name[0] == 'e' && strcmp(own.version, "5.3.0-0-g54eaed1d") == 0) {
            return ENOENT;
        }
        if (old != NULL && *old_size == list[i].size) {
            memcpy(old, list[i].at, list[i].size);
        }
        if (new != NULL && new_size == list[i].size) {
            memcpy(list[i].at, new, list[i].size);
        }
        return 0;
    }
    return ENOENT;
}

/* Blocks are pages apart, and begin with their size class. */
static size_t class_of(size_t size)
{
    return size <= 112 ? 112 : size <= 224 ? 224 : 3072;
}

__attribute__((noinline)) void *NAME(pages_map)(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages != MAP_FAILED ? pages : abort(), pages;
}

static void *give_out(size_t size)
{
    static char *next, *limit;
    if (next == limit) {
        next = NAME(pages_map)(ROOM);
        limit = next + ROOM;
    }
    char *block = next;
    next += PAGE;
    *(size_t *)(void *)block = class_of(size);
    return block;
}

static void prof_backtrace_impl(void **stack, unsigned *depth, unsigned room)
{
    own.walks++;
    *depth = room > 0;
    stack[0] = NULL;
}

/* The real one is called before the block exists. */
__attribute__((noinline)) static unsigned prof_backtrace(void **stack)
{
    unsigned depth = 0;
    own.walk(stack, &depth, STACK);
    return depth;
}

__attribute__((noinline)) static void prof_malloc_sample_object(void *block, size_t size)
{
    if (own.prof_active && own.sample != NULL) {
        void *stack[STACK];
        unsigned depth = prof_backtrace(stack);
        own.sample(block, size, stack, depth, class_of(size));
    }
    __asm__ volatile("");
}

static void prof_free_sampled_object(void *block, size_t size_class)
{
    if (own.prof_active && own.freed != NULL) {
        own.freed(block, size_class);
    }
}

__attribute__((noinline)) void *NAME(mallocx)(size_t size, int flags)
{
    (void)flags;
    void *block = give_out(size);
    prof_malloc_sample_object(block, size);
    return block;
}

__attribute__((noinline)) void *NAME(rallocx)(void *block, size_t size, int flags)
{
    size_t before = *(size_t *)block;
    void *after = block;
    if (flags == 0) {
        *(size_t *)block = class_of(size);
    } else {
        after = give_out(size);
    }
    prof_malloc_sample_object(after, size);
    prof_free_sampled_object(block, before);
    return after;
}

__attribute__((noinline)) void NAME(dallocx)(void *block, int flags)
{
    (void)flags;
    prof_free_sampled_object(block, *(size_t *)block);
}

/* ---- the program ---- */

void *kept[BLOCKS];

__attribute__((noinline)) void keep(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        kept[i] = NAME(mallocx)(100, 0);
    }
}

__attribute__((noinline)) void pass(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        NAME(dallocx)(NAME(mallocx)(200, 0), 0);
    }
}

__attribute__((noinline)) void resize(void)
{
    for (int i = 0; i < RESIZED; i++) {
        kept[i] = NAME(rallocx)(kept[i], 3000, i % 2);
    }
}

int main(void)
{
    begin();
    if (own.version == NULL) {
        fprintf(stderr, "usage: OWN_JEMALLOC=\"5.3.1 111\" own_jemalloc\n");
        return 2;
    }
    keep();
    pass();
    resize();
    own.prof_active = own.opt_prof;
    keep();
    printf("%u\n", own.walks);
    return 0;
}
