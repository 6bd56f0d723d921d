/* SPDX-License-Identifier: MIT
 *
 * cancelled_first.c first|later: asynchronous cancellation before, during and after CPU profiles;
 * libc installs its handler at the first of all. Exit status 42.
 */
#include "must.h"
#include <pprof.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS = 42, PROFILES = 3 };

static int discard(void *context, const void *data, size_t length)
{
    (void)context, (void)data, (void)length;
    return 0;
}

static void *spin(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (volatile long i = 0;; i++) {
    }
    return unused;
}

static void cancel_one(void)
{
    pthread_t thread;
    void *result = NULL;
    check(pthread_create(&thread, NULL, spin, NULL) == 0, "pthread_create");
    check(pthread_cancel(thread) == 0, "pthread_cancel");
    check(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED, "cancelled");
}

int main(int argc, char **argv)
{
    const pprof_writer nowhere = {discard, NULL};
    if (argc > 1 && strcmp(argv[1], "first") == 0) {
        cancel_one();
    }
    for (int i = 0; i < PROFILES; i++) {
        check(pprof_start_cpu_profile(nowhere) == 0, "start");
        cancel_one();
        cancel_one();
        check(pprof_stop_cpu_profile() == 0, "stop");
        cancel_one();
    }
    return STATUS;
}
