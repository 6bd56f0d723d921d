/* SPDX-License-Identifier: MIT
 *
 * real_version.h: a function of a given version.
 *
 * Zone: HOOK.
 */
#ifndef PP_HOST_REAL_VERSION_H
#define PP_HOST_REAL_VERSION_H

/* Finds the next definition after this library's; NULL where libc knows no versions. Defined in one
 * of two files: real_version_glibc.c, or real_version_musl.c. */
void *pp_real_next_version(const char *name, const char *version);

#endif
