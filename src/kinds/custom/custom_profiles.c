/* SPDX-License-Identifier: MIT
 *
 * custom_profiles.c: the list of the program's profiles; adds values to them and removes values.
 *
 * Zone: HOOK.
 * Owns: the list.
 */
#include "kinds/custom/custom_profiles.h"

#include "arch/stubs.h"
#include "base/compiler.h"
#include "base/pseudo_frame.h"
#include "base/stack_hash.h"
#include "store/labels.h"
#include "store/bump.h"
#include "unwind/walk.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static struct {
    pprof_profile *first;
    pp_bump memory;
} profiles = {.memory = PP_BUMP_INIT};

/* ---- the list ---- */

pprof_profile *pp_custom_profiles_first(void)
{
    return __atomic_load_n(&profiles.first, __ATOMIC_ACQUIRE);
}

/* Moves *place to the first profile, from *place on, whose name does not come before `name`.
 * Returns the profile; NULL if there is none. *order is 0 if the names are equal. */
static pprof_profile *look_from(pprof_profile ***place, const char *name, int *order)
{
    for (;;) {
        pprof_profile *there = __atomic_load_n(*place, __ATOMIC_ACQUIRE);
        *order = there != NULL ? strcmp(there->name, name) : 1;
        if (*order >= 0) {
            return there;
        }
        *place = &there->next;
    }
}

static pprof_profile *find_profile(const char *name)
{
    int order = 0;
    pprof_profile **place = &profiles.first;
    pprof_profile *there = look_from(&place, name, &order);
    return order == 0 ? there : NULL;
}

static pprof_profile *make(const char *name)
{
    size_t size = strlen(name) + 1;
    pprof_profile *profile = pp_bump_alloc(&profiles.memory, sizeof *profile + size);
    pp_value_table *values = profile != NULL ? pp_value_table_new() : NULL;
    if (values == NULL) {
        return NULL;
    }
    *profile = (pprof_profile){.name = memcpy(profile + 1, name, size), .values = values};
    return profile;
}

pprof_profile *pp_custom_profile_new(const char *name, int *error)
{
    if (find_profile(name) != NULL) {
        *error = -EEXIST;
        return NULL;
    }
    pprof_profile *mine = make(name);
    if (mine == NULL) {
        *error = -ENOMEM;
        return NULL;
    }
    int order = 0;
    pprof_profile **place = &profiles.first;
    do {
        mine->next = look_from(&place, name, &order);
        if (order == 0) { /* another thread has made one */
            pp_value_table_free(mine->values);
            *error = -EEXIST;
            return NULL;
        }
    } while (!__atomic_compare_exchange_n(place, &mine->next, mine, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
    return mine;
}

void pp_custom_profiles_after_fork_in_child(void)
{
    for (pprof_profile *profile = profiles.first; profile != NULL; profile = profile->next) {
        pp_value_table_after_fork_in_child(profile->values);
    }
}

/* ---- values ---- */

/* The only frame of a stack of which `skip` has left none. */
PP_PSEUDO_FRAME(pprof_lost_profile_event)

PP_STUB_WITH_CALLER(pprof_profile_add, pp_profile_add_from);

/* The table takes the reference to the labels over with the value. */
static int add_with_labels(pprof_profile *profile, pp_value *added)
{
    pprof_labels *current = pp_labels_current();
    added->labels = pp_labels_is_empty(current) ? NULL : pp_labels_ref(current);
    int error = pp_value_table_add(profile->values, added);
    if (error != 0) {
        pp_labels_unref(added->labels);
    }
    return error;
}

/* Only the stub jumps here. */
int pp_profile_add_from(pprof_profile *profile, const void *value, int skip, uintptr_t sp,
                        uintptr_t fp, uintptr_t bx);

__attribute__((visibility("hidden"), used)) PP_RAW_MEMORY int
pp_profile_add_from(pprof_profile *profile, const void *value, int skip, uintptr_t sp, uintptr_t fp,
                    uintptr_t bx)
{
    if (profile == NULL) {
        return -EINVAL;
    }
    if (profile->values == NULL) {
        return -EPERM;
    }
    pp_caller caller = pp_caller_at_entry(sp, fp, bx);
    uintptr_t pcs[PPROF_MAX_STACK];
    pp_walk_space space;
    pp_walk walk = {.pcs = pcs,
                    .space = &space,
                    .capacity = PPROF_MAX_STACK,
                    .skip = skip > 0 ? (uint32_t)skip : 0,
                    .wants_hash = true};
    pp_walk_from_caller(&caller, &walk);
    if (walk.depth == 0) {
        pcs[walk.depth++] = (uintptr_t)pprof_lost_profile_event + 1;
        walk.hash = pp_stack_hash(pcs, walk.depth);
    }
    pp_value added = {.value = (uintptr_t)value,
                      .stack = pp_stack_trie_find(pcs, walk.depth, walk.hash)};
    return added.stack != NULL ? add_with_labels(profile, &added) : -ENOMEM;
}

int pprof_profile_remove(pprof_profile *profile, const void *value)
{
    if (profile == NULL) {
        return -EINVAL;
    }
    if (profile->values == NULL) {
        return -EPERM;
    }
    pp_value removed;
    if (pp_value_table_remove(profile->values, (uintptr_t)value, &removed)) {
        pp_labels_unref(removed.labels);
    }
    return 0;
}
