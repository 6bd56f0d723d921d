/* SPDX-License-Identifier: MIT
 *
 * loader.c: the loader's epoch.
 *
 * Zone: SIGNAL.
 * Locks: none; candidates are published by a release store of their count.
 * Owns: the candidates; the suspicion.
 */
#include "sys/loader.h"

#include "base/compiler.h"

#include <stdbool.h>

enum {
    MAX_CANDIDATES = 24,
    /* struct link_namespaces begins with the list's head and then its length */
    LOADED_COUNT_OFFSET = 8
};

static const uint64_t *candidates[MAX_CANDIDATES];
static unsigned candidate_count;
static const uint32_t *loaded_count;
static uint64_t own_changes;
static bool calibrated;
static bool suspect;

PP_RAW_MEMORY uint64_t pp_loader_epoch(void)
{
    uint64_t epoch = __atomic_load_n(&own_changes, __ATOMIC_ACQUIRE) << 48;
    unsigned count = __atomic_load_n(&candidate_count, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < count; i++) {
        const uint64_t *word = __atomic_load_n(&candidates[i], __ATOMIC_RELAXED);
        epoch += __atomic_load_n(word, __ATOMIC_ACQUIRE) << 16;
    }
    const uint32_t *loaded = __atomic_load_n(&loaded_count, __ATOMIC_RELAXED);
    return epoch + (loaded != NULL ? __atomic_load_n(loaded, __ATOMIC_ACQUIRE) : 0);
}

bool pp_loader_epoch_is_known(void)
{
    return __atomic_load_n(&candidate_count, __ATOMIC_ACQUIRE) > 0;
}

void pp_loader_note_change(void)
{
    __atomic_add_fetch(&own_changes, 1, __ATOMIC_ACQ_REL);
}

void pp_loader_suspect(void)
{
    __atomic_store_n(&suspect, true, __ATOMIC_RELAXED);
}

bool pp_loader_is_suspect(void)
{
    return __atomic_load_n(&suspect, __ATOMIC_RELAXED);
}

/* Keeps the candidates whose word still says `loads`. */
PP_RAW_MEMORY static void drop_disagreeing(uint64_t loads)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < candidate_count; i++) {
        if (*candidates[i] == loads) {
            __atomic_store_n(&candidates[kept++], candidates[i], __ATOMIC_RELAXED);
        }
    }
    __atomic_store_n(&candidate_count, kept, __ATOMIC_RELEASE);
}

PP_RAW_MEMORY void pp_loader_calibrate(const void *object, size_t size, uint64_t loads,
                                       uint32_t loaded)
{
    if (object == NULL) {
        return;
    }
    if (calibrated) {
        drop_disagreeing(loads);
        return;
    }
    calibrated = true;
    const uint64_t *words = object;
    unsigned found = 0;
    for (size_t i = 0; i < size / sizeof *words && found < MAX_CANDIDATES; i++) {
        if (words[i] == loads) {
            __atomic_store_n(&candidates[found++], &words[i], __ATOMIC_RELAXED);
        }
    }
    __atomic_store_n(&candidate_count, found, __ATOMIC_RELEASE);
    const uint32_t *length = (const uint32_t *)((const char *)object + LOADED_COUNT_OFFSET);
    if (size > LOADED_COUNT_OFFSET + sizeof *length && *length == loaded) {
        __atomic_store_n(&loaded_count, length, __ATOMIC_RELAXED);
    }
}
