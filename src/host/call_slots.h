/* SPDX-License-Identifier: MIT
 *
 * call_slots.h: where the program's calls of hooked functions lead: to our function, or past it.
 *
 *   program -> slot -> our malloc -> real malloc       while a kind needs the call
 *   program -> slot ---------------> real malloc       until then
 *
 * The loader binds all references to our functions. When the library starts it goes through the
 * slots of the procedure linkage tables. A slot whose hook nothing needs gets the real function. A
 * slot that waits for the program's first call is bound: a processor that has seen its jump go to the
 * loader predicts it at greater cost from then on.
 *
 * Only the linkage table reads such a slot. Pointers to functions are in other words, which stay
 * as they are: a pointer that the program takes, stores or compares is always one to our function,
 * and so is what dlsym returns, and what an object that is loaded later calls. So a kind that is
 * turned on later misses no call.
 *
 * Zone: NORMAL.
 * Locks: one.
 * Owns: the list of the slots that have real functions.
 */
#ifndef PP_HOST_CALL_SLOTS_H
#define PP_HOST_CALL_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PP_CALLED_HOOKS = 64 }; /* at most */

typedef struct pp_called_hook {
    const char *name;
    uintptr_t entry;
    /* Finds the real function; 0: there is none. Only called if there is a slot: it may ask the
     * loader, which takes longer the more objects there are. */
    uintptr_t (*find_real)(void *hook);
    void *hook;
    bool is_needed; /* a kind needs the calls now */
} pp_called_hook;

/* Lists at most `capacity` hooks, and returns their number. */
typedef size_t pp_called_hooks(pp_called_hook *list, size_t capacity);

/* Binds slots of the objects that were there at the start. Called once, when the library is
 * loaded. */
void pp_call_slots_bind(const pp_called_hook *hooks, size_t count);

/* Puts our functions into all slots, for ever: a kind is about to need the calls. Where the kernel
 * does not let a page be written any more, they are not seen. */
void pp_call_slots_give_back(void);

/* In the child of fork. */
void pp_call_slots_after_fork(void);

#endif
