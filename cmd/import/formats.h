/* SPDX-License-Identifier: MIT
 *
 * formats.h: the formats other than profile.proto that are read. The file of each has a drawing of it.
 */
#ifndef CP_FORMATS_H
#define CP_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cp_error cp_error;
typedef struct cp_profile cp_profile;

typedef struct cp_format {
    /* Whether the data begin in this format. */
    bool (*recognize)(const uint8_t *data, size_t length);
    /* Like cp_profile_decode(). */
    int (*decode)(const uint8_t *data, size_t length, cp_profile **out, cp_error *error);
} cp_format;

extern const cp_format cp_folded;      /* stacks as lines */
extern const cp_format cp_perf_script; /* what `perf script` prints */
extern const cp_format
    cp_legacy_text;                   /* texts of libpprof, Go, gperftools, tcmalloc and jemalloc */
extern const cp_format cp_gperftools; /* the binary CPU format of gperftools */

/* Refuses a text that is in no format: names the first line that is not a folded stack. Returns -1 with
 * a sentence. */
int cp_folded_refuse(const uint8_t *data, size_t length, cp_error *error);

#endif
