/* SPDX-License-Identifier: MIT
 *
 * age.h: the time of a profile, for a server that takes none that is old, or of the future.
 */
#ifndef PUSH_AGE_H
#define PUSH_AGE_H

#include "push/entry.h"

/*
 * A difference of a long time, after the server was away, begins at the oldest time that the server takes: its end is
 * right, and nothing is lost. So does one that is a little too old. One of the future, from before the clock was set
 * back, ends now. One that is much too old stays as it is. `oldest_s`: 0: any age is right.
 * Takes the entry; returns it, or another one in its place. NULL: no memory.
 */
push_entry *push_limit_age(push_entry *entry, int64_t oldest_s, int64_t now_s);

#endif
