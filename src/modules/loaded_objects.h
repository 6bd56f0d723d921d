/* SPDX-License-Identifier: MIT
 *
 * loaded_objects.h: lists the loaded objects in load order, without waiting for constructors.
 *
 * glibc's loader has two locks. dlopen and dlclose hold the first one from beginning to end,
 * constructors and destructors included; dlsym, dladdr and dlopen take it. So a thread that a
 * constructor waits for must not call these. The second lock only guards the list of objects and is
 * held for moments; dl_iterate_phdr takes it.
 *
 * fork reinitialises the first lock in the child, but not the second one, which may then have an
 * owner that does not exist. In this case (pp_loader_is_suspect) this code follows the list without
 * the lock, from an object that _dl_find_object finds; the child began with one thread. If libc has
 * no _dl_find_object, it takes the lock nevertheless.
 *
 *   [program][vDSO][preloaded...][needed by these, by distance...][loaded by dlopen...]
 *   \--------- there from the start: visible to all ----------/   \- visible to some, may go -/
 *
 * Zone: HOOK.
 * Locks: the loader's second one, during a visit. A visit must not call anything that waits for the
 *        first one: dlopen takes the two in that order.
 * Owns: the memory of the copied list, during a visit.
 */
#ifndef PP_MODULES_LOADED_OBJECTS_H
#define PP_MODULES_LOADED_OBJECTS_H

#include "sys/loaded_symbols.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_loaded_object {
    const char *path; /* the loader's; "" is the program */
    pp_loaded_symbols symbols;
    uint32_t hash_of_path; /* of the path's last part */
    uint32_t hash_of_soname;
    uint32_t closure; /* [n] is the n-th object of the closure */
    bool is_in_closure;
} pp_loaded_object;

typedef struct pp_loaded_objects {
    pp_loaded_object *object;
    size_t count;
    size_t capacity;
    bool failed;
} pp_loaded_objects;

#define PP_NO_OBJECT SIZE_MAX

/* Records the number of loaded objects. Start-up code calls it before there are threads. */
void pp_loaded_objects_begin(void);

/* The recorded number n: the objects [0, n) are never unloaded. */
size_t pp_loaded_objects_at_begin(void);

/* Calls `visit` once, with all objects, which stay loaded until it returns. False if memory for the
 * list is lacking. */
typedef void pp_loaded_objects_visit(pp_loaded_objects *objects, void *context);
bool pp_loaded_objects_read(pp_loaded_objects_visit *visit, void *context);

/* Returns the index of the object of `address`, or PP_NO_OBJECT. */
size_t pp_loaded_objects_find(const pp_loaded_objects *objects, uintptr_t address);

/* Finds the object `from` and all that it needs (DT_NEEDED), nearest first. Stores their indices in
 * `closure` of the first objects, and returns their number; 0 for PP_NO_OBJECT. */
size_t pp_loaded_objects_close(pp_loaded_objects *objects, size_t from);

#endif
