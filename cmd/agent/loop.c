/* SPDX-License-Identifier: MIT
 *
 * loop.c: see loop.h.
 *
 * Each turn takes one event, because what acts on it may remove the source of the next. The kernel
 * hands ready descriptors out in turn, so that none has to wait for ever.
 *
 * An agent has a few sources for each process, and hundreds of turns in a second: so the sources are a
 * heap, and a turn does not look at all of them.
 *
 * Tested by: unit.cmd_loop, e2e.cpprof_agent.
 */
#include "agent/loop.h"

#include "base/clock.h"
#include "base/pool.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { NS_PER_MS = 1000000 };

int cp_loop_init(cp_loop *loop)
{
    *loop = (cp_loop){.epoll = epoll_create1(EPOLL_CLOEXEC)};
    return loop->epoll >= 0 ? 0 : -errno;
}

void cp_loop_release(cp_loop *loop)
{
    if (loop->epoll >= 0) {
        close(loop->epoll);
    }
    loop->epoll = -1;
    free(loop->sources);
    loop->sources = NULL;
    loop->count = loop->room = 0;
}

/* ---- the heap ---- */

static void set_place(cp_loop *loop, size_t place, cp_loop_source *source)
{
    loop->sources[place] = source;
    source->place = place;
}

static void move_up(cp_loop_source *source)
{
    cp_loop *loop = source->loop;
    size_t place = source->place;

    while (place > 0 && source->deadline_ns < loop->sources[(place - 1) / 2]->deadline_ns) {
        set_place(loop, place, loop->sources[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    set_place(loop, place, source);
}

static void move_down(cp_loop_source *source)
{
    cp_loop *loop = source->loop;
    size_t place = source->place, child = 0;

    while ((child = 2 * place + 1) < loop->count) {
        if (child + 1 < loop->count &&
            loop->sources[child + 1]->deadline_ns < loop->sources[child]->deadline_ns) {
            child++;
        }
        if (loop->sources[child]->deadline_ns >= source->deadline_ns) {
            break;
        }
        set_place(loop, place, loop->sources[child]);
        place = child;
    }
    set_place(loop, place, source);
}

void cp_loop_wait_until(cp_loop_source *source, int64_t deadline_ns)
{
    source->deadline_ns = deadline_ns;
    if (source->loop) {
        move_up(source);
        move_down(source);
    }
}

static void put(cp_loop *loop, cp_loop_source *source)
{
    loop->sources = cp_heap_grow(loop->sources, loop->count, &loop->room, sizeof(void *));
    set_place(loop, loop->count++, source);
    move_up(source);
}

static void take_out(cp_loop *loop, const cp_loop_source *source)
{
    cp_loop_source *last = loop->sources[--loop->count];

    if (last != source) { /* which comes to the place of the source */
        set_place(loop, source->place, last);
        move_up(last);
        move_down(last);
    }
}

/* ---- sources ---- */

static int control(cp_loop_source *source, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = source};
    int operation = !source->events ? EPOLL_CTL_ADD : events ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;

    if (source->fd < 0 || events == source->events) {
        return 0;
    }
    int status = epoll_ctl(source->loop->epoll, operation, source->fd, &event);
    source->events = status == 0 ? events : source->events;
    return status == 0 ? 0 : -errno;
}

int cp_loop_add(cp_loop *loop, cp_loop_source *source)
{
    uint32_t events = source->events;

    source->loop = loop;
    source->events = 0;
    put(loop, source);
    int status = control(source, events);
    if (status < 0) {
        cp_loop_remove(source);
    }
    return status;
}

void cp_loop_want(cp_loop_source *source, uint32_t events)
{
    if (control(source, events) < 0) { /* no memory: the next turn ends it */
        cp_loop_wait_until(source, 0);
    }
}

void cp_loop_remove(cp_loop_source *source)
{
    if (!source->loop) {
        return;
    }
    control(source, 0);
    take_out(source->loop, source);
    source->loop = NULL;
}

void cp_loop_close(cp_loop_source *source)
{
    cp_loop_remove(source);
    if (source->fd >= 0) {
        close(source->fd);
    }
    source->fd = -1;
}

/* ---- turns ---- */

static int wait_ms(const cp_loop_source *earliest, int64_t now_ns)
{
    if (!earliest || earliest->deadline_ns == CP_NEVER) {
        return -1;
    }
    int64_t left_ns = earliest->deadline_ns - now_ns;
    int64_t left_ms = left_ns > 0 ? (left_ns + NS_PER_MS - 1) / NS_PER_MS : 0;
    return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

/* A time that has come goes first: events that never cease must not keep it waiting. */
static void take_turn(cp_loop *loop)
{
    struct epoll_event event;
    cp_loop_source *earliest = loop->count > 0 ? loop->sources[0] : NULL;
    int64_t now_ns = cp_now_ns();

    if (earliest && earliest->deadline_ns <= now_ns) {
        cp_loop_wait_until(earliest, CP_NEVER);
        earliest->act(earliest, 0);
        return;
    }
    if (epoll_wait(loop->epoll, &event, 1, wait_ms(earliest, now_ns)) == 1) {
        cp_loop_source *source = event.data.ptr;
        source->act(source, event.events);
    }
}

void cp_loop_run(cp_loop *loop)
{
    while (!loop->ends) {
        take_turn(loop);
    }
}
