/* SPDX-License-Identifier: MIT
 *
 * loaded_objects.h: the loaded objects in the order in which they were loaded, for those who must
 * not wait for the constructors of a library.
 *
 * glibc's loader has two locks. The first is held by dlopen and dlclose from beginning to end,
 * constructors and destructors included, and wanted by dlsym, dladdr and dlopen: a thread that a
 * constructor waits for must not ask these. The second guards the list of objects alone, is held
 * for moments, and is what dl_iterate_phdr takes.
 *
 * fork makes the first lock new in the child, but not the second: it may have an owner there that
 * does not exist. Then (pp_loader_is_suspect) the list is followed without it, from object to
 * object as _dl_find_object tells of one; there was one thread in the child when it began. Where
 * libc has no _dl_find_object, the lock is taken all the same.
 *
 *   [program][vDSO][preloaded...][what these need, by distance...][what dlopen brought...]
 *   \------------ there from the start: seen by all -------------/ \- seen by some, it may go -/
 *
 * Zone: HOOK.
 * Locks: the loader's second one, while a visit lasts. Nothing that waits for its first one may be called
 *        meanwhile: dlopen takes the two in that order.
 * Owns: the memory that the list is copied to, while a visit lasts.
 */
#ifndef PP_MODULES_LOADED_OBJECTS_H
#define PP_MODULES_LOADED_OBJECTS_H

#include "sys/loaded_symbols.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_loaded_object {
    const char *path; /* as the loader has it; "" is the program */
    pp_loaded_symbols symbols;
    uint32_t hash_of_path; /* of its last part */
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

/* To be called before there are threads: remembers how many objects there are. */
void pp_loaded_objects_begin(void);

/* How many were there when that was called: [0, n) are never unloaded. */
size_t pp_loaded_objects_at_begin(void);

/* Calls back once, with all objects; they stay until it returns. False without memory for
 * the list. */
typedef void pp_loaded_objects_visit(pp_loaded_objects *objects, void *context);
bool pp_loaded_objects_read(pp_loaded_objects_visit *visit, void *context);

/* The object that `address` lies in, or PP_NO_OBJECT. */
size_t pp_loaded_objects_find(const pp_loaded_objects *objects, uintptr_t address);

/*
 * The object and all that it needs, directly first (DT_NEEDED): puts them into `closure` of
 * the first ones, and returns how many there are. None for PP_NO_OBJECT.
 */
size_t pp_loaded_objects_close(pp_loaded_objects *objects, size_t from);

#endif
