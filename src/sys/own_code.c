/* SPDX-License-Identifier: MIT
 *
 * own_code.c: the linker says where a module begins, and where its code and its variables end.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Locks: none.
 * Owns: nothing.
 */
#include "sys/own_code.h"

#include "arch/system_call.h"

#include <sys/auxv.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

/* Of the module that this is a part of.
 * NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): likewise */
extern char __bss_start[] __attribute__((visibility("hidden")));
extern char end[] __attribute__((visibility("hidden")));

static bool is_within(uintptr_t address)
{
    return address >= (uintptr_t)__ehdr_start && address < (uintptr_t)etext;
}

/* Not where libpprof.a is a part of the program. */
static bool is_library(void)
{
    return !is_within((uintptr_t)getauxval(AT_PHDR));
}

bool pp_own_code_has(uintptr_t pc)
{
    return is_within(pc) && is_library();
}

uint32_t pp_own_code_leave_out(uintptr_t *pcs, uint32_t depth)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < depth; i++) {
        if (!pp_own_code_has(pcs[i] - 1)) {
            pcs[left++] = pcs[i];
        }
    }
    return left;
}

void pp_own_variables_leave_out_of_dumps(void)
{
    uintptr_t from = ((uintptr_t)__bss_start + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    uintptr_t to = (uintptr_t)end & ~(uintptr_t)(PAGE - 1);
    if (is_library() && from < to) {
        pp_system_call(SYS_madvise, from, to - from, MADV_DONTDUMP);
    }
}
