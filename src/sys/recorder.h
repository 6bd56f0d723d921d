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
 *   message: "libpprof-process 1 EVENT PID PARENT STAMP OWN-NS CHILDREN-NS NAME": what a process
 *            does, with the CPU time of the process and of the children for which it has waited.
 *            cmd/record/record_tree.c knows from it who was not followed.
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

/* Sends profiles to this socket from now on. `process`: the id of cpprof's process, 0 if it is not
 * known. -EINVAL if `fd` is not this socket. */
int pp_recorder_set(int fd, uint64_t device, uint64_t inode, int process);

/* Whether the descriptor still leads to the socket. */
bool pp_recorder_is_there(void);

/* Whether `fd` is the socket's descriptor. */
bool pp_recorder_has(int fd);

/* Whether pp_recorder_set() had a socket, even if it is closed by now. */
bool pp_recorder_was_there(void);

/* Whether nobody misses a profile without samples: cpprof has that of the first process, which is
 * its own child. False before the first pp_recorder_tell(). */
bool pp_recorder_wants_samples_only(void);

/* Makes programs that this process executes inherit the descriptor, or not. */
void pp_recorder_pass_on(bool on);

/* Stops sending. Called if a send has failed. */
void pp_recorder_give_up(void);

/*
 * begins      the library was loaded, or the process is the child of a fork
 * ends        its profiles are sent
 * executes    a program into which the library can be preloaded
 * static, foreign, privileged, cleared
 *             the process is about to execute a program that the library does not follow: one
 *             without a loader, for another machine or libc, with set-user-id; or the new
 *             environment does not name the library
 * confined    a seccomp filter ends the profiles
 */
typedef enum pp_recorder_event {
    PP_RECORDER_BEGINS,
    PP_RECORDER_ENDS,
    PP_RECORDER_EXECUTES,
    PP_RECORDER_STATIC,
    PP_RECORDER_FOREIGN,
    PP_RECORDER_PRIVILEGED,
    PP_RECORDER_CLEARED,
    PP_RECORDER_CONFINED,
} pp_recorder_event;

/* Tells what this process does. `program`: the path that it executes; NULL: the program that it
 * runs. Preserves errno, and needs no memory of the process but its stack: a child of vfork may
 * call this. */
void pp_recorder_tell(pp_recorder_event event, const char *program);

/* The same of a child that this process has made by posix_spawn(). */
void pp_recorder_tell_of(int child, pp_recorder_event event, const char *program);

/* Adds to the profile, and sends each full message. 0 or -errno; -ETIMEDOUT if nobody reads until
 * CLOCK_MONOTONIC shows `give_up_ns`. */
void pp_recorder_begin(pp_recorder_part *part, const char *kind, unsigned count);
int pp_recorder_add(pp_recorder_part *part, const void *data, size_t length, uint64_t give_up_ns);

/* Sends the rest as the last piece. */
int pp_recorder_end(pp_recorder_part *part, uint64_t give_up_ns);

#endif
