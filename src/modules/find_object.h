/* SPDX-License-Identifier: MIT
 *
 * find_object.h: _dl_find_object, which tells without a lock which loaded object an address lies
 * in.
 *
 * Since glibc 2.35; NULL with an older libc.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_MODULES_FIND_OBJECT_H
#define PP_MODULES_FIND_OBJECT_H

#include <dlfcn.h>

extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

#endif
