/* SPDX-License-Identifier: MIT
 *
 * shapes.c: stacks that are hard to walk. Each chain burns 200 ms at its leaf, and each function of
 * it must be seen.
 *
 *   deep recursion        700 frames, below the limit of what is kept; and 5000, above it
 *   callbacks             qsort and bsearch, whose frames belong to libc
 *   alloca, VLA           the CFA stands on rbp in the middle of frames that do not keep it
 *   realigned stack       a frame with 64-byte alignment and a frame size known at run time (DRAP)
 *   signal handlers       on the same and on an alternate stack
 *   switched stacks       makecontext
 *   leaf in libc          memset on a large block
 */
#include "burn.h"

#include <alloca.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define CHAIN_MS 200

static double used;

void shape_leaf(void)
{
    used = burn_ms(CHAIN_MS);
}

/* ---- recursion ---- */

int recurse(int depth)
{
    if (depth == 0) {
        shape_leaf();
        return 0;
    }
    int below = recurse(depth - 1);
    burn_sink += (unsigned long)below;
    return below + 1;
}

int recurse_deep(void)
{
    return recurse(700) + 1;
}

int recurse_too_deep(void)
{
    return recurse(5000) + 1;
}

/* ---- callbacks ---- */

static int compared;

int compare_and_burn(const void *a, const void *b)
{
    if (++compared == 3) {
        shape_leaf();
    }
    return *(const int *)a - *(const int *)b;
}

void sort_caller(void)
{
    int values[] = {5, 3, 9, 1, 7, 2};
    compared = 0;
    qsort(values, 6, sizeof *values, compare_and_burn);
}

void search_caller(void)
{
    int values[] = {1, 2, 3, 5, 7, 9, 11, 13};
    int key = 13;
    compared = 0;
    burn_sink += bsearch(&key, values, 8, sizeof *values, compare_and_burn) != NULL;
}

/* ---- frames of varying size ---- */

void alloca_caller(unsigned size)
{
    volatile char *block = alloca(size);
    block[0] = block[size - 1] = 1;
    shape_leaf();
    burn_sink += (unsigned long)block[0];
}

void vla_caller(unsigned size)
{
    volatile int block[size];
    block[0] = block[size - 1] = 1;
    shape_leaf();
    burn_sink += (unsigned long)block[0];
}

void realigned_caller(unsigned size)
{
    volatile int aligned[16] __attribute__((aligned(64)));
    volatile char *block = alloca(size);
    aligned[0] = 1;
    block[0] = 1;
    shape_leaf();
    burn_sink += (unsigned long)(aligned[0] + block[0]);
}

/* ---- signal handlers ---- */

void handler(int number)
{
    (void)number;
    shape_leaf();
}

void raise_caller(void)
{
    raise(SIGUSR1);
}

void raise_alternate_caller(void)
{
    raise(SIGUSR2);
}

/* ---- another stack ---- */

static ucontext_t home, away;

void coroutine(void)
{
    shape_leaf();
}

void switch_caller(void)
{
    size_t size = 256 * 1024;
    char *stack = malloc(size);
    getcontext(&away);
    away.uc_stack.ss_sp = stack;
    away.uc_stack.ss_size = size;
    away.uc_link = &home;
    makecontext(&away, coroutine, 0);
    swapcontext(&home, &away);
    free(stack);
}

/* ---- a leaf in libc ---- */

void memset_caller(void)
{
    enum { BLOCK = 16 << 20 };
    char *block = malloc(BLOCK);
    struct burn b = burn_for(CHAIN_MS);
    while (burn_on(&b)) {
        memset(block, (int)burn_sink, BLOCK);
        burn_sink += (unsigned long)block[BLOCK / 2];
    }
    used = burn_used(&b);
    free(block);
}

#define RUN(call, name)                                                                            \
    do {                                                                                           \
        call;                                                                                      \
        report(name, used);                                                                        \
    } while (0)

int main(int argc, char **argv)
{
    (void)argv;
    unsigned size = (unsigned)argc * 3000;
    stack_t alternate = {.ss_sp = malloc(65536), .ss_size = 65536};
    struct sigaction plain = {.sa_handler = handler};
    struct sigaction on_alternate = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigaltstack(&alternate, NULL);
    sigaction(SIGUSR1, &plain, NULL);
    sigaction(SIGUSR2, &on_alternate, NULL);

    RUN(burn_sink += (unsigned long)recurse_deep(), "recurse_deep");
    RUN(burn_sink += (unsigned long)recurse_too_deep(), "recurse_too_deep");
    RUN(sort_caller(), "sort_caller");
    RUN(search_caller(), "search_caller");
    RUN(alloca_caller(size), "alloca_caller");
    RUN(vla_caller(size), "vla_caller");
    RUN(realigned_caller(size), "realigned_caller");
    RUN(raise_caller(), "raise_caller");
    RUN(raise_alternate_caller(), "raise_alternate_caller");
    RUN(switch_caller(), "switch_caller");
    RUN(memset_caller(), "memset_caller");
    return 0;
}
