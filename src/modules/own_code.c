/* SPDX-License-Identifier: MIT
 *
 * own_code.c: finds the library's code and variables by symbols of the linker.
 *
 * Zone: SIGNAL.
 * Owns: the addresses of the library's code.
 * Tested by: e2e.own_frames
 */
#include "modules/own_code.h"

#include "arch/system_call.h"

#include <link.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/mman.h>

enum { CLOCK_BYTES = 8192 /* of the vDSO, at most */ };

/* Addresses of the module that contains this code.
 * NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker's names */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): likewise */
extern char __bss_start[] __attribute__((visibility("hidden")));
extern char end[] __attribute__((visibility("hidden")));
/* Sections that only the archives have.
 * NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): likewise */
extern const char __start_pp_text[] __attribute__((weak, visibility("hidden")));
/* NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): likewise */
extern const char __stop_pp_text[] __attribute__((weak, visibility("hidden")));
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): likewise */
extern const char __start_pp_shown[] __attribute__((weak, visibility("hidden")));
extern const char __stop_pp_shown[] __attribute__((weak, visibility("hidden")));
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

pp_own_code_place pp_own_code;

/* False if libpprof.a is a part of the program. */
static bool is_library(void)
{
    uintptr_t program = (uintptr_t)getauxval(AT_PHDR);
    return program < (uintptr_t)&__ehdr_start || program >= (uintptr_t)etext;
}

/* A library's addresses are relative to its header. */
static void find_in_library(pp_own_code_place *found)
{
    const ElfW(Ehdr) *header = &__ehdr_start;
    const ElfW(Phdr) *segment =
        (const ElfW(Phdr) *)(const void *)((const char *)header + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (segment[i].p_type == PT_LOAD && (segment[i].p_flags & PF_X) != 0) {
            found->start = (uintptr_t)header + segment[i].p_vaddr;
            found->bytes = segment[i].p_memsz;
        }
    }
}

/* Threads that call this at the same time store the same values. */
PP_COLD_PATH void pp_own_code_find(void)
{
    pp_own_code_place found = {.clock = (uintptr_t)getauxval(AT_SYSINFO_EHDR),
                               .shown = (uintptr_t)__start_pp_shown,
                               .shown_bytes =
                                   (uintptr_t)__stop_pp_shown - (uintptr_t)__start_pp_shown};
    if (__start_pp_text != NULL) {
        found.start = (uintptr_t)__start_pp_text;
        found.bytes = (uintptr_t)__stop_pp_text - found.start;
    } else if (is_library()) {
        find_in_library(&found);
    }
    __atomic_store_n(&pp_own_code.start, found.start, __ATOMIC_RELAXED);
    __atomic_store_n(&pp_own_code.bytes, found.bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&pp_own_code.shown, found.shown, __ATOMIC_RELAXED);
    __atomic_store_n(&pp_own_code.shown_bytes, found.shown_bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&pp_own_code.clock, found.clock, __ATOMIC_RELAXED);
    __atomic_store_n(&pp_own_code.known, true, __ATOMIC_RELEASE);
}

bool pp_own_code_is_clock(uintptr_t pc)
{
    uintptr_t clock = __atomic_load_n(&pp_own_code.clock, __ATOMIC_RELAXED);
    return clock != 0 && pc - clock < CLOCK_BYTES;
}

void pp_own_variables(uintptr_t *from, uintptr_t *to)
{
    bool own = is_library();
    *from = own ? (uintptr_t)__bss_start : 0;
    *to = own ? (uintptr_t)end : 0;
}

void pp_own_variables_are_sparse(void)
{
    uintptr_t from = 0;
    uintptr_t to = 0;
    pp_own_variables(&from, &to);
    const uintptr_t in_page = pp_page_bytes() - 1;
    from = (from + in_page) & ~in_page;
    to &= ~in_page;
    if (from < to) {
        pp_system_call(SYS_madvise, from, to - from, MADV_DONTDUMP);
        pp_system_call(SYS_madvise, from, to - from, MADV_NOHUGEPAGE);
    }
}
