/* SPDX-License-Identifier: MIT
 *
 * asks_while_closed.c: threads ask for all profiles in all forms while another thread closes all
 * descriptors and takes their numbers (victims/takes_numbers.h).
 *
 * Usage: asks_while_closed FILE ROUNDS   prints what has happened in so many rounds, or more until each
 *                                        thread has had answers; 1 if it should not
 */
#include "../victims/takes_numbers.h"

#include <pprof.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { ASKERS = 2, LEAST_TURNS = 3 };

static atomic_bool is_over;
static atomic_int turns[ASKERS];

static int count_bytes(void *of_length, const void *data, size_t length)
{
    (void)data;
    *(size_t *)of_length += length;
    return 0;
}

static void ask_for(const char *name)
{
    for (int debug = PPROF_DEBUG_BARE; debug <= 2; debug++) {
        size_t length = 0;
        pprof_profile *profile = pprof_lookup(name);
        int error = pprof_profile_write(
            profile, (pprof_writer){.write = count_bytes, .ctx = &length}, debug);
        if (error != 0 || length == 0) {
            printf("%s, debug=%d: error %d, %zu bytes\n", name, debug, error, length);
            exit(1);
        }
    }
}

static void *ask(void *of_turns)
{
    static const char *const names[] = {"heap",  "allocs", "thread", "threadcreate",
                                        "block", "mutex",  "fd"};
    atomic_int *mine = of_turns;
    while (!is_over) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            ask_for(names[i]);
        }
        ++*mine;
    }
    return NULL;
}

static bool have_asked(void)
{
    return turns[0] >= LEAST_TURNS && turns[1] >= LEAST_TURNS;
}

int main(int argc, char **argv)
{
    taken t = {0};
    pthread_t askers[ASKERS];
    if (argc < 3 || make_own_file(argv[1]) != 0 ||
        pprof_configure("heap:4k,block:1,mutex:1,thread,fd,file=/dev/null") != 0) {
        return 2;
    }
    for (int i = 0; i < ASKERS; i++) {
        pthread_create(&askers[i], NULL, ask, &turns[i]);
    }
    while (t.rounds < atol(argv[2]) || !have_asked()) {
        take_numbers(&t, argv[1]);
    }
    is_over = true;
    for (int i = 0; i < ASKERS; i++) {
        pthread_join(askers[i], NULL);
    }
    return tell_taken(&t);
}
