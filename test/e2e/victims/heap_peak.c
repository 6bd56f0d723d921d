/* SPDX-License-Identifier: MIT
 *
 * heap_peak.c: three phases: 8 MiB stay; 64 MiB by one function, freed again; 16 MiB by another.
 * The peak is in the second phase: 72 MiB, of which the first two functions hold all.
 */
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 65536, MIB = 1 << 20 };

static void *blocks[64 * MIB / BLOCK];

static void *hold_always(void)
{
    return malloc(BLOCK);
}

static void *hold_at_the_peak(void)
{
    return malloc(BLOCK);
}

static void *hold_after_it(void)
{
    return malloc(BLOCK);
}

static void fill(void *(*allocate)(void), int mib)
{
    for (int i = 0; i < mib * (MIB / BLOCK); i++) {
        blocks[i] = allocate();
    }
}

int main(void)
{
    fill(hold_always, 8); /* lost, and in use to the end */
    fill(hold_at_the_peak, 64);
    for (int i = 0; i < 64 * (MIB / BLOCK); i++) {
        free(blocks[i]);
    }
    fill(hold_after_it, 16);
    puts("ok");
    return 0;
}
