/* SPDX-License-Identifier: MIT
 *
 * samplers.h: all samplers (host/sampler.h), in the order of kinds.c.
 *
 * Zone: SIGNAL; what is written at pp_sampler holds for each call.
 */
#ifndef PP_HOST_SAMPLERS_H
#define PP_HOST_SAMPLERS_H

#include "host/sampler.h"

#include <stdbool.h>
#include <stdint.h>

/* Samplers hear of a thread's begin in the opposite order. */
void pp_samplers_tell(pp_thread_event event);
void pp_samplers_thread_begins(uintptr_t entry, const pp_caller *caller);
/* Whose signal it is, and what its take() is called with. Nobody's: NULL. */
typedef struct pp_claim {
    const pp_sampler *sampler;
    void *claimed;
} pp_claim;

pp_claim pp_samplers_claim(const siginfo_t *info);
bool pp_samplers_may_have_sent(const siginfo_t *info);

#endif
