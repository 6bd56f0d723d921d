/* SPDX-License-Identifier: MIT
 *
 * attachment.h: makes a running process reachable by its control socket, whether or not it was
 * started with libpprof (docs/ATTACH.md).
 *
 *   it has a socket         nothing is to be done
 *   it has the library      a thread of it calls pprof_configure("attach")
 *   it has neither          a thread of it calls dlopen(), by ptrace (remote/attach.h)
 */
#ifndef CP_ATTACHMENT_H
#define CP_ATTACHMENT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cp_error cp_error;

typedef struct cp_attachment {
    int pid;
    bool begun;         /* by this command: it was not reachable before */
    bool is_late;       /* it was attached to, by whomever: it records what cpprof turns on there */
    int holding;        /* the connection that keeps the attachment, or -1 */
    uintptr_t state;    /* the address of pprof_attach_state */
    uint64_t image;     /* what the process executed when attaching began */
    int64_t stopped_ns; /* how long one of its threads stood still */
} cp_attachment;

/*
 * Makes the process reachable. If `stays`, it stays so after this command; else until
 * cp_attachment_end(), or until this command dies. Returns 0, or -1 with a sentence; then the
 * process is as it was.
 */
int cp_attachment_begin(cp_attachment *attachment, int pid, bool stays, cp_error *error);

/* After a request has failed: what has ended the attachment from outside, so that nothing is known of what was recorded; NULL:
 * not known. */
const char *cp_attachment_loss(const cp_attachment *attachment);

/* Ends what cp_attachment_begin() has begun, and waits until the process is as it was. Does nothing
 * for a process that was reachable before. */
void cp_attachment_end(cp_attachment *attachment);

/* Ends an attachment that stays, also one of another cpprof, and waits until the process is as it was.
 * Returns 0, or -1 with a sentence. */
int cp_attachment_detach(int pid, cp_error *error);

#endif
