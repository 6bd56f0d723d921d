/* SPDX-License-Identifier: MIT
 *
 * real_dynamic.c: the real functions of a program that has a loader: the next definitions after
 * ours.
 *
 * A fully static program has no loader. This file notices that, and ends the program with a message
 * before a hook could fail in a way that nobody understands. The program cannot go on: it has no
 * malloc.
 *
 * Zone: HOOK.
 * Locks: none here; the loader takes its own.
 * Tested by: e2e.hooks, e2e.static
 */
#include "host/real.h"

#include "arch/registers.h"
#include "arch/shown_as.h"
#include "arch/system_call.h"
#include "host/real_version.h"
#include "modules/late.h"
#include "modules/loaded_objects.h"
#include "modules/own_exports.h"
#include "sys/own_work.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <unistd.h>

static const char refusal[] = "libpprof: libpprof.a is in a fully static program, where it cannot "
                              "find what it stands in front of: link "
                              "libpprof_static.a instead\n";

/* Whether the program names no loader in its headers. */
static bool is_fully_static(void)
{
    const ElfW(Phdr) *header = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    size_t count = header != NULL ? getauxval(AT_PHNUM) : 0;
    size_t i = 0;
    while (i < count && header[i].p_type != PT_INTERP) {
        i++;
    }
    return count > 0 && i == count;
}

/* ---- in a process that ran already ---- */

typedef struct definition {
    const char *name;
    const char *version; /* NULL: the default one */
    uintptr_t found;
} definition;

static void find_first(pp_loaded_objects *objects, void *context)
{
    definition *d = context;
    size_t object = 0;
    d->found = pp_definition_find(objects, d->name, d->version, &object);
}

/* The next definition after a library that came late is not what the program calls. */
static void *find_in_load_order(const char *name, const char *version)
{
    definition d = {name, version, 0};
    pp_loaded_objects_read(find_first, &d);
    return (void *)d.found;
}

/* ---- the functions of the header ---- */

/* Before glibc 2.34 dlsym allocates in each thread once, and for the message that a name is not
 * there. */
PP_ONLY_UNDER_ITS_NAME static void *ask_loader(const char *name, const char *version)
{
    bool begins = pp_own_work_join(PP_FRAME_TOP());
    void *found = version != NULL ? pp_real_next_version(name, version) : dlsym(RTLD_NEXT, name);
    if (begins) {
        pp_own_work_end();
    }
    return found;
}

void *pp_real_find(const char *name)
{
    if (pp_late_is()) {
        return find_in_load_order(name, NULL);
    }
    if (is_fully_static()) {
        pp_system_call(SYS_write, STDERR_FILENO, refusal, sizeof refusal - 1);
        for (;;) {
            pp_system_call(SYS_exit_group, 127);
        }
    }
    return ask_loader(name, NULL);
}

void *pp_real_find_version(const char *name, const char *version)
{
    if (pp_late_is()) {
        return find_in_load_order(name, version);
    }
    return ask_loader(name, version);
}

PP_OWN_WORK(ask_loader);
PP_OWN_WORK(pp_real_find);
PP_OWN_WORK(pp_real_find_version);
