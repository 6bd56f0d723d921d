/* SPDX-License-Identifier: MIT
 *
 * own_roots.c DIRECTORY PLUGIN: functions of the program that are called as those are with which
 * threads begin: it makes a block in each, and in _start() of the library PLUGIN. heap.txt and
 * thread.txt are written.
 */
#include <pprof.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* libc's of these names are in <sched.h>, and in no header. */
__attribute__((noinline)) static void *own_clone(size_t size) __asm__("clone");
__attribute__((noinline)) static void *own_thread(void *plugin) __asm__("start_thread");

static void *volatile kept[3];
static const char *directory;

static void *own_clone(size_t size)
{
    return malloc(size);
}

static int write_profile(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.txt", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int error = pprof_profile_write(pprof_lookup(name), pprof_writer_fd(fd), 1);
    return close(fd) != 0 || error != 0;
}

static void *own_thread(void *plugin)
{
    void *(*plugin_start)(void) = (void *(*)(void))plugin;
    kept[0] = own_clone(1001);
    kept[1] = plugin_start();
    kept[2] = malloc(1003);
    return write_profile("heap") + write_profile("thread") == 0 ? NULL : plugin;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    void *failed = NULL;
    void *library = argc == 3 ? dlopen(argv[2], RTLD_NOW) : NULL;
    if (library == NULL)
        return 2;
    directory = argv[1];
    pprof_set_mem_profile_rate(1);
    pthread_create(&thread, NULL, own_thread, dlsym(library, "_start"));
    pthread_join(thread, &failed);
    return failed != NULL;
}
