/* SPDX-License-Identifier: MIT
 *
 * loader_dynamic.c: finds the loader's private state, and lets the loader load.
 *
 * Zone: NORMAL.
 * Locks: dlsym and dladdr1 take the loader's first lock, dl_iterate_phdr takes its second; dlopen
 *        and dlclose take both, in this order.
 * Tested by: unit.loader, e2e.lines
 */
#include "modules/loader.h"

#include "modules/own_code.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

bool pp_loader_find_state(const void **object, size_t *size)
{
    Dl_info where;
    ElfW(Sym) *symbol = NULL;
    void *state = dlsym(RTLD_DEFAULT, "_rtld_global");
    if (state == NULL || dladdr1(state, &where, (void **)&symbol, RTLD_DL_SYMENT) == 0 ||
        symbol == NULL || where.dli_saddr != state) {
        return false;
    }
    *object = state;
    *size = symbol->st_size;
    return true;
}

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
