/* SPDX-License-Identifier: MIT
 *
 * stack_memory.h: reading words of a stack without ever faulting.
 *
 * Nothing that a walk reads may be missing, and what another thread can take away may be missing a
 * moment after it was asked for. Only two stacks cannot go: the one we are running on, from our own
 * frame upwards, and the thread's own, from where a signal interrupted it, when the handler runs on
 * an alternate stack. That is the window, in which words are read in place. Its upper end is known
 * for a thread's own stack, from the thread's start; on any other stack that we run on (a signal
 * stack, a coroutine's) the window grows by the page as the walk gets there, each one asked for.
 *
 *   own stack     limit .......... our frame [######### window #########) top
 *   another       ................ our frame [## page ## page ## ..    grows with the walk
 *
 * Words elsewhere (the stack below a signal stack, wherever a wild rbp points to) are copied by the
 * kernel, which fails where a load would fault. So are all words of another thread's stack: most of
 * it at once, as an image.
 *
 * Zone: SIGNAL.
 * Owns: 16 bytes of initial-exec TLS a thread.
 */
#ifndef PP_UNWIND_STACK_MEMORY_H
#define PP_UNWIND_STACK_MEMORY_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

/* Below the CFA of a one-word rule lie the return address and up to 32 words that it can name. */
#define PP_STACK_WORDS_BELOW_CFA ((uintptr_t)33)

enum { PP_STACK_COPY_BYTES = 256 };

/* Words of a stack that we do not run on. */
typedef struct pp_stack_copy {
    uintptr_t lo, hi; /* what it holds */
    uint8_t bytes[PP_STACK_COPY_BYTES];
} pp_stack_copy;

/* The leaf-most part of another thread's stack. */
typedef struct pp_stack_image {
    uintptr_t lo, hi; /* where it lies */
    const uint8_t *bytes;
} pp_stack_image;

typedef struct pp_stack_window {
    uintptr_t lo;
    uintptr_t span; /* words at lo .. lo + span - 1 can be read whole */
    /* All words below a CFA in (cfa_lo, cfa_hi] can be read in place. (UINTPTR_MAX, 0) if there is
     * none. */
    uintptr_t cfa_lo, cfa_hi;
    pp_stack_copy *copy;
    const pp_stack_image *image; /* NULL on the caller's own thread */
} pp_stack_window;

/*
 * Declares [limit, top) to be the calling thread's own stack. `top` must be mapped down to wherever
 * the thread's SP is, `limit` must not be below the stack's mapping: a higher value is safe and
 * only slower.
 */
void pp_stack_declare(uintptr_t limit, uintptr_t top);

/* Opens a window upon the stack that the caller runs on, or upon the thread's own from `sp` on,
 * where the walk begins, if that is another; `copy` needs no initialisation. */
void pp_stack_window_open(pp_stack_window *window, uintptr_t sp, pp_stack_copy *copy);

/* Opens one upon the stack of another thread, which may be unmapped at any time. */
void pp_stack_window_open_other(pp_stack_window *window, const pp_stack_image *image,
                                pp_stack_copy *copy);

/* A word outside of the window, which grows if it can. */
bool pp_stack_read_beyond(pp_stack_window *window, uintptr_t address, uintptr_t *word);

/*
 * A word that may lie anywhere: where a guess leads to, or a rule through memory. The window does
 * not grow for it, since what lies beside the stack may be another thread's to unmap.
 */
bool pp_stack_peek(const pp_stack_window *window, uintptr_t address, uintptr_t *word);

PP_RAW_MEMORY static inline bool pp_stack_read(pp_stack_window *window, uintptr_t address,
                                               uintptr_t *word)
{
    if (pp_unlikely(address - window->lo >= window->span)) {
        return pp_stack_read_beyond(window, address, word);
    }
    *word = *(const volatile uintptr_t *)address;
    return true;
}

#endif
