/* SPDX-License-Identifier: MIT
 *
 * loader.c: computes the loader's epoch.
 *
 * An epoch is made of four things: the library's own count of changes, the set of candidates that
 * are left, their words, and the number of loaded objects. No epoch returns, except by an accident
 * of one in 2^64:
 * - The set is one word that only loses bits. (A plain sum of words falls when a candidate is
 *   dropped, and rises again to an earlier value: the unwinder would then trust a memo or a copied
 *   chunk of that time.)
 * - While the set stays the same, the count of loads, which is one of its words, only rises; and
 *   while nothing is loaded, the number of objects only falls.
 * - The words are mixed, each by another factor, and not added: an accidental candidate may fall
 *   while the count rises, and a sum would not change.
 * A reader between two stores of the loader may compute an earlier epoch: the list grows one
 * instruction before the count of loads. At that moment no code of the new object has run, and no
 * stack has code of the removed object, so nothing stale is looked up.
 *
 * Zone: SIGNAL.
 * Locks: none; a release store of their set publishes the candidates, and they keep their places.
 * Owns: the candidates; the mark that the loader is suspect.
 */
#include "modules/loader.h"

#include "base/compiler.h"
#include "modules/loader_state.h"

#include <stdbool.h>

enum {
    MAX_CANDIDATES = 24, /* bits of a word */
    /* struct link_namespaces begins with the list's head and then its length */
    LOADED_COUNT_OFFSET = 8
};

static struct {
    uint64_t candidates_left; /* one bit each */
    uint64_t own_changes;
    const uint32_t *loaded_count;
    const uint64_t *candidates[MAX_CANDIDATES];
    bool calibrated;
    bool suspect;
} loader;

/* The factor is the odd number next to 2^64 / golden ratio: sums of small differences avoid 0. */
static uint64_t mix(uint64_t epoch, uint64_t more)
{
    return (epoch + more) * UINT64_C(0x9e3779b97f4a7c15);
}

PP_RAW_MEMORY uint64_t pp_loader_epoch(void)
{
    uint64_t left = __atomic_load_n(&loader.candidates_left, __ATOMIC_ACQUIRE);
    uint64_t changes = __atomic_load_n(&loader.own_changes, __ATOMIC_ACQUIRE);
    uint64_t epoch = mix(changes << MAX_CANDIDATES, left);
    for (; left != 0; left &= left - 1) {
        const uint64_t *word =
            __atomic_load_n(&loader.candidates[__builtin_ctzll(left)], __ATOMIC_RELAXED);
        epoch = mix(epoch, __atomic_load_n(word, __ATOMIC_ACQUIRE));
    }
    const uint32_t *loaded = __atomic_load_n(&loader.loaded_count, __ATOMIC_RELAXED);
    return epoch + (loaded != NULL ? __atomic_load_n(loaded, __ATOMIC_ACQUIRE) : 0);
}

bool pp_loader_epoch_is_known(void)
{
    return pp_loader_never_unloads() ||
           __atomic_load_n(&loader.candidates_left, __ATOMIC_ACQUIRE) != 0;
}

void pp_loader_note_change(void)
{
    __atomic_add_fetch(&loader.own_changes, 1, __ATOMIC_ACQ_REL);
}

void pp_loader_suspect(void)
{
    __atomic_store_n(&loader.suspect, true, __ATOMIC_RELAXED);
}

bool pp_loader_is_suspect(void)
{
    return __atomic_load_n(&loader.suspect, __ATOMIC_RELAXED);
}

/* Keeps the candidates whose word still equals `loads`. */
PP_RAW_MEMORY static void drop_disagreeing(uint64_t loads)
{
    uint64_t kept = loader.candidates_left;
    for (uint64_t rest = kept; rest != 0; rest &= rest - 1) {
        int i = __builtin_ctzll(rest);
        if (__atomic_load_n(loader.candidates[i], __ATOMIC_RELAXED) != loads) {
            kept &= ~(UINT64_C(1) << i);
        }
    }
    __atomic_store_n(&loader.candidates_left, kept, __ATOMIC_RELEASE);
}

/* Returns one bit for each candidate. */
PP_RAW_MEMORY static uint64_t find_candidates(const uint64_t *words, size_t count, uint64_t loads)
{
    unsigned found = 0;
    for (size_t i = 0; i < count && found < MAX_CANDIDATES; i++) {
        if (words[i] == loads) {
            __atomic_store_n(&loader.candidates[found++], &words[i], __ATOMIC_RELAXED);
        }
    }
    return (UINT64_C(1) << found) - 1;
}

PP_RAW_MEMORY void pp_loader_calibrate(const void *object, size_t size, uint64_t loads,
                                       uint32_t loaded)
{
    if (object == NULL) {
        return;
    }
    if (loader.calibrated) {
        drop_disagreeing(loads);
        return;
    }
    loader.calibrated = true;
    const uint32_t *length = (const uint32_t *)((const char *)object + LOADED_COUNT_OFFSET);
    if (size > LOADED_COUNT_OFFSET + sizeof *length && *length == loaded) {
        __atomic_store_n(&loader.loaded_count, length, __ATOMIC_RELAXED);
    }
    uint64_t found = find_candidates(object, size / sizeof(uint64_t), loads);
    __atomic_store_n(&loader.candidates_left, found, __ATOMIC_RELEASE);
}
