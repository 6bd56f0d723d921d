/* SPDX-License-Identifier: MIT
 *
 * libc.h: libc's own functions, where the program or a library of it has replaced them.
 *
 * A sanitizer's dl_iterate_phdr calls libc's by a pointer, which is NULL until the sanitizer has
 * begun, and it allocates before that. Some programs replace dl_iterate_phdr by a function that
 * answers from a list of their own.
 *
 * The loader is not asked: whoever calls us may be the loader.
 *
 * Zone: HOOK.
 * Locks: none, but for dl_iterate_phdr's: the loader's second one (modules/loaded_objects.h).
 * Owns: where dl_iterate_phdr is.
 */
#ifndef PP_MODULES_LIBC_H
#define PP_MODULES_LIBC_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The function `name` of libc; 0 if it has none, or in a program without a loader. */
uintptr_t pp_libc_function(const char *name);

/* Whether an object with this soname is libc, or was a part of it until glibc 2.34. NULL
 * is none. */
bool pp_libc_is(const char *soname);

/* As dl_iterate_phdr. */
typedef int pp_object_visit(struct dl_phdr_info *info, size_t size, void *context);
int pp_libc_each_object(pp_object_visit *visit, void *context);

#endif
