/* SPDX-License-Identifier: MIT
 *
 * samplers.h: calls all samplers (host/sampler.h), in the order of kinds.c.
 *
 * Zone: SIGNAL; but each call has the zone that pp_sampler names for it.
 */
#ifndef PP_HOST_SAMPLERS_H
#define PP_HOST_SAMPLERS_H

#include "host/sampler.h"

#include <stdbool.h>
#include <stdint.h>

void pp_samplers_tell(pp_thread_event event);

/* Calls thread_begins() of the samplers, in the opposite order. */
void pp_samplers_thread_begins(uintptr_t entry, const pp_caller *caller);

/* The sampler that has sent a signal, and the argument for its take(). Both NULL: none has. */
typedef struct pp_claim {
    const pp_sampler *sampler;
    void *claimed;
} pp_claim;

pp_claim pp_samplers_claim(const siginfo_t *info);
bool pp_samplers_may_have_sent(const siginfo_t *info);

bool pp_samplers_own_descriptor(int fd);

#endif
