/* SPDX-License-Identifier: MIT
 *
 * samplers.c: goes through the kinds' samplers.
 *
 * Zone: SIGNAL.
 * Tested by: toy_kind.toy_kind, e2e.threads, e2e.alternate_stacks
 */
#include "host/samplers.h"

#include "host/kind.h"

#include <stddef.h>

static const pp_sampler none;

static const pp_sampler *sampler_of(const pp_kind *kind)
{
    return kind->sampler != NULL ? kind->sampler : &none;
}

void pp_samplers_tell(pp_thread_event event)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        void (*on)(void) = sampler_of(pp_kinds[i])->on[event];
        if (on != NULL) {
            on();
        }
    }
}

void pp_samplers_thread_begins(uintptr_t entry, const pp_caller *caller)
{
    for (size_t i = pp_kinds_count(); i-- > 0;) {
        const pp_sampler *sampler = sampler_of(pp_kinds[i]);
        if (sampler->thread_begins != NULL) {
            sampler->thread_begins(entry, caller);
        }
    }
}

pp_claim pp_samplers_claim(const siginfo_t *info)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_sampler *sampler = sampler_of(pp_kinds[i]);
        void *claimed = sampler->claim != NULL ? sampler->claim(info) : NULL;
        if (claimed != NULL) {
            return (pp_claim){sampler, claimed};
        }
    }
    return (pp_claim){NULL, NULL};
}

bool pp_samplers_may_have_sent(const siginfo_t *info)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_sampler *sampler = sampler_of(pp_kinds[i]);
        if (sampler->may_have_sent != NULL && sampler->may_have_sent(info)) {
            return true;
        }
    }
    return false;
}

bool pp_samplers_own_descriptor(int fd)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_sampler *sampler = sampler_of(pp_kinds[i]);
        if (sampler->owns_descriptor != NULL && sampler->owns_descriptor(fd)) {
            return true;
        }
    }
    return false;
}
