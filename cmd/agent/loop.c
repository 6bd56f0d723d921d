/* SPDX-License-Identifier: MIT
 *
 * loop.c: see loop.h.
 *
 * Each turn takes one event, because what acts on it may remove the source of the next. The kernel
 * hands ready descriptors out in turn, so that none has to wait for ever.
 *
 * Tested by: e2e.cpprof_agent.
 */
#include "agent/loop.h"

#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
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
    source->previous = NULL;
    source->next = loop->first;
    if (loop->first) {
        loop->first->previous = source;
    }
    loop->first = source;
    int status = control(source, events);
    if (status < 0) {
        cp_loop_remove(source);
    }
    return status;
}

void cp_loop_want(cp_loop_source *source, uint32_t events)
{
    if (control(source, events) < 0) { /* no memory: the next turn ends it */
        source->deadline_ns = 0;
    }
}

void cp_loop_remove(cp_loop_source *source)
{
    if (!source->loop) {
        return;
    }
    control(source, 0);
    *(source->previous ? &source->previous->next : &source->loop->first) = source->next;
    if (source->next) {
        source->next->previous = source->previous;
    }
    source->loop = NULL;
    source->next = source->previous = NULL;
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

static cp_loop_source *find_earliest(const cp_loop *loop)
{
    cp_loop_source *earliest = loop->first;

    for (cp_loop_source *s = loop->first; s; s = s->next) {
        earliest = s->deadline_ns < earliest->deadline_ns ? s : earliest;
    }
    return earliest;
}

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
    cp_loop_source *earliest = find_earliest(loop);
    int64_t now_ns = cp_now_ns();

    if (earliest && earliest->deadline_ns <= now_ns) {
        earliest->deadline_ns = CP_NEVER;
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
