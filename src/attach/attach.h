/* SPDX-License-Identifier: MIT
 *
 * attach.h: the attachment of cpprof to this process: when it begins and when it ends
 * (docs/ATTACH.md, include/pprof_attach.h).
 *
 *   pp_attach_begin() --> a thread of the library: prepare, begin --> READY: look, look, ...
 *   pp_attach_end(), the last holder is gone, nobody came --> end --> DETACHED: the thread ends
 *
 * The thread that calls pp_attach_begin() may be one of the program that cpprof has stopped at any
 * point: it only creates the library's thread.
 *
 * Zone: NORMAL.
 * Locks: one, held for a few instructions with signals blocked.
 * Owns: pprof_attach_state; the thread.
 */
#ifndef PP_ATTACH_ATTACH_H
#define PP_ATTACH_ATTACH_H

#include "base/text.h"

/* What an attachment does, on the library's thread. */
typedef struct pp_attach_work {
    /* Before the first attachment. */
    void (*prepare)(void);
    /* 0, or -errno with the reason in *why; `end` follows in both cases. */
    int (*begin)(pp_text *why);
    /* Several times a second. */
    void (*look)(void);
    void (*end)(void);
} pp_attach_work;

/* Called once, when the library is loaded. */
void pp_attach_init(const pp_attach_work *work);

/* Begins an attachment, unless there is one. Does not wait for it. 0, or -errno of creating a
 * thread. */
int pp_attach_begin(void);

/* Ends the attachment, if there is one. Does not wait for it. */
void pp_attach_end(void);

/* Does on the calling thread, at once, what the attachment's thread does several times a second. */
void pp_attach_look(void);

/* Ends the attachment, and waits for it: the program is about to confine itself. */
void pp_attach_end_now(void);

/* A client of the control socket holds the attachment. If the first client that came did that, the
 * attachment ends with its last holder; else it has been made to stay, and does not. */
void pp_attach_hold(void);
void pp_attach_release(void);

/* The attachment does not end with its last holder any more. */
void pp_attach_stay(void);

/* A client has asked for something: from now on the attachment does not end for want of one. */
void pp_attach_expect_end(void);

/* Shows a sentence in pprof_attach_state. */
void pp_attach_remark(const char *text);

/* In the child of fork, which is not attached. */
void pp_attach_after_fork(void);

#endif
