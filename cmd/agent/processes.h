/* SPDX-License-Identifier: MIT
 *
 * processes.h: the processes of this host that have a control socket (docs/CONTROL.md).
 *
 * Once a second the list of /proc is compared with what is known. A new process is asked for its
 * status; one that does not listen is asked again later, less and less often: a socket may come
 * with an attachment. The kernel says when a process ends (pidfd_open(2)), so a number that another
 * process gets soon after is not mistaken for the first one: a process is its number and the time
 * at which it started.
 *
 * Owns: the list, and what it knows of each process.
 */
#ifndef CP_AGENT_PROCESSES_H
#define CP_AGENT_PROCESSES_H

#include "agent/attacher.h"
#include "agent/exchange.h"
#include "agent/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cp_processes cp_processes;
typedef struct cp_regex cp_regex;

typedef struct cp_host_process {
    cp_processes *all;
    int pid;
    uint64_t start; /* clock ticks after the start of the machine */
    bool is_reachable;
    bool is_found; /* by the scan that goes on */
    bool was_attached_to;
    char *
        program; /* the name of its file, or of its first argument; never NULL once it is reachable */
    char *service;               /* service.name of OpenTelemetry, or the program */
    char *on;                    /* what it records: "cpu heap:524288" */
    cp_loop_source life;         /* readable when the process has ended */
    int64_t ask_at_ns, pause_ns; /* when its status is to be asked for, and again after that */
    cp_exchange asking;
    char *answer; /* to the question for the status, as far as it has come */
    size_t answer_length;
    void *work; /* of whoever collects from it; NULL: nobody does */
} cp_host_process;

typedef struct cp_processes_events {
    void (*appears)(cp_host_process *process, void *context);
    /* It has ended, or does not answer any more. It is freed after this call, if it has ended. */
    void (*goes)(cp_host_process *process, bool has_ended, void *context);
} cp_processes_events;

struct cp_processes {
    cp_loop *loop;
    cp_loop_source scan;
    cp_host_process **list; /* by number */
    size_t count, room;
    cp_regex *only;                    /* matches the commands of those that count; NULL: all do */
    cp_regex *attach;                  /* matches those that are attached to; NULL: none is */
    cp_attacher *attacher;             /* NULL without `attach` */
    const cp_processes_events *events; /* NULL: nobody wants to know */
    void *context;
};

/* Begins to look for them. The caller has set `only`, `attach` and `attacher`, and zeros. 0, or -errno. */
int cp_processes_begin(cp_processes *all, cp_loop *loop);
void cp_processes_end(cp_processes *all);

/* The process that is reachable under this name, "PID" or "PID.START"; NULL: there is none. */
cp_host_process *cp_processes_find(const cp_processes *all, const char *name, size_t length);

/* Connects to its control socket, and never waits. A descriptor, or -1. */
int cp_host_process_connect(const cp_host_process *process);

/* What it records, as it has just said to whoever collects from it. */
void cp_host_process_set_on(cp_host_process *process, const char *on);

/* It did not answer as it should: it is asked for its status again. */
void cp_host_process_doubt(cp_host_process *process);

#endif
