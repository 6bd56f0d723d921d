/* SPDX-License-Identifier: MIT
 *
 * find_object.h: _dl_find_object, which finds the loaded object of an address without a lock.
 *
 * The function exists since glibc 2.35; it is NULL with an older libc.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_MODULES_FIND_OBJECT_H
#define PP_MODULES_FIND_OBJECT_H

#include <dlfcn.h>

extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

#endif
