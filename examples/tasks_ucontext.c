/* SPDX-License-Identifier: MIT
 *
 * tasks_ucontext.c FILE.pb.gz: coroutines by swapcontext(3), whose waits are in the profiles.
 *
 * The runtime below has what every such runtime has: an object for each coroutine, with its stack,
 * and two functions that switch. Four calls tell the library: pprof_task_begin() where a coroutine
 * is made, pprof_task_resume() before the switch to it, pprof_task_suspend() before the switch away
 * from it, and pprof_task_end() before its stack is freed. What saves the registers does not
 * matter: swapcontext() here, assembler in libco, libaco, libtask and others.
 *
 * The program: a server with a coroutine for each of a hundred sessions. All wait, most for
 * requests, some for the database, and the profile says which and where.
 *
 *   cc tasks_ucontext.c -lpprof -o tasks && ./tasks /tmp/tasks.pb.gz
 *   go tool pprof -top -cum /tmp/tasks.pb.gz
 */
#include <pprof_task.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

/* ---- the runtime ---- */

enum { STACK_BYTES = 32 * 1024 };

typedef struct coroutine {
    pprof_task task;
    ucontext_t context, caller;
    void (*body)(struct coroutine *self);
    void *stack;
    bool done;
} coroutine;

/* makecontext() passes int arguments only. */
static coroutine *entering;

static void enter(void)
{
    coroutine *self = entering;
    self->body(self);
    self->done = true;
    pprof_task_end(&self->task);
    setcontext(&self->caller);
}

/* Runs the coroutine until it waits, or is done. */
static void co_resume(coroutine *c)
{
    entering = c;
    pprof_task_resume(&c->task);
    swapcontext(&c->caller, &c->context);
}

/* Called by the coroutine itself: waits for `what`. */
static void co_wait(coroutine *self, const char *what)
{
    pprof_task_suspend(&self->task, what);
    swapcontext(&self->context, &self->caller);
}

static coroutine *co_new(void (*body)(coroutine *self), const char *name)
{
    coroutine *c = calloc(1, sizeof *c);
    void *stack = malloc(STACK_BYTES);
    if (c == NULL || stack == NULL || getcontext(&c->context) != 0) {
        abort();
    }
    c->body = body;
    c->stack = c->context.uc_stack.ss_sp = stack;
    c->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&c->context, enter, 0);
    const pprof_task_options options = {.size = sizeof options,
                                        .stack = stack,
                                        .stack_size = STACK_BYTES,
                                        .entry = (uintptr_t)body,
                                        .created_at = (uintptr_t)__builtin_return_address(0),
                                        .name = name};
    pprof_task_begin(&c->task, &options);
    return c;
}

static void co_free(coroutine *c)
{
    pprof_task_end(&c->task); /* nothing, if it has ended by itself */
    free(c->stack);
    free(c);
}

/* ---- a program that uses it ---- */

enum { SESSIONS = 100, ORDERS_EVERY = 4 };

static void read_request(coroutine *self)
{
    co_wait(self, "request");
}

static void query_database(coroutine *self)
{
    co_wait(self, "database");
}

static void place_order(coroutine *self)
{
    query_database(self);
}

static void order_session(coroutine *self)
{
    read_request(self);
    place_order(self);
}

static void idle_session(coroutine *self)
{
    read_request(self);
}

static coroutine *accept_session(int number)
{
    bool orders = number % ORDERS_EVERY == 0;
    coroutine *session = co_new(orders ? order_session : idle_session, "session");
    co_resume(session); /* it waits for a request */
    if (orders) {
        co_resume(session); /* which is there */
    }
    return session;
}

int main(int argc, char **argv)
{
    coroutine *sessions[SESSIONS];
    if (argc != 2) {
        fprintf(stderr, "usage: tasks_ucontext FILE.pb.gz\n");
        return 2;
    }
    for (int i = 0; i < SESSIONS; i++) {
        sessions[i] = accept_session(i);
    }
    int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int error = pprof_profile_write(pprof_lookup("thread"), pprof_writer_fd(fd), 0);
    if (fd < 0 || close(fd) != 0 || error != 0) {
        fprintf(stderr, "tasks_ucontext: %s could not be written: %s\n", argv[1], strerror(-error));
        return 1;
    }
    printf("%zu tasks wait; to see where:\n    go tool pprof -top -cum %s\n", pprof_task_count(),
           argv[1]);
    for (int i = 0; i < SESSIONS; i++) {
        co_resume(sessions[i]); /* ends */
        co_free(sessions[i]);
    }
    return pprof_task_count() == 0 ? 0 : 1;
}
