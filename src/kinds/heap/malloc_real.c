/* SPDX-License-Identifier: MIT
 *
 * malloc_real.c: finds the allocator that the program would have without us, when it starts.
 *
 * The real function is the next definition after ours (RTLD_NEXT), in a library that was preloaded
 * or linked after us. If there is none, it is libc's own (modules/libc.h).
 *
 * A definition in the main program is not used: a function there comes before ours, so that the
 * program would not have called us. Such an address is a PLT entry, which leads back to us.
 *
 * The first call of any hook resolves libc's functions, and those of a C++ runtime if one is
 * loaded, so that no call is too early. This happens before the program has threads, so that no
 * other thread holds the loader's lock. The loader may allocate meanwhile; such a call finds the
 * thread busy, and malloc_bootstrap.c serves it. malloc_late.c looks for all other functions, at
 * their first call.
 *
 * Zone: HOOK.
 * Locks: the loader's.
 * Tested by: unit.malloc_early, e2e.heap_allocators, e2e.allocator_names, e2e.cxx
 */
#include "kinds/heap/malloc_real.h"

#include "host/real.h"
#include "kinds/heap/alloctrace.h"
#include "kinds/heap/heap.h"
#include "kinds/heap/jemalloc_samples.h"
#include "kinds/heap/malloc_bootstrap.h"
#include "kinds/heap/malloc_late.h"
#include "kinds/heap/malloc_mappings.h"
#include "kinds/heap/malloc_objects.h"
#include "modules/libc.h"
#include "modules/loaded_objects.h"
#include "sys/own_threads.h"
#include "sys/signal_mask.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/auxv.h>

#define ADDRESS_OF_HOOK(symbol, shape_name) &pp_malloc_hook_##symbol,
static pp_malloc_hook *const libc_hooks[] = {PP_MALLOC_LIST_LIBC(ADDRESS_OF_HOOK)};
enum { LIBC_HOOKS = sizeof libc_hooks / sizeof libc_hooks[0] };

static bool is_usable(const pp_malloc_hook *hook, void *found)
{
    static uintptr_t main_object;
    if (found == NULL || found == (void *)(uintptr_t)hook->entry) {
        return false;
    }
    if (main_object == 0) {
        main_object = pp_malloc_object_of((uintptr_t)getauxval(AT_PHDR));
    }
    return pp_malloc_object_of((uintptr_t)found) != main_object;
}

/* Returns the next definition after ours; NULL if there is none that can be used. */
static void *find_next(const pp_malloc_hook *hook)
{
    void *found = pp_real_find(hook->name);
    return is_usable(hook, found) ? found : NULL;
}

/* ---- libc ---- */

static void *find_libc(const pp_malloc_hook *hook)
{
    void *found = find_next(hook);
    if (found == NULL) {
        found = (void *)pp_libc_function(hook->name);
    }
    return is_usable(hook, found) ? found : NULL;
}

/* All functions are found before the first one is adopted: otherwise a loader that allocates
 * meanwhile could get a block from the real malloc, and pass it to a realloc that is unresolved. */
static void resolve_libc(void)
{
    void *found[LIBC_HOOKS];
    for (size_t i = 0; i < LIBC_HOOKS; i++) {
        found[i] = libc_hooks[i]->resolved ? NULL : find_libc(libc_hooks[i]);
    }
    for (size_t i = 0; i < LIBC_HOOKS; i++) {
        if (found[i] != NULL) {
            pp_malloc_adopt(libc_hooks[i], (pp_malloc_function *)found[i],
                            pp_malloc_calls_malloc(libc_hooks[i], (uintptr_t)found[i])
                                ? PP_MALLOC_PASSED
                                : PP_MALLOC_COUNTED);
        }
    }
}

/* ---- C++ ---- */

/* The definitions that pp_malloc_cxx_hooks have after ours; NULL: none. */
typedef struct cxx_definitions {
    void *at[PP_MALLOC_CXX_HOOKS];
} cxx_definitions;

static bool is_first(const pp_malloc_hook *hook, const void *context)
{
    (void)context;
    return dlsym(RTLD_DEFAULT, hook->name) == (void *)(uintptr_t)hook->entry;
}

static bool is_of_cxx_runtime(const void *real)
{
    Dl_info info;
    return dladdr(real, &info) != 0 && info.dli_fname != NULL &&
           pp_malloc_is_cxx_runtime(info.dli_fname);
}

static bool may_be_direct(size_t index, const void *context)
{
    const cxx_definitions *found = context;
    return is_first(pp_malloc_cxx_hooks[index], NULL) &&
           (found->at[index] == NULL || is_of_cxx_runtime(found->at[index]));
}

static bool is_of_allocator(const void *real)
{
    const pp_malloc_hook *allocator = &pp_malloc_hook_malloc;
    return !allocator->resolved ||
           pp_malloc_object_of((uintptr_t)real) == pp_malloc_object_of((uintptr_t)allocator->real);
}

static void resolve_cxx(void)
{
    static const pp_malloc_found by_loader = {is_first, may_be_direct};
    cxx_definitions found;
    if (!pp_malloc_has_cxx_runtime()) {
        return;
    }
    for (size_t i = 0; i < PP_MALLOC_CXX_HOOKS; i++) {
        found.at[i] = find_next(pp_malloc_cxx_hooks[i]);
    }
    bool all_direct = pp_malloc_all_may_be_direct(&by_loader, &found);
    for (size_t i = 0; i < PP_MALLOC_CXX_HOOKS; i++) {
        pp_malloc_hook *hook = pp_malloc_cxx_hooks[i];
        if (found.at[i] != NULL) {
            pp_malloc_adopt(hook, (pp_malloc_function *)found.at[i],
                            pp_malloc_way_of(hook, is_of_allocator(found.at[i]), all_direct));
        }
    }
}

/* ---- the first call ---- */

/* Asks the loader all that it is ever asked. */
static void resolve_early(pp_malloc_hook *hook)
{
    pp_malloc_mappings_resolve(); /* the allocator's first call may map memory */
    resolve_libc();
    resolve_cxx();
    pp_malloc_bootstrap_resolve();
    pp_loaded_objects_begin();
    if (!hook->resolved && !pp_malloc_is_cxx(hook)) {
        pp_malloc_function *next = (pp_malloc_function *)find_next(hook);
        if (next != NULL) {
            pp_malloc_adopt(hook, next, PP_MALLOC_COUNTED);
        }
    }
}

/* The loader initialises libc before anybody can call us. */
bool pp_malloc_is_too_early(void)
{
    return false;
}

bool pp_malloc_resolve(pp_malloc_hook *hook, uintptr_t caller)
{
    if (__atomic_load_n(&hook->resolved, __ATOMIC_ACQUIRE)) {
        return true;
    }
    if (pp_thread_marks.finds_malloc) {
        return false;
    }
    int saved_errno = errno;
    pp_signal_mask old = 0;
    pp_signals_block(&old); /* a handler that jumped out of the loader would leave it locked */
    pp_thread_marks.finds_malloc = true;
    if (!pp_malloc_hook_malloc.resolved) {
        resolve_early(hook);
    }
    if (!hook->resolved) {
        pp_malloc_resolve_late(hook, caller);
    }
    pp_thread_marks.finds_malloc = false;
    pp_signals_restore(&old);
    errno = saved_errno;
    return hook->resolved;
}

/* ---- the slots of calls ---- */

static uintptr_t real_of(void *hook)
{
    pp_malloc_hook *h = hook;
    pp_malloc_resolve(&pp_malloc_hook_malloc, 0); /* and all that it finds */
    return h->resolved ? (uintptr_t)h->real : 0;
}

/* What jemalloc samples itself, and what calls it by way of our malloc. */
static bool is_jemallocs(const pp_malloc_hook *hook)
{
    const pp_malloc_hook *allocator = pp_malloc_is_cxx(hook) ? &pp_malloc_hook_malloc : hook;
    return pp_jemalloc_is_on() && allocator->resolved &&
           pp_jemalloc_has((uintptr_t)allocator->real);
}

/* Only our free knows a block that malloc_bootstrap.c has given out. */
static bool is_needed(const pp_malloc_hook *hook)
{
    return (pp_heap_rate() != 0 && !is_jemallocs(hook)) || pp_alloctrace_is_on() ||
           pp_malloc_bootstrap_is_used();
}

static uintptr_t real_usable_size(void *unused)
{
    (void)unused;
    return pp_malloc_bootstrap_resolve();
}

size_t pp_malloc_list_called(pp_called_hook *list, size_t capacity)
{
    size_t used = 0;
    for (size_t i = 0; i < LIBC_HOOKS + PP_MALLOC_CXX_HOOKS && used < capacity; i++) {
        pp_malloc_hook *hook = i < LIBC_HOOKS ? libc_hooks[i] : pp_malloc_cxx_hooks[i - LIBC_HOOKS];
        list[used++] = (pp_called_hook){.name = hook->name,
                                        .entry = (uintptr_t)hook->entry,
                                        .find_real = real_of,
                                        .hook = hook,
                                        .is_needed = is_needed(hook)};
    }
    if (used < capacity) { /* a program may ask for the size of each block */
        list[used++] = (pp_called_hook){.name = "malloc_usable_size",
                                        .entry = (uintptr_t)pp_malloc_usable_size,
                                        .find_real = real_usable_size,
                                        .is_needed = pp_malloc_bootstrap_is_used()};
    }
    return used;
}
