/* SPDX-License-Identifier: MIT
 *
 * whole.c: a fully static program that calls what the library stands in front of, and says so if
 * anything does not do what it should. 1000 blocks of 1000 bytes stay, 1000 are resized and freed.
 */
#include "../victims/burn.h"
#include <pprof.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { BLOCKS = 1000, KEPT_BYTES = 1000, FREED_BYTES = 5000, LARGER_BYTES = 6000, BURN_MS = 200 };

#define MUST(what) ((what) ? (void)0 : fail(#what, __LINE__))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t semaphore;
static bool done;
static void *kept[BLOCKS];

static void fail(const char *what, int line)
{
    fprintf(stderr, "line %d: not %s, errno %d\n", line, what, errno);
    exit(1);
}

void burn_in_main(void)
{
    burn_ms(BURN_MS);
}

void burn_in_thread(void)
{
    burn_ms(BURN_MS);
}

void keep_blocks(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        MUST((kept[i] = malloc(KEPT_BYTES)) != NULL);
    }
}

void free_blocks(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        char *block = malloc(FREED_BYTES);
        MUST(block != NULL);
        memset(block, i, FREED_BYTES);
        MUST((block = realloc(block, LARGER_BYTES)) != NULL && block[FREED_BYTES - 1] == (char)i);
        free(block);
    }
}

static void *work(void *argument)
{
    pthread_mutex_lock(&mutex);
    pthread_barrier_wait(&barrier);
    burn_in_thread();
    done = true;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    sem_post(&semaphore);
    return argument;
}

static void use_locks(void)
{
    struct timespec past = {0, 0};
    pthread_t thread;
    void *result = NULL;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    sem_init(&semaphore, 0, 0);
    MUST(pthread_create(&thread, NULL, work, &thread) == 0);
    pthread_barrier_wait(&barrier);
    MUST(pthread_mutex_timedlock(&mutex, &past) == ETIMEDOUT);
    MUST(pthread_mutex_lock(&mutex) == 0);
    while (!done) {
        MUST(pthread_cond_wait(&condition, &mutex) == 0);
    }
    MUST(pthread_cond_timedwait(&condition, &mutex, &past) == ETIMEDOUT);
    MUST(pthread_mutex_unlock(&mutex) == 0);
    MUST(sem_wait(&semaphore) == 0 && sem_timedwait(&semaphore, &past) == -1 && errno == ETIMEDOUT);
    MUST(pthread_join(thread, &result) == 0 && result == &thread);
    MUST(pthread_rwlock_rdlock(&rwlock) == 0 &&
         pthread_rwlock_timedwrlock(&rwlock, &past) == ETIMEDOUT);
    MUST(pthread_rwlock_unlock(&rwlock) == 0 && pthread_rwlock_wrlock(&rwlock) == 0);
    MUST(pthread_rwlock_unlock(&rwlock) == 0);
    MUST(pthread_spin_lock(&spin) == 0 && pthread_spin_unlock(&spin) == 0);
}

static int answer(void *argument)
{
    return *(int *)argument;
}

static void use_c11(void)
{
    struct timespec past = {0, 0};
    thrd_t thread;
    mtx_t lock;
    cnd_t signal;
    int wanted = 42;
    int found = 0;
    MUST(thrd_create(&thread, answer, &wanted) == thrd_success);
    MUST(thrd_join(thread, &found) == thrd_success && found == wanted);
    MUST(mtx_init(&lock, mtx_timed) == thrd_success && cnd_init(&signal) == thrd_success);
    MUST(mtx_lock(&lock) == thrd_success && mtx_timedlock(&lock, &past) == thrd_timedout);
    MUST(cnd_timedwait(&signal, &lock, &past) == thrd_timedout);
    MUST(mtx_unlock(&lock) == thrd_success);
}

static void use_signals(void)
{
    struct timespec now = {0, 0};
    sigset_t set;
    int found = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    MUST(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    MUST(raise(SIGUSR1) == 0 && sigwait(&set, &found) == 0 && found == SIGUSR1);
    MUST(sigtimedwait(&set, NULL, &now) == -1 && errno == EAGAIN);
    MUST(raise(SIGUSR1) == 0 && sigwaitinfo(&set, NULL) == SIGUSR1);
    int fd = signalfd(-1, &set, SFD_NONBLOCK);
    MUST(fd >= 0 && close(fd) == 0);
    MUST(signal(SIGUSR2, SIG_IGN) == SIG_DFL && signal(SIGUSR2, SIG_DFL) == SIG_IGN);
    MUST(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
}

static void expect_child(pid_t child)
{
    int status = -1;
    MUST(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

/* Each way to execute: `true` does. */
static void use_exec(void)
{
    char *const argv[] = {(char *)"true", NULL};
    for (int way = 0; way < 6; way++) {
        pid_t child = fork();
        if (child == 0) {
            int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
            switch (way) {
            case 0:
                execlp("true", "true", (char *)NULL);
                break;
            case 1:
                execv("/bin/true", argv);
                break;
            case 2:
                execvp("true", argv);
                break;
            case 3:
                execve("/bin/true", argv, environ);
                break;
            case 4:
                fexecve(fd, argv, environ);
                break;
            default:
#ifdef __GLIBC__
                execveat(AT_FDCWD, "/bin/true", argv, environ, 0);
#else
                execve("/bin/true", argv, environ);
#endif
                break;
            }
            _exit(9);
        }
        expect_child(child);
    }
}

static void use_the_rest(void)
{
    char name[16] = "";
    void *mapping = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(mapping != MAP_FAILED && munmap(mapping, 4096) == 0);
    MUST(prctl(PR_GET_NAME, name) == 0 && name[0] != '\0');
    MUST(syscall(SYS_getpid) == getpid() && syscall(SYS_close, -1) == -1 && errno == EBADF);
    void *block = NULL;
    MUST(posix_memalign(&block, 128, 1000) == 0 && (uintptr_t)block % 128 == 0);
    free(block);
    MUST((block = aligned_alloc(64, 640)) != NULL && (uintptr_t)block % 64 == 0);
    free(block);
    char *zeroed = calloc(100, 100);
    MUST(zeroed != NULL && zeroed[9999] == 0);
    free(zeroed);
}

int main(void)
{
    use_locks();
    use_c11();
    use_signals();
    use_exec();
    use_the_rest();
    keep_blocks();
    free_blocks();
    burn_in_main();
    puts("all is well");
    return 0;
}
