/* SPDX-License-Identifier: MIT
 *
 * push_work.c: works once for each byte of standard input and says so; allocates, computes, and has two threads
 * wait for a lock. At the end of the input it ends as its first argument says: return, _exit, kill (by SIGTERM), exec (/bin/true),
 * fork (the child works once, too); custom is return, with a profile of its own, kept_blocks.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t ready;
static volatile unsigned long sum;

typedef struct pprof_profile pprof_profile;
typedef int add_function(pprof_profile *profile, const void *value, int skip);

static pprof_profile *kept_blocks;
static add_function *add_to_profile; /* NULL: there is no such profile */

static void make_profile(void)
{
    typedef pprof_profile *new_function(const char *name);
    new_function *make = (new_function *)dlsym(RTLD_DEFAULT, "pprof_new_profile");
    add_to_profile = (add_function *)dlsym(RTLD_DEFAULT, "pprof_profile_add");
    kept_blocks = make != NULL ? make("kept_blocks") : NULL;
}

void burn(void)
{
    for (unsigned i = 0; i < 50000000; i++) {
        sum += i;
    }
}

void eat(void)
{
    for (unsigned i = 0; i < 100; i++) {
        char *block = malloc(5000);
        memset(block, 1, 5000);
        if (i % 2 == 0) {
            free(block);
        } else if (add_to_profile != NULL && i % 4 == 1) {
            add_to_profile(kept_blocks, block, 0);
        }
    }
}

static void *hold(void *none)
{
    pthread_mutex_lock(&lock);
    pthread_barrier_wait(&ready);
    burn();
    pthread_mutex_unlock(&lock);
    return none;
}

static void work(void)
{
    pthread_t holder;
    pthread_barrier_init(&ready, NULL, 2);
    pthread_create(&holder, NULL, hold, NULL);
    pthread_barrier_wait(&ready);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    eat();
    pthread_join(holder, NULL);
}

static void end(const char *how)
{
    if (strcmp(how, "_exit") == 0) {
        _exit(0);
    } else if (strcmp(how, "kill") == 0) {
        raise(SIGTERM);
    } else if (strcmp(how, "exec") == 0) {
        execl("/bin/true", "true", (char *)NULL);
    } else if (strcmp(how, "fork") == 0) {
        pid_t child = fork();
        if (child == 0) {
            work();
            exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

int main(int argc, char **argv)
{
    char byte;
    if (argc > 1 && strcmp(argv[1], "custom") == 0) {
        make_profile();
    }
    while (read(0, &byte, 1) == 1) {
        work();
        puts("worked");
        fflush(stdout);
    }
    end(argc > 1 ? argv[1] : "return");
    return 0;
}
