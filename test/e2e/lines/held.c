/* SPDX-License-Identifier: MIT
 *
 * held.c: while one thread writes a profile and waits for its lines (held_plugin.c), another does
 * all that the library has a part in. It would wait for ever for a lock that the writer held.
 */
#include <pprof.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static sem_t asked, answered;
static pprof_profile *things;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Called by the plugin. */
void lines_are_wanted(void);
void lines_are_wanted(void)
{
    sem_post(&asked);
    sem_wait(&answered);
    sem_post(&answered); /* for the other mappings */
}

static int discard(void *unused, const void *data, size_t size)
{
    (void)unused;
    (void)data;
    (void)size;
    return 0;
}

static void *write_profile(void *name)
{
    const pprof_writer nowhere = {discard, NULL};
    if (name == NULL)
        return (void *)(size_t)pprof_stop_cpu_profile();
    return (void *)(size_t)pprof_profile_write(pprof_lookup(name), nowhere, 0);
}

static void *lock(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static int work(void)
{
    pthread_t thread;
    int status = 1;
    for (int i = 0; i < 1000; i++) {
        void *volatile block = malloc(1000);
        free(block);
    }
    if (pprof_profile_add(things, &thread, 0) != 0 || pprof_profile_remove(things, &thread) != 0)
        return 1;
    pprof_labels_unref(
        pprof_set_thread_labels(pprof_labels_new(NULL, (const char *[]){"a", "b"}, 1)));
    pprof_labels_unref(pprof_set_thread_labels(NULL));
    pthread_mutex_lock(&mutex);
    if (pthread_create(&thread, NULL, lock, NULL) != 0)
        return 2;
    usleep(1000);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    void *library = dlopen("libm.so.6", RTLD_NOW);
    if (library == NULL || dlclose(library) != 0)
        return 3;
    void *mapping = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED || munmap(mapping, 4096) != 0 ||
        close(open("/dev/null", O_RDONLY)) != 0)
        return 4;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    return waitpid(child, &status, 0) == child ? status : 5;
}

int main(void)
{
    static const char *const names[] = {"things", "heap", "block", "thread", NULL};
    sem_init(&asked, 0, 0);
    things = pprof_new_profile("things");
    pprof_profile_add(things, &things, 0);
    pprof_set_mem_profile_rate(1);
    pprof_set_block_profile_rate(1);
    pprof_set_mutex_profile_fraction(1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pthread_t writer;
        void *error = NULL;
        const pprof_writer nowhere = {discard, NULL};
        if (names[i] == NULL && pprof_start_cpu_profile(nowhere) != 0)
            return 10;
        for (volatile unsigned k = 0; names[i] == NULL && k < 200000000; k++) {
        }
        sem_init(&answered, 0, 0);
        pthread_create(&writer, NULL, write_profile, (void *)(size_t)names[i]);
        sem_wait(&asked);
        int result = work();
        sem_post(&answered);
        pthread_join(writer, &error);
        if (result != 0 || error != NULL)
            return 20 + result;
        while (sem_trywait(&asked) == 0) {
        }
    }
    return 0;
}
