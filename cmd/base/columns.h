/* SPDX-License-Identifier: MIT
 *
 * columns.h: how many columns of a terminal a character takes.
 *
 * The C library's wcwidth() knows it only in a locale of UTF-8, which a session by ssh or in a
 * container often lacks; names of functions are UTF-8 everywhere.
 */
#ifndef CP_COLUMNS_H
#define CP_COLUMNS_H

#include <stddef.h>

/* The columns of the character of UTF-8 that these bytes are: 0 for one that is drawn on the one
 * before, 2 for those of East Asia and for pictures, else 1. */
unsigned cp_columns_of(const char *character, size_t bytes);

#endif
