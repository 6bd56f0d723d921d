/* SPDX-License-Identifier: MIT
 *
 * http_collector.c: a program with a server, and with garbage that only its collector takes away. Prints the port, serves
 * until its standard input ends, and prints how often it has collected.
 */
#include <pprof.h>
#include <pprof_http.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OBJECTS = 100, SIZE = 1000 };

/* As far as the profile goes: they are compared, never looked into. */
static char objects[OBJECTS][SIZE];
static bool in_use[OBJECTS];
static unsigned collections;

__attribute__((noinline)) void makes_garbage(void)
{
    for (int i = 0; i < OBJECTS; i++) {
        in_use[i] = true;
        pprof_heap_record_alloc(objects[i], SIZE);
    }
}

static void collect(void)
{
    pprof_heap_cycle_next();
    pprof_heap_cycle_flush();
    for (int i = 0; i < OBJECTS; i++) {
        if (in_use[i]) {
            in_use[i] = false;
            pprof_heap_record_sweep(objects[i]);
        }
    }
    pprof_heap_cycle_post_sweep();
    __atomic_add_fetch(&collections, 1, __ATOMIC_RELAXED);
}

int main(void)
{
    char address[128];
    char byte;
    pprof_set_mem_profile_rate(PPROF_RATE_ALL);
    makes_garbage();
    pprof_heap_cycle_next();
    pprof_heap_cycle_flush();
    pprof_set_collector(collect);
    int error = pprof_http_serve("127.0.0.1:0");
    if (error != 0 || pprof_http_address(address, sizeof address) != 0) {
        fprintf(stderr, "pprof_http_serve: %s\n", strerror(-error));
        return 1;
    }
    printf("%s\n", strrchr(address, ':') + 1);
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    printf("%u collections\n", __atomic_load_n(&collections, __ATOMIC_RELAXED));
    return pprof_http_stop();
}
