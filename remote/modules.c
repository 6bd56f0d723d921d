/* SPDX-License-Identifier: MIT
 *
 * modules.c: the target's objects, for the unwinder (unwind/target.h) and for names
 * (profile/model.h).
 *
 *   /proc/PID/maps -> mapped files -> ELF header and program headers, from the target's memory
 *                                  -> code segments: module (CFI) and mapping (path, build id)
 *                  -> code of no object (JIT) -> mapping alone
 *
 * Tested by: e2e.cpprof_dump
 */
#include "remote/target.h"

#include "base/path.h"
#include "base/sort.h"
#include "elf/elf.h"
#include "modules/maps.h"
#include "arch/system_call.h"
#include "modules/module_cfi.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

enum { HEADERS_MAX = 64 /* program headers; a linked object has a dozen */ };

typedef struct object {
    const char *path;
    uintptr_t start, limit; /* of all segments */
    struct dl_phdr_info info;
    ElfW(Phdr) headers[HEADERS_MAX];
    uint8_t build_id[PP_BUILD_ID_MAX];
    uint8_t build_id_size;
} object;

/* What is read into an arena. */
typedef struct reading {
    pp_target *target;
    pp_arena *arena;
    pp_map_line *lines;
    size_t line_count;
    object *objects;
    size_t object_count;
    pp_mapping *mappings;
    size_t mapping_count;
} reading;

/* ---- the list of mapped ranges ---- */

static int read_lines(reading *r, pp_remote_error *error)
{
    char path[sizeof "/proc//maps" + 12];
    char *text = NULL;
    size_t length = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", r->target->thread);
    int status = pp_maps_text_of(path, r->arena, &text, &length);
    if (status != 0) {
        return pp_remote_fail(error, "%s: cannot be read: %s", path, strerror(-status));
    }
    if (length == 0) {
        return pp_remote_fail(error,
                              "process %d has no memory of its own: a thread of the kernel, or it "
                              "has ended",
                              r->target->pid);
    }
    size_t capacity = 1;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
        capacity++;
    }
    r->lines = pp_arena_array(r->arena, capacity, sizeof *r->lines);
    r->objects = pp_arena_array(r->arena, capacity, sizeof *r->objects);
    if (r->lines == NULL || r->objects == NULL) {
        return pp_remote_fail(error, "no memory for the objects of process %d", r->target->pid);
    }
    while (r->line_count < capacity && pp_maps_next(&text, &r->lines[r->line_count])) {
        r->line_count++;
    }
    return 0;
}

/* ---- objects ---- */

/* Between segments there may be other objects: on aarch64, with 64 KiB of alignment, the vDSO. */
static bool has_segment_at(const object *o, uintptr_t address)
{
    for (unsigned i = 0; i < o->info.dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &o->headers[i];
        uintptr_t start = o->info.dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && address >= (start & ~(uintptr_t)(pp_page_bytes() - 1)) &&
            address < start + segment->p_memsz) {
            return true;
        }
    }
    return false;
}

static const object *object_of(const reading *r, uintptr_t address)
{
    for (size_t i = r->object_count; i-- > 0;) {
        const object *o = &r->objects[i];
        if (address >= o->start && address < o->limit && has_segment_at(o, address)) {
            return o;
        }
    }
    return NULL;
}

/* Sets the bias and the bounds by the segments: the first byte of the file is at `start`. */
static bool place(object *o, uintptr_t start)
{
    uintptr_t lo = UINTPTR_MAX;
    uintptr_t hi = 0;
    for (unsigned i = 0; i < o->info.dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &o->headers[i];
        if (segment->p_type == PT_LOAD) {
            uintptr_t first = segment->p_vaddr & ~(uintptr_t)(pp_page_bytes() - 1);
            if (lo == UINTPTR_MAX) {
                o->info.dlpi_addr =
                    start + (segment->p_offset & ~(uintptr_t)(pp_page_bytes() - 1)) - first;
            }
            lo = first < lo ? first : lo;
            hi = segment->p_vaddr + segment->p_memsz;
        }
    }
    o->start = o->info.dlpi_addr + lo;
    o->limit = o->info.dlpi_addr + hi;
    return hi > lo;
}

/* Reads the object whose file begins at the line's start; false if that is no such object. */
static bool read_object(const reading *r, object *o, const pp_map_line *line)
{
    pp_elf elf;
    *o = (object){.path = line->path};
    if (pp_elf_open_loaded(&elf, &r->target->walked.memory, line->start, 0) != 0 ||
        elf.header.e_phnum > HEADERS_MAX) {
        return false;
    }
    for (unsigned i = 0; i < elf.header.e_phnum; i++) {
        if (!pp_elf_segment(&elf, i, &o->headers[i])) {
            return false;
        }
    }
    o->info.dlpi_name = line->path;
    o->info.dlpi_phdr = o->headers;
    o->info.dlpi_phnum = elf.header.e_phnum;
    if (!place(o, line->start)) {
        return false;
    }
    elf.bias = o->info.dlpi_addr;
    pp_elf_file_build_id(&elf, o->build_id, &o->build_id_size);
    return true;
}

static void read_objects(reading *r)
{
    for (size_t i = 0; i < r->line_count; i++) {
        const pp_map_line *line = &r->lines[i];
        bool is_vdso = strcmp(line->path, "[vdso]") == 0;
        object *o = &r->objects[r->object_count];
        if (line->offset == 0 && (line->path[0] == '/' || is_vdso) &&
            object_of(r, line->start) == NULL && read_object(r, o, line)) {
            r->object_count++;
        }
    }
}

/* ---- the result ---- */

static bool is_code(const ElfW(Phdr) * segment)
{
    return segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0 && segment->p_memsz > 0;
}

/* musl's loader is libc. It has the loader's name, or that by which programs are linked to it; glibc's
 * is libc.so.6. */
static bool is_musl(const char *path)
{
    const char *file = pp_base_name(path);
    return strncmp(file, "ld-musl-", 8) == 0 || strncmp(file, "libc.musl-", 10) == 0 ||
           strcmp(file, "libc.so") == 0;
}

static uint8_t code_of(const reading *r, const object *o)
{
    uintptr_t base = r->target->walked.interpreter;
    if (is_musl(o->path)) {
        return PP_CODE_OF_LOADER | PP_CODE_OF_LIBC;
    }
    if (base != 0 && base >= o->start && base < o->limit) {
        return PP_CODE_OF_LOADER;
    }
    return strncmp(pp_base_name(o->path), "libc.so.", 8) == 0 ||
                   strncmp(pp_base_name(o->path), "libc-2.", 7) == 0
               ? PP_CODE_OF_LIBC
               : 0;
}

static const char *path_of(pp_arena *arena, const char *path)
{
    static const char deleted[] = " (deleted)";
    size_t tail = sizeof deleted - 1;
    size_t length = strlen(path);
    return length > tail && strcmp(path + length - tail, deleted) == 0
               ? pp_arena_text(arena, path, length - tail)
               : path;
}

static void list_frames(reading *r, pp_module *module)
{
    const pp_memory *memory = &r->target->walked.memory;
    size_t count = pp_module_list_frames(module, memory, NULL, 0);
    pp_keyed *frames = pp_arena_array(r->arena, count, sizeof *frames);
    pp_keyed *spare = pp_arena_array(r->arena, count, sizeof *spare);
    if (count > 0 && frames != NULL && spare != NULL) {
        size_t again = pp_module_list_frames(module, memory, frames, count);
        module->frame_count = again < count ? again : count; /* the process may run */
        pp_key_sort(frames, spare, module->frame_count);
        module->frames = frames;
    }
}

static void add_segment(reading *r, const object *o, const ElfW(Phdr) * segment, pp_module *module)
{
    const uintptr_t mask = ~(uintptr_t)(pp_page_bytes() - 1);
    uintptr_t bias = o->info.dlpi_addr;
    uintptr_t lo = bias + segment->p_vaddr;
    uintptr_t hi = lo + segment->p_memsz;
    pp_mapping *m = &r->mappings[r->mapping_count++];
    *m = (pp_mapping){.start = lo & mask,
                      .limit = (hi + ~mask) & mask,
                      .offset = segment->p_offset & mask,
                      .bias = bias,
                      .memory = &r->target->walked.memory,
                      .files = &r->target->files,
                      .path = path_of(r->arena, o->path),
                      .build_id_size = o->build_id_size,
                      .code_of = code_of(r, o)};
    memcpy(m->build_id, o->build_id, sizeof m->build_id);
    *module = (pp_module){.code_lo = lo, .code_hi = hi, .cheap = true};
    pp_module_cfi_describe(&o->info, &r->target->files, o->path, module);
    if (module->lacks_table) {
        list_frames(r, module);
    }
    if (strncmp(pp_base_name(o->path), "libpprof.so", 11) == 0) {
        r->target->walked.own_code = lo;
        r->target->walked.own_code_bytes = hi - lo;
    }
}

static void add_unclaimed_code(reading *r)
{
    for (size_t i = 0; i < r->line_count; i++) {
        const pp_map_line *line = &r->lines[i];
        if (line->executable && object_of(r, line->start) == NULL) {
            r->mappings[r->mapping_count++] =
                (pp_mapping){.start = line->start,
                             .limit = line->limit,
                             .offset = line->offset,
                             .bias = line->start - (uintptr_t)line->offset,
                             .memory = &r->target->walked.memory,
                             .files = &r->target->files,
                             .path = path_of(r->arena, line->path)};
        }
    }
}

static int compare_modules(const void *a, const void *b, void *context)
{
    (void)context;
    uintptr_t x = ((const pp_module *)a)->code_lo;
    uintptr_t y = ((const pp_module *)b)->code_lo;
    return (x > y) - (x < y);
}

/* Mapping 1 of a profile is the main binary. */
static void put_program_first(reading *r)
{
    for (size_t i = 1; i < r->mapping_count; i++) {
        pp_mapping m = r->mappings[i];
        if (r->target->walked.entry >= m.start && r->target->walked.entry < m.limit) {
            memmove(&r->mappings[1], &r->mappings[0], i * sizeof m);
            r->mappings[0] = m;
            return;
        }
    }
}

static bool collect(reading *r)
{
    size_t segments = r->line_count;
    size_t count = 0;
    for (size_t i = 0; i < r->object_count; i++) {
        segments += r->objects[i].info.dlpi_phnum;
    }
    pp_module *modules = pp_arena_array(r->arena, segments + 1, sizeof *modules);
    r->mappings = pp_arena_array(r->arena, segments + 1, sizeof *r->mappings);
    if (modules == NULL || r->mappings == NULL) {
        return false;
    }
    for (size_t i = 0; i < r->object_count; i++) {
        for (unsigned j = 0; j < r->objects[i].info.dlpi_phnum; j++) {
            if (is_code(&r->objects[i].headers[j])) {
                add_segment(r, &r->objects[i], &r->objects[i].headers[j], &modules[count++]);
            }
        }
    }
    add_unclaimed_code(r);
    put_program_first(r);
    pp_sort(modules, count, sizeof *modules, compare_modules, NULL);
    r->target->walked.module = modules;
    r->target->walked.module_count = count;
    return true;
}

int pp_target_read_objects(pp_target *target, pp_arena *arena, pp_profile *profile,
                           pp_remote_error *error)
{
    reading r = {.target = target, .arena = arena};
    target->walked.own_code_bytes = 0;
    target->walked.module_count = 0;
    if (read_lines(&r, error) != 0) {
        return -1;
    }
    read_objects(&r);
    if (!collect(&r)) {
        return pp_remote_fail(error, "no memory for the objects of process %d", target->pid);
    }
    char byte;
    if (target->walked.module_count == 0 && r.line_count > 0 &&
        !pp_target_copy(&target->walked, &byte, r.lines[0].start, 1)) {
        return pp_remote_fail(error,
                              "the memory of process %d cannot be read: a sandbox forbids both "
                              "process_vm_readv and /proc/%d/mem",
                              target->pid, target->pid);
    }
    if (target->walked.module_count == 0) {
        return pp_remote_fail(error,
                              "process %d has no 64-bit program: only 64-bit programs can be read",
                              target->pid);
    }
    profile->mappings = r.mappings;
    profile->mapping_count = r.mapping_count;
    return 0;
}
