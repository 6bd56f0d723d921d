/* SPDX-License-Identifier: MIT
 *
 * source_root.h: the addresses of the profiles of one process.
 *
 *   pid:1234 + heap             pid:1234/heap
 *   http://host:6060/ + heap    http://host:6060/debug/pprof/heap
 *   unix:/socket + heap         unix:/socket:/debug/pprof/heap
 */
#ifndef CP_SOURCE_ROOT_H
#define CP_SOURCE_ROOT_H

#include <stdint.h>

/* What all addresses of the process begin with; NULL: the source is the address of one profile. To
 * be freed. */
char *cp_source_root(const char *source);

/* The address of a profile, with its parameters ("" or "?..."). To be freed. */
char *cp_source_address(const char *root, const char *name, const char *parameters);

/* For how many seconds the process records before it answers; 0: it answers at once. */
uint64_t cp_source_seconds(const char *address);

#endif
