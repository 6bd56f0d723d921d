/* SPDX-License-Identifier: MIT
 *
 * record_parts.h: the profiles of a recording, as they arrive: in messages on a socket, or as
 * files.
 *
 *   message: "libpprof-part 1 PID STAMP NUMBER KIND OFFSET more\n" and bytes; "last" in the place
 * of
 *            "more" completes the profile
 *   file:    PID.KIND.STAMP.NUMBER.pb.gz, complete
 *
 * STAMP tells the programs apart that one process executes one after the other, and says which came
 * later; NUMBER does the same with the profiles that such a program writes.
 *
 * Messages come from a process that may send anything: what is no part of a profile is counted, and
 * a profile of which a piece is missing never becomes complete.
 *
 * Owns: the bytes.
 */
#ifndef CP_RECORD_PARTS_H
#define CP_RECORD_PARTS_H

#include "protobuf.h"

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
    size_t strange; /* messages that were none of the library's */
} cp_parts;

void cp_parts_release(cp_parts *parts);

void cp_parts_take_message(cp_parts *parts, const char *data, size_t length);

/* Takes all files of that folder that have such a name; others are left alone. */
void cp_parts_take_folder(cp_parts *parts, const char *folder);

/*
 * Those that make up the profile of `kind`, complete; of the process `command` only, unless it is
 * 0. A CPU profile is the sum of all that a program wrote; of the other kinds the last one holds
 * all the ones before. Where each thread is, and what is open, is that of the last program of a
 * process. `selected` has room for parts->count. By process, the last program first. Returns how
 * many.
 */
size_t cp_parts_select(const cp_parts *parts, const char *kind, pid_t command,
                       const cp_part **selected);

/* How many profiles of that kind came incomplete and have no complete one in their place. */
size_t cp_parts_incomplete(const cp_parts *parts, const char *kind, pid_t command);

#endif
