/* SPDX-License-Identifier: MIT
 *
 * protocol.h: what the stepper and its agent inside the stepped program tell each other.
 *
 * Both map the same file. The agent's constructor fills the first part and sets `ready`; from then
 * on the stepper may stop the program at any instruction, fill in the registers, set the PC to `entry`
 * and SP to `stack_top` or somewhere below the red zone, and let it run until the trap at the
 * agent's end. The answers stand in `answer` then, and nothing else in the program has changed but
 * its registers, which the stepper puts back.
 *
 * Zone: tests.
 * Locks: none; the two never run at the same time.
 */
#ifndef PP_COMPARE_PROTOCOL_H
#define PP_COMPARE_PROTOCOL_H

#include <stdint.h>
#include <ucontext.h>

/* The variable that names the shared file. */
#define COMPARE_SHARED_VARIABLE "PP_COMPARE_SHARED"

enum { COMPARE_DEPTH = 500 };

/* The ways to walk the same stack; all have to give the same frames. */
typedef enum compare_way {
    COMPARE_WARM,         /* as it comes: the memo of the last walk, rules cached or not */
    COMPARE_AGAIN,        /* at once once more: the memo is of this very stack */
    COMPARE_WITHOUT_MEMO, /* every frame found anew */
    COMPARE_COLD,         /* likewise, and the rule cache is empty */
    COMPARE_FROM_CALLER,  /* pp_walk_from_caller, where the return address is at SP */
    COMPARE_ELSEWHERE,    /* as a stack that the walk does not run on */
    COMPARE_WAYS
} compare_way;

typedef struct compare_answer {
    uint32_t depth;
    uint32_t stop; /* pp_stop */
    uint32_t guessed;
    uint32_t reserved;
    uint64_t hash; /* pp_stack_hash */
    uint64_t pcs[COMPARE_DEPTH];
} compare_answer;

typedef struct compare_shared {
    uint64_t ready; /* non-zero once the agent can be called */
    uint64_t entry;
    uint64_t stack_top;
    uint64_t ways;           /* which ways are wanted: bits by compare_way */
    uint64_t place;          /* if not 0: tell whether this PC belongs to a module */
    uint64_t place_is_known; /* the answer */
    gregset_t registers;
    compare_answer answer[COMPARE_WAYS];
} compare_shared;

#endif
