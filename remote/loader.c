/* SPDX-License-Identifier: MIT
 *
 * loader.c: the functions of modules/loader.h. The target's objects are read once, so the epoch
 * stands still; what is loaded (the plugin for lines) is loaded into this command.
 *
 * Tested by: e2e.cpprof_dump
 */
#include "modules/loader.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t pp_loader_epoch(void)
{
    return 1;
}

bool pp_loader_epoch_is_known(void)
{
    return true;
}

bool pp_loader_is_suspect(void)
{
    return false;
}

/* The folder of libraries beside the command: in the build tree, and where it is installed. */
bool pp_loader_own_folder(char *folder, size_t size)
{
    static const char *const places[] = {"/../lib/", "/../" PP_LIBDIR "/"};
    char self[512];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) {
        return false;
    }
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char file[sizeof self + 64];
        snprintf(file, sizeof file, "%s%slibpprof-dwarf.so", self, places[i]);
        if (access(file, R_OK) == 0) {
            return snprintf(folder, size, "%s%s", self, places[i]) < (int)size;
        }
    }
    return false;
}

const void *pp_loader_load(const char *path, const char *symbol, pp_text *why)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const void *found = library != NULL ? dlsym(library, symbol) : NULL;
    if (found == NULL) {
        pp_text_add(why, dlerror());
    }
    return found;
}
