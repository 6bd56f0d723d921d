/* SPDX-License-Identifier: MIT
 *
 * loader_dynamic_glibc.c: finds the loader's private state.
 *
 * Zone: NORMAL.
 * Locks: dlsym and dladdr1 take the loader's first lock (modules/loaded_objects.h).
 * Tested by: unit.loader
 */
#include "modules/loader.h"

#include "arch/registers.h"
#include "sys/own_work.h"

#include <dlfcn.h>
#include <link.h>

bool pp_loader_find_state(const void **object, size_t *size)
{
    Dl_info where;
    ElfW(Sym) *symbol = NULL;
    bool begins = pp_own_work_join(PP_FRAME_TOP());
    void *state = dlsym(RTLD_DEFAULT, "_rtld_global"); /* may allocate (host/real_dynamic.c) */
    if (begins) {
        pp_own_work_end();
    }
    if (state == NULL || dladdr1(state, &where, (void **)&symbol, RTLD_DL_SYMENT) == 0 ||
        symbol == NULL || where.dli_saddr != state) {
        return false;
    }
    *object = state;
    *size = symbol->st_size;
    return true;
}
