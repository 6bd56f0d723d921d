/* SPDX-License-Identifier: MIT
 *
 * libc.h: calls libc's own functions, even where the program or one of its libraries replaces them.
 *
 * A sanitizer's dl_iterate_phdr calls libc's through a pointer, which is NULL until the sanitizer
 * is initialised, and the sanitizer allocates before that. Some programs replace dl_iterate_phdr by
 * a function that reports a list of their own.
 *
 * This code does not call the loader, because the loader may be its caller.
 *
 * Zone: HOOK.
 * Locks: only dl_iterate_phdr's: the loader's second one (modules/loaded_objects.h).
 * Owns: the pointer to dl_iterate_phdr.
 */
#ifndef PP_MODULES_LIBC_H
#define PP_MODULES_LIBC_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns libc's function `name`; 0 if libc has none, or in a program without a loader. */
uintptr_t pp_libc_function(const char *name);
uintptr_t pp_libc_variable(const char *name);

/* Whether the object with this soname is libc, or was a part of libc until glibc 2.34. `soname` may
 * be NULL, for none. */
bool pp_libc_is(const char *soname);

/* Calls libc's dl_iterate_phdr. */
typedef int pp_object_visit(struct dl_phdr_info *info, size_t size, void *context);
int pp_libc_each_object(pp_object_visit *visit, void *context);

#endif
