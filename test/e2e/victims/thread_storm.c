/* SPDX-License-Identifier: MIT
 *
 * thread_storm.c [THREADS]: one thread after another, 3 ms of CPU time each: shorter than the
 * kernel's tick, so that many end without a single sample.
 */
#include "burn.h"

#include <pthread.h>
#include <stdlib.h>

void *short_entry(void *spent)
{
    *(double *)spent = burn_ms(3);
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 400;
    double sum = 0;
    for (int i = 0; i < threads; i++) {
        double spent = 0;
        pthread_t thread;
        if (pthread_create(&thread, NULL, short_entry, &spent) != 0) {
            return 1;
        }
        pthread_join(thread, NULL);
        sum += spent;
    }
    report("short_entry", sum);
    report("process", process_ms());
    return 0;
}
