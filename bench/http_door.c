/* SPDX-License-Identifier: MIT
 *
 * http_door.c: what the library behind a server costs the program into which it is loaded.
 *
 *   http_door NAME FILE [FIRST]   loads FILE, after FIRST, starts a server if it knows how, and prints
 *                                 NAME.objects, .constructors, .resident (memory), .threads, .start
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct state {
    long objects, constructors, pages, threads;
    double us;
} state;

static int count_object(struct dl_phdr_info *info, size_t size, void *context)
{
    state *s = context;
    (void)size;
    s->objects++;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(info->dlpi_addr + header->p_vaddr);
        for (; header->p_type == PT_DYNAMIC && entry->d_tag != DT_NULL; entry++) {
            s->constructors += entry->d_tag == DT_INIT;
            s->constructors += entry->d_tag == DT_INIT_ARRAYSZ ? (long)(entry->d_un.d_val / 8) : 0;
        }
    }
    return 0;
}

static long read_line(const char *path, const char *format)
{
    char line[256];
    long number = 0;
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, format, &number) == 1) {
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return number;
}

static state look(void)
{
    struct timespec now;
    state s = {.objects = 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    s.us = (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
    dl_iterate_phdr(count_object, &s);
    s.pages = read_line("/proc/self/statm", "%*d %ld");
    s.threads = read_line("/proc/self/status", "Threads: %ld");
    return s;
}

/* ---- servers ---- */

static int refuse(void)
{
    return 0;
}

/* One thread of its own, as libpprof-http has it. */
static void start_microhttpd(void *library)
{
    enum { INTERNAL_THREAD = 8 | 1, AUTO = 65536 };
    void *(*start)(unsigned, unsigned short, void *, void *, int (*)(void), void *, ...) =
        (void *(*)(unsigned, unsigned short, void *, void *, int (*)(void), void *, ...))(
            uintptr_t)dlsym(library, "MHD_start_daemon");
    if (start(INTERNAL_THREAD | AUTO, 0, NULL, NULL, refuse, NULL, 0) == NULL) {
        fprintf(stderr, "MHD_start_daemon failed\n");
    }
}

static void start_civetweb(void *library)
{
    static const char *const options[] = {"listening_ports", "127.0.0.1:0", "num_threads", "1",
                                          NULL};
    char callbacks[1024] = {0};
    void *(*start)(void *, void *, const char *const *) =
        (void *(*)(void *, void *, const char *const *))(uintptr_t)dlsym(library, "mg_start");
    if (start(callbacks, NULL, options) == NULL) {
        fprintf(stderr, "mg_start failed\n");
    }
}

static void start_pprof(void *library)
{
    int (*serve)(const char *) =
        (int (*)(const char *))(uintptr_t)dlsym(library, "pprof_http_serve");
    if (serve("127.0.0.1:0") != 0) {
        fprintf(stderr, "pprof_http_serve failed\n");
    }
}

static void start(void *library)
{
    if (dlsym(library, "MHD_start_daemon") != NULL) {
        start_microhttpd(library);
    } else if (dlsym(library, "mg_start") != NULL) {
        start_civetweb(library);
    } else if (dlsym(library, "pprof_http_serve") != NULL) {
        start_pprof(library);
    }
}

int main(int argc, char **argv)
{
    const void *first = argc > 3 ? dlopen(argv[3], RTLD_NOW | RTLD_GLOBAL) : argv;
    if (argc < 3 || first == NULL) {
        return 2;
    }
    look(); /* stdio has its buffers now */
    state before = look();
    void *library = dlopen(argv[2], RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 77;
    }
    start(library);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double us = (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3 - before.us;
    usleep(100000); /* threads that start begin to use memory */
    state after = look();
    printf("%s.objects %ld count\n", argv[1], after.objects - before.objects);
    printf("%s.constructors %ld count\n", argv[1], after.constructors - before.constructors);
    printf("%s.resident %ld KiB\n", argv[1],
           (after.pages - before.pages) * (sysconf(_SC_PAGESIZE) / 1024));
    printf("%s.threads %ld count\n", argv[1], after.threads - before.threads);
    printf("%s.start %.0f us\n", argv[1], us);
    return 0;
}
