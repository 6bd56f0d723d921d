/* SPDX-License-Identifier: MIT
 *
 * malloc_objects.c: see the header.
 *
 * Zone: HOOK.
 * Tested by: e2e.heap_allocators, e2e.heap_mappings, e2e.cxx, e2e.late_names
 */
#include "kinds/heap/malloc_objects.h"

#include "base/path.h"
#include "libc/allocation.h"
#include "modules/find_object.h"
#include "modules/libc.h"

#include <dlfcn.h>
#include <string.h>

/* ---- objects of addresses ---- */

uintptr_t pp_malloc_object_of(uintptr_t address)
{
    pp_found_object found;
    if (pp_object_can_find()) {
        return pp_object_find(address, &found) ? found.start : 0;
    }
    Dl_info info;
    return dladdr((void *)address, &info) != 0 ? (uintptr_t)info.dli_fbase : 0;
}

bool pp_malloc_is_allocators(uintptr_t address)
{
    const pp_malloc_hook *allocator = &pp_malloc_hook_malloc;
    return __atomic_load_n(&allocator->resolved, __ATOMIC_ACQUIRE) &&
           pp_malloc_object_of(address) == pp_malloc_object_of((uintptr_t)allocator->real);
}

#define CALLS_MALLOC(symbol, shape_name) {&pp_malloc_hook_##symbol, PP_LIBC_CALLS_MALLOC(symbol)},
static const struct {
    const pp_malloc_hook *hook;
    bool calls_malloc;
} of_libc[] = {PP_MALLOC_LIST_LIBC(CALLS_MALLOC)};

bool pp_malloc_calls_malloc(const pp_malloc_hook *hook, uintptr_t found)
{
    for (size_t i = 0; i < sizeof of_libc / sizeof *of_libc; i++) {
        if (of_libc[i].hook == hook && of_libc[i].calls_malloc) {
            return found == pp_libc_function(hook->name);
        }
    }
    return false;
}

/* ---- C++ runtimes ---- */

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

extern void (*get_new_handler(void))(void) __asm__("_ZSt15get_new_handlerv") __attribute__((weak));

bool pp_malloc_has_cxx_runtime(void)
{
    return get_new_handler != NULL;
}

/* ---- definitions before ours ---- */

size_t pp_malloc_index_of_us(const pp_loaded_objects *objects)
{
    return pp_loaded_objects_find(objects, (uintptr_t)pp_malloc_index_of_us);
}

typedef struct first_search {
    const char *name;
    pp_malloc_function *found;
} first_search;

static void search_before_us(pp_loaded_objects *objects, void *context)
{
    first_search *f = context;
    size_t ours = pp_malloc_index_of_us(objects);
    for (size_t i = 0; f->found == NULL && ours < objects->count && i < ours; i++) {
        f->found =
            (pp_malloc_function *)pp_loaded_symbols_find(&objects->object[i].symbols, f->name);
    }
}

pp_malloc_function *pp_malloc_first_definition(pp_malloc_hook *hook)
{
    first_search f = {.name = hook->name};
    pp_loaded_objects_read(search_before_us, &f);
    return f.found != NULL || !hook->resolved ? f.found : hook->real;
}
