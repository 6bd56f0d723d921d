/* SPDX-License-Identifier: MIT
 *
 * executes.c: a program that becomes another one.
 *
 *   executes HOW PROGRAM ARGUMENT...   works for 100 ms and allocates in works_before(), calls the
 *                                      exec function HOW with an environment that holds EXECUTED=1
 *                                      alone (where the function takes one); if that fails, works
 *                                      on in works_after()
 *   executes together PROGRAM          two threads call exec with an argument that is too long, 300 times each; prints how often
 *                                      that failed for another reason
 *   executes work                      is what may be executed: works_executed(); prints LD_PRELOAD
 *                                      and LIBPPROF of its environment, and EXECUTED
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char *alone[] = {"EXECUTED=1", NULL};
static void *volatile kept;

static long used_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void burn(long ms)
{
    static volatile uint64_t sum;
    for (long end = used_ms() + ms; used_ms() < end;)
        for (int i = 0; i < 10000; i++)
            sum += (uint64_t)i * sum;
}

__attribute__((noinline)) static void works_before(void)
{
    burn(100);
    kept = malloc(50000);
    kept = NULL;
}

__attribute__((noinline)) static void works_after(void)
{
    burn(100);
    kept = malloc(60000);
    kept = NULL;
}

__attribute__((noinline)) static void works_executed(void)
{
    burn(100);
    kept = malloc(70000);
    kept = NULL;
}

static void execute(const char *how, char **argv)
{
    const char *program = argv[0];
    if (strcmp(how, "execve") == 0)
        execve(program, argv, alone);
    else if (strcmp(how, "execv") == 0)
        execv(program, argv);
    else if (strcmp(how, "execvp") == 0)
        execvp(program, argv);
    else if (strcmp(how, "execvpe") == 0)
        execvpe(program, argv, alone);
    else if (strcmp(how, "execl") == 0)
        execl(program, program, argv[1], NULL);
    else if (strcmp(how, "execlp") == 0)
        execlp(program, program, argv[1], NULL);
    else if (strcmp(how, "execle") == 0)
        execle(program, program, argv[1], NULL, alone);
    else if (strcmp(how, "fexecve") == 0)
        fexecve(open(program, O_RDONLY | O_CLOEXEC), argv, alone);
#if __GLIBC__ * 100 + __GLIBC_MINOR__ >= 234
    else if (strcmp(how, "execveat") == 0)
        execveat(AT_FDCWD, program, argv, alone, 0);
#endif
}

static int say(const char *name)
{
    const char *value = getenv(name);
    return printf("%s=%s\n", name, value != NULL ? value : "");
}

static void *fail_often(void *program)
{
    enum { TIMES = 300, TOO_LONG = 1 << 20 };
    char *words = malloc(TOO_LONG);
    char *argv[] = {program, words, NULL};
    long strange = 0;
    memset(words, 'x', TOO_LONG);
    words[TOO_LONG - 1] = '\0';
    for (int i = 0; i < TIMES; i++) {
        execve(program, argv, alone);
        strange += errno != E2BIG;
    }
    free(words);
    return (void *)strange;
}

static int execute_together(char *program)
{
    pthread_t other;
    void *strange = NULL;
    if (pthread_create(&other, NULL, fail_often, program) != 0)
        return 1;
    long mine = (long)fail_often(program);
    pthread_join(other, &strange);
    printf("strange: %ld\n", mine + (long)strange);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "work") == 0) {
        works_executed();
        say("EXECUTED");
        say("LD_PRELOAD");
        say("LIBPPROF");
        return 0;
    }
    if (argc == 3 && strcmp(argv[1], "together") == 0)
        return execute_together(argv[2]);
    if (argc < 3)
        return 2;
    works_before();
    execute(argv[1], argv + 2);
    works_after();
    return 0;
}
