/* SPDX-License-Identifier: MIT
 *
 * pairs.c: runs variants of a command in turns and compares each with the first.
 *
 * usage: pairs -n ROUNDS [-w ROUNDS] -m METRIC[,METRIC]... VARIANT -- VARIANT...
 *        VARIANT: NAME [VARIABLE=VALUE]... PROGRAM [ARGUMENT]...
 *
 * Each round runs all variants once, every second round in reverse (A B C, C B A), so that whatever
 * drifts during the measurement drifts for all. In each round a variant is paired with the first
 * one; the result is the median over the rounds of
 *
 *   cpu     (user + system time) / that of the first - 1, in percent
 *   wall    the same of elapsed time
 *   ms      elapsed time minus that of the first, in milliseconds
 *   rss     maximum resident set minus that of the first, in megabytes (10^6 bytes)
 *
 * with the bounds of its 95 % confidence interval. -w: rounds to run first without counting
 * (default 1).
 *
 * prints: NAME.METRIC VALUE UNIT LOW HIGH
 *
 * The program is linked statically where that is possible: a child's maximum resident set includes
 * what its parent had at the fork.
 */
#include "measure.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_VARIANTS = 8, MAX_ROUNDS = 2000, MAX_ENVIRONMENT = 1000 };

extern char **environ;

typedef struct run {
    double wall_ns, cpu_ns, rss_bytes;
} run;

typedef struct variant {
    const char *name;
    char **command;
    char *environment[MAX_ENVIRONMENT];
    run runs[MAX_ROUNDS];
} variant;

static variant variants[MAX_VARIANTS];
static size_t variant_count;

/* ---- running ---- */

static double timeval_ns(const struct timeval *t)
{
    return (double)t->tv_sec * 1e9 + (double)t->tv_usec * 1e3;
}

static void run_once(const variant *v, run *result)
{
    posix_spawn_file_actions_t actions;
    struct rusage used;
    pid_t pid = 0;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    uint64_t start_ns = bench_now_ns();
    if (posix_spawn(&pid, v->command[0], &actions, NULL, v->command, v->environment) != 0 ||
        wait4(pid, &status, 0, &used) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        bench_fail("%s: %s failed, status %d", v->name, v->command[0], status);
    }
    result->wall_ns = (double)(bench_now_ns() - start_ns);
    result->cpu_ns = timeval_ns(&used.ru_utime) + timeval_ns(&used.ru_stime);
    result->rss_bytes = (double)used.ru_maxrss * 1024;
    posix_spawn_file_actions_destroy(&actions);
}

static void run_all(size_t round)
{
    for (size_t i = 0; i < variant_count; i++) {
        variant *v = &variants[round % 2 == 0 ? i : variant_count - 1 - i];
        run_once(v, &v->runs[round]);
    }
}

/* ---- comparing ---- */

typedef struct metric {
    const char *name, *unit;
    double (*compare)(const run *profiled, const run *first);
} metric;

static double compare_cpu(const run *profiled, const run *first)
{
    return (profiled->cpu_ns / first->cpu_ns - 1) * 100;
}

static double compare_wall(const run *profiled, const run *first)
{
    return (profiled->wall_ns / first->wall_ns - 1) * 100;
}

static double compare_ms(const run *profiled, const run *first)
{
    return (profiled->wall_ns - first->wall_ns) / 1e6;
}

static double compare_rss(const run *profiled, const run *first)
{
    return (profiled->rss_bytes - first->rss_bytes) / 1e6;
}

static const metric metrics[] = {
    {"cpu", "%", compare_cpu},
    {"wall", "%", compare_wall},
    {"ms", "ms", compare_ms},
    {"rss", "MB", compare_rss},
};

static void report(const metric *m, size_t rounds)
{
    static double differences[MAX_ROUNDS];
    for (size_t i = 1; i < variant_count; i++) {
        double low = 0;
        double high = 0;
        for (size_t round = 0; round < rounds; round++) {
            differences[round] = m->compare(&variants[i].runs[round], &variants[0].runs[round]);
        }
        double median = bench_median(differences, rounds);
        bench_median_bounds(differences, rounds, &low, &high);
        printf("%s.%s %.3g %s %.3g %.3g\n", variants[i].name, m->name, median, m->unit, low, high);
    }
}

static void report_all(char *names, size_t rounds)
{
    char *rest = NULL;
    for (char *name = strtok_r(names, ",", &rest); name != NULL;
         name = strtok_r(NULL, ",", &rest)) {
        for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
            if (strcmp(metrics[i].name, name) == 0) {
                report(&metrics[i], rounds);
            }
        }
    }
}

/* ---- arguments ---- */

static void set_environment(variant *v, char **settings, size_t count)
{
    size_t used = 0;
    for (; environ[used] != NULL && used + count + 1 < MAX_ENVIRONMENT; used++) {
        v->environment[used] = environ[used];
    }
    memcpy(v->environment + used, settings, count * sizeof *settings);
}

/* Takes one variant from the arguments; returns what follows it. */
static char **add_variant(char **arguments)
{
    if (variant_count == MAX_VARIANTS) {
        bench_fail("more than %d variants", MAX_VARIANTS);
    }
    variant *v = &variants[variant_count++];
    v->name = *arguments++;
    char **settings = arguments;
    while (*arguments != NULL && strchr(*arguments, '=') != NULL) {
        arguments++;
    }
    set_environment(v, settings, (size_t)(arguments - settings));
    v->command = arguments;
    while (*arguments != NULL && strcmp(*arguments, "--") != 0) {
        arguments++;
    }
    if (arguments == v->command) {
        bench_fail("variant '%s' has no command", v->name);
    }
    if (*arguments != NULL) {
        *arguments++ = NULL;
    }
    return arguments;
}

int main(int argc, char **argv)
{
    size_t rounds = 0;
    size_t warm_up = 1;
    char *wanted = NULL;
    for (int option = getopt(argc, argv, "+n:w:m:"); option != -1;
         option = getopt(argc, argv, "+n:w:m:")) {
        if (option == 'n') {
            rounds = strtoul(optarg, NULL, 10);
        } else if (option == 'w') {
            warm_up = strtoul(optarg, NULL, 10);
        } else if (option == 'm') {
            wanted = optarg;
        } else {
            return 2;
        }
    }
    for (char **rest = argv + optind; *rest != NULL;) {
        rest = add_variant(rest);
    }
    if (rounds < 1 || rounds > MAX_ROUNDS || wanted == NULL || variant_count < 2) {
        bench_fail(
            "usage: pairs -n ROUNDS [-w ROUNDS] -m METRIC[,METRIC]... VARIANT -- VARIANT...");
    }
    for (size_t round = 0; round < warm_up; round++) {
        run_all(0);
    }
    for (size_t round = 0; round < rounds; round++) {
        run_all(round);
    }
    report_all(wanted, rounds);
    return 0;
}
