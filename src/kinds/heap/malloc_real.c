/* SPDX-License-Identifier: MIT
 *
 * malloc_real.c: where the allocator is that the program would have without us.
 *
 * It is the next definition behind ours (RTLD_NEXT): whatever was preloaded or linked after us.
 * Else it is libc's own (modules/libc.h).
 *
 * What is found in the main program is not taken: a definition there stands before ours, so that we
 * would not have been called; it is a PLT entry, which leads back to us.
 *
 * The first call of any hook resolves libc's, and those of a C++ runtime that is there, so that no
 * call is too early. That comes before the program has threads, so that nobody else has the
 * loader's lock. The loader may allocate while it is asked; such calls find the thread busy and are
 * served from malloc_bootstrap.c. What is not there then is looked for when it is first called
 * (malloc_late.c).
 *
 * Zone: HOOK.
 * Locks: none here; the loader's own.
 * Owns: the hooks.
 */
#include "kinds/heap/malloc_hook.h"

#include "base/compiler.h"
#include "base/path.h"
#include "kinds/heap/malloc_mappings.h"
#include "host/real.h"
#include "modules/find_object.h"
#include "modules/libc.h"
#include "modules/loaded_objects.h"
#include "sys/signal_mask.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

/* Only those of NEW and DELETE exist. */
#define DIRECT_NONE(symbol) NULL
#define DIRECT_CODE(symbol) pp_direct_##symbol
#define DIRECT_MALLOC       DIRECT_NONE
#define DIRECT_FREE         DIRECT_NONE
#define DIRECT_CALLOC       DIRECT_NONE
#define DIRECT_REALLOC      DIRECT_NONE
#define DIRECT_POSIX        DIRECT_NONE
#define DIRECT_ALLOC0       DIRECT_NONE
#define DIRECT_ALLOC1       DIRECT_NONE
#define DIRECT_RESIZE       DIRECT_NONE
#define DIRECT_IN_PLACE     DIRECT_NONE
#define DIRECT_CALLOC_IN    DIRECT_NONE
#define DIRECT_RESIZE_IN    DIRECT_NONE
#define DIRECT_RELEASE      DIRECT_NONE
#define DIRECT_NEW          DIRECT_CODE
#define DIRECT_DELETE       DIRECT_CODE

#define DECLARE_CODE(symbol, shape_name)                                                           \
    extern pp_malloc_function pp_entry_##symbol;                                                   \
    extern pp_malloc_function pp_count_##symbol;                                                   \
    extern pp_malloc_function pp_direct_##symbol;                                                  \
    extern pp_malloc_function pp_slow_##symbol;
PP_MALLOC_LIST(DECLARE_CODE)

#define DEFINE_HOOK(symbol, shape_name)                                                            \
    pp_malloc_hook pp_malloc_hook_##symbol = {                                                     \
        .real = pp_slow_##symbol,                                                                  \
        .target = pp_slow_##symbol,                                                                \
        .counting = pp_count_##symbol,                                                             \
        .direct = DIRECT_##shape_name(symbol),                                                     \
        .entry = pp_entry_##symbol,                                                                \
        .slow = pp_slow_##symbol,                                                                  \
        .name = #symbol,                                                                           \
        .shape = PP_SHAPE_##shape_name,                                                            \
    };
PP_MALLOC_LIST(DEFINE_HOOK)

#define ADDRESS_OF_HOOK(symbol, shape_name) &pp_malloc_hook_##symbol,
static pp_malloc_hook *const libc_hooks[] = {PP_MALLOC_LIST_LIBC(ADDRESS_OF_HOOK)};
static pp_malloc_hook *const cxx_hooks[] = {PP_MALLOC_LIST_CXX(ADDRESS_OF_HOOK) NULL};

#define NUMBER_OF_HOOK(symbol, shape_name) NUMBER_##symbol,
enum { PP_MALLOC_LIST_CXX(NUMBER_OF_HOOK) CXX_HOOKS };
enum { LIBC_HOOKS = sizeof libc_hooks / sizeof libc_hooks[0] };

static PP_TLS bool resolving;

/* ---- where things are ---- */

/* Something that tells loaded objects apart; 0 for what belongs to none. */
static uintptr_t object_of(uintptr_t address)
{
    struct dl_find_object found;
    if (_dl_find_object != NULL) {
        return _dl_find_object((void *)address, &found) == 0 ? (uintptr_t)found.dlfo_map_start : 0;
    }
    Dl_info info;
    return dladdr((void *)address, &info) != 0 ? (uintptr_t)info.dli_fbase : 0;
}

static bool is_usable(const pp_malloc_hook *hook, void *found)
{
    static uintptr_t main_object;
    if (found == NULL || found == (void *)(uintptr_t)hook->entry) {
        return false;
    }
    if (main_object == 0) {
        main_object = object_of((uintptr_t)getauxval(AT_PHDR));
    }
    return object_of((uintptr_t)found) != main_object;
}

/* ---- hooks ---- */

bool pp_malloc_is_cxx(const pp_malloc_hook *hook)
{
    for (size_t i = 0; cxx_hooks[i] != NULL; i++) {
        if (cxx_hooks[i] == hook) {
            return true;
        }
    }
    return false;
}

/* Whether the program's calls come to our entry: nobody before us brings his own. */
static bool is_first(const pp_malloc_hook *hook)
{
    return dlsym(RTLD_DEFAULT, hook->name) == (void *)(uintptr_t)hook->entry;
}

bool pp_malloc_is_cxx_runtime(const char *path)
{
    static const char *const names[] = {"libstdc++.so.", "libc++.so.", "libc++abi.so."};
    const char *file = pp_base_name(path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strncmp(file, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_of_cxx_runtime(const void *real)
{
    Dl_info info;
    return dladdr(real, &info) != 0 && info.dli_fname != NULL &&
           pp_malloc_is_cxx_runtime(info.dli_fname);
}

static pp_malloc_way way_of(const pp_malloc_hook *hook, pp_malloc_function *real, bool all_direct)
{
    pp_malloc_function *allocator = pp_malloc_hook_malloc.real;
    if (!pp_malloc_hook_malloc.resolved ||
        object_of((uintptr_t)real) == object_of((uintptr_t)allocator)) {
        return PP_MALLOC_COUNTED;
    }
    return hook->direct != NULL && all_direct ? PP_MALLOC_DIRECT : PP_MALLOC_PASSED;
}

void pp_malloc_adopt(pp_malloc_hook *hook, pp_malloc_function *real, pp_malloc_way way)
{
    pp_malloc_function *target = way == PP_MALLOC_COUNTED  ? hook->counting
                                 : way == PP_MALLOC_DIRECT ? hook->direct
                                                           : real;
    hook->passes = way == PP_MALLOC_PASSED;
    __atomic_store_n(&hook->real, real, __ATOMIC_RELEASE);
    __atomic_store_n(&hook->target, target, __ATOMIC_RELEASE);
    __atomic_store_n(&hook->resolved, true, __ATOMIC_RELEASE);
}

void pp_malloc_forget(pp_malloc_hook *hook)
{
    __atomic_store_n(&hook->target, hook->slow, __ATOMIC_RELEASE);
    __atomic_store_n(&hook->real, hook->slow, __ATOMIC_RELEASE);
    __atomic_store_n(&hook->resolved, false, __ATOMIC_RELEASE);
    hook->may_go = false;
}

static bool resolve_next(pp_malloc_hook *hook)
{
    void *found = pp_real_find(hook->name);
    if (!is_usable(hook, found)) {
        return false;
    }
    pp_malloc_adopt(hook, (pp_malloc_function *)found, PP_MALLOC_COUNTED);
    return true;
}

/* Next behind us; else libc's. */
static void *find_libc(const pp_malloc_hook *hook)
{
    void *found = pp_real_find(hook->name);
    if (!is_usable(hook, found)) {
        found = (void *)pp_libc_function(hook->name);
    }
    return is_usable(hook, found) ? found : NULL;
}

/* All are found before the first one is adopted: a loader that allocates meanwhile must not get a
 * block from the real malloc, and come with it to a realloc that is not known yet. */
static void resolve_libc(void)
{
    void *found[LIBC_HOOKS];
    for (size_t i = 0; i < LIBC_HOOKS; i++) {
        found[i] = libc_hooks[i]->resolved ? NULL : find_libc(libc_hooks[i]);
    }
    for (size_t i = 0; i < LIBC_HOOKS; i++) {
        if (found[i] != NULL) {
            pp_malloc_adopt(libc_hooks[i], (pp_malloc_function *)found[i], PP_MALLOC_COUNTED);
        }
    }
}

/* Who replaces some of these functions, before us or behind us, may rely on it that the others call
 * them. */
static void resolve_cxx(void)
{
    void *found[CXX_HOOKS] = {NULL};
    if (!pp_malloc_has_cxx_runtime()) {
        return;
    }
    bool all_direct = is_first(&pp_malloc_hook_malloc) && is_first(&pp_malloc_hook_free);
    for (size_t i = 0; cxx_hooks[i] != NULL; i++) {
        found[i] = pp_real_find(cxx_hooks[i]->name);
        if (!is_usable(cxx_hooks[i], found[i])) {
            found[i] = NULL;
        }
        if (cxx_hooks[i]->direct != NULL) {
            all_direct = all_direct && is_first(cxx_hooks[i]) &&
                         (found[i] == NULL || is_of_cxx_runtime(found[i]));
        }
    }
    for (size_t i = 0; cxx_hooks[i] != NULL; i++) {
        pp_malloc_function *real = (pp_malloc_function *)found[i];
        if (real != NULL) {
            pp_malloc_adopt(cxx_hooks[i], real, way_of(cxx_hooks[i], real, all_direct));
        }
    }
}

/* All that the loader is asked for. */
static void resolve_early(pp_malloc_hook *hook)
{
    pp_malloc_mappings_resolve(); /* the allocator may map memory when it is first called */
    resolve_libc();
    resolve_cxx();
    pp_malloc_bootstrap_resolve();
    pp_loaded_objects_begin();
    if (!hook->resolved && !pp_malloc_is_cxx(hook)) {
        resolve_next(hook);
    }
}

/* The loader has done that before anybody could call us. */
bool pp_malloc_is_too_early(void)
{
    return false;
}

bool pp_malloc_is_allocators(uintptr_t address)
{
    const pp_malloc_hook *allocator = &pp_malloc_hook_malloc;
    return __atomic_load_n(&allocator->resolved, __ATOMIC_ACQUIRE) &&
           object_of(address) == object_of((uintptr_t)allocator->real);
}

bool pp_malloc_resolve(pp_malloc_hook *hook, uintptr_t caller)
{
    if (__atomic_load_n(&hook->resolved, __ATOMIC_ACQUIRE)) {
        return true;
    }
    if (resolving) {
        return false;
    }
    int saved_errno = errno;
    pp_signal_mask old = 0;
    pp_signals_block(&old); /* who jumped out of the loader would leave it locked */
    resolving = true;
    if (!pp_malloc_hook_malloc.resolved) {
        resolve_early(hook);
    }
    if (!hook->resolved) {
        pp_malloc_resolve_late(hook, caller);
    }
    resolving = false;
    pp_signals_restore(&old);
    errno = saved_errno;
    return hook->resolved;
}
