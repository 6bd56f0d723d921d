/* SPDX-License-Identifier: MIT
 *
 * malloc_late.c: finds allocation functions that appear while the program runs: those of a C++
 * runtime that dlopen brings, and the functions that only jemalloc, tcmalloc and mimalloc have,
 * which are looked for when the program first calls them.
 *
 * The search does not ask the loader. The loader's lock is held while constructors run, and a
 * constructor may wait for the thread that calls us. Instead, the search reads the tables of the
 * loaded objects (modules/loaded_objects.h), in this order:
 *
 *   1. the objects after us that were loaded at the start, in load order
 *   2. the caller's own object, and the objects that it was linked to
 *   3. operator new and delete: any object that is completely loaded. A caller that was not linked
 *      to one relies on an object that dlopen made visible to all (RTLD_GLOBAL), which the tables
 *      do not show. Other names skip this step: a program that calls mallocx by a weak reference,
 *      and frees the block by free, must not get it from an allocator that the program does not see
 *   4. other names: the loader after all, but only if the process has one thread
 *   5. a stand-in (malloc_fallback.c)
 *
 * One search looks for all forms of operator new and delete, for the same caller, so that no
 * runtime frees a block that another runtime allocated.
 *
 * dlclose may unload what dlopen brought. Before an unload we take a reference to the object
 * (dlopen with RTLD_NOLOAD: dlclose is about to take that lock anyway). An object that is being
 * unloaded, whose destructor made us find it, cannot be kept; its hooks are forgotten after
 * dlclose.
 *
 * Zone: HOOK.
 * Locks: the loader's second one (modules/loaded_objects.h), under which hooks are adopted.
 * Owns: whether any real function may be unloaded.
 * Tested by: e2e.heap_allocators, e2e.late_names, e2e.cxx
 */
#include "kinds/heap/malloc_late.h"

#include "host/process.h"
#include "host/real.h"
#include "kinds/heap/malloc_bootstrap.h"
#include "kinds/heap/malloc_fallback.h"
#include "kinds/heap/malloc_mappings.h"
#include "kinds/heap/malloc_objects.h"
#include "modules/find_object.h"
#include "modules/late.h"
#include "modules/loaded_objects.h"
#include "modules/loader.h"

#include <dlfcn.h>
#include <errno.h>

#define ADDRESS_OF_HOOK(symbol, shape_name) &pp_malloc_hook_##symbol,
static pp_malloc_hook *const late_hooks[] = {PP_MALLOC_LIST_CXX(ADDRESS_OF_HOOK)
                                                 PP_MALLOC_LIST_OTHERS(ADDRESS_OF_HOOK) NULL};

extern char single_threaded __asm__("__libc_single_threaded") __attribute__((weak));

typedef struct search {
    pp_malloc_hook *wanted;
    uintptr_t caller;
    const pp_loaded_objects *objects;
    size_t ours;
    size_t closure_count;
    bool all_direct;
} search;

static uintptr_t defined_in(const search *s, size_t at, const char *name)
{
    return pp_loaded_symbols_find(&s->objects->object[at].symbols, name);
}

static bool is_first(const pp_malloc_hook *hook, const void *context)
{
    const search *s = context;
    if (s->ours >= s->objects->count) {
        return false;
    }
    for (size_t i = 0; i < s->ours; i++) {
        if (defined_in(s, i, hook->name) != 0) {
            return false;
        }
    }
    return true;
}

/* ---- objects that may be unloaded ---- */

static bool any_to_hold;

/* The reference is kept for ever: nobody knows when the last block of that allocator is freed. */
static bool hold(uintptr_t address)
{
    Dl_info info;
    if (dladdr((void *)address, &info) == 0) {
        return false;
    }
    /* cppcheck-suppress leakReturnValNotUsed; the reference is kept */
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) != NULL;
}

static void hold_what_was_found(void)
{
    int saved_errno = errno;
    for (size_t i = 0; any_to_hold && late_hooks[i] != NULL; i++) {
        if (late_hooks[i]->is_unloadable && hold((uintptr_t)late_hooks[i]->real)) {
            late_hooks[i]->is_unloadable = false;
        }
    }
    errno = saved_errno;
}

static void forget_what_is_gone(void)
{
    for (size_t i = 0; any_to_hold && late_hooks[i] != NULL; i++) {
        if (late_hooks[i]->is_unloadable &&
            pp_malloc_object_of((uintptr_t)late_hooks[i]->real) == 0) {
            pp_malloc_forget(late_hooks[i]);
        }
    }
}

static void mark_unloadable(pp_malloc_hook *hook)
{
    hook->is_unloadable = true;
    if (!any_to_hold) {
        any_to_hold = true;
        pp_hook_around_unload(hold_what_was_found, forget_what_is_gone);
    }
}

/* ---- the search ---- */

/* glibc finds an object from the moment when the loader has relocated it. */
static bool is_complete(const search *s, size_t at)
{
    pp_found_object found;
    const pp_loaded_symbols *symbols = &s->objects->object[at].symbols;
    return symbols->dynamic != NULL && pp_object_find((uintptr_t)symbols->dynamic, &found);
}

/* Object 0 is the program: its definitions come before ours, or are PLT entries that lead to us. */
static bool has(const search *s, size_t at, const pp_malloc_hook *hook)
{
    return at != 0 && at != s->ours && defined_in(s, at, hook->name) != 0;
}

static size_t locate(const search *s, const pp_malloc_hook *hook)
{
    size_t at_begin = pp_loaded_objects_at_begin();
    for (size_t i = s->ours; i < at_begin && i < s->objects->count; i++) {
        if (has(s, i, hook)) {
            return i;
        }
    }
    for (size_t i = 0; i < s->closure_count; i++) {
        if (has(s, s->objects->object[i].closure, hook)) {
            return s->objects->object[i].closure;
        }
    }
    bool anywhere = pp_malloc_is_cxx(hook) && !pp_malloc_has_cxx_runtime();
    for (size_t i = 0; anywhere && i < s->objects->count; i++) {
        if (is_complete(s, i) && has(s, i, hook)) {
            return i;
        }
    }
    return PP_NO_OBJECT;
}

static bool may_be_direct(size_t index, const void *context)
{
    const search *s = context;
    const pp_malloc_hook *hook = pp_malloc_cxx_hooks[index];
    if (hook->resolved) {
        return hook->target == hook->direct;
    }
    size_t at = locate(s, hook);
    return is_first(hook, s) &&
           (at == PP_NO_OBJECT || pp_malloc_is_cxx_runtime(s->objects->object[at].path));
}

static bool is_of_allocator(const search *s, size_t at, const pp_malloc_hook *hook)
{
    return !pp_malloc_is_cxx(hook) ||
           defined_in(s, at, "malloc") == (uintptr_t)pp_malloc_hook_malloc.real;
}

static void try_to_adopt(const search *s, pp_malloc_hook *hook)
{
    size_t at = hook->resolved ? PP_NO_OBJECT /* another thread has resolved the hook */
                               : locate(s, hook);
    if (at == PP_NO_OBJECT) {
        return;
    }
    if (at >= pp_loaded_objects_at_begin()) {
        mark_unloadable(hook);
    }
    pp_malloc_adopt(hook, (pp_malloc_function *)defined_in(s, at, hook->name),
                    pp_malloc_way_of(hook, is_of_allocator(s, at, hook), s->all_direct));
}

static void search_objects(pp_loaded_objects *objects, void *context)
{
    static const pp_malloc_found by_tables = {is_first, may_be_direct};
    search *s = context;
    s->objects = objects;
    s->ours = pp_malloc_index_of_us(objects);
    s->closure_count = pp_loaded_objects_close(objects, pp_loaded_objects_find(objects, s->caller));
    if (!pp_malloc_is_cxx(s->wanted)) {
        try_to_adopt(s, s->wanted);
        return;
    }
    s->all_direct = pp_malloc_all_may_be_direct(&by_tables, s);
    for (size_t i = 0; i < PP_MALLOC_CXX_HOOKS; i++) {
        try_to_adopt(s, pp_malloc_cxx_hooks[i]);
    }
}

/* If the process has one thread, no other thread holds the loader's lock. */
static void ask_loader(pp_malloc_hook *hook)
{
    if (pp_malloc_is_cxx(hook) || &single_threaded == NULL || !single_threaded ||
        pp_loader_is_suspect()) {
        return;
    }
    pp_malloc_function *found = (pp_malloc_function *)pp_real_find(hook->name);
    if (found != NULL && found != hook->entry) {
        mark_unloadable(hook);
        pp_malloc_adopt(hook, found, PP_MALLOC_COUNTED);
    }
}

/* ---- a library that came late ---- */

/* What attach/got.c takes for the real function. Its object may go, unless it is libc. */
static void adopt_first(pp_malloc_hook *hook, bool of_libc)
{
    const pp_malloc_hook *allocator = &pp_malloc_hook_malloc;
    pp_malloc_function *found = (pp_malloc_function *)pp_real_find(hook->name);
    if (found == NULL || found == hook->entry) {
        return;
    }
    bool of_allocator = pp_malloc_is_cxx(hook) ? pp_malloc_object_of((uintptr_t)found) ==
                                                     pp_malloc_object_of((uintptr_t)allocator->real)
                                               : !pp_malloc_calls_malloc(hook, (uintptr_t)found);
    if (!of_libc) {
        mark_unloadable(hook);
    }
    pp_malloc_adopt(hook, found, pp_malloc_way_of(hook, of_allocator, false));
}

void pp_malloc_resolve_all(void)
{
    static pp_malloc_hook *const libc_hooks[] = {PP_MALLOC_LIST_LIBC(ADDRESS_OF_HOOK) NULL};
    for (size_t i = 0; libc_hooks[i] != NULL; i++) {
        if (!libc_hooks[i]->resolved) {
            adopt_first(libc_hooks[i], true);
        }
    }
    for (size_t i = 0; late_hooks[i] != NULL; i++) {
        if (!late_hooks[i]->resolved) {
            adopt_first(late_hooks[i], false);
        }
    }
    pp_malloc_mappings_resolve();
    pp_malloc_bootstrap_resolve();
    pp_loaded_objects_begin();
}

void pp_malloc_resolve_late(pp_malloc_hook *hook, uintptr_t caller)
{
    search s = {.wanted = hook, .caller = caller};
    if (pp_late_is()) {
        adopt_first(hook, false);
        return;
    }
    pp_loaded_objects_read(search_objects, &s);
    if (!hook->resolved) {
        ask_loader(hook);
    }
    pp_malloc_function *stand_in = hook->resolved ? NULL : pp_malloc_fallback(hook);
    if (stand_in != NULL) {
        pp_malloc_adopt(hook, stand_in, PP_MALLOC_COUNTED);
    }
}
