/* SPDX-License-Identifier: MIT
 *
 * target.c: finds the module of an address, in this process or in another one.
 *
 * Zone: SIGNAL.
 */
#include "unwind/target.h"

#include "base/compiler.h"

enum {
    ENTRY_BYTES = 48,         /* as in modules/modules.c */
    INTERPRETER_MAX = 1 << 20 /* likewise */
};

static bool find_there(const pp_walk_target *target, uintptr_t pc, pp_module *module)
{
    size_t low = 0;
    size_t high = target->module_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const pp_module *m = &target->module[middle];
        if (pc < m->code_lo) {
            high = middle;
        } else if (pc >= m->code_hi) {
            low = middle + 1;
        } else {
            *module = *m;
            return true;
        }
    }
    return false;
}

PP_COLD_PATH bool pp_target_find(const pp_walk_target *target, uintptr_t pc, pp_module *module)
{
    return target == NULL ? pp_modules_find(pc, module) : find_there(target, pc, module);
}

PP_COLD_PATH bool pp_target_has_code(const pp_walk_target *target, uintptr_t at,
                                     const uint8_t *code, size_t size)
{
    uint8_t found[16];
    if (size > sizeof found || !pp_target_copy(target, found, at, size)) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        if (found[i] != code[i]) {
            return false;
        }
    }
    return true;
}

PP_COLD_PATH bool pp_target_is_start(const pp_walk_target *target, uintptr_t pc)
{
    if (target == NULL) {
        return pp_modules_is_start(pc);
    }
    return target->entry != 0 && pc >= target->entry && pc - target->entry < ENTRY_BYTES;
}

PP_COLD_PATH bool pp_target_is_entry_code(const pp_walk_target *target, uintptr_t pc)
{
    pp_module module;
    if (target == NULL) {
        return pp_modules_is_entry_code(pc);
    }
    if (pp_target_is_start(target, pc)) {
        return true;
    }
    uintptr_t base = target->interpreter;
    return base != 0 && pc >= base && pc - base < INTERPRETER_MAX &&
           find_there(target, pc, &module) && module.code_lo >= base;
}
