/* SPDX-License-Identifier: MIT
 *
 * rename.h: the words of a profile's types, in the letters that servers allow.
 */
#ifndef PUSH_RENAME_H
#define PUSH_RENAME_H

#include "push/entry.h"

/*
 * A profile of the program's own has its name as its type, in which there may be any characters:
 * "example.org/pool" becomes "example_org_pool". Takes the entry; returns it, or another one in its place. Other
 * profiles have plain types, and are not read. NULL: no memory.
 */
push_entry *push_rename_types(push_entry *entry);

#endif
