/* SPDX-License-Identifier: MIT
 *
 * allocator_dynamic_glibc.c: reads mallinfo2() of glibc, if the program allocates from glibc.
 *
 * Zone: NORMAL.
 * Tested by: unit.memory_stats
 */
#include "sys/allocator.h"

#include <dlfcn.h>
#include <malloc.h>

/* The allocator is the next definition after our hooks. No library replaces only mallinfo2. */
static bool is_of_same_object(const void *a, const void *b)
{
    Dl_info of_a;
    Dl_info of_b;
    return a != NULL && b != NULL && dladdr(a, &of_a) != 0 && dladdr(b, &of_b) != 0 &&
           of_a.dli_fbase == of_b.dli_fbase;
}

bool pp_allocator_read(pp_allocator_use *use)
{
    typedef struct mallinfo2 tell(void);
    tell *info = (tell *)dlsym(RTLD_DEFAULT, "mallinfo2");
    if (info == NULL || !is_of_same_object(dlsym(RTLD_NEXT, "malloc"), (const void *)info)) {
        return false;
    }
    struct mallinfo2 said = info();
    use->mapped = said.arena + said.hblkhd;
    use->used = said.uordblks + said.hblkhd;
    return use->used <= use->mapped;
}
