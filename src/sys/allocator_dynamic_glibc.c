/* SPDX-License-Identifier: MIT
 *
 * allocator_dynamic_glibc.c: reads mallinfo2() of glibc, if the program allocates from glibc, and the
 * counterparts of other allocators.
 *
 * Interfaces: jemalloc(3), MALLCTL NAMESPACE; gperftools/malloc_extension_c.h; mimalloc.h.
 *
 * Zone: NORMAL.
 * Tested by: unit.memory_stats
 */
#include "sys/allocator.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stddef.h>

/* The allocator is the next definition after our hooks. No library replaces only mallinfo2. */
static bool is_of_same_object(const void *a, const void *b)
{
    Dl_info of_a;
    Dl_info of_b;
    return a != NULL && b != NULL && dladdr(a, &of_a) != 0 && dladdr(b, &of_b) != 0 &&
           of_a.dli_fbase == of_b.dli_fbase;
}

bool pp_allocator_read(pp_allocator_use *use)
{
    typedef struct mallinfo2 tell(void);
    tell *info = (tell *)dlsym(RTLD_DEFAULT, "mallinfo2");
    if (info == NULL || !is_of_same_object(dlsym(RTLD_NEXT, "malloc"), (const void *)info)) {
        return false;
    }
    struct mallinfo2 said = info();
    use->mapped = said.arena + said.hblkhd;
    use->used = said.uordblks + said.hblkhd;
    return use->used <= use->mapped;
}

/* ---- other allocators ---- */

typedef int mallctl_function(const char *name, void *old, size_t *old_size, void *new, size_t size);
typedef int property_function(const char *name, size_t *value);
typedef void process_info_function(size_t *elapsed_ms, size_t *user_ms, size_t *system_ms,
                                   size_t *rss, size_t *peak_rss, size_t *commit,
                                   size_t *peak_commit, size_t *faults);

static uint64_t control(mallctl_function *mallctl, const char *name)
{
    size_t value = 0;
    size_t size = sizeof value;
    return mallctl(name, &value, &size, NULL, 0) == 0 ? value : 0;
}

/* The numbers are those of the last time that somebody wrote to "epoch". */
static bool ask_jemalloc(pp_allocator_report *report)
{
    mallctl_function *mallctl = (mallctl_function *)dlsym(RTLD_DEFAULT, "mallctl");
    uint64_t epoch = 1;
    if (mallctl == NULL || mallctl("epoch", NULL, NULL, &epoch, sizeof epoch) != 0) {
        return false;
    }
    *report = (pp_allocator_report){.name = "jemalloc",
                                    .used = control(mallctl, "stats.allocated"),
                                    .most = control(mallctl, "stats.resident")};
    report->has_used = report->used > 0;
    return true;
}

static uint64_t property(property_function *ask, const char *name)
{
    size_t value = 0;
    return ask(name, &value) != 0 ? value : 0;
}

static bool ask_tcmalloc(pp_allocator_report *report)
{
    property_function *ask =
        (property_function *)dlsym(RTLD_DEFAULT, "MallocExtension_GetNumericProperty");
    if (ask == NULL) {
        return false;
    }
    uint64_t mapped = property(ask, "generic.heap_size");
    uint64_t unmapped = property(ask, "tcmalloc.pageheap_unmapped_bytes");
    uint64_t physical = property(ask, "generic.total_physical_bytes"); /* gperftools 2.7 */
    *report = (pp_allocator_report){.name = "tcmalloc",
                                    .used = property(ask, "generic.current_allocated_bytes"),
                                    .most = physical > 0 ? physical : mapped - unmapped};
    report->has_used = report->used > 0;
    return true;
}

/* mimalloc has no number of what is allocated. */
static bool ask_mimalloc(pp_allocator_report *report)
{
    process_info_function *ask = (process_info_function *)dlsym(RTLD_DEFAULT, "mi_process_info");
    size_t other[6];
    size_t commit = 0;
    if (ask == NULL) {
        return false;
    }
    ask(&other[0], &other[1], &other[2], &other[3], &other[4], &commit, &other[5], NULL);
    *report = (pp_allocator_report){.name = "mimalloc", .most = commit};
    return true;
}

void pp_allocator_ask(pp_allocator_report *report)
{
    pp_allocator_use use;
    *report = (pp_allocator_report){.name = NULL};
    if (pp_allocator_read(&use)) {
        *report = (pp_allocator_report){
            .name = "glibc", .is_libc = true, .has_used = true, .used = use.used};
    } else if (!ask_jemalloc(report) && !ask_tcmalloc(report)) {
        ask_mimalloc(report);
    }
}
