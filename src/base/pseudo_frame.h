/* SPDX-License-Identifier: MIT
 *
 * pseudo_frame.h: frames that no program has, in the place of a stack that is not known.
 *
 * A pseudo-frame is a real, exported function, so that every reader shows its name. Profiles use
 * its address; nothing calls it.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_BASE_PSEUDO_FRAME_H
#define PP_BASE_PSEUDO_FRAME_H

/* Defines one. The body names it, so that no compiler merges two of them. */
#define PP_PSEUDO_FRAME(name)                                                                      \
    void name(void);                                                                               \
    __attribute__((visibility("default"), noinline, used)) void name(void)                         \
    {                                                                                              \
        __asm__ volatile("# " #name ::: "memory");                                                 \
    }

/* The samples that a table, a slot or a signal had no room for; every kind may lose some. */
void pprof_lost_samples(void);

#endif
