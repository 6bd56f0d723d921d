/* SPDX-License-Identifier: MIT
 *
 * modules.c: the lock-free readers of the module table.
 *
 * A published table never changes. A reader counts itself in `readers` for the few nanoseconds of a
 * binary search (only after a miss in the rule cache), so that the writer knows when it can free
 * the table that it replaced.
 *
 * Zone: SIGNAL.
 * Locks: none. The callers of pp_modules_publish hold the lock of modules/module_scan.c.
 * Owns: the current table, and replaced tables that may still have a reader.
 */
#include "modules/modules.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "modules/find_object.h"
#include "modules/loader_state.h"

#include <stddef.h>

enum {
    INTERPRETER_MAX = 1 << 20, /* ld.so is a quarter of that */
    ENTRY_BYTES = 48,          /* _start: glibc's has 34 to 48, musl's less */
    MAX_RETIRED = 8 /* further tables are never freed: a few KiB each, and hardly ever reached */
};

static struct {
    pp_module_table *current;
    unsigned readers;
    uintptr_t interpreter; /* AT_BASE */
    uintptr_t entry;       /* AT_ENTRY */
    pp_module_table *retired[MAX_RETIRED];
} modules;

static const pp_module *search(const pp_module_table *table, uintptr_t pc)
{
    size_t low = 0;
    size_t high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const pp_module *m = &table->module[middle];
        if (pc < m->code_lo) {
            high = middle;
        } else if (pc >= m->code_hi) {
            low = middle + 1;
        } else {
            return m;
        }
    }
    return NULL;
}

static bool search_current(uintptr_t pc, pp_module *module)
{
    bool found = false;
    __atomic_add_fetch(&modules.readers, 1, __ATOMIC_SEQ_CST);
    const pp_module_table *table = __atomic_load_n(&modules.current, __ATOMIC_SEQ_CST);
    const pp_module *m = table != NULL ? search(table, pc) : NULL;
    if (m != NULL) {
        *module = *m;
        found = true;
    }
    __atomic_sub_fetch(&modules.readers, 1, __ATOMIC_SEQ_CST);
    return found;
}

/* Asks the loader, whose answer is right at this moment. */
static bool ask_loader(uintptr_t pc, pp_module *module)
{
    pp_found_object object;
    if (!pp_object_find(pc, &object)) {
        return false;
    }
    *module = (pp_module){.code_lo = object.start,
                          .code_hi = object.end,
                          .cfi_lo = object.start,
                          .cfi_hi = object.end,
                          .eh_frame_hdr = object.eh_frame};
    return true;
}

bool pp_modules_is_start(uintptr_t pc)
{
    uintptr_t start = __atomic_load_n(&modules.entry, __ATOMIC_RELAXED);
    return start != 0 && pc >= start && pc - start < ENTRY_BYTES;
}

bool pp_modules_is_entry_code(uintptr_t pc)
{
    pp_module module;
    uintptr_t base = __atomic_load_n(&modules.interpreter, __ATOMIC_RELAXED);
    if (pp_modules_is_start(pc)) {
        return true;
    }
    return base != 0 && !pp_loader_is_libc() && pc >= base && pc - base < INTERPRETER_MAX &&
           pp_modules_find(pc, &module) && module.code_lo >= base;
}

void pp_modules_set_entries(uintptr_t base, uintptr_t start)
{
    __atomic_store_n(&modules.interpreter, base, __ATOMIC_RELAXED);
    __atomic_store_n(&modules.entry, start, __ATOMIC_RELAXED);
}

bool pp_modules_find(uintptr_t pc, pp_module *module)
{
    bool found = search_current(pc, module);
    if (found && module->permanent) {
        return true;
    }
    if (pp_object_can_find()) {
        return ask_loader(pc, module);
    }
    return found;
}

static void release(pp_module_table *table)
{
    if (table != NULL) {
        pp_memory_unmap(table, table->bytes);
    }
}

void pp_modules_publish(pp_module_table *table)
{
    pp_module_table *old = __atomic_exchange_n(&modules.current, table, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&modules.readers, __ATOMIC_SEQ_CST) == 0) {
        /* A reader that comes now finds the new table. */
        release(old);
        for (unsigned i = 0; i < MAX_RETIRED; i++) {
            pp_module_table *retired = modules.retired[i];
            modules.retired[i] = NULL; /* before: a child of a fork releases it, too */
            release(retired);
        }
        return;
    }
    for (unsigned i = 0; i < MAX_RETIRED; i++) {
        if (modules.retired[i] == NULL) {
            modules.retired[i] = old;
            return;
        }
    }
}

void pp_modules_forget_readers(void)
{
    __atomic_store_n(&modules.readers, 0, __ATOMIC_SEQ_CST);
}
