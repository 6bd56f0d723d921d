/* SPDX-License-Identifier: MIT
 *
 * malloc_mappings.c: the hooks of mmap, munmap and mremap, for calls by the program itself.
 *
 *   program --> mmap (stub) --> pp_hook_mmap --> real mmap --> due? --> pp_heap_mapped
 *
 * The hooks do not count three kinds of mappings:
 *
 *   the allocator's     its blocks are counted one by one; the caller's object tells these calls
 *   this library's      base/memory.c calls the kernel; own_work.h tells the calls of others for us
 *   PROT_NONE           such a mapping is address space, often more than there is memory
 *
 * The hooks do not see what libc maps for itself: thread stacks and loaded libraries.
 *
 * One lock covers a system call and the change of the ranges that follows. So if another thread
 * maps an address that has just become free, the old range is cut before the new range is entered.
 *
 * The symbols are weak, so that a program or a test that defines its own keeps it.
 *
 * Zone: HOOK. errno is the real function's.
 * Locks: that of kinds/heap/heap_mappings.h. If the real function, which may be another preloaded
 *        library's, calls a hook, that call goes on without the lock.
 * Tested by: e2e.heap_mappings
 */
#include "kinds/heap/malloc_mappings.h"

#include "arch/stubs.h"
#include "arch/system_call.h"
#include "base/compiler.h"
#include "host/real.h"
#include "kinds/heap/heap_mappings.h"
#include "kinds/heap/jemalloc_samples.h"
#include "kinds/heap/malloc_objects.h"
#include "sys/own_work.h"

#include <errno.h>
#include <sys/mman.h>

enum { ADDRESS, SIZE, PROTECTION, FLAGS, FILE_DESCRIPTOR, OFFSET }; /* of mmap */
enum { OLD, OLD_SIZE, NEW_SIZE, MOVE_FLAGS, NEW };                  /* of mremap */

typedef void *mmap_function(void *, size_t, int, int, int, off_t);
typedef int munmap_function(void *, size_t);
typedef void *mremap_function(void *, size_t, size_t, int, void *);

/* NULL: the hook calls the kernel. */
static struct {
    mmap_function *mmap;
    munmap_function *munmap;
    mremap_function *mremap;
} real;

/* Only the stubs call these functions. */
void *pp_hook_mmap(const pp_stub_call *call);
int pp_hook_munmap(const pp_stub_call *call);
void *pp_hook_mremap(const pp_stub_call *call);

extern char pp_mmap_entry[], pp_mremap_entry[];

PP_STUB_CALL("mmap", "pp_mmap_entry", "pp_hook_mmap");
PP_STUB_CALL("munmap", "pp_munmap_entry", "pp_hook_munmap");
PP_STUB_CALL("mremap", "pp_mremap_entry", "pp_hook_mremap");
PP_STUB_ALIAS("mmap64", "mmap");

/* ---- the real functions ---- */

void pp_malloc_mappings_resolve(void)
{
    real.mmap = (mmap_function *)pp_real_find("mmap");
    real.munmap = (munmap_function *)pp_real_find("munmap");
    real.mremap = (mremap_function *)pp_real_find("mremap");
}

static void *call_mmap(const pp_stub_call *call)
{
    const uintptr_t *a = call->argument;
    return real.mmap != NULL
               ? real.mmap((void *)a[ADDRESS], a[SIZE], (int)a[PROTECTION], (int)a[FLAGS],
                           (int)a[FILE_DESCRIPTOR], (off_t)a[OFFSET])
               : (void *)pp_real_result(pp_system_call(SYS_mmap, a[ADDRESS], a[SIZE], a[PROTECTION],
                                                       a[FLAGS], a[FILE_DESCRIPTOR], a[OFFSET]));
}

static int call_munmap(const pp_stub_call *call)
{
    const uintptr_t *a = call->argument;
    return real.munmap != NULL
               ? real.munmap((void *)a[ADDRESS], a[SIZE])
               : (int)pp_real_result(pp_system_call(SYS_munmap, a[ADDRESS], a[SIZE]));
}

static void *call_mremap(const pp_stub_call *call)
{
    const uintptr_t *a = call->argument;
    return real.mremap != NULL
               ? real.mremap((void *)a[OLD], a[OLD_SIZE], a[NEW_SIZE], (int)a[MOVE_FLAGS],
                             (void *)a[NEW])
               : (void *)pp_real_result(pp_system_call(SYS_mremap, a[OLD], a[OLD_SIZE], a[NEW_SIZE],
                                                       a[MOVE_FLAGS], a[NEW]));
}

/* ---- samples ---- */

static bool is_left_out(const pp_stub_call *call)
{
    return pp_own_work_has((uintptr_t)call) || pp_malloc_is_allocators(call->return_address) ||
           pp_jemalloc_maps(call->return_address);
}

static void record(const pp_stub_call *call, const char *entry, uintptr_t start, uint64_t size,
                   bool of_file, uint64_t rate)
{
    pp_caller caller = {.leaf = (uintptr_t)entry,
                        .return_address = call->return_address,
                        .sp = (uintptr_t)(call + 1),
                        .fp = call->fp,
                        .bx = call->bx};
    pp_heap_mapped(start, size, of_file, rate, &caller);
}

static uint64_t whole_pages(uint64_t size)
{
    const uint64_t page = pp_page_bytes();
    return (size + page - 1) & ~(page - 1);
}

/* ---- the hooks ---- */

__attribute__((visibility("hidden"), used)) void *pp_hook_mmap(const pp_stub_call *call)
{
    const uintptr_t *a = call->argument;
    uint64_t size = whole_pages(a[SIZE]);
    bool memory = ((int)a[PROTECTION] & (PROT_READ | PROT_WRITE | PROT_EXEC)) != PROT_NONE;
    bool replaces = ((int)a[FLAGS] & MAP_FIXED) != 0 && pp_heap_mappings_any();
    uint64_t rate = 0;
    if (memory && a[SIZE] <= PTRDIFF_MAX && !is_left_out(call)) {
        rate = pp_heap_due(size);
    }
    pp_signal_mask old = 0;
    if ((rate == 0 && !replaces) || !pp_heap_mappings_enter(&old)) {
        return call_mmap(call);
    }
    void *mapped = call_mmap(call);
    if (mapped != MAP_FAILED) {
        pp_heap_unmapped((uintptr_t)mapped, size);
        if (rate != 0) {
            record(call, pp_mmap_entry, (uintptr_t)mapped, size,
                   ((int)a[FLAGS] & MAP_ANONYMOUS) == 0, rate);
        }
    }
    pp_heap_mappings_leave(&old);
    return mapped;
}

__attribute__((visibility("hidden"), used)) int pp_hook_munmap(const pp_stub_call *call)
{
    pp_signal_mask old = 0;
    if (!pp_heap_mappings_any() || !pp_heap_mappings_enter(&old)) {
        return call_munmap(call);
    }
    int error = call_munmap(call);
    if (error == 0) {
        pp_heap_unmapped(call->argument[ADDRESS], whole_pages(call->argument[SIZE]));
    }
    pp_heap_mappings_leave(&old);
    return error;
}

/* mremap counts like realloc: a free of the old mapping, and an allocation of the new size. */
__attribute__((visibility("hidden"), used)) void *pp_hook_mremap(const pp_stub_call *call)
{
    const uintptr_t *a = call->argument;
    uint64_t size = whole_pages(a[NEW_SIZE]);
    bool known = pp_heap_mappings_any();
    bool possible = a[NEW_SIZE] <= PTRDIFF_MAX && !is_left_out(call);
    uint64_t rate = possible ? pp_heap_due(size) : 0;
    pp_signal_mask old = 0;
    if ((rate == 0 && !known) || !pp_heap_mappings_enter(&old)) {
        return call_mremap(call);
    }
    void *moved = call_mremap(call);
    if (moved != MAP_FAILED) {
        if (((int)a[MOVE_FLAGS] & MREMAP_DONTUNMAP) == 0) {
            pp_heap_unmapped(a[OLD], whole_pages(a[OLD_SIZE]));
        }
        pp_heap_unmapped((uintptr_t)moved, size);
        if (rate != 0) {
            record(call, pp_mremap_entry, (uintptr_t)moved, size, false, rate);
        }
    }
    pp_heap_mappings_leave(&old);
    return moved;
}
