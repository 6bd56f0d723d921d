/* SPDX-License-Identifier: MIT
 *
 * recorder.h: the socket on which `cpprof record` takes the profiles of the program that it
 * started.
 *
 * The socket is open before the program begins. So a profile arrives also from a program that may
 * open no file: in a sandbox (Landlock, seccomp, chroot), as another user, in a folder that is
 * read-only. cpprof names the descriptor and what it must lead to, `recorder=FD:DEVICE:INODE`; a
 * descriptor that leads elsewhere is the program's and is not touched.
 *
 *   message: "libpprof-part 1 PID STAMP NUMBER KIND OFFSET more\n" and up to PP_RECORDER_BYTES of the profile,
 *            "last" in the place of "more" with the last piece. One write(2) each, which a socket of type SEQPACKET
 *            keeps together, although several processes write. cmd/record_parts.c puts the pieces together.
 *   STAMP    tells the programs apart that a process executes one after the other: when the library was loaded.
 *   NUMBER   grows with each profile that a process writes.
 *
 * Zone: SIGNAL (system calls only; a send may wait for the reader).
 * Owns: the descriptor's number, while it leads to the socket.
 */
#ifndef PP_SYS_RECORDER_H
#define PP_SYS_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PP_RECORDER_HEADER_BYTES = 160,
    PP_RECORDER_BYTES =
        32 * 1024 /* a fraction of what a socket holds (208 KiB): the reader need not be in time */
};

/* A profile on its way. Too large for a stack. */
typedef struct pp_recorder_part {
    const char *kind;
    unsigned number;
    uint64_t offset; /* of what is in `data` */
    size_t length;
    char message[PP_RECORDER_HEADER_BYTES + PP_RECORDER_BYTES];
} pp_recorder_part;

/* From now on this socket. -EINVAL: nothing of the kind is there. */
int pp_recorder_set(int fd, uint64_t device, uint64_t inode);

/* Whether the descriptor still leads to the socket. */
bool pp_recorder_is_there(void);

/* Whether `fd` is that descriptor. */
bool pp_recorder_has(int fd);

/* Whether programs that are executed inherit the descriptor. */
void pp_recorder_pass_on(bool on);

/* Nothing is sent any more, since sending failed. */
void pp_recorder_give_up(void);

/* Adds to the profile, and sends what is full. 0 or -errno; -ETIMEDOUT if nobody reads until
 * CLOCK_MONOTONIC shows `give_up_ns`. */
void pp_recorder_begin(pp_recorder_part *part, const char *kind, unsigned count);
int pp_recorder_add(pp_recorder_part *part, const void *data, size_t length, uint64_t give_up_ns);

/* Sends the rest, and that it is complete. */
int pp_recorder_end(pp_recorder_part *part, uint64_t give_up_ns);

#endif
