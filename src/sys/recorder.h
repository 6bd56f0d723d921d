/* SPDX-License-Identifier: MIT
 *
 * recorder.h: the socket on which `cpprof record` receives the profiles of a program that it
 * started.
 *
 * The socket is open before the program begins. So a profile arrives also from a program that may
 * open no file: in a sandbox (Landlock, seccomp, chroot), as another user, in a read-only folder.
 * cpprof passes the descriptor and the identity of the socket, `recorder=FD:DEVICE:INODE`. A
 * descriptor that leads elsewhere is the program's, and the library does not touch it.
 *
 *   message: "libpprof-part 1 PID STAMP NUMBER KIND OFFSET more\n" and up to PP_RECORDER_BYTES of
 *            the profile; the last piece has "last" in place of "more". One write(2) sends one
 *            message, which a SEQPACKET socket keeps together although several processes write.
 *            cmd/record/record_parts.c joins the pieces.
 *   STAMP    the time when the library was loaded: it distinguishes the programs that one process
 *            executes one after the other.
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
        32 * 1024 /* a fraction of a socket's buffer (208 KiB): the reader may be late */
};

/* A profile that is being sent. Too large for a stack. */
typedef struct pp_recorder_part {
    const char *kind;
    unsigned number;
    uint64_t offset; /* of the first byte in `message` */
    size_t length;
    char message[PP_RECORDER_HEADER_BYTES + PP_RECORDER_BYTES];
} pp_recorder_part;

/* Sends profiles to this socket from now on. -EINVAL if `fd` is not this socket. */
int pp_recorder_set(int fd, uint64_t device, uint64_t inode);

/* Whether the descriptor still leads to the socket. */
bool pp_recorder_is_there(void);

/* Whether `fd` is the socket's descriptor. */
bool pp_recorder_has(int fd);

/* Makes programs that this process executes inherit the descriptor, or not. */
void pp_recorder_pass_on(bool on);

/* Stops sending. Called if a send has failed. */
void pp_recorder_give_up(void);

/* Adds to the profile, and sends each full message. 0 or -errno; -ETIMEDOUT if nobody reads until
 * CLOCK_MONOTONIC shows `give_up_ns`. */
void pp_recorder_begin(pp_recorder_part *part, const char *kind, unsigned count);
int pp_recorder_add(pp_recorder_part *part, const void *data, size_t length, uint64_t give_up_ns);

/* Sends the rest as the last piece. */
int pp_recorder_end(pp_recorder_part *part, uint64_t give_up_ns);

#endif
