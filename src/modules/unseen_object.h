/* SPDX-License-Identifier: MIT
 *
 * unseen_object.h: reads an object that is mapped and that no scan has seen: in a fatal signal's
 * handler nobody can ask the loader, and the program may be in dlopen.
 *
 * Zone: NORMAL, and the fatal-signal writer. Checks all memory that it reads: another thread may unload the object.
 */
#ifndef PP_MODULES_UNSEEN_OBJECT_H
#define PP_MODULES_UNSEEN_OBJECT_H

#include "elf/mapping.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Sets `bias` and the build id of a mapping of code, whose other fields are set. `image` is where
 * the beginning of the same file is mapped. False, and nothing set, if there is no ELF object whose
 * program headers have this code.
 */
bool pp_unseen_object_read(uintptr_t image, pp_mapping *mapping);

#endif
