/* SPDX-License-Identifier: MIT
 *
 * unload.c: dlclose. The library that goes may hold code of samples that have no mapping yet: the
 * event before_unload (process.h) remembers the mapping in time.
 *
 * Zone: HOOK.
 * Locks: none here; the real dlclose takes the loader's.
 * Owns: the pair of functions around dlclose.
 * Tested by: stress.unload, e2e.hooks
 */
#include "host/unload.h"

#include "host/process.h"
#include "host/real.h"

#include <stddef.h>

typedef int dlclose_function(void *);

static struct {
    void *real;
    void (*before)(void);
    void (*after)(void);
} state;

void pp_hook_around_unload(void (*before)(void), void (*after)(void))
{
    __atomic_store_n(&state.after, after, __ATOMIC_RELEASE);
    __atomic_store_n(&state.before, before, __ATOMIC_RELEASE);
}

static void call_if_set(void (**place)(void))
{
    void (*function)(void) = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (function != NULL) {
        function();
    }
}

__attribute__((visibility("default"))) int dlclose(void *handle)
{
    dlclose_function *real = (dlclose_function *)pp_real(&state.real, "dlclose");
    if (real == NULL) {
        return -1;
    }
    pp_hook_tell_unload();
    call_if_set(&state.before);
    int result = real(handle);
    call_if_set(&state.after);
    return result;
}

void pp_hook_unload_init(void)
{
    pp_real(&state.real, "dlclose");
}
