/* SPDX-License-Identifier: MIT
 *
 * use_atfork.c WAY: libraries that do things around fork, and a loader that is busy meanwhile.
 *
 *   join      a handler of pthread_atfork, registered before ours, waits for a thread to end
 *             (OpenBLAS)
 *   create    a handler of it, registered before ours, creates a thread in the child
 *             (ThreadSanitizer), and waits until it has used 100 ms
 *   loader    fork while other threads load and unload libraries and walk the list of them
 *
 * Flags: -rdynamic
 */
#include "burn.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATUS = 42 };

static pthread_t worker;
static atomic_int worker_stop, worker_runs;

static void *work_entry(void *unused)
{
    while (!atomic_load(&worker_stop)) {
        work_a_little();
    }
    return unused;
}

static void stop_worker(void)
{
    if (atomic_exchange(&worker_runs, 0)) {
        atomic_store(&worker_stop, 1);
        pthread_join(worker, NULL);
    }
}

static bool creates; /* a thread, in the child */
static atomic_bool has_worked;

static void *child_entry(void *unused)
{
    burn_ms(100);
    atomic_store(&has_worked, true);
    return unused;
}

/* The handlers after this one run when the thread has worked. */
static void create_in_child(void)
{
    pthread_t thread;
    if (creates && pthread_create(&thread, NULL, child_entry, NULL) == 0) {
        while (!atomic_load(&has_worked)) {
            usleep(1000);
        }
    }
}

/* Is called before any constructor, ours among them. musl calls nothing so early: there a library's
 * constructor does. */
void register_early(void)
{
    pthread_atfork(stop_worker, NULL, create_in_child);
}
#ifdef __GLIBC__
__attribute__((section(".preinit_array"),
               used)) static void (*const register_first)(void) = register_early;
#endif

static int wait_for(pid_t child)
{
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int join(void)
{
    for (int i = 0; i < 20; i++) {
        atomic_store(&worker_stop, 0);
        atomic_store(&worker_runs, 1);
        pthread_create(&worker, NULL, work_entry, NULL);
        burn_ms(5);
        pid_t child = fork();
        if (child == 0) {
            _exit(7);
        }
        if (wait_for(child) != 7) {
            return 1;
        }
    }
    return STATUS;
}

static int create(void)
{
    creates = true;
    pid_t child = fork();
    if (child == 0) {
        _exit(atomic_load(&has_worked) ? 7 : 8);
    }
    return wait_for(child) == 7 ? STATUS : 1;
}

static void *load_entry(void *unused)
{
    for (;;) {
        void *handle = dlopen("libm.so.6", RTLD_NOW);
        if (handle != NULL) {
            dlclose(handle);
        }
    }
    return unused;
}

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)info;
    (void)context;
    return size == 0;
}

static void *walk_entry(void *unused)
{
    for (;;) {
        dl_iterate_phdr(look, NULL);
    }
    return unused;
}

static int loader(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, load_entry, NULL);
    pthread_create(&thread, NULL, walk_entry, NULL);
    for (int i = 0; i < 150; i++) {
        pid_t child = fork();
        if (child == 0) {
            burn_ms(2);
            _exit(7);
        }
        if (wait_for(child) != 7) {
            return 1;
        }
    }
    _exit(STATUS); /* not exit(): the loader's threads go on */
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "join";
    return strcmp(way, "loader") == 0 ? loader() : strcmp(way, "create") == 0 ? create() : join();
}
