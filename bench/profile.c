/* SPDX-License-Identifier: MIT
 *
 * profile.c: a profile of the program's own with many values. profile.go is the same program in Go.
 *
 *   add_remove_28          pprof_profile_add() and pprof_profile_remove(), one after the other, at
 *                          28 frames
 *   add_remove_28_entered  the same, where each of the frames is entered anew before
 *   write_10000            a profile of 10 000 values that were added at 50 stacks, as
 *                          profile.proto
 *   write_1000000          likewise
 *   value_bytes            memory that the process has more for each of these million
 */
#include "measure.h"

#include <pprof.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRAMES = 28,
    STACKS = 50,
    BLOCK = 1000,
    BLOCKS = 300,
    QUICK_BLOCKS = 50,
    FEW = 10000,
    MANY = 1000000,
    WRITES = 21,
    QUICK_WRITES = 5
};

typedef void work(void *argument);

static char places[MANY]; /* values are their addresses; they are never touched */
static pprof_profile *profile;
static unsigned levels; /* that are missing to 28 frames */

/* Which of two places a call comes from: six levels of them are 64 stacks. */
__attribute__((noinline)) static void descend(unsigned path, unsigned depth, work *function,
                                              void *argument)
{
    if (depth == 0) {
        function(argument);
        __asm__ volatile("# the bottom" ::: "memory");
    } else if (path % 2 == 0) {
        descend(path / 2, depth - 1, function, argument);
        __asm__ volatile("# even" ::: "memory"); /* the two calls are not one */
    } else {
        descend(path / 2, depth - 1, function, argument);
        __asm__ volatile("# odd" ::: "memory");
    }
}

/* ---- frames ---- */

__attribute__((noinline)) static void count_frames(void *count)
{
    uintptr_t pcs[PPROF_MAX_STACK];
    *(size_t *)count = pprof_callers(0, pcs, PPROF_MAX_STACK);
    __asm__ volatile("" ::: "memory");
}

/* As seen from the function that `descend` calls. */
__attribute__((noinline)) static void find_levels(void)
{
    size_t count = 0;
    while (count != FRAMES) {
        descend(0, ++levels, count_frames, &count);
        if (count > FRAMES) {
            bench_fail("the stack has %zu frames already", count);
        }
    }
}

/* ---- adding and removing ---- */

__attribute__((noinline)) static void add_remove(void *pairs)
{
    for (unsigned i = 0; i < *(const unsigned *)pairs; i++) {
        if (pprof_profile_add(profile, &places[i], 0) != 0) {
            bench_fail("a value could not be added");
        }
        pprof_profile_remove(profile, &places[i]);
    }
}

__attribute__((noinline)) static void measure_add_remove(const char *name, unsigned in_one_place)
{
    static double times[BLOCKS];
    unsigned blocks = bench_quick() ? QUICK_BLOCKS : BLOCKS;
    for (unsigned i = 0; i < blocks; i++) {
        uint64_t start_ns = bench_thread_cpu_ns();
        for (unsigned k = 0; k < BLOCK / in_one_place; k++) {
            descend(0, levels, add_remove, &in_one_place);
        }
        times[i] = (double)(bench_thread_cpu_ns() - start_ns) / BLOCK;
    }
    bench_print(name, bench_median(times, blocks), "ns");
}

/* ---- many ---- */

typedef struct range {
    size_t from, count;
} range;

__attribute__((noinline)) static void add_range(void *argument)
{
    const range *r = argument;
    for (size_t i = r->from; i < r->from + r->count; i++) {
        if (pprof_profile_add(profile, &places[i], 0) != 0) {
            bench_fail("a value could not be added");
        }
    }
}

static void add_values(size_t count)
{
    for (unsigned stack = 0; stack < STACKS; stack++) {
        range r = {stack * (count / STACKS), count / STACKS};
        descend(stack, levels, add_range, &r);
    }
}

static int write_nowhere(void *bytes, const void *data, size_t length)
{
    (void)data;
    *(size_t *)bytes += length;
    return 0;
}

static void measure_write(const char *name)
{
    static double times[WRITES];
    unsigned writes = bench_quick() ? QUICK_WRITES : WRITES;
    for (unsigned i = 0; i < writes; i++) {
        size_t bytes = 0;
        uint64_t start_ns = bench_now_ns();
        if (pprof_profile_write(profile, (pprof_writer){write_nowhere, &bytes}, 0) != 0 ||
            bytes == 0) {
            bench_fail("the profile could not be written");
        }
        times[i] = (double)(bench_now_ns() - start_ns) / 1e6;
    }
    bench_print(name, bench_median(times, writes), "ms");
}

/* Bytes of memory that the process has. */
static double resident(void)
{
    static const char key[] = "VmRSS:";
    char line[256];
    long kilobytes = -1;
    FILE *status = fopen("/proc/self/status", "re");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            kilobytes = strtol(line + strlen(key), NULL, 10);
            break;
        }
    }
    if (kilobytes < 0) {
        bench_fail("/proc/self/status does not tell");
    }
    fclose(status);
    return (double)kilobytes * 1024;
}

static void use(const char *name)
{
    profile = pprof_new_profile(name);
    if (profile == NULL) {
        bench_fail("there is no profile");
    }
}

int main(void)
{
    find_levels();
    use("bench.pairs");
    measure_add_remove("profile.add_remove_28.pprof", BLOCK);
    measure_add_remove("profile.add_remove_28_entered.pprof", 1);
    use("bench.few");
    add_values(FEW);
    measure_write("profile.write_10000.pprof");
    use("bench.many");
    double before = resident();
    add_values(MANY);
    bench_print("profile.value_bytes.pprof", (resident() - before) / MANY, "B");
    measure_write("profile.write_1000000.pprof");
    return 0;
}
