/* SPDX-License-Identifier: MIT
 *
 * model.h: a finished profile in memory, the one input of every encoder.
 *
 * A builder fills it (kinds/cpu/cpu_profile.c), the encoders read it (encode/). Nothing in it
 * points into tables that hooks or signal handlers still write.
 *
 * Stacks are arrays of *return-like* addresses, leaf-most first. Each address is one more than an
 * address inside its instruction, so "address - 1" is always right: the PC of an interrupted thread
 * is stored as PC + 1. Readers of the legacy formats subtract 1 themselves; the proto encoder does
 * it here.
 *
 * Zone: NORMAL (data).
 */
#ifndef PP_PROFILE_MODEL_H
#define PP_PROFILE_MODEL_H

#include "elf/mapping.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PP_MAX_SAMPLE_TYPES = 4 /* a fifth one crashes Grafana Alloy's reader */
};

typedef struct pp_value_type {
    const char *type; /* "cpu" */
    const char *unit; /* "nanoseconds" */
} pp_value_type;

typedef struct pp_sample_label {
    const char *key;
    const char *text; /* NULL: the label is numeric */
    int64_t number;
    const char *unit; /* of the number; not NULL if text is NULL */
} pp_sample_label;

typedef struct pp_profile_sample {
    const uintptr_t *pc; /* return-like, leaf-most first; depth 0 is allowed */
    uint32_t depth;
    uint32_t label_count;
    const pp_sample_label *labels;
    int64_t value[PP_MAX_SAMPLE_TYPES];
} pp_profile_sample;

typedef enum pp_symbolize {
    PP_SYMBOLIZE_NONE,  /* only addresses, mappings and build ids */
    PP_SYMBOLIZE_NAMES, /* function names from the ELF symbol tables */
    PP_SYMBOLIZE_LINES  /* plus files, lines and inlined frames (the libdw plugin) */
} pp_symbolize;

typedef struct pp_profile {
    uint32_t sample_type_count;
    pp_value_type sample_type[PP_MAX_SAMPLE_TYPES];
    const char *default_sample_type; /* a type's name, or NULL */
    pp_value_type period_type;
    int64_t period;
    int64_t time_ns;     /* wall clock, of the start (CPU, delta) or of the snapshot */
    int64_t duration_ns; /* 0 except in CPU and delta profiles */
    const pp_profile_sample *samples;
    size_t sample_count;
    const pp_mapping *mappings; /* [0] is the main binary */
    size_t mapping_count;
    const char *const *comments; /* prose */
    size_t comment_count;
    const char *drop_frames; /* a regular expression, or NULL */
    pp_symbolize symbolize;  /* the writer sets it (output/symbolize.h) */
    bool hide_allocators;    /* profile.proto omits the allocator's frames at the leaf */
} pp_profile;

#endif
