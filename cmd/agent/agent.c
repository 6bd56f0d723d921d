/* SPDX-License-Identifier: MIT
 *
 * agent.c: see agent.h.
 *
 * Tested by: e2e.cpprof_agent.
 */
#include "agent/agent.h"

#include "agent/clients.h"
#include "agent/collectors.h"
#include "agent/loop.h"
#include "agent/processes.h"
#include "base/message.h"
#include "base/regex.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

typedef struct agent {
    cp_loop loop;
    cp_processes processes;
    cp_attacher attacher;
    cp_clients clients;
    cp_collectors *collectors; /* NULL: nothing is pushed */
    cp_loop_source signals;
} agent;

static void stop(cp_loop_source *source, uint32_t events)
{
    (void)events;
    source->loop->ends = true;
}

static int wait_for_signals(agent *a)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    a->signals = (cp_loop_source){.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
                                  .events = EPOLLIN,
                                  .deadline_ns = CP_NEVER,
                                  .act = stop};
    return a->signals.fd < 0 ? -errno : cp_loop_add(&a->loop, &a->signals);
}

/* Two descriptors for a process, two for a client: what the system allows is enough for thousands. */
static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Whoever has started the agent may read where it serves, also if the port was chosen. */
static void tell_address(const cp_clients *clients)
{
    if (!clients->at.is_loopback) {
        cp_complain(
            "%s is not loopback: whoever reaches it can read the profiles of %s", clients->address,
            geteuid() == 0 ? "all processes of this machine" : "all processes of this user");
    }
    printf("%s%s%s\n", clients->at.is_local ? "" : "http://", clients->address,
           clients->at.is_local ? "" : "/");
    fflush(stdout);
}

/* Compiles an expression, if there is one. */
static int compile(const char *pattern, cp_regex **regex, cp_error *error)
{
    *regex = pattern ? cp_regex_compile(pattern, error) : NULL;
    return pattern && !*regex ? -1 : 0;
}

static int begin(agent *a, const cp_agent_options *options, cp_error *error)
{
    if (compile(options->only, &a->processes.only, error) < 0 ||
        compile(options->attach, &a->processes.attach, error) < 0) {
        return -1;
    }
    int status = cp_loop_init(&a->loop);
    cp_attacher_init(&a->attacher, &a->loop, options->record);
    a->processes.attacher = &a->attacher;

    status = status < 0 ? status : wait_for_signals(a);
    status = status < 0 ? status : cp_processes_begin(&a->processes, &a->loop);
    if (status < 0) {
        return cp_fail(error, "the agent cannot begin: %s", strerror(-status));
    }
    if (options->collect &&
        !(a->collectors = cp_collectors_begin(&a->loop, &a->processes, options->collect, error))) {
        return -1;
    }
    if (options->listen && cp_clients_begin(&a->clients, &a->loop, &a->processes, options->listen,
                                            options->token_file, error) < 0) {
        return -1;
    }
    if (options->listen) {
        tell_address(&a->clients);
    }
    return 0;
}

int cp_agent_run(const cp_agent_options *options, cp_error *error)
{
    agent a = {.loop = {.epoll = -1}, .clients = {.listener = {.fd = -1}}, .signals = {.fd = -1}};

    raise_limit();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit of the size of files is a disk that is full */
    int status = begin(&a, options, error);
    if (status == 0) {
        cp_loop_run(&a.loop);
    }
    cp_clients_end(&a.clients);
    cp_collectors_end(a.collectors);
    cp_attacher_end(&a.attacher);
    cp_processes_end(&a.processes);
    cp_regex_free(a.processes.only);
    cp_regex_free(a.processes.attach);
    cp_loop_close(&a.signals);
    cp_loop_release(&a.loop);
    return status;
}
