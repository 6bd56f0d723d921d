/* SPDX-License-Identifier: MIT
 * Flags: -rdynamic
 *
 * late_names.c: a C program into which dlopen brings allocation functions that it did not have, and
 * where they are first called by somebody who must not need the loader.
 *
 * Usage: late_names WAY LIBRARY...
 *
 *   constructor   by a thread that the library's constructor waits for
 *   fork          by the child of fork of that thread
 *   bare_fork     by the child of _Fork
 *   iterate       by the child of fork of a thread for which a callback of dl_iterate_phdr waits
 *   reload        by each of the libraries in turn, which are closed again
 *
 * A library has a function use_blocks(), and a constructor that calls in_constructor(use_blocks).
 * Ends with 42.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t _Fork(void) __attribute__((weak));

typedef void use_function(void);

static const char *way;
static use_function *use;
static bool begun, done;

static void await(const bool *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
}

static void begin_and_await(void)
{
    __atomic_store_n(&begun, true, __ATOMIC_RELEASE);
    await(&done);
}

void in_constructor(use_function *function);
void in_constructor(use_function *function)
{
    use = function;
    if (strcmp(way, "iterate") != 0 && strcmp(way, "reload") != 0) {
        begin_and_await();
    }
}

static int in_callback(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)info;
    (void)size;
    (void)unused;
    begin_and_await();
    return 1;
}

static void use_in_child(pid_t child)
{
    int status = 0;
    if (child == 0) {
        use();
        _exit(7);
    }
    if (waitpid(child, &status, 0) != child || status != 7 << 8) {
        _exit(1);
    }
}

static void *use_first(void *unused)
{
    await(&begun);
    if (strcmp(way, "constructor") == 0) {
        use();
    } else if (strcmp(way, "bare_fork") == 0) {
        use_in_child(_Fork != NULL ? _Fork() : fork());
    } else {
        use_in_child(fork());
    }
    __atomic_store_n(&done, true, __ATOMIC_RELEASE);
    return unused;
}

static int reload(char **libraries)
{
    for (; *libraries != NULL; libraries++) {
        void *library = dlopen(*libraries, RTLD_NOW);
        if (library == NULL) {
            return 1;
        }
        use_function *function = (use_function *)dlsym(library, "use_blocks");
        if (function != NULL) {
            function();
        }
        dlclose(library);
    }
    return 42;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc < 3) {
        return 1;
    }
    way = argv[1];
    if (strcmp(way, "reload") == 0) {
        return reload(argv + 2);
    }
    if (pthread_create(&thread, NULL, use_first, NULL) != 0 || dlopen(argv[2], RTLD_NOW) == NULL) {
        return 1;
    }
    if (strcmp(way, "iterate") == 0) {
        dl_iterate_phdr(in_callback, NULL);
    }
    return pthread_join(thread, NULL) == 0 ? 42 : 1;
}
