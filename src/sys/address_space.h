/* SPDX-License-Identifier: MIT
 *
 * address_space.h: how much address space a reservation may take.
 *
 * Untouched reservations cost no memory, but they count against RLIMIT_AS (ulimit -v). Where the
 * host is limited, its share is not ours to take.
 *
 * Zone: SIGNAL (one system call).
 */
#ifndef PP_SYS_ADDRESS_SPACE_H
#define PP_SYS_ADDRESS_SPACE_H

#include <stddef.h>
#include <sys/resource.h>

/* `wanted` bytes, or the given fraction (1/n) of the limit if that is less. */
static inline size_t pp_address_space_share(size_t wanted, unsigned fraction)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur / fraction >= wanted) {
        return wanted;
    }
    return (size_t)(limit.rlim_cur / fraction);
}

#endif
