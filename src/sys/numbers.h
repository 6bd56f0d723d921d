/* SPDX-License-Identifier: MIT
 *
 * numbers.h: reads folders of /proc whose entries are numbers, without opendir(), which allocates.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_NUMBERS_H
#define PP_SYS_NUMBERS_H

#include <stddef.h>

typedef void pp_number_visit(int number, void *context);

/* Calls `visit` for every entry, in the kernel's order. `buffer` is working memory, aligned to 8,
 * of 100 bytes or more. Returns 0 or -errno. */
int pp_numbers_each(const char *folder, void *buffer, size_t size, pp_number_visit *visit,
                    void *context);

/* The same for a folder of the program's descriptors, of which the kernel holds one after the other while it lists them
 * (pp_apart_hold). */
int pp_numbers_each_descriptor(const char *folder, void *buffer, size_t size,
                               pp_number_visit *visit, void *context);

#endif
