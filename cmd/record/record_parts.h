/* SPDX-License-Identifier: MIT
 *
 * record_parts.h: the profiles of a recording while they arrive, in messages on a socket or as
 * files.
 *
 *   message: "libpprof-part 1 PID STAMP NUMBER KIND OFFSET more\n" and bytes;
 *            "last" in the place of "more" completes the profile
 *   file:    PID.KIND.STAMP.NUMBER.pb.gz, complete
 *
 * A process may execute several programs, one after the other: each has a STAMP, which is larger
 * for a later program. NUMBER counts the profiles that one program writes.
 *
 * A process may send any message. A message that is no part of a profile is only counted, and a
 * profile with a missing piece never becomes complete.
 *
 * Owns: the bytes of the profiles.
 */
#ifndef CP_RECORD_PARTS_H
#define CP_RECORD_PARTS_H

#include "base/index_table.h"
#include "profile/protobuf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CP_PART_MESSAGE_MAX = 64 * 1024 };

typedef struct cp_part {
    pid_t process;
    uint64_t stamp, number;
    char kind[16];
    bool complete, broken;
    cp_bytes bytes;
} cp_part;

typedef struct cp_parts {
    cp_part *list;
    size_t count, capacity;
    cp_index_table by_name;
    size_t strange; /* messages that are no part of a profile */
} cp_parts;

void cp_parts_release(cp_parts *parts);

void cp_parts_take_message(cp_parts *parts, const char *data, size_t length);

/* Reads all files in the folder that have such a name. */
void cp_parts_take_folder(cp_parts *parts, const char *folder);

/* Selects the complete parts whose sum is the profile of `kind`, as cp_record_traits describes;
 * only those of the process `command`, unless it is 0. They are sorted by process, the last program
 * of a process first. `selected` has room for parts->count. Returns how many there are. */
size_t cp_parts_select(const cp_parts *parts, const char *kind, pid_t command,
                       const cp_part **selected);

/* Returns how many profiles of that kind are incomplete and have no complete one in their place. */
size_t cp_parts_incomplete(const cp_parts *parts, const char *kind, pid_t command);

#endif
