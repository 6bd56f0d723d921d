/* SPDX-License-Identifier: MIT
 *
 * context_keys.h: the numbers that stand for keys of labels in the records of threads
 * (thread_context.h). Readers find the list in the process's context.
 *
 *   keys:  [0] -> "tenant"   [1] -> "path"   [2] NULL ...      256 at most
 *
 * The list only grows. A thread stores a new key into the first empty place. If another thread was
 * first there, the thread looks whether that one's key is its own, and else goes on: so no key has two
 * numbers.
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: the list and the copies of the keys, for ever.
 */
#ifndef PP_STORE_CONTEXT_KEYS_H
#define PP_STORE_CONTEXT_KEYS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PP_CONTEXT_KEYS = 256,
    PP_CONTEXT_KEY_BYTES = 16384, /* of all keys together: the message has an end */
    PP_CONTEXT_KEY_NONE = -1
};

/* Returns the number of `key`; PP_CONTEXT_KEY_NONE if it is new and there is no room for it. Stores in
 * *grown whether it was new. */
int pp_context_key_number(const char *key, bool *grown);

/* Returns the key of a number; NULL: there is none yet. */
const char *pp_context_key(int number);

/* From now on no key is new. */
void pp_context_keys_close(void);

#endif
