/* SPDX-License-Identifier: MIT
 *
 * target.h: another process whose stacks are walked.
 *
 * The unwinder is written for the process that it is in. All that it asks of a process it asks by
 * these functions; the caller of a walk passes the target, or NULL, which means this process.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_TARGET_H
#define PP_UNWIND_TARGET_H

#include "modules/modules.h"
#include "modules/own_code.h"
#include "sys/safe_read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pp_walk_target {
    pp_memory memory;
    const pp_module *module; /* ascending, none of them permanent */
    size_t module_count;
    uintptr_t entry, interpreter;       /* AT_ENTRY, AT_BASE */
    uintptr_t own_code, own_code_bytes; /* of libpprof, if that is in the target */
} pp_walk_target;

static inline const pp_memory *pp_target_memory(const pp_walk_target *target)
{
    return target == NULL ? NULL : &target->memory;
}

static inline bool pp_target_copy(const pp_walk_target *target, void *to, uintptr_t from,
                                  size_t size)
{
    return pp_memory_copy(pp_target_memory(target), to, from, size);
}

/* Whether these bytes are at `at`; 16 at most. */
bool pp_target_has_code(const pp_walk_target *target, uintptr_t at, const uint8_t *code,
                        size_t size);

/* pp_modules_find(), pp_modules_is_start() and pp_modules_is_entry_code(). */
bool pp_target_find(const pp_walk_target *target, uintptr_t pc, pp_module *module);
bool pp_target_is_start(const pp_walk_target *target, uintptr_t pc);
bool pp_target_is_entry_code(const pp_walk_target *target, uintptr_t pc);

/* pp_own_code_has(). */
static inline bool pp_target_has_own_code(const pp_walk_target *target, uintptr_t pc)
{
    return target == NULL ? pp_own_code_has(pc) : pc - target->own_code < target->own_code_bytes;
}

#endif
