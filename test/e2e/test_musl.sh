#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_musl.sh: what is different with musl: stacks through a libc without unwind tables, a calloc that calls malloc, locks of
# another layout, threads with small stacks, and names of functions that musl lacks.
# shellcheck source=test/e2e/lib.sh
. "$SRC/test/e2e/lib.sh"
is_musl "$library" || skip "this build is not for musl"
need go readelf nm

# ---- stacks through libc ----

# qsort and snprintf call back, or compute for long, in code without CFI.
cat >through.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static volatile unsigned long sink;
static int compare(const void *a, const void *b)
{
    for (int i = 0; i < 20; i++) sink += (unsigned long)i;
    return *(const int *)a - *(const int *)b;
}
static double used(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
static void sort(void)
{
    static int numbers[4000];
    for (double end = used() + 0.3; used() < end;) {
        for (int i = 0; i < 4000; i++) numbers[i] = rand();
        qsort(numbers, 4000, sizeof *numbers, compare);
    }
}
static void print(void)
{
    char text[64];
    for (double end = used() + 0.3; used() < end;)
        for (int i = 0; i < 1000; i++) sink += (unsigned long)snprintf(text, sizeof text, "%d %g", i, i / 3.0);
}
int main(void)
{
    sort();
    print();
    return 0;
}
C
cc -O1 -fno-inline -fno-optimize-sibling-calls -D_GNU_SOURCE -o through through.c
record through.pb.gz ./through
expect_whole through.pb.gz
expect_near "sorting" 300 "$(weight_with through.pb.gz.raw sort main)" 60
expect_near "printing" 300 "$(weight_with through.pb.gz.raw print main)" 60
expect_at_least "compared below qsort" 50 "$(weight_with through.pb.gz.raw compare sort main)"
guessed=$(comments through.pb.gz.raw | sed -n 's/.* \([0-9]*\) reached the end by a guess.*/\1/p')
expect_at_least "stacks without a guess" 97 $((100 - 100 * ${guessed:-0} / $(weight through.pb.gz.raw)))

# ---- the heap ----

cat >blocks.c <<'C'
#include <stdlib.h>
#include <string.h>
static void *volatile kept;
static void zeroed(void) { kept = calloc(10, 100); }
static void aligned(void) { void *p = NULL; if (posix_memalign(&p, 64, 1000) == 0) kept = p; }
static void copied(void) { kept = strdup("123456789"); }
static void resized(void) { kept = reallocarray(NULL, 10, 100); }
int main(void)
{
    for (int i = 0; i < 100; i++) { zeroed(); aligned(); copied(); resized(); }
    return 0;
}
C
cc -O1 -fno-inline -fno-optimize-sibling-calls -D_GNU_SOURCE -o blocks blocks.c
preload "heap:1,file=heap.pb.gz" ./blocks
raw heap.pb.gz
for function in zeroed aligned resized; do
    expect_equal "blocks of $function" "100 100000 100 100000" "$(blocks_of heap.pb.gz.raw $function main)"
done
expect_equal "blocks of strdup" "100 1000 100 1000" "$(blocks_of heap.pb.gz.raw strdup copied main)"

# ---- what musl lacks ----

# A program that looks for a function of glibc's, or of an allocator's, does not find ours.
nm -D --defined-only "$library" | awk '{ print $3 }' >exports
for name in pthread_cond_clockwait execveat mallocx je_malloc __open_2 pvalloc; do
    ! grep -qx "$name" exports || fail "the library shows $name, which musl does not have"
done
for name in malloc pthread_create pthread_mutex_lock sem_wait; do
    grep -qx "$name" exports || fail "the library does not show $name"
done
echo ok
