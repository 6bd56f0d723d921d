/* SPDX-License-Identifier: MIT
 *
 * switch_work.h: what the switch from one coroutine to another has to do beside its stores
 * (<pprof_task.h>).
 *
 * The inline functions of that header read this word, and call the library only if it is not 0. A
 * bit is set before the first moment at which the work would have an effect, and LABELS stays set
 * for ever: to exchange the labels of a program that has none changes nothing, so a switch may
 * leave it out as long as that is so.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_STORE_SWITCH_WORK_H
#define PP_STORE_SWITCH_WORK_H

#include <stdint.h>

enum {
    PP_SWITCH_LABELS = 1, /* exchange the labels of the thread and of the coroutine */
    PP_SWITCH_CLOCK = 2   /* measure waits, for the block profile */
};

extern uint32_t pp_switch_work;

static inline void pp_switch_work_add(uint32_t bit)
{
    if ((__atomic_load_n(&pp_switch_work, __ATOMIC_RELAXED) & bit) == 0) {
        __atomic_fetch_or(&pp_switch_work, bit, __ATOMIC_RELAXED);
    }
}

static inline void pp_switch_work_remove(uint32_t bit)
{
    __atomic_fetch_and(&pp_switch_work, ~bit, __ATOMIC_RELAXED);
}

#endif
