/* SPDX-License-Identifier: MIT
 *
 * told_jemalloc.c: own_jemalloc.c, with a prefix that nobody knows.
 */
#define NAME(name) told_##name
#include "own_jemalloc.c" /* NOLINT(bugprone-suspicious-include): the same program */
