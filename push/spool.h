/* SPDX-License-Identifier: MIT
 *
 * spool.h: a folder with profiles that no server has taken yet, one file each.
 *
 *   TIME.PID.NUMBER.push     sorts by time; appears whole, by a rename
 *   .PID.NUMBER.part         is being written; one that is older than an hour was left behind
 *
 * Processes may share a folder: a file that one of them sends is locked. The folder has at most
 * `max_bytes`, and what the processes write within ten seconds: the oldest files go for it.
 */
#ifndef PUSH_SPOOL_H
#define PUSH_SPOOL_H

#include "push/entry.h"

typedef struct push_spool push_spool;

/* Makes the folder if it is not there. 0, or -errno with a sentence in `why`. */
int push_spool_open(const char *folder, uint64_t max_bytes, push_spool **spool,
                    char why[PUSH_WHY_BYTES]);
void push_spool_close(push_spool *spool);

/* Has what was taken stay, and closes the folder, which the next call opens again. */
void push_spool_park(push_spool *spool);

/* Writes a file. 0, or -errno: it is not there. *dropped: how many older ones had to go for the bound. */
int push_spool_put(push_spool *spool, const push_entry *entry, uint64_t now_ns, uint64_t *dropped);

/* Reads the oldest file that no process sends, and locks it. NULL: there is none. A file that is no
 * profile is removed; one that cannot be read now stays for the next look. */
push_entry *push_spool_take(push_spool *spool, uint64_t now_ns);

/* Removes the file that was taken last. */
void push_spool_remove_last(push_spool *spool);

/* Removes all files that were taken, or has them stay. */
void push_spool_remove_taken(push_spool *spool);
void push_spool_keep_taken(push_spool *spool);

/* What is there, at the last look. */
uint64_t push_spool_count(const push_spool *spool);
uint64_t push_spool_bytes(const push_spool *spool);

#endif
