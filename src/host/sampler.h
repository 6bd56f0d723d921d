/* SPDX-License-Identifier: MIT
 *
 * sampler.h: the part of a kind that runs on the program's own threads: in hooks, and in the
 * handler of the sampling signal.
 *
 *   hooks of threads, stacks, exec --> pp_samplers_tell() --> every kind's sampler, if it has one
 *   the sampling signal            --> pp_samplers_claim() --> the sampler whose signal it is
 *
 * A kind names its sampler in its pp_kind (host/kind.h). The constant is defined in a file whose
 * zone is SIGNAL or HOOK, so that tools/check-zones sees everything that these functions call.
 *
 * Zone: SIGNAL, except where NORMAL is written.
 */
#ifndef PP_HOST_SAMPLER_H
#define PP_HOST_SAMPLER_H

#include "unwind/caller.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* An event in the life of the calling thread. */
typedef enum pp_thread_event {
    /* The program is about to create its first thread. From then on no hook may need the loader.
     * NORMAL. */
    PP_THREAD_IS_FIRST,
    /* The thread ends. NORMAL. */
    PP_THREAD_ENDS,
    /* The thread sets up an alternate signal stack that is too small for signals of ours, and later
     * gives it up. HOOK. */
    PP_THREAD_PAUSES,
    PP_THREAD_RESUMES,
    /* The thread sets up another alternate stack, which may become that of a coroutine: the thread
     * can get no signal of ours for a moment. HOOK. */
    PP_THREAD_CHANGES_STACK,
    /* The thread is about to execute another program; the exec has failed. HOOK. */
    PP_THREAD_EXECUTES,
    PP_THREAD_FAILED_TO_EXECUTE,
    /* A thread of the library is about to exist that looks after the process, some times a second:
     * what a handler would have to wait for is left to it. It looks. It will look no more. NORMAL. */
    PP_LOOKER_BEGINS,
    PP_LOOKER_LOOKS,
    PP_LOOKER_ENDS,
    PP_THREAD_EVENTS
} pp_thread_event;

/* Each function may be NULL. */
typedef struct pp_sampler {
    void (*on[PP_THREAD_EVENTS])(void);
    /* The calling thread is about to call its start routine `entry`, as if `caller` did. NORMAL. */
    void (*thread_begins)(uintptr_t entry, const pp_caller *caller);
    /* In the handler of the sampling signal. claim() returns what the signal is for if this sampler
     * has sent it, else NULL. take() then takes the sample. They are two functions so that the
     * handler's stack stays small. */
    void *(*claim)(const siginfo_t *info);
    void (*take)(void *claimed, const siginfo_t *info, const void *context);
    /* Whether a signal that no sampler has claimed may be a late one of this sampler. */
    bool (*may_have_sent)(const siginfo_t *info);
    /* Whether the sampler keeps this descriptor open: no profile shows it. */
    bool (*owns_descriptor)(int fd);
} pp_sampler;

#endif
