/* SPDX-License-Identifier: MIT
 *
 * known_names.c: an open-addressing table, by address (drawing in known_names.h).
 *
 * Zone: NORMAL, and the fatal-signal writer (mmap and munmap).
 * Owns: the table, the names, and whether there may be any.
 */
#include "symbol/known_names.h"

#include "base/memory.h"
#include "elf/elf.h"
#include "symbol/places.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/tasks.h"

#include <string.h>

enum {
    SLOT_BITS_MIN = 9,
    SLOT_BITS_MAX = 16,       /* 2 MiB */
    TEXT_BYTES_MAX = 1 << 20, /* in chunks of 2 MiB together */
    TEXT_UNIT = 16            /* of an arena */
};

static const uint64_t lifetime_ns = UINT64_C(60) * PP_NS_PER_S;

typedef struct known {
    uintptr_t address; /* 0: an empty slot */
    const char *name;  /* NULL: it has none */
    uintptr_t entry;
    uint32_t object; /* a hash of what the mapping is of */
    bool is_place, is_local;
} known;

static struct {
    int permitted;
    bool is_lost; /* a thread of the parent had the lock */
    pp_lock lock;
    uint64_t end_ns; /* of what is known */
    known *slots;    /* at most half of them are used */
    unsigned bits;
    size_t count;
    pp_arena texts;
    size_t text_bytes;
} memory;

void pp_known_names_permit(void)
{
    __atomic_store_n(&memory.permitted, 1, __ATOMIC_RELAXED);
}

static bool is_permitted(void)
{
    return __atomic_load_n(&memory.permitted, __ATOMIC_RELAXED) != 0 && !memory.is_lost;
}

static size_t slots_bytes(unsigned bits)
{
    return ((size_t)1 << bits) * sizeof(known);
}

static void forget(void)
{
    if (memory.slots != NULL) {
        pp_memory_unmap(memory.slots, slots_bytes(memory.bits));
    }
    pp_arena_release(&memory.texts);
    memory.slots = NULL;
    memory.count = memory.text_bytes = 0;
}

/* ---- the table ---- */

static known *slot_of(known *slots, unsigned bits, uintptr_t address)
{
    size_t mask = ((size_t)1 << bits) - 1;
    size_t place =
        (address * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - bits); /* 2^64 / golden ratio */
    while (slots[place].address != 0 && slots[place].address != address) {
        place = (place + 1) & mask;
    }
    return &slots[place];
}

/* Whether there is a slot for one more. */
static bool make_room(void)
{
    bool exists = memory.slots != NULL;
    unsigned bits = exists ? memory.bits + 1 : SLOT_BITS_MIN;
    if (exists && memory.count < (size_t)1 << (memory.bits - 1)) {
        return true;
    }
    known *slots = bits <= SLOT_BITS_MAX ? pp_memory_map(slots_bytes(bits)) : NULL;
    if (slots == NULL) {
        return false;
    }
    for (size_t i = 0; exists && i < (size_t)1 << memory.bits; i++) {
        if (memory.slots[i].address != 0) {
            *slot_of(slots, bits, memory.slots[i].address) = memory.slots[i];
        }
    }
    if (exists) {
        pp_memory_unmap(memory.slots, slots_bytes(memory.bits));
    }
    memory.slots = slots;
    memory.bits = bits;
    return true;
}

/* Addresses of one function share its text; those that follow each other, at least. */
static const char *keep_text(const char *name, const char *last, const char *last_kept)
{
    if (name == NULL || name == last) {
        return name == NULL ? NULL : last_kept;
    }
    size_t length = strlen(name);
    memory.text_bytes += (length + TEXT_UNIT) / TEXT_UNIT * TEXT_UNIT;
    return memory.text_bytes <= TEXT_BYTES_MAX ? pp_arena_text(&memory.texts, name, length) : NULL;
}

static void remember(uint32_t object, const uintptr_t *addresses, const pp_symbol *symbols,
                     size_t count)
{
    const char *last = NULL;
    const char *kept = NULL;
    for (size_t i = 0; i < count && make_room(); i++) {
        const pp_symbol *symbol = &symbols[i];
        known *slot = slot_of(memory.slots, memory.bits, addresses[i]);
        kept = keep_text(symbol->name, last, kept);
        last = symbol->name;
        if (addresses[i] == 0 || (last != NULL && kept == NULL)) {
            continue;
        }
        memory.count += slot->address == 0;
        *slot = (known){.address = addresses[i],
                        .name = kept,
                        .entry = symbol->entry,
                        .object = object,
                        .is_place = symbol->is_place,
                        .is_local = symbol->is_local};
    }
}

static const known *known_at(uint32_t object, uintptr_t address)
{
    const known *slot = memory.slots != NULL ? slot_of(memory.slots, memory.bits, address) : NULL;
    return slot != NULL && slot->address == address && address != 0 && slot->object == object
               ? slot
               : NULL;
}

/* Whether the files are read in any case. */
static bool is_any_unknown(uint32_t object, const uintptr_t *addresses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (known_at(object, addresses[i]) == NULL) {
            return true;
        }
    }
    return false;
}

/* Finds the known ones; *unknown becomes the indices of the others. Returns their number. The texts
 * are copied: the memory may be forgotten while the caller reads them. If the files are read, they
 * are asked for all that has no real name yet: it may have one by now, which others of its function
 * would get. */
static size_t recall(uint32_t object, const uintptr_t *addresses, size_t count, pp_symbol *symbols,
                     size_t *unknown, pp_arena *arena)
{
    bool is_read = is_any_unknown(object, addresses, count);
    size_t unknown_count = 0;
    const char *last = NULL;
    const char *copy = NULL;
    for (size_t i = 0; i < count; i++) {
        const known *slot = known_at(object, addresses[i]);
        if (slot == NULL || (is_read && (slot->name == NULL || slot->is_place))) {
            unknown[unknown_count++] = i;
            continue;
        }
        if (slot->name != last) {
            last = slot->name;
            copy = last != NULL ? pp_arena_text(arena, last, strlen(last)) : NULL;
        }
        symbols[i] = (pp_symbol){.name = copy,
                                 .entry = slot->entry,
                                 .is_place = slot->is_place,
                                 .is_local = slot->is_local};
    }
    return unknown_count;
}

/* ---- resolving ---- */

/* FNV-1a. */
static uint32_t hash_bytes(uint32_t hash, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * 16777619u;
    }
    return hash;
}

static uint32_t object_of(const pp_mapping *mapping)
{
    uint32_t hash = hash_bytes(2166136261u, mapping->path, strlen(mapping->path));
    hash = hash_bytes(hash, mapping->build_id, mapping->build_id_size);
    return hash_bytes(hash, &mapping->bias, sizeof mapping->bias);
}

/* Takes the memory, if nobody has it, and forgets what is too old. */
static bool take_memory(void)
{
    if (!is_permitted() || !pp_lock_try(&memory.lock, pp_task_self())) {
        return false;
    }
    if (!is_permitted()) { /* it has just been forgotten */
        pp_lock_release(&memory.lock);
        return false;
    }
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    if (now_ns >= memory.end_ns) {
        forget();
        memory.end_ns = now_ns + lifetime_ns;
    }
    return true;
}

static void resolve_unknown(const pp_mapping *mappings, size_t mapping_count, size_t index,
                            const uintptr_t *addresses, const size_t *unknown, size_t count,
                            pp_symbol *symbols, pp_arena *arena)
{
    uintptr_t *few = pp_arena_array(arena, count, sizeof *few);
    pp_symbol *names = pp_arena_array(arena, count, sizeof *names);
    if (few == NULL || names == NULL) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        few[i] = addresses[unknown[i]];
    }
    unsigned troubles = pp_elf_troubles();
    pp_places_resolve(mappings, mapping_count, index, few, count, names, arena);
    for (size_t i = 0; i < count; i++) {
        symbols[unknown[i]] = names[i];
    }
    if (!arena->failed && pp_elf_troubles() == troubles && take_memory()) {
        remember(object_of(&mappings[index]), few, names, count);
        pp_lock_release(&memory.lock);
    }
}

void pp_known_names_resolve(const pp_mapping *mappings, size_t mapping_count, size_t index,
                            const uintptr_t *addresses, size_t count, pp_symbol *symbols,
                            pp_arena *arena)
{
    const pp_mapping *mapping = &mappings[index];
    bool has_identity = mapping->build_id_size != 0 && mapping->path != NULL;
    size_t *unknown =
        has_identity && is_permitted() ? pp_arena_array(arena, count, sizeof *unknown) : NULL;
    if (unknown == NULL || !take_memory()) {
        pp_places_resolve(mappings, mapping_count, index, addresses, count, symbols, arena);
        return;
    }
    size_t unknown_count = recall(object_of(mapping), addresses, count, symbols, unknown, arena);
    pp_lock_release(&memory.lock);
    if (unknown_count > 0) {
        resolve_unknown(mappings, mapping_count, index, addresses, unknown, unknown_count, symbols,
                        arena);
    }
}

void pp_known_names_forget(void)
{
    __atomic_store_n(&memory.permitted, 0, __ATOMIC_RELAXED);
    if (!memory.is_lost && pp_lock_take_within(&memory.lock, pp_task_self(), PP_NS_PER_S)) {
        forget();
        pp_lock_release(&memory.lock);
    }
}

void pp_known_names_after_fork_in_child(void)
{
    memory.is_lost = memory.is_lost || pp_lock_holder(&memory.lock) != 0;
}
