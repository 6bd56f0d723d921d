/* SPDX-License-Identifier: MIT
 *
 * loop.h: the loop of the agent's one thread: descriptors, and times.
 *
 * A source waits for events of a descriptor, for a time, or for both. It is a part of the structure
 * that it works for, which removes it before it is freed: a source may remove itself, and others,
 * while it acts.
 *
 * Owns: an epoll descriptor, and the list of sources. The descriptors of the sources are their owners'.
 */
#ifndef CP_AGENT_LOOP_H
#define CP_AGENT_LOOP_H

#include <stdbool.h>
#include <stddef.h>
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
    int64_t deadline_ns; /* of cp_now_ns(), or CP_NEVER; cp_loop_wait_until() changes it */
    cp_loop_act *act;
    size_t place; /* among the loop's sources */
};

struct cp_loop {
    int epoll;
    cp_loop_source **sources; /* a heap: none is due before the one at (place - 1) / 2 */
    size_t count, room;
    bool ends;
};

/* 0, or -errno. */
int cp_loop_init(cp_loop *loop);
void cp_loop_release(cp_loop *loop);

/* Acts for its sources until `ends`. */
void cp_loop_run(cp_loop *loop);

/* Adds a source, whose members but the loop and the place are set. 0, or -errno. */
int cp_loop_add(cp_loop *loop, cp_loop_source *source);

/* Waits for other events from now on; with 0 not even a hang-up is noticed. */
void cp_loop_want(cp_loop_source *source, uint32_t events);

/* Sets another deadline, also of a source that was not added. */
void cp_loop_wait_until(cp_loop_source *source, int64_t deadline_ns);

/* Removes it, if it was added. The descriptor stays open. */
void cp_loop_remove(cp_loop_source *source);

/* Removes it, closes the descriptor, and forgets it. */
void cp_loop_close(cp_loop_source *source);

#endif
