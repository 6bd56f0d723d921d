/* SPDX-License-Identifier: MIT
 *
 * held_plugin.c: stands in for libpprof-dwarf.so: tells held.c that it is asked, and finds nothing.
 */
#include <pprof_dwarf.h>

#include <dlfcn.h>
#include <stddef.h>

static int find_lines(const pprof_dwarf_module *module, const uint64_t *addresses, size_t count,
                      const pprof_dwarf_host *host)
{
    void (*wanted)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "lines_are_wanted");
    (void)module;
    (void)addresses;
    (void)count;
    (void)host;
    wanted();
    return 0;
}

const pprof_dwarf_interface pprof_dwarf = {PPROF_DWARF_VERSION, find_lines};
