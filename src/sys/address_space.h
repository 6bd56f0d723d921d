/* SPDX-License-Identifier: MIT
 *
 * address_space.h: how much address space a reservation may take.
 *
 * An untouched reservation costs no memory, but counts against RLIMIT_AS (ulimit -v). Where such a
 * limit is set, the library leaves the host its share.
 *
 * Zone: SIGNAL (one system call).
 */
#ifndef PP_SYS_ADDRESS_SPACE_H
#define PP_SYS_ADDRESS_SPACE_H

#include <stddef.h>
#include <sys/resource.h>

/* Returns `wanted` bytes, or limit / `fraction` if that is less. */
static inline size_t pp_address_space_share(size_t wanted, unsigned fraction)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur / fraction >= wanted) {
        return wanted;
    }
    return (size_t)(limit.rlim_cur / fraction);
}

#endif
