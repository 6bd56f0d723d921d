/* SPDX-License-Identifier: MIT
 *
 * heap_guest.c: situations in which a hook of malloc gets into difficulties, one for each argument.
 * Each ends with the line "MODE ok" and status 0.
 *
 *   signals      a handler that allocates, on the thread's stack and on an alternate one
 *   constructor  allocates before main, and before most other constructors
 *   threads      threads end while others free what they allocated
 *   fork         children of fork allocate and free while other threads allocate all the time
 *   vfork        a child of vfork allocates and frees on the parent's memory
 *   deepbind F   a library that has its own idea of malloc: blocks cross the border both ways
 *   limit        all memory there is, again and again
 *   coroutines   allocations on stacks that are unmapped afterwards
 *   deep         allocations 100 000 frames deep, and on the smallest stack
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef RTLD_DEEPBIND /* musl has none */
#define RTLD_DEEPBIND 0
#endif

static void expect(bool good, const char *what)
{
    if (!good) {
        printf("FAILED: %s\n", what);
        fflush(stdout);
        _exit(1);
    }
}

static void *keep(void *block)
{
    __asm__ volatile("" : "+r"(block) : : "memory");
    return block;
}

static void use(size_t size)
{
    char *block = keep(malloc(size));
    block[0] = 1;
    block = keep(realloc(block, size * 2));
    free(block);
}

/* ---- signals ---- */

static volatile sig_atomic_t handled;

static void allocate_in_handler(int signal)
{
    (void)signal;
    int saved_errno = errno;
    use(5000);
    handled++;
    errno = saved_errno;
}

/* Handlers that allocate are asked for where the program is in no allocation of its own: libc's is
 * not made for more. */
static void check_signals(void)
{
    static char alternate[1 << 16];
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    for (int round = 0; round < 2; round++) {
        struct sigaction action = {.sa_handler = allocate_in_handler,
                                   .sa_flags = round == 1 ? SA_ONSTACK : 0};
        expect(round == 0 || sigaltstack(&stack, NULL) == 0, "sigaltstack");
        sigaction(SIGUSR1, &action, NULL);
        for (int i = 0; i < 10000; i++) {
            use((size_t)i + 1);
            raise(SIGUSR1);
        }
    }
    expect(handled == 20000, "every handler ran");
}

/* ---- before main ---- */

static void *early;

__attribute__((constructor(101))) static void allocate_early(void)
{
    early = malloc(300000);
    memset(early, 3, 300000);
}

static void check_constructor(void)
{
    expect(((char *)early)[299999] == 3, "what was allocated before main is kept");
    early = realloc(early, 600000);
    expect(((char *)early)[299999] == 3, "and can be resized");
    free(early);
}

/* ---- threads ---- */

enum { THREADS = 4, BOX = 256, GENERATIONS = 30, THREAD_ROUNDS = 3000 };

static void *box[BOX];

static void *exchange_blocks(void *argument)
{
    unsigned state = (unsigned)(uintptr_t)argument;
    for (int i = 0; i < THREAD_ROUNDS; i++) {
        state = state * 1664525 + 1013904223;
        size_t size = 1 + (state >> 8) % 3000;
        size_t *block = keep(malloc(size + 8));
        *block = size;
        memset(block + 1, (int)size, size);
        size_t *other = __atomic_exchange_n(&box[state >> 24], block, __ATOMIC_ACQ_REL);
        if (other != NULL) {
            expect(((unsigned char *)(other + 1))[*other - 1] == (unsigned char)*other, "content");
            free(other);
        }
    }
    return NULL;
}

static void check_threads(void)
{
    for (int g = 0; g < GENERATIONS; g++) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++) {
            expect(pthread_create(&threads[i], NULL, exchange_blocks,
                                  (void *)(uintptr_t)(g * THREADS + i)) == 0,
                   "pthread_create");
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
        }
    }
    for (int i = 0; i < BOX; i++) {
        free(box[i]);
    }
}

/* ---- fork ---- */

static bool stop;

static void *allocate_until_stopped(void *argument)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        exchange_blocks(argument);
    }
    return NULL;
}

static void check_fork(void)
{
    pthread_t threads[THREADS];
    void *before[100];
    for (int i = 0; i < 100; i++) {
        before[i] = malloc((size_t)i * 100 + 1);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, allocate_until_stopped, (void *)(uintptr_t)i);
    }
    for (int i = 0; i < 200; i++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            for (int k = 0; k < 100; k++) {
                free(before[k]);
                use((size_t)k * 50 + 1);
            }
            if (i % 2) {
                exit(7);
            }
            _exit(7);
        }
        int status = 0;
        expect(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7,
               "a child of fork");
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < 100; i++) {
        free(before[i]);
    }
}

static void check_vfork(void)
{
    static void *block;
    static size_t size;
    block = malloc(100000);
    for (size = 1; size < 300000; size += 1000) {
        pid_t child = vfork(); /* NOLINT: what programs do */
        if (child == 0) {
            free(block);
            block = malloc(size);
            _exit(7);
        }
        int status = 0;
        expect(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7, "a child of vfork");
    }
    free(block);
}

/* ---- RTLD_DEEPBIND ---- */

static void check_deepbind(const char *file)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    expect(library != NULL, "dlopen");
    void *(*get)(size_t) = (void *(*)(size_t))dlsym(library, "get");
    void *(*resize)(void *, size_t) = (void *(*)(void *, size_t))dlsym(library, "resize");
    void (*give)(void *) = (void (*)(void *))dlsym(library, "give");
    for (size_t i = 1; i < 20000; i++) {
        size_t size = i % 3000 + 1;
        give(keep(malloc(size)));         /* a free that no hook sees */
        free(get(size));                  /* an allocation that no hook sees */
        free(resize(malloc(size), 2000)); /* the block moves, unseen */
        char *block = resize(get(size), size * 2);
        block[0] = 1;
        block = realloc(block, size * 3);
        give(block);
    }
    dlclose(library);
}

/* ---- no memory ---- */

static void check_limit(void)
{
    enum { BLOCKS = 1 << 16 };
    static void *blocks[BLOCKS];
    struct rlimit limit = {.rlim_cur = 300u << 20, .rlim_max = 300u << 20};
    expect(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
    for (int round = 0; round < 5; round++) {
        int count = 0;
        size_t size = round % 2 ? 100000 : 16000;
        errno = 0;
        while (count < BLOCKS && (blocks[count] = malloc(size)) != NULL) {
            *(char *)blocks[count++] = 1;
        }
        expect(count > 1000 && errno == ENOMEM, "the limit is met");
        void *grown = realloc(blocks[0], (size_t)400 << 20);
        expect(grown == NULL && *(char *)blocks[0] == 1, "realloc fails, and the block is kept");
        expect(calloc(1000, 1000000) == NULL && errno == ENOMEM, "calloc fails");
        while (count > 0) {
            free(blocks[--count]);
        }
        use(1000);
    }
}

/* ---- stacks ---- */

static ucontext_t main_context, coroutine;

static void run_on(char *stack, size_t size, void (*body)(void))
{
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = size;
    coroutine.uc_link = &main_context;
    makecontext(&coroutine, body, 0);
    swapcontext(&main_context, &coroutine);
}

static void *last_block;

static void allocate_some(void)
{
    for (size_t i = 1; i < 200; i++) {
        free(last_block);
        last_block = keep(malloc(i * 100));
    }
}

static void check_coroutines(void)
{
    const size_t size = 1 << 16;
    for (int i = 0; i < 200; i++) {
        char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        expect(stack != MAP_FAILED, "mmap");
        run_on(stack, size, allocate_some);
        munmap(stack, size);
    }
    free(last_block);
}

static void *descend(int depth)
{
    if (depth == 0) {
        return keep(malloc(1000));
    }
    void *block = descend(depth - 1);
    if (depth % 1000 == 0) {
        free(keep(malloc((size_t)depth)));
    }
    return keep(block);
}

static void *descend_far(void *nothing)
{
    (void)nothing;
    return descend(100000);
}

static void *stay(void *nothing)
{
    (void)nothing;
    use(3000);
    return keep(malloc(200));
}

static void check_deep(void)
{
    static const struct {
        void *(*start)(void *);
        size_t stack;
    } kinds[] = {{descend_far, 64u << 20}, {stay, 0}};
    for (size_t i = 0; i < 2; i++) {
        pthread_attr_t attributes;
        pthread_t thread;
        void *block = NULL;
        size_t least = (size_t)sysconf(_SC_THREAD_STACK_MIN);
        size_t stack = kinds[i].stack > least ? kinds[i].stack : least;
        pthread_attr_init(&attributes);
        expect(pthread_attr_setstacksize(&attributes, stack) == 0, "stack size");
        expect(pthread_create(&thread, &attributes, kinds[i].start, NULL) == 0, "thread");
        pthread_join(thread, &block);
        free(block);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*check)(void);
    } modes[] = {{"signals", check_signals},       {"constructor", check_constructor},
                 {"threads", check_threads},       {"fork", check_fork},
                 {"vfork", check_vfork},           {"limit", check_limit},
                 {"coroutines", check_coroutines}, {"deep", check_deep}};
    if (argc == 3 && strcmp(argv[1], "deepbind") == 0) {
        check_deepbind(argv[2]);
        puts("deepbind ok");
        return 0;
    }
    for (size_t i = 0; argc == 2 && i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(modes[i].name, argv[1]) == 0) {
            modes[i].check();
            printf("%s ok\n", argv[1]);
            return 0;
        }
    }
    return 2;
}
