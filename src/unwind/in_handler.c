/* SPDX-License-Identifier: MIT
 *
 * in_handler.c: looks for the code that ends handlers among the return addresses.
 *
 * Zone: SIGNAL.
 * Tested by: e2e.lines_soft
 */
#include "unwind/in_handler.h"

#include "arch/registers.h"
#include "sys/left_frame.h"
#include "sys/safe_read.h"

#include "pprof.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { DEPTH = 64 /* frames; a handler that writes a profile needs fewer */ };

static bool is_restorer(uintptr_t pc)
{
    uint8_t code[sizeof pp_signal_restorer];
    return pp_safe_copy(code, pc, sizeof code) &&
           memcmp(code, pp_signal_restorer, sizeof code) == 0;
}

static bool on_alternate_stack(void)
{
    stack_t alternate = {.ss_flags = SS_DISABLE};
    pp_system_call(SYS_sigaltstack, NULL, &alternate);
    return pp_is_on_stack(&alternate, (uintptr_t)__builtin_frame_address(0));
}

bool pp_in_handler(void)
{
    uintptr_t pcs[DEPTH];
    if (on_alternate_stack()) {
        return true;
    }
    size_t depth = pprof_callers(0, pcs, DEPTH);
    for (size_t i = 0; i < depth; i++) {
        if (is_restorer(pcs[i])) {
            return true;
        }
    }
    return false;
}
