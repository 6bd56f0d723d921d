/* SPDX-License-Identifier: MIT
 *
 * walkers_libunwind.c: libunwind's two ways: the cached trace, and one step at a time.
 */
#define UNW_LOCAL_ONLY
#include "walkers.h"

#include <libunwind.h>

static __attribute__((noinline)) size_t walk_trace(const chain *c, void **pcs, size_t capacity)
{
    (void)c;
    int found = unw_backtrace(pcs, (int)capacity);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return found > 0 ? (size_t)found : 0;
}

static __attribute__((noinline)) size_t walk_step(const chain *c, void **pcs, size_t capacity)
{
    (void)c;
    unw_context_t context;
    unw_cursor_t cursor;
    size_t depth = 0;
    if (unw_getcontext(&context) != 0 || unw_init_local(&cursor, &context) != 0) {
        return 0;
    }
    do {
        unw_word_t pc = 0;
        if (unw_get_reg(&cursor, UNW_REG_IP, &pc) != 0) {
            break;
        }
        pcs[depth++] = (void *)pc;
    } while (depth < capacity && unw_step(&cursor) > 0);
    return depth;
}

const walker libunwind_walkers[] = {
    {"libunwind", walk_trace, chain_descend_plain, 300},
    {"libunwind_step", walk_step, chain_descend_plain, 20},
    {NULL, NULL, NULL, 0},
};
