/* SPDX-License-Identifier: MIT
 *
 * http_contract.c: what test/e2e/go/http.go is, in C: prints the port, serves until its standard
 * input ends.
 */
#include <pprof.h>
#include <pprof_http.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_lock(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

/* The first word of glibc's lock is 2 while another thread waits; the second one of musl's is negative. */
static bool is_waited_for(void)
{
#ifdef __GLIBC__
    return __atomic_load_n(&lock.__data.__lock, __ATOMIC_ACQUIRE) == 2;
#else
    return __atomic_load_n((int *)&lock + 1, __ATOMIC_ACQUIRE) < 0;
#endif
}

static void contend(void)
{
    pthread_t thread;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, wait_for_lock, NULL);
    while (!is_waited_for()) {
        usleep(1000);
    }
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
}

int main(void)
{
    char address[128];
    char byte;
    pprof_set_mem_profile_rate(PPROF_RATE_ALL);
    pprof_set_block_profile_rate(PPROF_RATE_ALL);
    pprof_set_mutex_profile_fraction(PPROF_RATE_ALL);
    static char *volatile kept;
    kept = malloc(1 << 20);
    pprof_profile_add(pprof_new_profile("example.com/custom"), address, 0);
    contend();
    int error = pprof_http_serve("127.0.0.1:0");
    if (error != 0 || pprof_http_address(address, sizeof address) != 0) {
        fprintf(stderr, "pprof_http_serve: %s\n", strerror(-error));
        return 1;
    }
    printf("%s\n", strrchr(address, ':') + 1);
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    error = pprof_http_stop();
    free(kept);
    return error != 0;
}
