/* SPDX-License-Identifier: MIT
 *
 * contention_libraries.c sqlite|glib: several threads on one connection of SQLite, or on GLib's
 * main loop and queue; prints what came out. 77 if the library is not there.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, ROWS = 2000 };

static void *library;

static void *need(const char *name)
{
    void *found = dlsym(library, name);
    if (found == NULL)
        exit(77);
    return found;
}

static void run(void *(*function)(void *))
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, function, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- SQLite: its mutex around the connection ---- */

static void *database;
static int (*exec)(void *, const char *, void *, void *, char **);
static void *connection_mutex;
static void (*enter)(void *), (*leave)(void *);
static unsigned arrived;

static void *insert_rows(void *first)
{
    char text[200];
    __atomic_add_fetch(&arrived, 1, __ATOMIC_RELEASE);
    for (long i = (long)first; i < ROWS; i += THREADS) {
        snprintf(text, sizeof text, "insert into t values (%ld, hex(%ld * %ld))", i, i, i);
        if (exec(database, text, NULL, NULL, NULL) != 0)
            abort();
    }
    return NULL;
}

static int print_row(void *unused, int count, char **values, char **names)
{
    (void)unused, (void)count, (void)names;
    printf("%s %s\n", values[0], values[1]);
    return 0;
}

static int use_sqlite(void)
{
    library = dlopen("libsqlite3.so.0", RTLD_NOW);
    if (library == NULL)
        return 77;
    int (*open_v2)(const char *, void **, int, const char *) = need("sqlite3_open_v2");
    exec = need("sqlite3_exec");
    if (open_v2(":memory:", &database, 2 | 4 | 0x10000, NULL) != 0) /* read, write; serialized */
        return 1;
    exec(database, "create table t (n integer primary key, h text)", NULL, NULL, NULL);
    void *(*mutex_of)(void *) = need("sqlite3_db_mutex");
    enter = need("sqlite3_mutex_enter");
    leave = need("sqlite3_mutex_leave");
    connection_mutex = mutex_of(database);
    pthread_t holder;
    enter(connection_mutex);
    pthread_create(&holder, NULL, insert_rows, (void *)0);
    while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) == 0)
        sched_yield();
    usleep(50000); /* it waits now, or the test looks again */
    leave(connection_mutex);
    pthread_join(holder, NULL);
    exec(database, "delete from t", NULL, NULL, NULL);
    run(insert_rows);
    return exec(database, "select count(*), sum(length(h)) from t", (void *)print_row, NULL, NULL);
}

/* ---- GLib ---- */

static void *loop, *queue;
static long sum;
static void (*push)(void *, void *);
static void *(*pop)(void *);
static unsigned (*idle_add)(int (*)(void *), void *);
static void (*quit)(void *);

static int add(void *number)
{
    sum += (long)number;
    return 0;
}

static int stop_loop(void *unused)
{
    (void)unused;
    quit(loop);
    return 0;
}

static void *post_numbers(void *first)
{
    for (long i = (long)first; i < ROWS; i += THREADS) {
        idle_add(add, (void *)i);
        push(queue, (void *)(i + 1));
    }
    return NULL;
}

static void *take_numbers(void *unused)
{
    long taken = 0;
    for (int i = 0; i < ROWS; i++)
        taken += (long)pop(queue);
    printf("taken %ld\n", taken);
    idle_add(stop_loop, NULL);
    return unused;
}

static void *run_all(void *unused)
{
    pthread_t taker;
    pthread_create(&taker, NULL, take_numbers, NULL);
    run(post_numbers);
    pthread_join(taker, NULL);
    return unused;
}

static int use_glib(void)
{
    pthread_t thread;
    library = dlopen("libglib-2.0.so.0", RTLD_NOW);
    if (library == NULL)
        return 77;
    void *(*loop_new)(void *, int) = need("g_main_loop_new");
    void (*loop_run)(void *) = need("g_main_loop_run");
    void *(*queue_new)(void) = need("g_async_queue_new");
    push = need("g_async_queue_push");
    pop = need("g_async_queue_pop");
    idle_add = need("g_idle_add");
    quit = need("g_main_loop_quit");
    loop = loop_new(NULL, 0);
    queue = queue_new();
    pthread_create(&thread, NULL, run_all, NULL);
    loop_run(loop);
    pthread_join(thread, NULL);
    printf("sum %ld\n", sum);
    return 0;
}

int main(int argc, char **argv)
{
    return argc == 2 && strcmp(argv[1], "sqlite") == 0 ? use_sqlite() : use_glib();
}
