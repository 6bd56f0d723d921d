/* SPDX-License-Identifier: MIT
 *
 * bytes.h: the functions of <string.h> that the library uses, under names of its own.
 *
 * A program that is built with a sanitizer replaces libc's. Its own see what we read and write, but
 * not the atomic operations that order it, so that ThreadSanitizer reports races that there are
 * none; and they call libc's by pointers that are still NULL when the first allocation comes.
 *
 * The build includes this file in front of every source file of the library (src/CMakeLists.txt):
 * what the compiler itself calls, to copy a structure, goes by these names too. Not in a build with
 * sanitizers, which is there to see it.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_BASE_BYTES_H
#define PP_BASE_BYTES_H

#include <stddef.h>

#ifndef __clang_analyzer__ /* which knows what libc's do */
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
