/* SPDX-License-Identifier: MIT
 *
 * line_plugin.c: loads the plugin, and calls it where that is possible.
 *
 * Zone: NORMAL.
 * Locks: the loader's, while it loads the plugin.
 * Owns: the plugin.
 * Tested by: e2e.lines, e2e.lines_soft, e2e.lines_variants
 */
#include "output/line_plugin.h"

#include "base/text.h"
#include "output/symbolize.h"
#include "symbol/dwarf_lines.h"
#include "symbol/lines.h"
#include "modules/loader.h"
#include "sys/log.h"
#include "modules/maps.h"
#include "sys/own_files.h"
#include "sys/own_work.h"
#include "unwind/in_handler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>

static const char file_name[] = "libpprof-dwarf.so";
static const char symbol_name[] = "pprof_dwarf";
static const char advice[] = "install it beside libpprof.so, and libdw (libdw1, elfutils-libs)";

/* libdw has 130 KiB of rows on the stack while it reads a table of lines; 160 KiB were measured in
 * all. libdw does not notice when it steps over a guard page. */
static const uintptr_t stack_needed = 256 * UINT64_C(1024);

/* Why a profile has no lines. */
typedef enum reason { IN_HANDLER, SMALL_STACK, NOT_LOADED, LARGE_FILE, NO_MEMORY, REASONS } reason;

static struct {
    const pprof_dwarf_interface *plugin; /* NULL = not loaded */
    bool missing;                        /* the loader has not found it, and is not asked again */
    bool confined;                       /* the program has confined itself: it is not loaded now */
    bool said[REASONS];
} state;

/* ---- why there may be no lines ---- */

/* Logs each reason once; the profile is written with names only. */
static void say_once(reason which, const char *why)
{
    pp_text text = PP_TEXT_INIT;
    if (__atomic_exchange_n(&state.said[which], true, __ATOMIC_RELAXED)) {
        return;
    }
    pp_text_add(&text, "symbolize=lines: names alone: ");
    pp_text_add(&text, why);
    pp_log(&text);
}

/* The main thread's stack grows up to its limit; any other stack is as large as its mapping. */
static bool has_room(const pp_map_line *map, uintptr_t sp)
{
    struct rlimit limit = {0};
    if (strcmp(map->path, "[stack]") != 0 || getrlimit(RLIMIT_STACK, &limit) != 0) {
        return sp - map->start >= stack_needed;
    }
    return limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= map->limit - sp + stack_needed;
}

/* True also if the size of the stack is unknown. */
static bool is_stack_large(void)
{
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
    pp_arena arena = PP_ARENA_INIT;
    char *text = NULL;
    size_t length = 0;
    bool large = true;
    if (pp_maps_text(&arena, &text, &length) == 0) {
        for (pp_map_line map; pp_maps_next(&text, &map);) {
            if (sp >= map.start && sp < map.limit) {
                large = has_room(&map, sp);
            }
        }
    }
    pp_arena_release(&arena);
    return large;
}

static const char in_handler[] = "the profile is written in a signal handler";

static bool is_possible(void)
{
    if (pp_in_handler()) {
        say_once(IN_HANDLER, in_handler);
        return false;
    }
    if (!is_stack_large()) {
        say_once(SMALL_STACK, "the stack of the thread that writes the profile is too small");
        return false;
    }
    return true;
}

/* ---- loading ---- */

static const pprof_dwarf_interface *load_from(const char *path, pp_text *why)
{
    const pprof_dwarf_interface *found = pp_loader_load(path, symbol_name, why);
    if (found != NULL && found->version != PPROF_DWARF_VERSION) {
        pp_text_add(why, path);
        pp_text_add(why, " is of another version than libpprof");
        return NULL;
    }
    return found;
}

/* Loads the plugin from this library's folder if it is there, else from where the loader looks. */
static const pprof_dwarf_interface *load(pp_text *why)
{
    char path[PATH_MAX];
    if (pp_loader_own_folder(path, sizeof path - sizeof file_name)) {
        memcpy(path + strlen(path), file_name, sizeof file_name);
        int fd = pp_own_open(path, O_RDONLY, 0);
        if (fd >= 0) {
            pp_own_close(fd);
            return load_from(path, why);
        }
    }
    return load_from(file_name, why);
}

/* In a child of fork, a thread that does not exist there may hold the loader's lock. A program that
 * has confined itself may be killed for the system calls of loading. */
static void load_once(void)
{
    pp_text why = PP_TEXT_INIT;
    if (pp_loader_is_suspect() || __atomic_load_n(&state.confined, __ATOMIC_RELAXED)) {
        say_once(NOT_LOADED,
                 "libpprof-dwarf.so was not loaded before the program forked or confined itself");
        return;
    }
    const pprof_dwarf_interface *found = load(&why);
    if (found == NULL) {
        pp_text_add(&why, "; ");
        pp_text_add(&why, advice);
        why.data[why.length] = '\0';
        say_once(NOT_LOADED, why.data);
    }
    __atomic_store_n(&state.plugin, found, __ATOMIC_RELEASE);
    __atomic_store_n(&state.missing, found == NULL, __ATOMIC_RELAXED);
}

/* ---- calling ---- */

static bool find_lines(const pp_mapping *mapping, const uintptr_t *addresses, size_t count,
                       pp_lines *lines, pp_arena *arena)
{
    int saved_errno = errno;
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pp_own_work_begin();
    bool whole = false;
    int error = pp_dwarf_lines_find(__atomic_load_n(&state.plugin, __ATOMIC_ACQUIRE), mapping,
                                    addresses, count, lines, arena, &whole);
    if (error == -EFBIG) {
        say_once(LARGE_FILE, "a file has more than 1 GiB of debug information");
    } else if (error == -ENOMEM) {
        say_once(NO_MEMORY, "there is no memory for a file's debug information");
    }
    pp_own_work_end();
    pthread_setcancelstate(cancel_state, NULL);
    errno = saved_errno;
    return whole;
}

static bool begin(void)
{
    int saved_errno = errno;
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    bool possible = !__atomic_load_n(&state.missing, __ATOMIC_RELAXED) && is_possible();
    if (possible && __atomic_load_n(&state.plugin, __ATOMIC_ACQUIRE) == NULL) {
        pp_own_work_begin();
        load_once();
        pp_own_work_end();
    }
    pthread_setcancelstate(cancel_state, NULL);
    errno = saved_errno;
    return possible && __atomic_load_n(&state.plugin, __ATOMIC_ACQUIRE) != NULL;
}

/* ---- the source of lines ---- */

void pp_line_plugin_begin(void)
{
    static const pp_lines_source source = {.begin = begin, .find = find_lines};
    pp_lines_set_source(&source);
}

void pp_line_plugin_end(void)
{
    if (pp_symbolize_wanted() == PP_SYMBOLIZE_LINES) {
        say_once(IN_HANDLER, in_handler);
    }
    pp_lines_set_source(NULL);
}

void pp_line_plugin_confine(void)
{
    __atomic_store_n(&state.confined, true, __ATOMIC_RELAXED);
}
