/* SPDX-License-Identifier: MIT
 *
 * attached.c: a program into which a library is loaded while it runs, as cpprof does it. It
 * obeys the lines of its standard input, and answers each with a line:
 *
 *   load PATH      loads the library; load-thread PATH: on a thread that then ends
 *   say TEXT       pprof_configure(TEXT) of that library
 *   state          waits until nothing is under way, and prints the state's number and text
 *   work           begins work, which does not end: burn_cpu, use_memory and hold_lock, on threads of
 *                  their own
 *   threads        begins and joins 8 threads that burn CPU time in burn_in_new_thread
 *   allocate N     allocates N blocks of 1000 bytes in keep_blocks, and prints the bytes
 *   release        frees them
 *   open           opens and keeps a descriptor, in open_file
 *   plugin PATH    loads another library, and keeps it; deep PATH: with RTLD_DEEPBIND
 *   keep N         has the last plugin allocate N blocks of 1000 bytes (attach/plugin.c)
 *   drop           has it free them
 *   unload         unloads it
 *   storm          begins threads that allocate, lock, and create threads; calm: ends them
 *   fork           prints what a child of fork finds: the state, and what it gets from malloc
 *   spawn PATH     prints the status of that program in a child of posix_spawn; vfork PATH: of vfork
 *   execute PATH   becomes that program, with all signals blocked, also those that libc keeps
 *   confine        begins a thread that installs a seccomp filter for itself
 *   cancel         cancels a thread, which installs libc's handler of signal 32
 *   facts FILE     writes the words that the loader has filled in, the actions of signals 32 and
 *                  33, the threads and the descriptors to FILE
 */
#include "bare_call.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <dirent.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef RTLD_DEEPBIND
#define RTLD_DEEPBIND 0 /* musl has no such order */
#endif

typedef struct status { /* include/pprof_attach.h */
    uint32_t version, state;
    int32_t error;
    uint32_t generation;
    char text[256];
} status;

enum { READY = 2, FAILED = 3, DETACHED = 5, BLOCKS = 100000 };

static void *handle;
static volatile unsigned long turns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *blocks[BLOCKS];
static size_t block_count;

/* ---- work ---- */

__attribute__((noinline)) static void burn_cpu(void)
{
    for (int i = 0; i < 1000000; i++) {
        turns += (unsigned long)i;
    }
}

__attribute__((noinline)) static void burn_in_new_thread(void)
{
    for (int i = 0; i < 30; i++) {
        burn_cpu();
    }
}

__attribute__((noinline)) static void *use_memory(void)
{
    char *memory = malloc(10000);
    if (memory != NULL) {
        memory[0] = 1;
    }
    return memory;
}

__attribute__((noinline)) static void hold_lock(void)
{
    pthread_mutex_lock(&lock);
    usleep(1000);
    pthread_mutex_unlock(&lock);
}

static void *burner(void *unused)
{
    for (;;) {
        burn_cpu();
    }
    return unused;
}

static void *allocator(void *unused)
{
    for (;;) {
        free(use_memory());
        usleep(100);
    }
    return unused;
}

static void *holder(void *unused)
{
    for (;;) {
        hold_lock();
    }
    return unused;
}

static void work(void)
{
    static void *(*const kinds[])(void *) = {burner, allocator, holder, holder};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, kinds[i], NULL) != 0) {
            exit(2);
        }
    }
    puts("works");
}

static void *new_thread(void *unused)
{
    burn_in_new_thread();
    return unused;
}

static void begin_threads(void)
{
    pthread_t list[8];
    for (size_t i = 0; i < 8; i++) {
        if (pthread_create(&list[i], NULL, new_thread, NULL) != 0) {
            exit(2);
        }
    }
    for (size_t i = 0; i < 8; i++) {
        pthread_join(list[i], NULL);
    }
    puts("joined");
}

__attribute__((noinline)) static void keep_blocks(const char *count)
{
    for (long left = atol(count); left > 0 && block_count < BLOCKS; left--) {
        blocks[block_count++] = malloc(1000);
    }
    printf("kept %zu\n", block_count * 1000);
}

static void release_blocks(void)
{
    while (block_count > 0) {
        free(blocks[--block_count]);
    }
    puts("released");
}

static void *sleeper(void *unused)
{
    pause();
    return unused;
}

static void cancel(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, sleeper, NULL) != 0) {
        exit(2);
    }
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    puts("cancelled");
}

__attribute__((noinline)) static void open_file(void)
{
    int opened = open("/dev/null", O_RDONLY | O_CLOEXEC); /* for good */
    printf("opened %d\n", opened);
}

/* ---- a storm ---- */

static bool calms;
static pthread_t stormy[3];
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static bool goes_on(void)
{
    return !__atomic_load_n(&calms, __ATOMIC_ACQUIRE);
}

static void *storm_of_memory(void *unused)
{
    void *kept[64] = {NULL};
    for (unsigned i = 0; i < 100 || goes_on(); i++) {
        kept[i % 64] = realloc(kept[i % 64], 1 + i * 37 % 5000);
        if (i % 7 == 0) {
            free(kept[i % 64]);
            kept[i % 64] = NULL;
        }
    }
    for (unsigned i = 0; i < 64; i++) {
        free(kept[i]);
    }
    return unused;
}

static void *storm_of_locks(void *unused)
{
    do {
        const struct timespec past = {0, 0};
        pthread_mutex_lock(&lock);
        pthread_cond_timedwait(&condition, &lock, &past);
        pthread_mutex_unlock(&lock);
    } while (goes_on());
    return unused;
}

static void *storm_of_nothing(void *unused)
{
    free(malloc(100));
    return unused;
}

static void *storm_of_threads(void *unused)
{
    pthread_t thread;
    do {
        if (pthread_create(&thread, NULL, storm_of_nothing, NULL) == 0) {
            pthread_join(thread, NULL);
        }
    } while (goes_on());
    return unused;
}

static void storm(void)
{
    static void *(*const kinds[])(void *) = {storm_of_memory, storm_of_locks, storm_of_threads};
    __atomic_store_n(&calms, false, __ATOMIC_RELEASE);
    for (size_t i = 0; i < 3; i++) {
        if (pthread_create(&stormy[i], NULL, kinds[i], NULL) != 0) {
            exit(2);
        }
    }
    puts("storms");
}

static void calm(void)
{
    __atomic_store_n(&calms, true, __ATOMIC_RELEASE);
    for (size_t i = 0; i < 3; i++) {
        pthread_join(stormy[i], NULL);
    }
    puts("calm");
}

/* ---- plugins ---- */

static void *plugin;

static void load_plugin(const char *path, int flags)
{
    plugin = dlopen(path, RTLD_LAZY | flags);
    printf("plugged %s\n", plugin != NULL ? "" : dlerror());
}

static void call_plugin(const char *name, const char *argument)
{
    long (*function)(long) = (long (*)(long))dlsym(plugin, name);
    printf("%s %ld\n", name, function != NULL ? function(atol(argument)) : -1);
}

/* ---- the library ---- */

static void load(const char *path)
{
    handle = dlopen(path, RTLD_NOW);
}

static void *load_on_thread(void *path)
{
    load(path);
    return NULL;
}

static const status *find_status(void)
{
    return handle != NULL ? dlsym(handle, "pprof_attach_state") : NULL;
}

static void show_state(void)
{
    const status *s = find_status();
    uint32_t state = 0;
    do {
        usleep(1000);
        state = s != NULL ? __atomic_load_n(&s->state, __ATOMIC_ACQUIRE) : 0;
    } while (s != NULL && state != READY && state != FAILED && state != DETACHED && state != 0);
    printf("state %u %s\n", state, s != NULL ? s->text : "");
}

static void say(const char *text)
{
    int (*configure)(const char *) = (int (*)(const char *))dlsym(handle, "pprof_configure");
    printf("said %d\n", configure != NULL ? configure(text) : -1);
}

static void fork_child(void)
{
    const status *s = find_status();
    pid_t child = fork();
    if (child == 0) {
        free(use_memory());
        burn_in_new_thread();
        _exit(s != NULL ? (int)s->state : 100);
    }
    int status = -1;
    waitpid(child, &status, 0);
    printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 1000);
}

/* ---- other programs ---- */

static void wait_for(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 1000);
}

static void spawn(const char *path)
{
    char *const argv[] = {(char *)(uintptr_t)path, NULL};
    pid_t child = -1;
    posix_spawn(&child, path, NULL, NULL, argv, environ);
    wait_for(child);
}

static void execute_in_child(const char *path)
{
    char *const argv[] = {(char *)(uintptr_t)path, NULL};
    pid_t child = vfork();
    if (child == 0) {
        execv(path, argv);
        _exit(101);
    }
    wait_for(child);
}

static void set_all_signals(int how)
{
    const unsigned long all = ~0UL;
    syscall(SYS_rt_sigprocmask, how, &all, NULL, sizeof all);
}

static void execute(const char *path)
{
    char *const argv[] = {(char *)(uintptr_t)path, NULL};
    set_all_signals(SIG_BLOCK);
    execv(path, argv);
    puts("not executed");
}

/* ---- facts ---- */

static bool is_in(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && address - info->dlpi_addr - p->p_vaddr < p->p_memsz) {
            return true;
        }
    }
    return false;
}

static void write_words(FILE *to, const struct dl_phdr_info *info, uintptr_t table, size_t size)
{
    const ElfW(Rela) *r = (const ElfW(Rela) *)table;
    for (size_t i = 0; i < size / sizeof *r; i++) {
        uint64_t type = ELF64_R_TYPE(r[i].r_info);
        if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64) {
            uintptr_t at = info->dlpi_addr + r[i].r_offset;
            fprintf(to, "%s %lx %lx\n", info->dlpi_name, (unsigned long)at,
                    *(const unsigned long *)at);
        }
    }
}

static int write_module(struct dl_phdr_info *info, size_t size, void *file)
{
    uintptr_t tables[2] = {0, 0};
    size_t sizes[2] = {0, 0};
    (void)size;
    if (strstr(info->dlpi_name, "libpprof") != NULL) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) {
            continue;
        }
        const ElfW(Dyn) *d = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        for (; d->d_tag != DT_NULL; d++) {
            tables[0] = d->d_tag == DT_RELA ? d->d_un.d_ptr : tables[0];
            sizes[0] = d->d_tag == DT_RELASZ ? d->d_un.d_val : sizes[0];
            tables[1] = d->d_tag == DT_JMPREL ? d->d_un.d_ptr : tables[1];
            sizes[1] = d->d_tag == DT_PLTRELSZ ? d->d_un.d_val : sizes[1];
        }
    }
    for (int i = 0; i < 2; i++) {
        if (is_in(info, tables[i])) {
            write_words(file, info, tables[i], sizes[i]);
        }
    }
    return 0;
}

static void write_action(FILE *to, int number)
{
    unsigned long action[4] = {0};
    syscall(SYS_rt_sigaction, number, NULL, action, sizeof action[0]);
    fprintf(to, "signal %d %lx %lx %lx\n", number, action[0], action[1], action[3]);
}

static void write_folder(FILE *to, const char *path, bool is_of_links)
{
    char name[300];
    char target[300] = "";
    DIR *folder = opendir(path);
    for (struct dirent *d = readdir(folder); d != NULL; d = readdir(folder)) {
        snprintf(name, sizeof name, "%s/%s", path, d->d_name);
        if (is_of_links) {
            ssize_t length = readlink(name, target, sizeof target - 1);
            target[length > 0 ? length : 0] = '\0';
        }
        if (d->d_name[0] != '.') {
            fprintf(to, "%s %s\n", name, target);
        }
    }
    closedir(folder);
}

static void write_facts(const char *path)
{
    FILE *to = fopen(path, "we");
    if (to == NULL) {
        exit(2);
    }
    dl_iterate_phdr(write_module, to);
    write_action(to, 32);
    write_action(to, 33);
    write_folder(to, "/proc/self/task", false);
    write_folder(to, "/proc/self/fd", true);
    fclose(to);
    puts("written");
}

/* ---- commands ---- */

static void load_and_say(const char *path)
{
    load(path);
    printf("loaded %s\n", handle != NULL ? "" : dlerror());
}

static void load_on_thread_and_say(const char *path)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, load_on_thread, (void *)(uintptr_t)path) == 0) {
        pthread_join(thread, NULL);
    }
    printf("loaded %s\n", handle != NULL ? "" : "not");
}

static void unload(void)
{
    printf("unloaded %d\n", dlclose(plugin));
}

static void plug(const char *path)
{
    load_plugin(path, 0);
}

static void plug_deep(const char *path)
{
    load_plugin(path, RTLD_DEEPBIND);
}

static void keep(const char *count)
{
    call_plugin("plugin_keep", count);
}

static void drop(const char *unused)
{
    call_plugin("plugin_drop", unused);
}

/* A thread under a filter that permits all, which it installs by a system call of its own. */
static void *confine(void *ready)
{
    struct sock_filter all = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
    struct sock_fprog filter = {1, &all};
    long result = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    long installed = bare_call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&filter);
    printf("%s %d\n", result == 0 && installed == 0 ? "confined" : "not", (int)gettid());
    pthread_barrier_wait(ready);
    pause();
    return NULL;
}

static void confine_thread(void)
{
    static pthread_barrier_t ready;
    pthread_t thread;
    pthread_barrier_init(&ready, NULL, 2);
    pthread_create(&thread, NULL, confine, &ready);
    pthread_barrier_wait(&ready);
}

static void obey(const char *command, const char *argument)
{
    static const struct {
        const char *name;
        void (*with)(const char *argument);
        void (*without)(void);
    } commands[] = {
        {"load", load_and_say, NULL},
        {"load-thread", load_on_thread_and_say, NULL},
        {"say", say, NULL},
        {"state", NULL, show_state},
        {"work", NULL, work},
        {"threads", NULL, begin_threads},
        {"allocate", keep_blocks, NULL},
        {"release", NULL, release_blocks},
        {"fork", NULL, fork_child},
        {"spawn", spawn, NULL},
        {"vfork", execute_in_child, NULL},
        {"execute", execute, NULL},
        {"cancel", NULL, cancel},
        {"confine", NULL, confine_thread},
        {"facts", write_facts, NULL},
        {"open", NULL, open_file},
        {"plugin", plug, NULL},
        {"deep", plug_deep, NULL},
        {"keep", keep, NULL},
        {"drop", drop, NULL},
        {"unload", NULL, unload},
        {"storm", NULL, storm},
        {"calm", NULL, calm},
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, command) == 0) {
            commands[i].with != NULL ? commands[i].with(argument) : commands[i].without();
            return;
        }
    }
    puts("what?");
}

int main(void)
{
    char line[4096];
    set_all_signals(SIG_UNBLOCK);
    setvbuf(stdin, NULL, _IONBF, 0); /* the next program reads the next line */
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *space = strchr(line, ' ');
        if (space != NULL) {
            *space = '\0';
        }
        obey(line, space != NULL ? space + 1 : line);
    }
    return 7;
}
