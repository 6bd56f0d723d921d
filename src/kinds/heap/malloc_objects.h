/* SPDX-License-Identifier: MIT
 *
 * malloc_objects.h: the loaded objects, as a search for the allocator sees them: the object of an
 * address, C++ runtimes, the definitions before ours.
 *
 * Zone: HOOK.
 * Locks: pp_malloc_first_definition takes the loader's second lock (modules/loaded_objects.h).
 */
#ifndef PP_KINDS_HEAP_MALLOC_OBJECTS_H
#define PP_KINDS_HEAP_MALLOC_OBJECTS_H

#include "kinds/heap/malloc_hook.h"
#include "modules/loaded_objects.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns a number that differs between loaded objects; 0 if the address belongs to none. */
uintptr_t pp_malloc_object_of(uintptr_t address);

/* Whether code at this address belongs to the object of the real malloc. */
bool pp_malloc_is_allocators(uintptr_t address);

/* Whether `found` is libc's own definition of the hook's function, and calls malloc, which is hooked:
 * that call counts. */
bool pp_malloc_calls_malloc(const pp_malloc_hook *hook, uintptr_t found);

/* Whether the library at `path` is libstdc++ or libc++, whose operator new calls malloc until a
 * new_handler gives up. */
bool pp_malloc_is_cxx_runtime(const char *path);

/* Whether the program was loaded with a C++ runtime. Does not ask the loader, which allocates to
 * say no. */
bool pp_malloc_has_cxx_runtime(void);

/* Returns the index of this library among the objects. */
size_t pp_malloc_index_of_us(const pp_loaded_objects *objects);

/* Returns what the program itself would call: the definition of an object before us, else the real
 * function; NULL if there is neither. */
pp_malloc_function *pp_malloc_first_definition(pp_malloc_hook *hook);

#endif
