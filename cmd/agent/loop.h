/* SPDX-License-Identifier: MIT
 *
 * loop.h: the loop of the agent's one thread: descriptors, and times.
 *
 * A source waits for events of a descriptor, for a time, or for both. It is a part of the structure
 * that it works for, which removes it before it is freed: a source may remove itself, and others,
 * while it acts.
 *
 * Owns: an epoll descriptor. The descriptors of the sources are their owners'.
 */
#ifndef CP_AGENT_LOOP_H
#define CP_AGENT_LOOP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cp_loop cp_loop;
typedef struct cp_loop_source cp_loop_source;

/* `events`: those of epoll_wait(2); 0: the time has come. */
typedef void cp_loop_act(cp_loop_source *source, uint32_t events);

#define CP_NEVER INT64_MAX

struct cp_loop_source {
    cp_loop *loop; /* NULL: it was not added */
    int fd;        /* -1: it waits for a time only */
    uint32_t events;
    int64_t deadline_ns; /* of cp_now_ns(), or CP_NEVER */
    cp_loop_act *act;
    cp_loop_source *next, *previous;
};

struct cp_loop {
    int epoll;
    cp_loop_source *first;
    bool ends;
};

/* 0, or -errno. */
int cp_loop_init(cp_loop *loop);
void cp_loop_release(cp_loop *loop);

/* Acts for its sources until `ends`. */
void cp_loop_run(cp_loop *loop);

/* Adds a source, whose members but the loop and the links are set. 0, or -errno. */
int cp_loop_add(cp_loop *loop, cp_loop_source *source);

/* Waits for other events from now on; with 0 not even a hang-up is noticed. */
void cp_loop_want(cp_loop_source *source, uint32_t events);

/* Removes it, if it was added. The descriptor stays open. */
void cp_loop_remove(cp_loop_source *source);

/* Removes it, closes the descriptor, and forgets it. */
void cp_loop_close(cp_loop_source *source);

#endif
