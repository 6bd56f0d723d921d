/* SPDX-License-Identifier: MIT
 *
 * got.h: puts our functions in the place of libc's and others' in a process that ran before this
 * library was loaded (docs/ATTACH.md): it changes the GOT (global offset table) of each object.
 *
 * An object calls a function of another object through a word of its GOT, the slot, which the loader
 * has filled in (or will, at the first call). A library that is preloaded is in the slots from the
 * beginning. A library that came late has to change them:
 *
 *   slots of each object   [malloc@libc] [read@libc] [pthread_mutex_lock@libc] [lazy]
 *                               |                          |                     |
 *                               v                          v                     v
 *                            our malloc             our pthread_mutex_lock    ours, if the loader
 *                                                                             would choose the same
 *
 * A slot with any other value stays as it is: the program has a function of its own, or the object
 * sees another allocator.
 *
 * Zone: NORMAL.
 * Locks: one; then the loader's, from beginning to end, so that no object goes meanwhile.
 * Owns: the list of the slots that were changed, with what was in them.
 */
#ifndef PP_ATTACH_GOT_H
#define PP_ATTACH_GOT_H

#include <stdbool.h>
#include <stddef.h>

/* What could not be done. */
typedef struct pp_got_report {
    size_t filled;  /* slots that have our functions */
    size_t refused; /* slots whose memory the kernel keeps read-only */
} pp_got_report;

/* Which slots are filled. */
typedef enum pp_got_kind {
    /* Calls that the presence of the library's threads would change: they pause for a change of
     * identity, end before a seccomp filter and before another program. */
    PP_GOT_OF_GUEST,
    PP_GOT_ALL
} pp_got_kind;

/* Fills the slots of all loaded objects; those of objects that were loaded since. Returns at once if
 * there are none. Once all were wanted, all are until the end. `real` is called before slots are
 * filled: it finds the real function of every hook. False if the loader cannot be asked: in a child
 * of fork. */
bool pp_got_fill(pp_got_kind kind, void (*real)(void), pp_got_report *report);

/* Gives each slot back what was in it, unless somebody else has changed it since. */
void pp_got_restore(void);

/* Whether all slots were filled, and not those of guests only. */
bool pp_got_all_are_filled(void);

/* In the child of fork. The slots stay. */
void pp_got_after_fork(void);

#endif
