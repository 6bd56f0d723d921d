/* SPDX-License-Identifier: MIT
 *
 * allocator_glibc_static.c: reads mallinfo2() in a fully static program. The program has mallinfo2 if it
 * has libc's malloc, which is in the same file of libc.a, and lacks it if it has its own allocator.
 *
 * Zone: NORMAL.
 * Tested by: e2e.static
 */
#include "sys/allocator.h"

#include <malloc.h>
#include <stddef.h>

extern __typeof__(mallinfo2) mallinfo2 __attribute__((weak));

bool pp_allocator_read(pp_allocator_use *use)
{
    if (mallinfo2 == NULL) {
        return false;
    }
    struct mallinfo2 said = mallinfo2();
    use->mapped = said.arena + said.hblkhd;
    use->used = said.uordblks + said.hblkhd;
    return use->used <= use->mapped;
}

void pp_allocator_ask(pp_allocator_report *report)
{
    pp_allocator_use use;
    *report = (pp_allocator_report){.name = NULL};
    if (pp_allocator_read(&use)) {
        *report = (pp_allocator_report){
            .name = "glibc", .is_libc = true, .has_used = true, .used = use.used};
    }
}
