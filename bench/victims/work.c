/* SPDX-License-Identifier: MIT
 *
 * work.c: a fixed amount of ordinary work: hashing, sorting, pointers, calls.
 *
 * usage: work ROUNDS            (a round is some 4 ms)
 *
 * Deterministic: the same instructions in each run, so that a difference in CPU time is somebody
 * else's.
 */
#include "victims/work_rounds.h"

#include "measure.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    unsigned long rounds = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    if (rounds == 0) {
        bench_fail("usage: work ROUNDS");
    }
    uint64_t sum = 0;
    for (unsigned long i = 0; i < rounds; i++) {
        sum += work_round();
    }
    printf("%016llx\n", (unsigned long long)sum);
    return 0;
}
