/* SPDX-License-Identifier: MIT
 *
 * call_slots.c: a program that looks at its own slots, and turns the heap profile on when it has
 * run for a while.
 *
 * Usage: call_slots WAY LIBRARY PROFILE
 *
 *   slots   prints where calls of malloc, free, malloc_usable_size and pthread_mutex_lock lead: at
 *           the start, and with the profile on; and what the kernel lets it do there
 *   fork    the same in the child of fork of a program with threads
 *   calls   allocates in every way that there is to call malloc
 *   storm   threads allocate and free, open and close the library, while the profile begins
 *
 * The library has functions use_library() and free_blocks(), which allocate, and two that return
 * pointers to malloc and free.
 *
 * Libc: glibc
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 100, SIZE = 100, ROUNDS = 20, THREADS = 4 };

typedef void *malloc_function(size_t);
typedef void free_function(void *);
typedef void use_function(void);

static const char *library;
static malloc_function *taken;
static free_function *taken_free;
static void *volatile last;

/* ---- slots ---- */

static uintptr_t *slot_of(const char *name)
{
    const char *names = NULL;
    const ElfW(Sym) *symbols = NULL;
    const ElfW(Rela) *calls = NULL;
    size_t count = 0;
    for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
        names = d->d_tag == DT_STRTAB ? (const char *)d->d_un.d_ptr : names;
        symbols = d->d_tag == DT_SYMTAB ? (const ElfW(Sym) *)d->d_un.d_ptr : symbols;
        calls = d->d_tag == DT_JMPREL ? (const ElfW(Rela) *)d->d_un.d_ptr : calls;
        count = d->d_tag == DT_PLTRELSZ ? d->d_un.d_val / sizeof *calls : count;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names + symbols[ELF64_R_SYM(calls[i].r_info)].st_name, name) == 0) {
            return (uintptr_t *)(_r_debug.r_map->l_addr + calls[i].r_offset);
        }
    }
    return NULL;
}

static void print_place(const char *name)
{
    Dl_info info = {.dli_fname = "nowhere"};
    const uintptr_t *slot = slot_of(name);
    if (slot != NULL) {
        dladdr((void *)*slot, &info);
    }
    const char *base = strrchr(info.dli_fname, '/');
    printf(" %s", base != NULL ? base + 1 : info.dli_fname);
}

static void print_protection(void)
{
    char line[512];
    uintptr_t start = 0;
    uintptr_t limit = 0;
    char allowed[8] = "";
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%lx-%lx %4s", &start, &limit, allowed) == 3 &&
            (uintptr_t)slot_of("malloc") - start < limit - start) {
            printf(" %s", allowed);
        }
    }
    if (maps != NULL) {
        fclose(maps);
    }
}

static void print_slots(void)
{
    print_place("malloc");
    print_place("free");
    print_place("malloc_usable_size");
    print_place("pthread_mutex_lock");
    print_protection();
    printf("\n");
    fflush(stdout);
}

static void turn_on(void)
{
    int64_t (*set)(int64_t) =
        (int64_t(*)(int64_t))dlsym(RTLD_DEFAULT, "pprof_set_mem_profile_rate");
    if (set == NULL) {
        exit(3);
    }
    set(1);
}

static void *waits(void *unused)
{
    (void)unused;
    pause();
    return NULL;
}

static void in_child(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, waits, NULL);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        turn_on();
        print_slots();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* ---- calls ---- */

__attribute__((noinline)) static void by_call(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        last = malloc(SIZE);
    }
}

__attribute__((noinline)) static void by_pointer(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        last = taken(SIZE);
    }
}

__attribute__((noinline)) static void by_name(void)
{
    malloc_function *found = (malloc_function *)dlsym(RTLD_DEFAULT, "malloc");
    for (int i = 0; i < BLOCKS; i++) {
        last = found(SIZE);
    }
}

__attribute__((noinline)) static void by_libc(void)
{
    char text[SIZE] = "";
    memset(text, 'a', SIZE - 1);
    for (int i = 0; i < BLOCKS; i++) {
        last = strdup(text);
    }
}

__attribute__((noinline)) static void freed_by_pointer(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        taken_free(last = malloc(SIZE));
    }
}

__attribute__((noinline)) static void freed_by_call(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        free(last = taken(SIZE));
    }
}

static use_function *loaded(void)
{
    void *handle = dlopen(library, RTLD_NOW);
    return handle != NULL ? (use_function *)dlsym(handle, "use_library") : NULL;
}

/* A library's: where the program's own code has the address, its calls need no slot. */
static void take_pointers(void)
{
    void *handle = dlopen(library, RTLD_NOW);
    taken = ((malloc_function * (*)(void)) dlsym(handle, "pointer_to_malloc"))();
    taken_free = ((free_function * (*)(void)) dlsym(handle, "pointer_to_free"))();
}

static void call_all(void)
{
    use_function *before = loaded();
    turn_on();
    by_call();
    by_pointer();
    by_name();
    by_libc();
    freed_by_pointer();
    freed_by_call();
    before();
}

/* ---- storm ---- */

static unsigned rounds[THREADS];
static bool over;

__attribute__((noinline)) static void allocate_and_free(void)
{
    void *blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc((size_t)i * 7 + 1);
    }
    for (int i = 0; i < BLOCKS; i++) {
        free(blocks[i]);
    }
}

static void *storms(void *of)
{
    unsigned *round = of;
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        allocate_and_free();
        if ((round - rounds) % 2 == 0) {
            void *handle = dlopen(library, RTLD_LAZY);
            ((use_function *)dlsym(handle, "free_blocks"))();
            dlclose(handle);
        }
        __atomic_add_fetch(round, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void wait_for_rounds(void)
{
    for (int i = 0; i < THREADS; i++) {
        unsigned from = __atomic_load_n(&rounds[i], __ATOMIC_ACQUIRE);
        while (__atomic_load_n(&rounds[i], __ATOMIC_ACQUIRE) - from < ROUNDS) {
            sched_yield();
        }
    }
}

static void storm(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, storms, &rounds[i]);
    }
    wait_for_rounds();
    turn_on();
    wait_for_rounds();
    __atomic_store_n(&over, true, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

/* ---- the profile ---- */

typedef struct writer {
    int (*write)(void *context, const void *data, size_t length);
    void *context;
} writer;

static void write_profile(const char *path)
{
    writer (*to)(int) = (writer(*)(int))dlsym(RTLD_DEFAULT, "pprof_writer_fd");
    int (*write_heap)(writer) = (int (*)(writer))dlsym(RTLD_DEFAULT, "pprof_write_heap_profile");
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    if (to == NULL || write_heap == NULL || write_heap(to(fd)) != 0) {
        exit(4);
    }
    close(fd);
}

int main(int argc, char **argv)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    last = malloc(1);
    bool has_size = malloc_usable_size(last) >= 1;
    free(last);
    if (argc != 4 || !has_size) {
        return 2;
    }
    library = argv[2];
    take_pointers();
    if (strcmp(argv[1], "slots") == 0) {
        print_slots();
        turn_on();
        print_slots();
        printf(" %s\n",
               taken == (malloc_function *)dlsym(RTLD_DEFAULT, "malloc") ? "same" : "other");
    } else if (strcmp(argv[1], "fork") == 0) {
        print_slots();
        in_child();
    } else if (strcmp(argv[1], "calls") == 0) {
        call_all();
        write_profile(argv[3]);
    } else {
        storm();
        write_profile(argv[3]);
    }
    return 42;
}
