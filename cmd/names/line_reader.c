/* SPDX-License-Identifier: MIT
 *
 * line_reader.c: see line_reader.h.
 *
 * Owns: both libraries, which stay loaded, and the client of libdebuginfod.
 * Tested by: e2e.cpprof_symbolize
 */
#include "names/line_reader.h"

#include "base/beside.h"
#include "base/message.h"
#include "base/pool.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    bool loaded; /* or tried */
    const pprof_dwarf_interface *plugin;
    char why[512];
} reader;

static struct {
    bool begun; /* or tried */
    void *client;
    int (*find)(void *client, const unsigned char *build_id, int size, char **path);
} debuginfod;

/* ---- the plugin ---- */

static void *load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    snprintf(reader.why, sizeof reader.why, "%s", library ? "" : dlerror());
    return library;
}

const pprof_dwarf_interface *cp_line_reader_plugin(void)
{
    if (reader.loaded) {
        return reader.plugin;
    }
    reader.loaded = true;
    char *beside = cp_beside_command("libpprof-dwarf.so");
    void *library = load(beside ? beside : "libpprof-dwarf.so");
    free(beside);
    if (!library) {
        return NULL;
    }
    reader.plugin = dlsym(library, "pprof_dwarf");
    if (!reader.plugin || reader.plugin->version != PPROF_DWARF_VERSION) {
        reader.plugin = NULL;
        snprintf(reader.why, sizeof reader.why,
                 "libpprof-dwarf.so is of another version than cpprof");
    }
    return reader.plugin;
}

const char *cp_line_reader_absence(void)
{
    return reader.why;
}

void cp_line_reader_complain(void)
{
    cp_complain("no lines: libpprof-dwarf.so cannot be loaded (%s); install it in ../lib "
                "beside cpprof, and libdw (libdw1, elfutils-libs)",
                reader.why);
}

/* ---- debuginfod ---- */

static void begin_debuginfod(void)
{
    const char *urls = getenv("DEBUGINFOD_URLS");

    if (debuginfod.begun) {
        return;
    }
    debuginfod.begun = true;
    void *library = urls && *urls ? dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        return;
    }
    void *(*begin)(void) = NULL;
    *(void **)&begin = dlsym(library, "debuginfod_begin");
    *(void **)&debuginfod.find = dlsym(library, "debuginfod_find_debuginfo");
    debuginfod.client = begin && debuginfod.find ? begin() : NULL;
}

static int fetch(void *context, const uint8_t *build_id, size_t build_id_size)
{
    (void)context;
    begin_debuginfod();
    if (!debuginfod.client || build_id_size > INT_MAX) {
        return -ENOSYS;
    }
    return debuginfod.find(debuginfod.client, build_id, (int)build_id_size, NULL);
}

/* ---- reading ---- */

static int open_file(void *context, const char *path)
{
    (void)context;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    /* cppcheck-suppress resourceLeak ; the plugin closes it */
    return fd < 0 ? -errno : fd;
}

static void close_file(void *context, int fd)
{
    (void)context;
    close(fd);
}

/* libdw's tables take about as much again as what is read. */
static uint64_t third_of_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 3 : 0;
}

/* The host's context is that of found(). */
int cp_line_reader_find(const pprof_dwarf_module *module, const uint64_t *addresses, size_t count,
                        bool names_only, cp_place_found *found, void *context)
{
    const pprof_dwarf_host host = {.context = context,
                                   .open = open_file,
                                   .close = close_file,
                                   .found = found,
                                   .fetch = fetch,
                                   .most_bytes = third_of_memory(),
                                   .wants_names = 1,
                                   .names_only = names_only};

    const pprof_dwarf_interface *plugin = cp_line_reader_plugin();
    return plugin ? plugin->find_lines(module, addresses, count, &host) : CP_LINE_READER_ABSENT;
}
