/* SPDX-License-Identifier: MIT
 *
 * attach.h: makes one thread of a running process call a function: dlopen(), to load libpprof, or a
 * function of libpprof that is there already.
 *
 * The thread is chosen and stopped so that the program notices nothing (safe_point.h, tracee.h). One
 * thread stands still for less than a millisecond; the others never do.
 */
#ifndef PP_REMOTE_ATTACH_H
#define PP_REMOTE_ATTACH_H

#include "remote/dump.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct pp_attach_target {
    bool has_library;  /* libpprof is in the process */
    uintptr_t state;   /* the address of its pprof_attach_state; 0: none */
    char library[512]; /* its path, as the process sees it */
} pp_attach_target;

/* What a call has cost. */
typedef struct pp_attach_call {
    int tid;                  /* the thread that made it */
    int64_t stopped_ns;       /* for so long it stood still */
    uintptr_t frame;          /* the thread's stack pointer is below this until the call is over */
    uintptr_t thread_pointer; /* of that thread */
    uint64_t image;           /* pp_attach_image() of that moment */
} pp_attach_call;

/* A thread of the process that is under a seccomp filter; 0: none. */
int pp_attach_filtered_thread(int pid);

/* Looks whether the process can be attached to, and whether libpprof is in it. 0, or -1 with the
 * reason and what to do about it. */
int pp_attach_look(int pid, pp_attach_target *target, pp_remote_error *error);

/*
 * Makes a thread of the process call dlopen(path, RTLD_NOW), or pprof_configure(options) of the
 * libpprof that is there. Returns when the call has begun: 0, or -1 with the reason. The process is
 * then as it was.
 */
int pp_attach_load(int pid, const char *path, pp_attach_call *call, pp_remote_error *error);
int pp_attach_configure(int pid, const char *options, pp_attach_call *call, pp_remote_error *error);

/* Whether the call is over; false while that is not known. */
bool pp_attach_call_is_over(int pid, const pp_attach_call *call);

/* Stores what dlerror() would say in the thread that has called dlopen(); false: nothing, or the C
 * library has no such place (glibc before 2.34). */
bool pp_attach_loader_says(int pid, const pp_attach_call *call, char *text, size_t size);

/* A number that is another one after the process has executed a program; 0: it has ended, or may not
 * be looked at. */
uint64_t pp_attach_image(int pid);

#endif
