/* SPDX-License-Identifier: MIT
 *
 * malloc_late.c: where the allocator's functions are that turn up when the program runs already:
 * those of a C++ runtime that dlopen brings, and jemalloc's, tcmalloc's and mimalloc's own names,
 * which are looked for when they are first called.
 *
 * The loader is not asked: its lock is held while constructors run, and one of these may wait for
 * the thread that calls us. The tables of the loaded objects are read instead
 * (modules/loaded_objects.h), in this order:
 *
 *   1. what was there from the start, behind us, in load order
 *   2. the caller's own object, and what it was linked to
 *   3. for operator new and delete: whatever is completely loaded. A caller that was not linked to any is there
 *      because something was made visible to all (RTLD_GLOBAL), which the tables do not tell. For other
 *      names that would be too bold: who asks for mallocx by a weak reference, and frees what he gets by
 *      free, must not get the block of an allocator that he does not see.
 *   4. for the others, the loader after all, but only where there is one thread
 *   5. a stand-in (malloc_fallback.c)
 *
 * All forms of operator new and delete are looked for at once, for the same caller, so that what
 * one has allocated is not freed by that of another runtime.
 *
 * What dlopen brought may go again. Before anything is unloaded we take hold of it (dlopen with
 * RTLD_NOLOAD: dlclose is about to take that lock anyway). What a destructor found while its
 * library was being unloaded cannot be held; it is forgotten behind dlclose.
 *
 * Zone: HOOK.
 * Locks: the loader's second one (modules/loaded_objects.h), under which hooks are adopted.
 * Owns: what has to be held.
 */
#include "kinds/heap/malloc_hook.h"

#include "host/process.h"
#include "host/real.h"
#include "modules/find_object.h"
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

static size_t ours_among(const pp_loaded_objects *objects)
{
    return pp_loaded_objects_find(objects, (uintptr_t)ours_among);
}

static uintptr_t defined_in(const search *s, size_t at, const char *name)
{
    return pp_loaded_symbols_find(&s->objects->object[at].symbols, name);
}

/* ---- what a definition means ---- */

/* Whether the program's calls come to our entry: nobody before us brings his own. */
static bool is_first(const search *s, const pp_malloc_hook *hook)
{
    for (size_t i = 0; i < s->ours; i++) {
        if (defined_in(s, i, hook->name) != 0) {
            return false;
        }
    }
    return true;
}

/* ---- what has to be held ---- */

static bool any_to_hold;

/* For ever: it is never known when the last block that it has allocated is gone. */
static bool hold(uintptr_t address)
{
    Dl_info info;
    if (dladdr((void *)address, &info) == 0) {
        return false;
    }
    /* cppcheck-suppress leakReturnValNotUsed; it is never given back */
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) != NULL;
}

static void hold_what_was_found(void)
{
    int saved_errno = errno;
    for (size_t i = 0; any_to_hold && late_hooks[i] != NULL; i++) {
        if (late_hooks[i]->may_go && hold((uintptr_t)late_hooks[i]->real)) {
            late_hooks[i]->may_go = false;
        }
    }
    errno = saved_errno;
}

static bool is_loaded(uintptr_t address)
{
    struct dl_find_object found;
    Dl_info info;
    return _dl_find_object != NULL ? _dl_find_object((void *)address, &found) == 0
                                   : dladdr((void *)address, &info) != 0;
}

static void forget_what_is_gone(void)
{
    for (size_t i = 0; any_to_hold && late_hooks[i] != NULL; i++) {
        if (late_hooks[i]->may_go && !is_loaded((uintptr_t)late_hooks[i]->real)) {
            pp_malloc_forget(late_hooks[i]);
        }
    }
}

static void note_that_it_may_go(pp_malloc_hook *hook)
{
    hook->may_go = true;
    if (!any_to_hold) {
        any_to_hold = true;
        pp_hook_around_unload(hold_what_was_found, forget_what_is_gone);
    }
}

/* ---- the search ---- */

/* The loader tells _dl_find_object of an object when this has been relocated. */
static bool is_complete(const search *s, size_t at)
{
    struct dl_find_object found;
    const pp_loaded_symbols *symbols = &s->objects->object[at].symbols;
    return _dl_find_object != NULL && symbols->dynamic != NULL &&
           _dl_find_object((void *)(uintptr_t)symbols->dynamic, &found) == 0;
}

/* [0] is the program: its definitions come before ours, or are PLT entries that lead back. */
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

static bool may_be_direct(const search *s, const pp_malloc_hook *hook)
{
    if (hook->resolved) {
        return hook->target == hook->direct;
    }
    size_t at = locate(s, hook);
    return is_first(s, hook) &&
           (at == PP_NO_OBJECT || pp_malloc_is_cxx_runtime(s->objects->object[at].path));
}

/* Who replaces some of these functions, before us or behind us, may rely on it that the others call
 * them. */
static bool all_may_be_direct(const search *s)
{
    bool all = s->ours < s->objects->count && is_first(s, &pp_malloc_hook_malloc) &&
               is_first(s, &pp_malloc_hook_free);
    for (size_t i = 0; all && late_hooks[i] != NULL; i++) {
        all = late_hooks[i]->direct == NULL || may_be_direct(s, late_hooks[i]);
    }
    return all;
}

static pp_malloc_way way_of(const search *s, size_t at, const pp_malloc_hook *hook)
{
    if (!pp_malloc_is_cxx(hook) ||
        defined_in(s, at, "malloc") == (uintptr_t)pp_malloc_hook_malloc.real) {
        return PP_MALLOC_COUNTED;
    }
    return hook->direct != NULL && s->all_direct ? PP_MALLOC_DIRECT : PP_MALLOC_PASSED;
}

static void try_to_adopt(const search *s, pp_malloc_hook *hook)
{
    size_t at =
        hook->resolved ? PP_NO_OBJECT : locate(s, hook); /* another thread may have been here */
    if (at == PP_NO_OBJECT) {
        return;
    }
    if (at >= pp_loaded_objects_at_begin()) {
        note_that_it_may_go(hook);
    }
    pp_malloc_adopt(hook, (pp_malloc_function *)defined_in(s, at, hook->name), way_of(s, at, hook));
}

static void search_objects(pp_loaded_objects *objects, void *context)
{
    search *s = context;
    s->objects = objects;
    s->ours = ours_among(objects);
    s->closure_count = pp_loaded_objects_close(objects, pp_loaded_objects_find(objects, s->caller));
    if (!pp_malloc_is_cxx(s->wanted)) {
        try_to_adopt(s, s->wanted);
        return;
    }
    s->all_direct = all_may_be_direct(s);
    for (size_t i = 0; late_hooks[i] != NULL; i++) {
        if (pp_malloc_is_cxx(late_hooks[i])) {
            try_to_adopt(s, late_hooks[i]);
        }
    }
}

/* With one thread nobody else has the loader's lock. */
static void ask_loader(pp_malloc_hook *hook)
{
    if (pp_malloc_is_cxx(hook) || &single_threaded == NULL || !single_threaded ||
        pp_loader_is_suspect()) {
        return;
    }
    pp_malloc_function *found = (pp_malloc_function *)pp_real_find(hook->name);
    if (found != NULL && found != hook->entry) {
        note_that_it_may_go(hook);
        pp_malloc_adopt(hook, found, PP_MALLOC_COUNTED);
    }
}

void pp_malloc_resolve_late(pp_malloc_hook *hook, uintptr_t caller)
{
    search s = {.wanted = hook, .caller = caller};
    pp_loaded_objects_read(search_objects, &s);
    if (!hook->resolved) {
        ask_loader(hook);
    }
    pp_malloc_function *stand_in = hook->resolved ? NULL : pp_malloc_fallback(hook);
    if (stand_in != NULL) {
        pp_malloc_adopt(hook, stand_in, PP_MALLOC_COUNTED);
    }
}

/* ---- the program's own ---- */

typedef struct first_search {
    search search;
    pp_malloc_function *found;
} first_search;

static void search_before_us(pp_loaded_objects *objects, void *context)
{
    first_search *f = context;
    f->search.objects = objects;
    f->search.ours = ours_among(objects);
    for (size_t i = 0; f->found == NULL && f->search.ours < objects->count && i < f->search.ours;
         i++) {
        f->found = (pp_malloc_function *)defined_in(&f->search, i, f->search.wanted->name);
    }
}

pp_malloc_function *pp_malloc_first_definition(pp_malloc_hook *hook)
{
    first_search f = {.search = {.wanted = hook}};
    pp_loaded_objects_read(search_before_us, &f);
    return f.found != NULL || !hook->resolved ? f.found : hook->real;
}
