/* SPDX-License-Identifier: MIT
 * Flags: -rdynamic
 *
 * loader_lock.c: a library's constructor waits for a thread that uses every kind of lock, and opens
 * and closes, for the first time; also in the child of fork. Nothing may need the loader, whose
 * lock the constructor has.
 *
 * Usage: loader_lock LIBRARY, the constructor of which calls in_constructor(). Ends with 42.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static bool loading, done;

static void await(const bool *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
}

void in_constructor(void);
void in_constructor(void)
{
    __atomic_store_n(&loading, true, __ATOMIC_RELEASE);
    await(&done);
}

static void opens_and_closes(void)
{
    int ends[2];
    close(open("/dev/null", O_RDONLY));
    close(socket(AF_UNIX, SOCK_STREAM, 0));
    if (pipe(ends) == 0) {
        close(dup(ends[0]));
        close(fcntl(ends[1], F_DUPFD_CLOEXEC, 0));
        dup2(ends[0], ends[1]);
        close(ends[0]);
        close(ends[1]);
    }
    FILE *file = fopen("/dev/null", "r");
    if (file != NULL) {
        fclose(file);
    }
}

static void *uses_all(void *unused)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
    static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    const struct timespec past = {.tv_sec = 1};
    pthread_spinlock_t spin;
    pthread_barrier_t barrier;
    mtx_t c11;
    sem_t semaphore;

    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, NULL, 1);
    mtx_init(&c11, mtx_plain);
    sem_init(&semaphore, 0, 2);
    await(&loading);
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&condition, &mutex, &past);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_timedlock(&mutex, &past);
    pthread_mutex_unlock(&mutex);
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
    mtx_lock(&c11);
    mtx_unlock(&c11);
    sem_wait(&semaphore);
    sem_timedwait(&semaphore, &past);
    pthread_barrier_wait(&barrier);
    pid_t child = fork();
    opens_and_closes();
    if (child == 0) {
        _exit(0);
    }
    waitpid(child, NULL, 0);
    __atomic_store_n(&done, true, __ATOMIC_RELEASE);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc != 2 || pthread_create(&thread, NULL, uses_all, NULL) != 0 ||
        dlopen(argv[1], RTLD_NOW) == NULL) {
        return 1;
    }
    return pthread_join(thread, NULL) == 0 ? 42 : 1;
}
