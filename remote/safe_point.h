/* SPDX-License-Identifier: MIT
 *
 * safe_point.h: whether a thread may call the loader where it is.
 *
 * dlopen() takes the locks of the loader, of malloc, and of the list of threads. A thread that has
 * one of them, or has half changed what they protect, must not call it. So a thread is at a safe
 * point if its stack shows that it is in none of these:
 *
 *   leaf     the program's own code, or a function of libc that waits and holds no such lock
 *            (poll, read, pthread_cond_wait, ...), also below a hook of libpprof
 *   between  no frame of the loader, of an allocator, of a signal handler, nor of libc but qsort and
 *            its like, which call back
 *   root     libc's start of the thread, and not exit()
 *
 * and if it is on its own stack, with room: not on that of a coroutine or goroutine.
 */
#ifndef PP_REMOTE_SAFE_POINT_H
#define PP_REMOTE_SAFE_POINT_H

#include "remote/target.h"

#include "arch/registers.h"
#include "base/arena.h"
#include "profile/model.h"
#include "sys/task_state.h"
#include "unwind/walk_other.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PP_SAFE_DEPTH = 1024, PP_SAFE_KNOWN = 1021 };

typedef struct pp_safe_frame {
    uintptr_t pc; /* 0 = empty */
    const char *name;
    int kind;
    bool is_exported;
} pp_safe_frame;

enum { PP_SAFE_ANCHORS = 4 };

/* What is needed to look at many threads of one target. */
typedef struct pp_safe_looks {
    const pp_target *target;
    const pp_profile *objects;
    const bool *allocates;  /* for each mapping: its object has a malloc of its own */
    bool program_allocates; /* mapping 0 */
    /* The program, the loader and libc: where these are no more, another program is. */
    const pp_mapping *anchors[PP_SAFE_ANCHORS];
    unsigned anchor_count;
    bool
        is_other; /* a thread was found in another program, or in new code: the objects are to be read anew */
    pp_arena *arena;
    pp_other_space *space;
    uintptr_t *pcs;       /* PP_SAFE_DEPTH */
    pp_safe_frame *known; /* PP_SAFE_KNOWN, by pc */
} pp_safe_looks;

/* Prepares the looks. 0 or -ENOMEM. */
int pp_safe_looks_begin(pp_safe_looks *looks, const pp_target *target, const pp_profile *objects,
                        pp_arena *arena);

/* Whether a thread that waits is at a safe point; if not, *why is set to a few words about where it
 * is. */
bool pp_safe_waiting(pp_safe_looks *looks, const pp_task_place *place, const char **why);

/* The system call in which a thread waits. */
typedef struct pp_safe_call {
    long number;         /* -1: it runs */
    uintptr_t operation; /* the second argument */
} pp_safe_call;

/* The same for a stopped thread. `call` is the system call that the stop has interrupted; `thread_pointer` the address of its thread control block. */
bool pp_safe_stopped(pp_safe_looks *looks, const pp_registers *registers, const pp_safe_call *call,
                     uintptr_t thread_pointer, const char **why);

#endif
