/* SPDX-License-Identifier: MIT
 *
 * clock.c: finds the vDSO's function that reads clocks [vdso(7)], without the loader.
 *
 * Zone: SIGNAL.
 * Owns: the function in use.
 */
#include "sys/clock.h"

#include "arch/system_call.h"
#include "sys/loaded_symbols.h"

#include <link.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

static pp_clock_function find_and_read;
pp_clock_function *pp_clock_reader = find_and_read;

static int read_by_system_call(clockid_t clock, struct timespec *now)
{
    return (int)pp_system_call(SYS_clock_gettime, clock, now);
}

/* Emulators, among them valgrind, and the kernel's vdso=0 leave the vDSO out. */
static pp_clock_function *find_in_vdso(void)
{
    const ElfW(Ehdr) *image = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR);
    const ElfW(Dyn) *dynamic = NULL;
    uintptr_t bias = 0;
    pp_loaded_symbols symbols;
    if (image == NULL) {
        return NULL;
    }
    const ElfW(Phdr) *segment =
        (const ElfW(Phdr) *)(const void *)((const char *)image + image->e_phoff);
    for (unsigned i = 0; i < image->e_phnum; i++) {
        if (segment[i].p_type == PT_LOAD) {
            bias = (uintptr_t)image + segment[i].p_offset - segment[i].p_vaddr;
        } else if (segment[i].p_type == PT_DYNAMIC) {
            dynamic = (const ElfW(Dyn) *)(const void *)((const char *)image + segment[i].p_offset);
        }
    }
    pp_loaded_symbols_read(&symbols, dynamic, bias);
    return (pp_clock_function *)pp_loaded_symbols_find(&symbols, PP_VDSO_CLOCK_GETTIME);
}

/* Replaces only itself: another thread may have forbidden the counter meanwhile. */
static int find_and_read(clockid_t clock, struct timespec *now)
{
    pp_clock_function *found = find_in_vdso();
    pp_clock_function *expected = find_and_read;
    __atomic_compare_exchange_n(&pp_clock_reader, &expected,
                                found != NULL ? found : read_by_system_call, false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return __atomic_load_n(&pp_clock_reader, __ATOMIC_RELAXED)(clock, now);
}

void pp_clock_avoid_counter(void)
{
    __atomic_store_n(&pp_clock_reader, read_by_system_call, __ATOMIC_RELAXED);
}

void pp_clock_ask_for_counter(void)
{
    int mode = PR_TSC_ENABLE;
    if (pp_system_call(SYS_prctl, PR_GET_TSC, &mode) == 0 && mode == PR_TSC_SIGSEGV) {
        pp_clock_avoid_counter();
    }
}
