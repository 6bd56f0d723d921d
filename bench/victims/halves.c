/* SPDX-License-Identifier: MIT
 *
 * halves.c: two functions with the same work to do.
 *
 * usage: halves SECONDS
 *
 * left_half and right_half are the same code at the same alignment. They take turns, in an order
 * and with lengths that are drawn at random, so that no period of a profiler or of the kernel's
 * tick can be in step with them; both get the same number of turns of each length. Prints where the
 * functions lie and, with the thread's CPU clock read around each turn, which share of the time was
 * the left one's:
 *
 *   left 0xSTART 0xEND
 *   right 0xSTART 0xEND
 *   cpu_ns LEFT RIGHT
 */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_LENGTH = 16, UNIT = 100000 };

typedef uint64_t half(uint64_t seed, unsigned rounds);

/* In a section of its own, so that its bounds are known. */
#define HALF(name)                                                                                 \
    static __attribute__((noinline, noclone, aligned(64), section(#name "_code"))) uint64_t name(  \
        uint64_t seed, unsigned rounds)                                                            \
    {                                                                                              \
        for (unsigned i = 0; i < rounds; i++) {                                                    \
            seed = seed * UINT64_C(6364136223846793005) + i;                                       \
        }                                                                                          \
        return seed;                                                                               \
    }                                                                                              \
    extern const char __start_##name##_code[], __stop_##name##_code[];

HALF(left_half)
HALF(right_half)

static uint64_t random_state;
static uint64_t used_ns[2];
static volatile uint64_t kept;

static void turn(unsigned side, unsigned length)
{
    static half *const halves[2] = {left_half, right_half};
    uint64_t start_ns = bench_thread_cpu_ns();
    kept = halves[side](kept, length * UNIT);
    used_ns[side] += bench_thread_cpu_ns() - start_ns;
}

/* A turn of each side, of the same length, in random order, and not always next to each other. */
static void pair_of_turns(void)
{
    unsigned first = (unsigned)(bench_random(&random_state) >> 63);
    unsigned a = 1 + (unsigned)(bench_random(&random_state) >> 32) % MAX_LENGTH;
    unsigned b = 1 + (unsigned)(bench_random(&random_state) >> 32) % MAX_LENGTH;
    turn(first, a);
    turn(1 - first, b);
    turn(first, b);
    turn(1 - first, a);
}

int main(int argc, char **argv)
{
    double seconds = argc == 2 ? strtod(argv[1], NULL) : 0;
    if (seconds <= 0) {
        bench_fail("usage: halves SECONDS");
    }
    random_state = (bench_now_ns() << 20 ^ (uint64_t)getpid()) | 1;
    while (bench_thread_cpu_ns() < (uint64_t)(seconds * 1e9)) {
        pair_of_turns();
    }
    printf("left %p %p\n", (const void *)__start_left_half_code,
           (const void *)__stop_left_half_code);
    printf("right %p %p\n", (const void *)__start_right_half_code,
           (const void *)__stop_right_half_code);
    printf("cpu_ns %llu %llu\n", (unsigned long long)used_ns[0], (unsigned long long)used_ns[1]);
    return 0;
}
