/* SPDX-License-Identifier: MIT
 *
 * got.c: goes through the objects, fills their slots, and restores them.
 *
 *   pp_got_fill --> what the memory allows (/proc/self/maps) --> what the objects define
 *                 --> each object: each relocation --> look_at --> change
 *
 * A later call makes the list anew: a slot that has our function already keeps what the last list
 * says of it.
 *
 * Zone: NORMAL.
 * Locks: `lock`.
 * Owns: the list.
 * Tested by: e2e.attached_hooks
 */
#include "attach/got.h"

#include "attach/got_memory.h"
#include "attach/got_object.h"
#include "base/arena.h"
#include "modules/libc.h"
#include "modules/loaded_objects.h"
#include "modules/loader.h"
#include "modules/loader_state.h"
#include "modules/own_exports.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/tasks.h"

#include <stdint.h>
#include <string.h>
#include <time.h>

enum {
    /* The loader counts an object before it has relocated it: the slots are looked at again. */
    LOOKS_AFTER_A_CHANGE = 4,
    FIRST_CAPACITY = 1024
};

/* Functions of identity.c, groups_shared.c, confinement.c and exec.c. */
static const char *const of_guest[] = {
    "setuid",    "setgid",     "seteuid", "setegid",     "setreuid",     "setregid", "setresuid",
    "setresgid", "initgroups", "capset",  "unshare",     "setns",        "prctl",    "syscall",
    "setgroups", "execve",     "execvpe", "execv",       "execvp",       "fexecve",  "execveat",
    "execl",     "execlp",     "execle",  "posix_spawn", "posix_spawnp", NULL};

/* How often slots are looked at that nobody has called through yet, or whose object is not ready. */
static const uint64_t unfinished_ns = PP_NS_PER_S;

typedef struct slot {
    uintptr_t *at;
    uintptr_t before;
    uintptr_t ours;
} slot;

/* The slots of an object are together. */
typedef struct list {
    pp_arena arena;
    slot *slots;
    size_t count, capacity;
    uint32_t *by_address; /* indices + 1 of `slots`, hashed; NULL: none */
    size_t places;
} list;

static struct {
    pp_lock lock;
    bool filled;
    bool all; /* of PP_GOT_ALL */
    bool unfinished;
    unsigned looks;
    uint64_t epoch;
    uint64_t looked_ns;
    list present;
} state;

typedef struct scan {
    const pp_loaded_objects *objects;
    pp_got_memory *memory;
    list *next;
    pp_got_report report;
    bool unfinished;
    bool *ready; /* of each object: the loader was done with it before `memory` was read */
    /* Of the object that is looked at. */
    pp_got_object object;
    size_t index;
    const pp_own_export *seen; /* a function of which a slot was bound; NULL: none yet */
    bool left;                 /* a slot that is not bound was left as it is */
} scan;

/* ---- the list ---- */

static bool make_room(list *l)
{
    if (l->count < l->capacity) {
        return true;
    }
    size_t capacity = l->capacity == 0 ? FIRST_CAPACITY : 2 * l->capacity;
    slot *larger = pp_arena_array(&l->arena, capacity, sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    if (l->count > 0) {
        memcpy(larger, l->slots, l->count * sizeof *larger);
    }
    l->slots = larger;
    l->capacity = capacity;
    return true;
}

static size_t place_of(const list *l, const uintptr_t *at)
{
    return ((uintptr_t)at / sizeof *at * 0x9e3779b97f4a7c15u >> 20) & (l->places - 1);
}

/* Without memory for it, slots that are ours already count as if libc had filled them. */
static void index_by_address(list *l)
{
    size_t places = 64;
    while (places < 2 * l->count) {
        places *= 2;
    }
    l->places = places;
    l->by_address = pp_arena_array(&l->arena, places, sizeof *l->by_address);
    for (size_t i = 0; l->by_address != NULL && i < l->count; i++) {
        size_t place = place_of(l, l->slots[i].at);
        while (l->by_address[place] != 0) {
            place = (place + 1) & (places - 1);
        }
        l->by_address[place] = (uint32_t)i + 1;
    }
}

static const slot *slot_at(const list *l, const uintptr_t *at)
{
    if (l->by_address == NULL) {
        return NULL;
    }
    size_t place = place_of(l, at);
    while (l->by_address[place] != 0 && l->slots[l->by_address[place] - 1].at != at) {
        place = (place + 1) & (l->places - 1);
    }
    return l->by_address[place] != 0 ? &l->slots[l->by_address[place] - 1] : NULL;
}

static void release(list *l)
{
    pp_arena_release(&l->arena);
    *l = (list){.arena = PP_ARENA_INIT};
}

/* ---- one slot ---- */

static bool is_wanted(const pp_own_export *e)
{
    size_t i = 0;
    while (!state.all && of_guest[i] != NULL && strcmp(of_guest[i], e->name) != 0) {
        i++;
    }
    return state.all || of_guest[i] != NULL;
}

/* The program's own functions come before ours, as before a preloaded library's. */
static bool is_ours_to_replace(const pp_own_export *e)
{
    return e->real != 0 && e->object != 0 && is_wanted(e);
}

static void keep(scan *s, uintptr_t *at, uintptr_t before, uintptr_t ours)
{
    if (make_room(s->next)) {
        s->next->slots[s->next->count++] = (slot){at, before, ours};
        s->report.filled++;
    }
}

static void change(scan *s, uintptr_t *at, uintptr_t before, const pp_own_export *e)
{
    if (!make_room(s->next)) {
        return;
    }
    if (!pp_got_memory_open(s->memory, (uintptr_t)at)) {
        s->report.refused++;
    } else if (__atomic_compare_exchange_n(at, &before, e->entry, false, __ATOMIC_ACQ_REL,
                                           __ATOMIC_RELAXED)) {
        keep(s, at, before, e->entry);
    }
}

/* True if the slot is bound. */
static bool look_at_bound(scan *s, uintptr_t *at, uintptr_t value, const pp_own_export *e)
{
    if (value == e->entry) {
        const slot *known = slot_at(&state.present, at);
        keep(s, at, known != NULL ? known->before : e->real, e->entry);
        return true;
    }
    if (value != e->real || !is_ours_to_replace(e)) {
        return false;
    }
    s->seen = e->definers > 1 ? e : s->seen;
    change(s, at, value, e);
    return true;
}

/*
 * Whether the loader will bind the object's reference to this definition. The order in which objects
 * were loaded decides for the program. Another object may have been loaded with RTLD_DEEPBIND, or
 * with an allocator of its own: if there are several definitions, a slot that is bound already tells
 * which of the objects it prefers.
 */
static bool is_certain(const scan *s, const pp_own_export *e)
{
    return s->index == 0 || e->definers == 1 ||
           (s->seen != NULL && s->seen->object == e->object && s->seen->definers == e->definers);
}

/* A slot that the loader fills in at the first call. */
static void look_at_lazy(scan *s, uintptr_t *at, uintptr_t value, const char *name, uint32_t symbol)
{
    size_t object = 0;
    const char *version = pp_loaded_symbols_version_needed(&s->object.symbols, symbol);
    uintptr_t wanted = pp_definition_find(s->objects, name, version, &object);
    const pp_own_export *e = pp_own_exports_find(name, NULL);
    while (e != NULL && e->real != wanted) {
        e = pp_own_exports_find(name, e);
    }
    if (e == NULL || !is_ours_to_replace(e)) {
        return;
    }
    if (is_certain(s, e)) {
        change(s, at, value, e);
    } else {
        s->left = true;
    }
}

static void look_at_unbound(const pp_got_reference *reference, void *context)
{
    scan *s = context;
    uintptr_t value = __atomic_load_n(reference->slot, __ATOMIC_ACQUIRE);
    if (reference->is_call && reference->is_undefined &&
        pp_got_object_has_code(&s->object, value)) {
        look_at_lazy(s, reference->slot, value, reference->name, reference->symbol);
    }
}

static void look_at(const pp_got_reference *reference, void *context)
{
    scan *s = context;
    uintptr_t *at = reference->slot;
    const pp_own_export *e = pp_own_exports_find(reference->name, NULL);
    if (e == NULL) {
        return;
    }
    uintptr_t value = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    for (; e != NULL; e = pp_own_exports_find(reference->name, e)) {
        if (look_at_bound(s, at, value, e)) {
            return;
        }
    }
    look_at_unbound(reference, s);
}

/* ---- all objects ---- */

/* Looks a second time at what was left, if a later slot says what the object prefers. */
static void look_at_slots(scan *s)
{
    s->seen = NULL;
    s->left = false;
    pp_got_object_each(&s->object, look_at, s);
    if (s->left && s->seen != NULL) {
        s->left = false;
        pp_got_object_each(&s->object, look_at_unbound, s);
    }
    s->unfinished |= s->left;
    pp_got_memory_close(s->memory);
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *context)
{
    scan *s = context;
    (void)size;
    pp_got_object_state found = pp_got_object_read(&s->object, info);
    bool ready = s->index < s->objects->count && s->ready[s->index];
    if (found == PP_GOT_OBJECT_IS_THERE && ready) {
        look_at_slots(s);
    }
    s->unfinished |= found != PP_GOT_OBJECT_HAS_NONE && !ready;
    s->index++;
    return 0;
}

/* The loader makes the slots of an object read-only at the very end: what /proc/self/maps says
 * before that is not true any more. */
static bool note_what_is_ready(scan *s)
{
    s->ready = pp_arena_array(&s->next->arena, s->objects->count, sizeof *s->ready);
    for (size_t i = 0; s->ready != NULL && i < s->objects->count; i++) {
        s->ready[i] = pp_got_object_is_ready(s->objects->object[i].symbols.dynamic);
    }
    return s->ready != NULL;
}

static void look_at_all(pp_loaded_objects *objects, void *context)
{
    scan *s = context;
    s->objects = objects;
    if (note_what_is_ready(s)) {
        pp_got_memory_begin(s->memory);
        pp_own_exports_refresh(objects);
        pp_libc_each_object(look_at_object, s);
        pp_got_memory_end(s->memory);
    }
}

static int take_loads(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    *(uint64_t *)context = info->dlpi_adds;
    return 1;
}

/* Where nothing is ever unloaded, the epoch says nothing about loads. */
static uint64_t read_epoch(void)
{
    uint64_t loads = 0;
    if (pp_loader_never_unloads()) {
        pp_libc_each_object(take_loads, &loads);
    }
    return pp_loader_epoch() + loads;
}

static bool is_due(uint64_t epoch)
{
    if (!state.filled || epoch != state.epoch) {
        state.looks = LOOKS_AFTER_A_CHANGE;
    }
    if (state.looks > 0) {
        state.looks--;
        return true;
    }
    bool slow = state.unfinished || !pp_loader_epoch_is_known();
    return slow && pp_clock_ns(CLOCK_MONOTONIC) - state.looked_ns >= unfinished_ns;
}

static void fill_all(void (*real)(void), pp_got_report *report)
{
    list next = {.arena = PP_ARENA_INIT};
    pp_got_memory memory;
    real();
    scan s = {.memory = &memory, .next = &next};
    pp_loaded_objects_read(look_at_all, &s);
    release(&state.present);
    index_by_address(&next);
    state.present = next;
    state.filled = true;
    state.unfinished = s.unfinished;
    state.looked_ns = pp_clock_ns(CLOCK_MONOTONIC);
    *report = s.report;
}

bool pp_got_fill(pp_got_kind kind, void (*real)(void), pp_got_report *report)
{
    if (pp_loader_is_suspect()) {
        return false;
    }
    pp_lock_take(&state.lock, pp_task_self());
    uint64_t epoch = read_epoch();
    bool more = kind == PP_GOT_ALL && !state.all;
    state.all |= more;
    if (is_due(epoch) || more) {
        state.epoch = epoch;
        fill_all(real, report);
    }
    pp_lock_release(&state.lock);
    return true;
}

bool pp_got_all_are_filled(void)
{
    return __atomic_load_n(&state.all, __ATOMIC_ACQUIRE);
}

/* ---- the end ---- */

static void restore_one(pp_got_memory *memory, const slot *known)
{
    uintptr_t ours = known->ours;
    if (__atomic_load_n(known->at, __ATOMIC_ACQUIRE) == ours &&
        pp_got_memory_open(memory, (uintptr_t)known->at)) {
        __atomic_compare_exchange_n(known->at, &ours, known->before, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED);
    }
}

/* Only slots that are there still: the list is older than the last unload, perhaps. */
static void restore(const pp_got_reference *reference, void *context)
{
    scan *s = context;
    const slot *known = slot_at(&state.present, reference->slot);
    if (known != NULL) {
        restore_one(s->memory, known);
    }
}

static int restore_object(struct dl_phdr_info *info, size_t size, void *context)
{
    scan *s = context;
    (void)size;
    if (pp_got_object_read(&s->object, info) == PP_GOT_OBJECT_IS_THERE) {
        pp_got_object_each(&s->object, restore, s);
        pp_got_memory_close(s->memory);
    }
    return 0;
}

void pp_got_restore(void)
{
    pp_got_memory memory;
    pp_lock_take(&state.lock, pp_task_self());
    if (state.filled && !pp_loader_is_suspect()) {
        pp_got_memory_begin(&memory);
        scan s = {.memory = &memory};
        pp_libc_each_object(restore_object, &s);
        pp_got_memory_end(&memory);
        release(&state.present);
        state.filled = state.all = state.unfinished = false;
    }
    pp_lock_release(&state.lock);
}

void pp_got_after_fork(void)
{
    pp_lock_release(&state.lock);
}
