/* SPDX-License-Identifier: MIT
 *
 * push.h: sends profiles to a server that stores those of many hosts.
 *
 *   push_add --> queue in memory --(the server does not take them)--> spool, a folder
 *                     |                                                 |
 *   push_pump --------+------> request --> 2xx: sent                    |
 *                     ^           |------> 429, 5xx, no answer: later --+
 *                     |           '------> 400: lost, and said
 *                     '-- what an earlier process has left in the spool
 *
 * Libpprof's own thread (libpprof-push.so), `cpprof push` and `cpprof agent` have one sender each.
 *
 * Locks: that of the sender. push_add(), push_wake() and push_count() may be called on any thread,
 *        the others on one thread at a time.
 * Owns: the queue; the connection to the server.
 */
#ifndef PUSH_PUSH_H
#define PUSH_PUSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- a sender ---- */

enum { PUSH_WHY_BYTES = 512 };

typedef struct push_sender push_sender;

typedef struct push_settings {
    const char *url; /* http://HOST:PORT, https://...; a path before the server's own is kept */
    const char *to;  /* "pyroscope", "parca" or "otlp"; NULL: the server is asked */
    const char *token_file; /* has a bearer token; it is read for each request. NULL: none */
    const char *token;      /* without a file: the token itself; NULL: none */
    const char *tenant;     /* the header X-Scope-OrgID; NULL: none */
    const char *ca_file;    /* PEM; NULL: those of the system */
    const char *spool;      /* a folder, which may be shared; NULL: memory only */
    uint64_t spool_bytes;   /* at most, in the folder; 0: 64 MiB */
    size_t memory_bytes;    /* at most, in the queue; 0: 8 MiB */
    /* What went wrong, once, and when it is over. NULL: nobody wants to know. It is called on the
     * thread of push_pump(), push_close() or push_add(). No message has a token. */
    void (*log)(const char *message);
    /* Before and after each wait of a thread in push_pump(), push_drain(). NULL: nobody wants to know. */
    void (*waits)(bool begins);
} push_settings;

/* Copies the settings. 0, or -errno with a sentence in `why`: the URL is wrong, the spool cannot be
 * written, there is no libcurl. It does not wait for the server. */
int push_open(const push_settings *settings, push_sender **sender, char why[PUSH_WHY_BYTES]);

/* Ends the sender. What was not sent goes to the spool; without one it is lost, and said. */
void push_close(push_sender *sender);

/* ---- profiles ---- */

typedef struct push_label {
    const char *name; /* as OpenTelemetry writes it: "service.name", "host.name" */
    const char *value;
} push_label;

typedef struct push_profile {
    const void *data; /* profile.proto, gzipped or not */
    size_t size;
    const char *kind; /* libpprof's name: "cpu", "heap", "block", "mutex", "thread", "wall", ... */
    /* "service.name" is among them. Names that a server does not allow are changed for it. */
    const push_label *labels;
    size_t label_count;
    int64_t begin_ns, end_ns; /* since 1970; equal: the profile is of a moment */
} push_profile;

/* Copies the profile to the queue. What must leave the queue for it goes to the spool, or is lost,
 * the oldest first. 0, -E2BIG for a profile of more than 64 MiB, or -ENOMEM; it is lost then. */
int push_add(push_sender *sender, const push_profile *profile);

/* Whether the next push_add() would lose a profile. A caller that can still add to its next profile
 * what this one would show does that instead. */
bool push_is_full(const push_sender *sender);

/* ---- sending ---- */

/* Sends what is due, and waits for more, until CLOCK_MONOTONIC shows `until_ns` or another thread
 * calls push_wake(). A request that is under way then goes on at the next call. */
void push_pump(push_sender *sender, uint64_t until_ns);

/* The same, but returns as soon as nothing is left to send. True if nothing is left. */
bool push_flush(push_sender *sender, uint64_t until_ns);

/* For a process that ends: sends at once, whatever went wrong before, and gives up at the first failure. */
bool push_drain(push_sender *sender, uint64_t until_ns);

/* Closes all descriptors; the next call opens what it needs, on whichever thread it is. A request that
 * is under way is sent again. */
void push_park(push_sender *sender);

/* Has the present or the next push_pump() or push_flush() return. */
void push_wake(push_sender *sender);

/* ---- counters ---- */

typedef struct push_counters {
    uint64_t added, sent, lost; /* profiles; some that are sent were in the spool before */
    uint64_t retried;           /* requests that had to be sent again */
    uint64_t queued;            /* profiles, in memory and in the spool */
    uint64_t queued_bytes;
} push_counters;

push_counters push_count(const push_sender *sender);

#endif
