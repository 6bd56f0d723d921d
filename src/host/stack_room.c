/* SPDX-License-Identifier: MIT
 *
 * stack_room.c: decides by the bounds of the thread's own and its alternate stack.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: e2e.small_stacks, e2e.stacks
 */
#include "host/stack_room.h"

#include "arch/call_on_stack.h"
#include "arch/system_call.h"
#include "base/memory.h"
#include "sys/left_frame.h"
#include "sys/signal_mask.h"
#include "unwind/stack_memory.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ENOUGH = 64 << 10, /* for all but the lines of symbolize=lines */
    MAPPED = 1 << 20   /* of which only touched pages are ever there */
};

static bool has_room(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    stack_t alternate = {.ss_flags = SS_DISABLE};
    pp_system_call(SYS_sigaltstack, NULL, &alternate);
    uintptr_t room =
        pp_is_on_stack(&alternate, here) ? here - (uintptr_t)alternate.ss_sp : pp_stack_room(here);
    return room >= ENOUGH;
}

void pp_with_stack_room(void (*work)(void *argument), void *argument)
{
    char *memory = has_room() ? NULL : pp_memory_map(MAPPED);
    pp_signal_mask old = 0;
    if (memory == NULL) {
        work(argument);
        return;
    }
    pp_signals_block(&old);
    pp_call_on_stack(memory + MAPPED, work, argument);
    pp_memory_unmap(memory, MAPPED);
    pp_signals_restore(&old);
}
