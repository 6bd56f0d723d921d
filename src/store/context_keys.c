/* SPDX-License-Identifier: MIT
 *
 * context_keys.c: see context_keys.h.
 *
 * Zone: SIGNAL.
 * Owns: the list and the copies of the keys.
 * Tested by: unit.thread_context, interleave.context_keys
 */
#include "store/context_keys.h"

#include "store/bump.h"

#include <stddef.h>
#include <string.h>

static struct {
    const char *keys[PP_CONTEXT_KEYS];
    pp_bump memory;
    uint32_t bytes; /* of all keys that were ever copied, some of them in vain */
    bool closed;
} list;

static char *copy_of(const char *key)
{
    size_t size = strlen(key) + 1;
    if (size > PP_CONTEXT_KEY_BYTES || __atomic_load_n(&list.closed, __ATOMIC_RELAXED) ||
        __atomic_add_fetch(&list.bytes, (uint32_t)size, __ATOMIC_RELAXED) > PP_CONTEXT_KEY_BYTES) {
        return NULL;
    }
    char *copy = pp_bump_alloc(&list.memory, size);
    if (copy != NULL) {
        memcpy(copy, key, size);
    }
    return copy;
}

int pp_context_key_number(const char *key, bool *grown)
{
    const char *copy = NULL;
    *grown = false;
    for (int i = 0; i < PP_CONTEXT_KEYS; i++) {
        const char *there = __atomic_load_n(&list.keys[i], __ATOMIC_ACQUIRE);
        if (there == NULL) {
            copy = copy != NULL ? copy : copy_of(key);
            if (copy == NULL) {
                return PP_CONTEXT_KEY_NONE;
            }
            if (__atomic_compare_exchange_n(&list.keys[i], &there, copy, false, __ATOMIC_ACQ_REL,
                                            __ATOMIC_ACQUIRE)) {
                *grown = true;
                return i;
            }
        }
        if (strcmp(there, key) == 0) {
            return i;
        }
    }
    return PP_CONTEXT_KEY_NONE;
}

const char *pp_context_key(int number)
{
    return number < PP_CONTEXT_KEYS ? __atomic_load_n(&list.keys[number], __ATOMIC_ACQUIRE) : NULL;
}

void pp_context_keys_close(void)
{
    __atomic_store_n(&list.closed, true, __ATOMIC_RELAXED);
}
