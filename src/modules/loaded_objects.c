/* SPDX-License-Identifier: MIT
 *
 * loaded_objects.c: copies the loader's list, and follows DT_NEEDED in it.
 *
 * Zone: HOOK.
 * Locks: the loader's second one, in dl_iterate_phdr.
 * Owns: the number of objects at the start.
 */
#include "modules/loaded_objects.h"

#include "base/memory.h"
#include "base/path.h"
#include "modules/find_object.h"
#include "modules/libc.h"
#include "modules/loader.h"

#include <string.h>

enum { FIRST_CAPACITY = 64 };

static size_t count_at_begin;

/* ---- the start ---- */

/* The record of the first object has the loader's counters. */
static int take_count(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)context;
    if (size >= offsetof(struct dl_phdr_info, dlpi_tls_modid)) {
        count_at_begin = info->dlpi_adds - info->dlpi_subs;
    }
    return 1;
}

void pp_loaded_objects_begin(void)
{
    pp_libc_each_object(take_count, NULL);
}

size_t pp_loaded_objects_at_begin(void)
{
    return count_at_begin;
}

/* ---- the list ---- */

static bool make_room(pp_loaded_objects *objects)
{
    if (objects->count < objects->capacity) {
        return true;
    }
    size_t capacity = objects->capacity == 0 ? FIRST_CAPACITY : objects->capacity * 2;
    size_t bytes = capacity * sizeof *objects->object;
    void *larger =
        objects->capacity == 0
            ? pp_memory_map(bytes)
            : pp_memory_resize(objects->object, objects->capacity * sizeof *objects->object, bytes);
    if (larger == NULL) {
        objects->failed = true;
        return false;
    }
    objects->object = larger;
    objects->capacity = capacity;
    return true;
}

static bool append(pp_loaded_objects *objects, const char *path, const ElfW(Dyn) * dynamic,
                   uintptr_t bias)
{
    if (!make_room(objects)) {
        return false;
    }
    pp_loaded_object *object = &objects->object[objects->count++];
    *object = (pp_loaded_object){.path = path != NULL ? path : ""};
    pp_loaded_symbols_read(&object->symbols, dynamic, bias);
    object->hash_of_path = pp_loaded_symbols_hash(pp_base_name(object->path));
    if (object->symbols.soname != NULL) {
        object->hash_of_soname = pp_loaded_symbols_hash(object->symbols.soname);
    }
    return true;
}

static int append_by_headers(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    return !append(context, info->dlpi_name, pp_loaded_dynamic(info), info->dlpi_addr);
}

typedef struct job {
    pp_loaded_objects objects;
    pp_loaded_objects_visit *visit;
    void *context;
} job;

static void do_visit(job *j)
{
    if (!j->objects.failed) {
        j->visit(&j->objects, j->context);
    }
}

/* Runs in the callback of the first object, so that the lock is held until the visit ends. */
static int visit_inside(struct dl_phdr_info *info, size_t size, void *context)
{
    job *j = context;
    (void)info;
    (void)size;
    pp_libc_each_object(append_by_headers, &j->objects); /* the lock is recursive */
    do_visit(j);
    return 1;
}

/* Every object is linked to all others. NULL if libc cannot find an object. */
static const struct link_map *first_of_list(void)
{
    pp_found_object found;
    if (!pp_object_find((uintptr_t)first_of_list, &found)) {
        return NULL;
    }
    const struct link_map *map = found.map;
    while (map->l_prev != NULL) {
        map = map->l_prev;
    }
    return map;
}

bool pp_loaded_objects_read(pp_loaded_objects_visit *visit, void *context)
{
    job j = {.visit = visit, .context = context};
    const struct link_map *map = pp_loader_is_suspect() ? first_of_list() : NULL;
    if (map != NULL) {
        while (map != NULL && append(&j.objects, map->l_name, map->l_ld, map->l_addr)) {
            map = map->l_next;
        }
        do_visit(&j);
    } else {
        pp_libc_each_object(visit_inside, &j);
    }
    if (j.objects.capacity != 0) {
        pp_memory_unmap(j.objects.object, j.objects.capacity * sizeof *j.objects.object);
    }
    return !j.objects.failed;
}

/* ---- the object of an address ---- */

/* Where libc cannot find it: the object with the next lower bias. This is wrong for code outside of
 * all objects. */
static size_t find_nearest(const pp_loaded_objects *objects, uintptr_t address)
{
    size_t nearest = PP_NO_OBJECT;
    for (size_t i = 0; i < objects->count; i++) {
        uintptr_t bias = objects->object[i].symbols.bias;
        if (bias <= address &&
            (nearest == PP_NO_OBJECT || bias > objects->object[nearest].symbols.bias)) {
            nearest = i;
        }
    }
    return nearest;
}

size_t pp_loaded_objects_find(const pp_loaded_objects *objects, uintptr_t address)
{
    pp_found_object found;
    if (!pp_object_can_find()) {
        return find_nearest(objects, address);
    }
    if (pp_object_find(address, &found)) {
        for (size_t i = 0; i < objects->count; i++) {
            if (objects->object[i].symbols.dynamic == found.map->l_ld) {
                return i;
            }
        }
    }
    return PP_NO_OBJECT;
}

/* ---- needed objects ---- */

static bool has_name(const pp_loaded_object *object, const char *name, uint32_t hash)
{
    return (object->hash_of_soname == hash && object->symbols.soname != NULL &&
            strcmp(object->symbols.soname, name) == 0) ||
           (object->hash_of_path == hash && strcmp(pp_base_name(object->path), name) == 0);
}

/* Compares only the last part of a path: the object may have been loaded by another path. */
static size_t find_name(const pp_loaded_objects *objects, const char *needed)
{
    const char *name = pp_base_name(needed);
    uint32_t hash = pp_loaded_symbols_hash(name);
    for (size_t i = 0; i < objects->count; i++) {
        if (has_name(&objects->object[i], name, hash)) {
            return i;
        }
    }
    return PP_NO_OBJECT;
}

size_t pp_loaded_objects_close(pp_loaded_objects *objects, size_t from)
{
    pp_loaded_object *object = objects->object;
    size_t count = 0;
    for (size_t i = 0; i < objects->count; i++) {
        object[i].is_in_closure = false;
    }
    if (from != PP_NO_OBJECT) {
        object[from].is_in_closure = true;
        object[count++].closure = (uint32_t)from;
    }
    for (size_t at = 0; at < count; at++) {
        const pp_loaded_symbols *symbols = &object[object[at].closure].symbols;
        for (const ElfW(Dyn) *d = symbols->dynamic; d != NULL && d->d_tag != DT_NULL; d++) {
            if (d->d_tag != DT_NEEDED || symbols->names == NULL) {
                continue;
            }
            size_t needed = find_name(objects, symbols->names + d->d_un.d_val);
            if (needed != PP_NO_OBJECT && !object[needed].is_in_closure) {
                object[needed].is_in_closure = true;
                object[count++].closure = (uint32_t)needed;
            }
        }
    }
    return count;
}
