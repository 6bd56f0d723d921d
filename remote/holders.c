/* SPDX-License-Identifier: MIT
 *
 * holders.c: see holders.h.
 *
 * Tested by: e2e.cpprof_memory
 */
#include "remote/holders.h"

#include "kinds/heap/data_limits.h"
#include "kinds/heap/libc_arenas.h"
#include "kinds/heap/page_runs.h"
#include "kinds/heap/resident.h"
#include "modules/smaps.h"
#include "remote/process.h"
#include "remote/target.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 64, LINE_BYTES = 256, NAME_BYTES = 32, KIB = 1024 };

static const char *const names[PP_HOLDERS] = {
    [PP_HOLDER_BLOCKS] = "pprof_memory_blocks",   [PP_HOLDER_ALLOCATOR] = "pprof_memory_allocator",
    [PP_HOLDER_STACKS] = "pprof_memory_stacks",   [PP_HOLDER_MAPPINGS] = "pprof_memory_mappings",
    [PP_HOLDER_SHARED] = "pprof_memory_shared",   [PP_HOLDER_CODE] = "pprof_memory_code",
    [PP_HOLDER_DATA] = "pprof_memory_data",       [PP_HOLDER_FILES] = "pprof_memory_files",
    [PP_HOLDER_KERNEL] = "pprof_memory_kernel",   [PP_HOLDER_OWN] = "pprof_memory_libpprof",
    [PP_HOLDER_UNKNOWN] = "pprof_memory_unknown", [PP_HOLDER_READING] = "pprof_memory_unknown",
};

typedef struct reader {
    pp_memory memory; /* the first member */
    int thread;       /* whose folder has the files of the process */
    bool sees_memory;
    pp_arena arena;
    pp_resident resident;
    pp_page_runs pages;
    pp_resident_span *spans;
    const char **thread_names; /* `who` of a stack is the index + 1 */
    size_t span_count, thread_count, capacity;
} reader;

/* ---- memory ---- */

static bool copy(const pp_memory *memory, void *to, uintptr_t from, size_t size)
{
    reader *r = (reader *)(uintptr_t)memory; /* the reader is the caller's, and not constant */
    bool copied = pp_process_read(r->thread, from, to, size);
    r->sees_memory |= copied;
    return copied;
}

static size_t copy_part(const pp_memory *memory, void *to, uintptr_t from, size_t size)
{
    return copy(memory, to, from, size) ? size : 0;
}

/* ---- stacks of threads ---- */

/* The last two words of the file `syscall` are SP and PC; 0: the thread runs, or it is hidden. */
static uintptr_t stack_pointer(int tid)
{
    char line[LINE_BYTES];
    long length = pp_remote_read_proc(tid, "syscall", line, sizeof line - 1);
    line[length > 0 ? length : 0] = '\0';
    char *pc = strrchr(line, ' ');
    if (pc == NULL) {
        return 0;
    }
    *pc = '\0';
    char *sp = strrchr(line, ' ');
    return sp != NULL ? strtoul(sp + 1, NULL, 16) : 0;
}

static void add_span(reader *r, uintptr_t start, uintptr_t limit, pp_holder holder, uint64_t who)
{
    r->spans[r->span_count++] = (pp_resident_span){start, limit, holder, who};
}

static void add_stack(reader *r, int tid)
{
    uintptr_t sp = stack_pointer(tid);
    const pp_smaps *areas = &r->resident.areas;
    for (size_t i = 1; i < areas->count; i++) {
        const pp_map_line *map = &areas->list[i].map;
        const pp_map_line *before = &areas->list[i - 1].map;
        if (sp < map->start || sp >= map->limit || before->limit != map->start ||
            before->readable) {
            continue;
        }
        char name[NAME_BYTES];
        long length = pp_remote_read_proc(tid, "comm", name, sizeof name - 1);
        length -= length > 0 && name[length - 1] == '\n';
        r->thread_names[r->thread_count++] =
            pp_arena_text(&r->arena, name, length > 0 ? (size_t)length : 0);
        add_span(r, map->start, map->limit, PP_HOLDER_STACKS, r->thread_count);
    }
}

static void add_stacks(reader *r)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/%d/task", r->thread);
    DIR *folder = opendir(path);
    struct dirent *entry = NULL;
    while (folder != NULL && (entry = readdir(folder)) != NULL && r->thread_count < r->capacity) {
        int tid = (int)strtol(entry->d_name, NULL, 10);
        if (tid > 0) {
            add_stack(r, tid);
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
}

/* ---- pages ---- */

static void open_pages(reader *r)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/%d/pagemap", r->thread);
    pp_page_runs_open(&r->pages, path, false);
}

static bool knows_pages(const reader *r)
{
    return r->pages.pagemap >= 0;
}

static void add_pages_of(reader *r, const pp_map_line *map)
{
    uintptr_t end = 0;
    for (uintptr_t at = map->start; at < map->limit; at = end) {
        if (pp_page_runs_read(&r->pages, at, map->limit, false, &end) != 0) {
            return;
        }
        for (size_t i = 0; i < r->pages.count; i++) {
            const pp_page_run *run = &r->pages.list[i];
            pp_resident_add_pages(&r->resident, run->start, run->limit,
                                  run->state == PP_PAGE_SWAPPED);
        }
    }
}

static void add_pages(reader *r)
{
    for (size_t i = 0; knows_pages(r) && i < r->resident.areas.count; i++) {
        if (pp_resident_needs_pages(&r->resident, i)) {
            add_pages_of(r, &r->resident.areas.list[i].map);
        }
    }
}

/* ---- parts ---- */

static bool has_other_allocator(const pp_smaps *areas)
{
    for (size_t i = 0; i < areas->count; i++) {
        const char *path = areas->list[i].map.path;
        if (strstr(path, "/libjemalloc") != NULL || strstr(path, "/libtcmalloc") != NULL ||
            strstr(path, "/libmimalloc") != NULL) {
            return true;
        }
    }
    return false;
}

static int find_parts(reader *r)
{
    pp_libc_arenas arenas = {.count = 0};
    pp_smaps *areas = &r->resident.areas;
    pp_data_limits_find(areas, &r->memory);
    int error = has_other_allocator(areas)
                    ? 0
                    : pp_libc_arenas_find(areas, &r->memory, knows_pages(r) ? &r->pages : NULL,
                                          &r->arena, &arenas);
    r->capacity = areas->count + arenas.count + 1;
    r->spans = pp_arena_array(&r->arena, r->capacity + arenas.count, sizeof *r->spans);
    r->thread_names = pp_arena_array(&r->arena, r->capacity, sizeof *r->thread_names);
    if (error != 0 || r->spans == NULL || r->thread_names == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < arenas.count; i++) {
        add_span(r, arenas.spans[i].start, arenas.spans[i].limit, PP_HOLDER_ALLOCATOR,
                 arenas.spans[i].who);
    }
    add_stacks(r);
    return pp_resident_cut(&r->resident, r->spans, r->span_count, &r->arena);
}

static void visit_part(const reader *r, const pp_resident_part *part, pp_remote_held_visit *visit,
                       void *context)
{
    const pp_smaps_area *area = &r->resident.areas.list[part->area];
    bool is_file = area->map.path[0] == '/' || part->holder == PP_HOLDER_KERNEL;
    double share = area->resident > 0 ? (double)area->owned / (double)area->resident : 0;
    pp_remote_held held = {.holder = names[part->holder],
                           .name = is_file ? area->map.path : NULL,
                           .resident = (uint64_t)part->resident,
                           .private_bytes = (uint64_t)(part->resident * share),
                           .swapped = (uint64_t)part->swapped};
    if (part->holder == PP_HOLDER_STACKS) {
        held.name = part->who > 0 ? r->thread_names[part->who - 1] : "main thread";
    } else if (part->holder == PP_HOLDER_ALLOCATOR) {
        held.arena = part->who;
    }
    if (held.resident > 0 || held.swapped > 0) {
        visit(&held, context);
    }
}

static uint64_t status_bytes(int thread, const char *key)
{
    return (uint64_t)pp_remote_status_number(thread, key) * KIB;
}

int pp_remote_holders(int pid, pp_remote_held_visit *visit, void *context, pp_remote_memory *memory,
                      pp_remote_error *error)
{
    char path[PATH_BYTES];
    reader r = {.memory = {copy, copy_part}, .thread = pp_process_thread(pid)};
    snprintf(path, sizeof path, "/proc/%d/smaps", r.thread);
    open_pages(&r);
    *memory = (pp_remote_memory){.before = status_bytes(r.thread, "VmRSS")};
    int failed = pp_smaps_read(path, &r.arena, &r.resident.areas);
    if (failed == 0 && r.resident.areas.count == 0) {
        failed = -ESRCH;
    }
    if (failed == 0) {
        failed = find_parts(&r);
    }
    if (failed == 0) {
        add_pages(&r);
        pp_resident_settle(&r.resident);
        memory->resident = status_bytes(r.thread, "VmRSS");
        memory->page_tables = status_bytes(r.thread, "VmPTE");
        memory->huge = status_bytes(r.thread, "HugetlbPages");
        memory->sees_memory = r.sees_memory;
        failed = memory->resident > 0 ? 0 : -ESRCH;
    }
    if (knows_pages(&r)) {
        pp_page_runs_close(&r.pages);
    }
    for (size_t i = 0; failed == 0 && i < r.resident.part_count; i++) {
        visit_part(&r, &r.resident.parts[i], visit, context);
    }
    pp_arena_release(&r.arena);
    if (failed == -ESRCH || failed == -ENOENT) {
        return pp_remote_fail(error,
                              "cannot read the memory of process %d: there is no such process, it "
                              "has ended, or it has "
                              "no memory",
                              pid);
    }
    return failed == 0 ? 0 : pp_remote_refuse(pid, failed, error);
}
