/* SPDX-License-Identifier: MIT
 *
 * handler_stack.c: bytes of stack that the handler of samples writes to, beyond the kernel's own
 * frame: with all rules cached, with none, and where there is something else on the stack than
 * ordinary frames of linked code.
 */
#include "handler_depth.h"
#include "measure.h"

#include <stdio.h>

int main(void)
{
    handler_depth depths[HANDLER_DEPTHS];
    char name[64];
    size_t count = handler_depth_measure(depths);
    if (count == 0) {
        bench_fail("no profile could be started");
    }
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "handler_stack.%s.pprof", depths[i].name);
        bench_print(name, (double)depths[i].bytes, "B");
    }
    printf("# the kernel's signal frame: %zu B\n", depths[0].kernel_bytes);
    return 0;
}
