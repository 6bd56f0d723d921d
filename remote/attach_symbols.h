/* SPDX-License-Identifier: MIT
 *
 * attach_symbols.h: addresses of what the target's objects export, read from its memory.
 */
#ifndef PP_REMOTE_ATTACH_SYMBOLS_H
#define PP_REMOTE_ATTACH_SYMBOLS_H

#include "profile/model.h"

#include <stdint.h>

/* The address of a function or variable that the object of the mapping defines; 0 if it does not. */
uintptr_t pp_target_symbol(const pp_mapping *mapping, const char *name);

/* The address of a variable of libc's that each thread has, in the thread with this thread pointer; 0:
 * there is none. */
uintptr_t pp_target_thread_variable(const pp_profile *objects, const char *name,
                                    uintptr_t thread_pointer);

/* The address of the code to which libc lets handlers return; 0 if there is none. */
uintptr_t pp_target_restorer(const pp_profile *objects);

#endif
