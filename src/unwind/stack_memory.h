/* SPDX-License-Identifier: MIT
 *
 * stack_memory.h: reads words of a stack, and never faults.
 *
 * A walk may only load from memory that is mapped, and another thread may unmap memory just after a
 * check. Two stacks cannot be unmapped: the one that the walk runs on, from the walk's own frame
 * upwards; and, when a handler runs on an alternate stack, the thread's own stack, from where the
 * signal interrupted it. Such memory is the window, in which words are read in place. A walk that
 * begins in such a handler moves the window to the own stack when it gets there. The upper end
 * of a thread's own stack is known since the thread's start. On any other stack that the walk runs
 * on (a signal stack, a coroutine's) the window grows page by page as the walk gets there, and each
 * page is checked.
 *
 *   own stack     limit ......... walk's frame [######### window #########) top
 *   another       ............... walk's frame [## page ## page ## ..    grows with the walk
 *
 * Words elsewhere (the stack below a signal stack, the target of a wild rbp) are copied by the
 * kernel, which returns an error where a load would fault. All words of another thread's stack are
 * copied, too: most of them at once, as an image.
 *
 * Zone: SIGNAL.
 * Owns: 16 bytes of initial-exec TLS a thread.
 */
#ifndef PP_UNWIND_STACK_MEMORY_H
#define PP_UNWIND_STACK_MEMORY_H

#include "base/compiler.h"
#include "sys/safe_read.h"

#include <stdbool.h>
#include <stdint.h>

enum { PP_STACK_COPY_BYTES = 256 };

/* A copy of words of a stack on which the walk does not run. */
typedef struct pp_stack_copy {
    uintptr_t lo, hi; /* the addresses of the words */
    uint8_t bytes[PP_STACK_COPY_BYTES];
} pp_stack_copy;

/* A copy of the leaf-most part of another thread's stack. */
typedef struct pp_stack_image {
    uintptr_t lo, hi; /* the addresses of the part */
    const uint8_t *bytes;
} pp_stack_image;

typedef struct pp_stack_window {
    uintptr_t lo;
    uintptr_t span; /* words at lo .. lo + span - 1 can be read in place */
    /* All words below a CFA in (cfa_lo, cfa_hi] can be read in place; (UINTPTR_MAX, 0) if there is
     * no such CFA. */
    uintptr_t cfa_lo, cfa_hi;
    pp_stack_copy *copy;
    const pp_stack_image *image; /* NULL in a walk of the calling thread */
    const pp_memory *memory;     /* of another thread's stack; NULL: this process */
} pp_stack_window;

/*
 * Declares [limit, top) to be the calling thread's own stack. Below `top`, all must be mapped down
 * to the thread's SP, wherever that is. `limit` must not be below the stack's mapping; a higher
 * value is safe, and only slower.
 */
void pp_stack_declare(uintptr_t limit, uintptr_t top);

/* The bytes from the lower end of the calling thread's own stack to `sp`; 0 if `sp` is not on it,
 * or its bounds are not known. */
uintptr_t pp_stack_room(uintptr_t sp);

/* The lower end of the calling thread's own stack; 0: not known. */
uintptr_t pp_stack_limit(void);

/* Opens a window on the stack that the caller runs on; or, if the walk begins at an `sp` on the
 * thread's own stack and that is another one, on that, from `sp` on. `copy` needs no
 * initialisation. */
void pp_stack_window_open(pp_stack_window *window, uintptr_t sp, pp_stack_copy *copy);

/* Opens a window on the stack of another thread, which may be unmapped at any time. `memory` is that
 * of the thread's process; NULL: this one. */
void pp_stack_window_open_other(pp_stack_window *window, const pp_memory *memory,
                                const pp_stack_image *image, pp_stack_copy *copy);

/* The walk has got to a frame that a signal interrupted at `sp`. If that is on the calling thread's
 * own stack, the window moves there from the stack on which the handler runs. */
void pp_stack_window_move(pp_stack_window *window, uintptr_t sp);

/* Reads a word outside the window, which grows if it can. False if that is not possible. */
bool pp_stack_read_beyond(pp_stack_window *window, uintptr_t address, uintptr_t *word);

/*
 * Reads a word that may be anywhere: at an address that is a guess, or that a rule has read from
 * memory. The window does not grow, since memory beside the stack may be unmapped by another
 * thread.
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
