/* SPDX-License-Identifier: MIT
 *
 * parse_number.h: strtoll(3) and strtoull(3) by their old names.
 *
 * With _GNU_SOURCE the headers of glibc 2.38 and newer declare them as functions that older glibcs lack
 * (they take binary numbers of C23, too).
 *
 * Zone: NORMAL.
 */
#ifndef PP_BASE_PARSE_NUMBER_H
#define PP_BASE_PARSE_NUMBER_H

long long pp_strtoll(const char *text, char **rest, int base) __asm__("strtoll");
unsigned long long pp_strtoull(const char *text, char **rest, int base) __asm__("strtoull");

#endif
