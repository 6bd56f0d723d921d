/* SPDX-License-Identifier: MIT
 *
 * loader_static.c: a fully static program has no loader to look into. What it may dlopen is counted
 * by the hook of dlclose alone.
 *
 * Zone: NORMAL.
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
