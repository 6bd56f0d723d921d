/* SPDX-License-Identifier: MIT
 *
 * bytes.h: the functions of <string.h> that the library uses, under names of its own.
 *
 * A program that is built with a sanitizer replaces libc's functions. The sanitizer's functions see
 * what the library reads and writes, but not the atomic operations that order it, so
 * ThreadSanitizer reports false races. And they call libc's functions through pointers that are
 * still NULL at the first allocation.
 *
 * The build includes this file before every source file of the library (src/CMakeLists.txt), so the
 * calls that the compiler generates, to copy a structure, use these names too. A build with
 * sanitizers leaves it out, because its purpose is that the sanitizers see the accesses.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_BASE_BYTES_H
#define PP_BASE_BYTES_H

#include <stddef.h>

#ifndef __clang_analyzer__ /* the analyzer knows libc's functions */
#pragma GCC visibility push(hidden)
void *memcpy(void *restrict to, const void *restrict from, size_t size) __asm__("pp_memcpy");
void *memmove(void *to, const void *from, size_t size) __asm__("pp_memmove");
void *memset(void *to, int value, size_t size) __asm__("pp_memset");
int memcmp(const void *a, const void *b, size_t size) __asm__("pp_memcmp");
void *memchr(const void *bytes, int wanted, size_t size) __asm__("pp_memchr");
size_t strlen(const char *text) __asm__("pp_strlen");
size_t strnlen(const char *text, size_t most) __asm__("pp_strnlen");
int strcmp(const char *a, const char *b) __asm__("pp_strcmp");
int strncmp(const char *a, const char *b, size_t most) __asm__("pp_strncmp");
char *strchr(const char *text, int wanted) __asm__("pp_strchr");
char *strrchr(const char *text, int wanted) __asm__("pp_strrchr");
char *strstr(const char *text, const char *wanted) __asm__("pp_strstr");
size_t strspn(const char *text, const char *accepted) __asm__("pp_strspn");
size_t strcspn(const char *text, const char *rejected) __asm__("pp_strcspn");
#pragma GCC visibility pop
#endif

#endif
