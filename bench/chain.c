/* SPDX-License-Identifier: MIT
 *
 * chain.c: 64 functions that call each other at random (chain.h).
 *
 * What an unwinder meets in ordinary code: most frames hang on the stack pointer and differ in size
 * alone; many save rbx and rbp as well; a few, with variable-length arrays, hang on rbp.
 *
 * CHAIN_DESCEND is the name of the entry function; the build defines it for each of the two copies.
 */
#include "chain.h"

typedef uint64_t step(chain *c, unsigned depth);

enum { FUNCTIONS = 64, INDEX_SHIFT = 64 - 6 };

static step *const steps[FUNCTIONS];

static inline uint64_t go_on(chain *c, unsigned depth)
{
    if (depth == 0) {
        c->bottom(c);
        return 0;
    }
    c->path = c->path * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return steps[c->path >> INDEX_SHIFT](c, depth - 1);
}

/* Nothing but a frame of `words` words. */
#define PLAIN(number, words)                                                                       \
    static __attribute__((noinline)) uint64_t step_##number(chain *c, unsigned depth)              \
    {                                                                                              \
        volatile uint64_t room[words];                                                             \
        room[(words)-1] = depth;                                                                   \
        return go_on(c, depth) + room[(words)-1];                                                  \
    }

/* Values that live across the call, for which rbx, rbp and r12 are saved. */
#define KEEPS(number, words)                                                                       \
    static __attribute__((noinline)) uint64_t step_##number(chain *c, unsigned depth)              \
    {                                                                                              \
        volatile uint64_t room[words];                                                             \
        uint64_t path = c->path;                                                                   \
        room[(words)-1] = path;                                                                    \
        uint64_t below = go_on(c, depth);                                                          \
        return below + (path ^ depth) + room[(words)-1] + (uint64_t)(uintptr_t)c;                  \
    }

/* A frame whose size is known at run time only, so that it hangs on rbp. */
#define GROWS(number, words)                                                                       \
    static __attribute__((noinline)) uint64_t step_##number(chain *c, unsigned depth)              \
    {                                                                                              \
        volatile uint64_t room[(words) + (depth & 3)];                                             \
        room[0] = depth;                                                                           \
        return go_on(c, depth) + room[0];                                                          \
    }

PLAIN(0, 1)
PLAIN(1, 2)
PLAIN(2, 3)
PLAIN(3, 4)
PLAIN(4, 5)
PLAIN(5, 6)
PLAIN(6, 7)
PLAIN(7, 8)
PLAIN(8, 9)
PLAIN(9, 10)
PLAIN(10, 11)
PLAIN(11, 12)
PLAIN(12, 13)
PLAIN(13, 14)
PLAIN(14, 15)
PLAIN(15, 16)
PLAIN(16, 18)
PLAIN(17, 20)
PLAIN(18, 22)
PLAIN(19, 24)
PLAIN(20, 26)
PLAIN(21, 28)
PLAIN(22, 30)
PLAIN(23, 32)
PLAIN(24, 34)
PLAIN(25, 36)
PLAIN(26, 38)
PLAIN(27, 40)
PLAIN(28, 44)
PLAIN(29, 48)
PLAIN(30, 52)
PLAIN(31, 60)
KEEPS(32, 1)
KEEPS(33, 2)
KEEPS(34, 3)
KEEPS(35, 4)
KEEPS(36, 5)
KEEPS(37, 6)
KEEPS(38, 7)
KEEPS(39, 8)
KEEPS(40, 9)
KEEPS(41, 10)
KEEPS(42, 11)
KEEPS(43, 12)
KEEPS(44, 13)
KEEPS(45, 14)
KEEPS(46, 15)
KEEPS(47, 16)
KEEPS(48, 18)
KEEPS(49, 20)
KEEPS(50, 22)
KEEPS(51, 24)
KEEPS(52, 26)
KEEPS(53, 28)
KEEPS(54, 30)
KEEPS(55, 32)
KEEPS(56, 36)
KEEPS(57, 40)
KEEPS(58, 44)
KEEPS(59, 48)
GROWS(60, 4)
GROWS(61, 8)
GROWS(62, 16)
GROWS(63, 32)

static step *const steps[FUNCTIONS] = {
    step_0,  step_1,  step_2,  step_3,  step_4,  step_5,  step_6,  step_7,  step_8,  step_9,
    step_10, step_11, step_12, step_13, step_14, step_15, step_16, step_17, step_18, step_19,
    step_20, step_21, step_22, step_23, step_24, step_25, step_26, step_27, step_28, step_29,
    step_30, step_31, step_32, step_33, step_34, step_35, step_36, step_37, step_38, step_39,
    step_40, step_41, step_42, step_43, step_44, step_45, step_46, step_47, step_48, step_49,
    step_50, step_51, step_52, step_53, step_54, step_55, step_56, step_57, step_58, step_59,
    step_60, step_61, step_62, step_63,
};

__attribute__((noinline)) uint64_t CHAIN_DESCEND(chain *c, unsigned depth)
{
    c->top = (uintptr_t)__builtin_frame_address(0);
    return go_on(c, depth);
}
