/* SPDX-License-Identifier: MIT
 *
 * loader_static.c: answers for a fully static program, which has no loader with a readable state.
 * If it calls dlopen, only the hook of dlclose counts changes.
 *
 * Zone: NORMAL.
 * Tested by: e2e.static
 */
#include "modules/loader.h"

bool pp_loader_find_state(const void **object, size_t *size)
{
    (void)object;
    (void)size;
    return false;
}

bool pp_loader_own_folder(char *folder, size_t size)
{
    (void)folder;
    (void)size;
    return false;
}

const void *pp_loader_load(const char *path, const char *symbol, pp_text *why)
{
    (void)path;
    (void)symbol;
    pp_text_add(why, "a fully static program cannot load it");
    return NULL;
}
