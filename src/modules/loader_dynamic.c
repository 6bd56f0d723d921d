/* SPDX-License-Identifier: MIT
 *
 * loader_dynamic.c: lets the loader load. The loader's private state: loader_dynamic_glibc.c.
 *
 * Zone: NORMAL.
 * Locks: dladdr takes the loader's first lock, dl_iterate_phdr takes its second; dlopen and dlclose
 *        take both, in this order.
 * Tested by: unit.loader, e2e.lines
 */
#include "modules/loader.h"

#include "modules/own_code.h"

#include <dlfcn.h>
#include <string.h>

bool pp_loader_own_folder(char *folder, size_t size)
{
    Dl_info own;
    uintptr_t here = (uintptr_t)pp_loader_own_folder;
    if (!pp_own_code_has(here) || dladdr((void *)here, &own) == 0 || own.dli_fname == NULL) {
        return false;
    }
    const char *slash = strrchr(own.dli_fname, '/');
    size_t length = slash != NULL ? (size_t)(slash - own.dli_fname) + 1 : 0;
    if (length == 0 || length >= size) {
        return false;
    }
    memcpy(folder, own.dli_fname, length);
    folder[length] = '\0';
    return true;
}

const void *pp_loader_load(const char *path, const char *symbol, pp_text *why)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const void *found = library != NULL ? dlsym(library, symbol) : NULL;
    const char *reason = found == NULL ? dlerror() : NULL;
    if (reason != NULL) {
        pp_text_add(why, reason);
    }
    return found;
}
