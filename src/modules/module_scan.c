/* SPDX-License-Identifier: MIT
 *
 * module_scan.c: reads the loader's list of objects, and keeps what it has seen.
 *
 * Scans run when a profile starts, when it stops, and around dlclose(); never at load time, so that
 * a process with hundreds of libraries starts as fast as without libpprof.
 *
 *   dl_iterate_phdr --> objects --> permanent? (closure of DT_NEEDED) --> module table (unwinder)
 *                               \-> executable segments ---------------> seen list (mappings)
 *
 * Zone: NORMAL.
 * Locks: scans.lock, taken before the loader's own lock. A scan gives up on it after a while,
 *        since a host may call us from inside a dl_iterate_phdr callback.
 * Owns: the entries of the seen list.
 * Tested by: unit.modules, unit.loader
 */
#include "modules/modules.h"

#include "base/key_sort.h"
#include "base/memory.h"
#include "base/path.h"
#include "elf/build_id.h"
#include "modules/libc.h"
#include "modules/loader.h"
#include "modules/loader_use.h"
#include "modules/loader_state.h"
#include "modules/module_cfi.h"
#include "modules/modules_seen.h"
#include "modules/single_thread.h"
#include "sys/file_calls.h"
#include "sys/loaded_symbols.h"
#include "sys/lock.h"
#include "sys/program.h"
#include "sys/tasks.h"

#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { PAGE = 4096, MAX_SEEN = 1 << 16 };

/* One loaded object during a scan. */
typedef struct object {
    const struct dl_phdr_info *info; /* a copy in the arena */
    const char *soname;
    const char *strings;
    const ElfW(Dyn) * dynamic;
    bool vdso;
    bool permanent;
} object;

typedef struct scan {
    pp_arena arena;
    object *objects;
    size_t count, capacity;
    uint64_t loads, unloads;
    bool unchanged, failed;
} scan;

static const uint64_t scan_patience_ns = 250000000; /* a scan takes milliseconds */

static struct {
    pp_lock lock;
    /* True if the parent of a fork had several threads. glibc's fork does not wait until other
     * threads have left dl_iterate_phdr or dlopen. So the lock of the loader's list may have an
     * owner in the child that does not exist, and a call of the loader would wait for ever. Such a
     * child keeps using the table that it inherited. */
    bool fork_from_threads;
    pp_arena seen_arena;
    size_t seen_count;
    uint64_t loads, unloads; /* the loader's counters at the last complete scan */
    bool is_complete;        /* there was one; a static program of musl has counters of 0 */
    /* The loader's private variables. Each thread that finds them stores the same values. */
    const void *loader;
    size_t loader_size;
    bool loader_sought;
    struct listed *listed;
} scans = {.seen_arena = PP_ARENA_INIT};

/* ---- one object ---- */

/* Returns the loaded segment of `vaddr`, an address before relocation; NULL if there is none. */
static const ElfW(Phdr) * segment_of(const struct dl_phdr_info *info, uintptr_t vaddr)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && vaddr >= segment->p_vaddr &&
            vaddr - segment->p_vaddr < segment->p_memsz) {
            return segment;
        }
    }
    return NULL;
}

static bool contains(const struct dl_phdr_info *info, uintptr_t address)
{
    return segment_of(info, address - info->dlpi_addr) != NULL;
}

/* Whether this is libpprof itself, which is linked with -z nodelete. (The flag of other objects is
 * not reliable: they have it before a dlopen that may still fail.) */
static bool is_ours(const struct dl_phdr_info *info)
{
    return contains(info, (uintptr_t)pp_modules_refresh);
}

static bool is_vdso(const struct dl_phdr_info *info)
{
    uintptr_t image = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
    return image != 0 && contains(info, image);
}

static const ElfW(Phdr) * find_segment(const struct dl_phdr_info *info, uint32_t type)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == type) {
            return &info->dlpi_phdr[i];
        }
    }
    return NULL;
}

/* The loader relocates the addresses in a dynamic section, except in the vDSO's read-only one. */
static uintptr_t dynamic_address(const struct dl_phdr_info *info, uintptr_t value)
{
    return value < info->dlpi_addr ? value + info->dlpi_addr : value;
}

static void read_dynamic(object *o)
{
    const struct dl_phdr_info *info = o->info;
    const ElfW(Phdr) *segment = find_segment(info, PT_DYNAMIC);
    if (segment == NULL) {
        return;
    }
    o->dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + segment->p_vaddr);
    size_t soname = 0;
    for (const ElfW(Dyn) *d = o->dynamic; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB) {
            o->strings = (const char *)dynamic_address(info, d->d_un.d_ptr);
        } else if (d->d_tag == DT_SONAME) {
            soname = d->d_un.d_val;
        }
    }
    if (o->strings != NULL && soname != 0) {
        o->soname = o->strings + soname;
    }
}

static int collect(struct dl_phdr_info *info, size_t size, void *context)
{
    scan *s = context;
    if (s->count == 0 && size >= offsetof(struct dl_phdr_info, dlpi_tls_modid)) {
        s->loads = info->dlpi_adds;
        s->unloads = info->dlpi_subs;
        if (scans.is_complete && s->loads == scans.loads && s->unloads == scans.unloads) {
            s->unchanged = true;
            return 1;
        }
    }
    if (s->count == s->capacity) {
        size_t capacity = s->capacity == 0 ? 64 : s->capacity * 2;
        object *larger = pp_arena_array(&s->arena, capacity, sizeof *larger);
        if (larger == NULL) {
            s->failed = true;
            return 1;
        }
        if (s->count > 0) {
            memcpy(larger, s->objects, s->count * sizeof *larger);
        }
        s->objects = larger;
        s->capacity = capacity;
    }
    struct dl_phdr_info *copy = pp_arena_alloc(&s->arena, sizeof *copy);
    if (copy == NULL) {
        s->failed = true;
        return 1;
    }
    memcpy(copy, info, size < sizeof *copy ? size : sizeof *copy);
    object *o = &s->objects[s->count++];
    *o = (object){.info = copy, .vdso = is_vdso(copy)};
    read_dynamic(o);
    return 0;
}

/* ---- permanence ---- */

typedef struct name_table {
    size_t mask;
    uint32_t *slots; /* index of the object + 1 */
} name_table;

static bool has_name(const object *o, const char *name)
{
    return (o->soname != NULL && strcmp(o->soname, name) == 0) ||
           strcmp(o->info->dlpi_name, name) == 0 ||
           strcmp(pp_base_name(o->info->dlpi_name), name) == 0;
}

static void insert_name(name_table *table, const char *name, size_t index)
{
    size_t at = pp_loaded_symbols_hash(name) & table->mask;
    while (table->slots[at] != 0) {
        at = (at + 1) & table->mask;
    }
    table->slots[at] = (uint32_t)index + 1;
}

static bool index_names(scan *s, name_table *table)
{
    size_t size = 16;
    while (size < s->count * 4) {
        size *= 2;
    }
    table->mask = size - 1;
    table->slots = pp_arena_array(&s->arena, size, sizeof *table->slots);
    if (table->slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < s->count; i++) {
        const object *o = &s->objects[i];
        insert_name(table, pp_base_name(o->info->dlpi_name), i);
        if (o->soname != NULL) {
            insert_name(table, o->soname, i);
        }
    }
    return true;
}

static object *find_name(scan *s, const name_table *table, const char *name)
{
    for (size_t at = pp_loaded_symbols_hash(pp_base_name(name)) & table->mask;
         table->slots[at] != 0; at = (at + 1) & table->mask) {
        object *o = &s->objects[table->slots[at] - 1];
        if (has_name(o, name) || has_name(o, pp_base_name(name))) {
            return o;
        }
    }
    return NULL;
}

/* The objects that the program and this library need cannot be unloaded either. */
static void mark_permanent(scan *s)
{
    name_table table;
    size_t *queue = pp_arena_array(&s->arena, s->count, sizeof *queue);
    if (s->count == 0 || queue == NULL || !index_names(s, &table)) {
        return;
    }
    size_t head = 0;
    size_t tail = 0;
    s->objects[0].permanent = true; /* dl_iterate_phdr reports the program first */
    for (size_t i = 0; i < s->count; i++) {
        if (pp_loader_never_unloads() || s->objects[i].vdso || is_ours(s->objects[i].info)) {
            s->objects[i].permanent = true;
        }
        if (s->objects[i].permanent) {
            queue[tail++] = i;
        }
    }
    while (head < tail) {
        const object *o = &s->objects[queue[head++]];
        for (const ElfW(Dyn) *d = o->dynamic; d != NULL && d->d_tag != DT_NULL; d++) {
            if (d->d_tag != DT_NEEDED || o->strings == NULL) {
                continue;
            }
            object *needed = find_name(s, &table, o->strings + d->d_un.d_val);
            if (needed != NULL && !needed->permanent) {
                needed->permanent = true;
                queue[tail++] = (size_t)(needed - s->objects);
            }
        }
    }
}

/* ---- the unwinder's table ---- */

static bool is_code(const ElfW(Phdr) * segment)
{
    return segment->p_type == PT_LOAD && (segment->p_flags & PF_X) && segment->p_memsz > 0;
}

/* A segment of code, and its object. */
typedef struct code {
    const object *of;
    const ElfW(Phdr) * segment;
} code;

static uintptr_t address_of(const code *c)
{
    return c->of->info->dlpi_addr + c->segment->p_vaddr;
}

static size_t count_code(const scan *s)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++) {
        for (int j = 0; j < s->objects[i].info->dlpi_phnum; j++) {
            count += is_code(&s->objects[i].info->dlpi_phdr[j]);
        }
    }
    return count;
}

/* Lists all segments of code, with their addresses as keys. */
static void list_code(const scan *s, code *list, pp_keyed *by_address)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++) {
        const object *o = &s->objects[i];
        for (int j = 0; j < o->info->dlpi_phnum; j++) {
            if (is_code(&o->info->dlpi_phdr[j])) {
                list[count] = (code){o, &o->info->dlpi_phdr[j]};
                by_address[count] = (pp_keyed){address_of(&list[count]), count};
                count++;
            }
        }
    }
}

/* The FDEs of a permanent object that lacks a table. */
struct listed {
    struct listed *next;
    uintptr_t eh_frame_hdr;
    size_t count;
    pp_keyed frames[];
};

static const struct listed *list_frames(const pp_module *module)
{
    size_t count = pp_module_list_frames(module, NULL, NULL, 0);
    size_t bytes = count * sizeof(pp_keyed);
    struct listed *l = count > 0 ? pp_memory_map(sizeof *l + bytes) : NULL;
    pp_keyed *spare = l != NULL ? pp_memory_map(bytes) : NULL;
    if (spare == NULL) {
        if (l != NULL) {
            pp_memory_unmap(l, sizeof *l + bytes);
        }
        return NULL;
    }
    l->next = scans.listed;
    l->eh_frame_hdr = module->eh_frame_hdr;
    l->count = count;
    pp_module_list_frames(module, NULL, l->frames, count);
    pp_key_sort(l->frames, spare, count);
    pp_memory_unmap(spare, bytes);
    scans.listed = l;
    return l;
}

/* Lists the FDEs once for each object: it stays where it is for ever. */
static void set_frames(pp_module *module)
{
    const struct listed *l = scans.listed;
    while (l != NULL && l->eh_frame_hdr != module->eh_frame_hdr) {
        l = l->next;
    }
    if (l == NULL) {
        l = list_frames(module);
    }
    if (l != NULL) {
        module->frames = l->frames;
        module->frame_count = l->count;
    }
}

static void describe(const scan *s, const code *c, pp_module *module)
{
    const struct dl_phdr_info *info = c->of->info;
    module->code_lo = address_of(c);
    module->code_hi = module->code_lo + c->segment->p_memsz;
    module->permanent = c->of->permanent;
    pp_module_cfi_describe(info, NULL, c->of == s->objects ? pp_program_file() : info->dlpi_name,
                           module);
    if (module->permanent && module->lacks_table) {
        set_frames(module);
    }
}

static bool publish_table(scan *s)
{
    size_t count = count_code(s);
    size_t bytes = sizeof(pp_module_table) + count * sizeof(pp_module);
    code *list = pp_arena_array(&s->arena, count, sizeof *list);
    pp_keyed *by_address = pp_arena_array(&s->arena, 2 * count, sizeof *by_address);
    pp_module_table *table = list != NULL && by_address != NULL ? pp_memory_map(bytes) : NULL;
    if (table == NULL) {
        return false; /* the old table is still right for permanent objects */
    }
    list_code(s, list, by_address);
    pp_key_sort(by_address, by_address + count, count);
    table->bytes = bytes;
    table->count = count;
    for (size_t i = 0; i < count; i++) {
        describe(s, &list[by_address[i].index], &table->module[i]);
    }
    pp_modules_publish(table);
    return true;
}

/* ---- the seen list ---- */

static const char vdso_name[] = "[vdso]";

static const char *object_path(const object *o, bool main_program)
{
    char buffer[PATH_MAX];
    const char *name = o->info->dlpi_name;
    if (o->vdso) {
        return vdso_name;
    }
    if (main_program) {
        static const char deleted[] = " (deleted)";
        long length = pp_link_read(pp_program_file(), buffer, sizeof buffer - 1);
        if (length > 0) {
            size_t tail = sizeof deleted - 1;
            if ((size_t)length > tail && memcmp(buffer + length - tail, deleted, tail) == 0) {
                length -= (long)tail;
            }
            return pp_arena_text(&scans.seen_arena, buffer, (size_t)length);
        }
    } else if (name[0] != '/' && pp_working_folder(buffer, sizeof buffer - 1 - strlen(name)) == 0) {
        /* dlopen("./x.so"): right if it is recorded before a chdir */
        size_t length = strlen(buffer);
        buffer[length++] = '/';
        memcpy(buffer + length, name, strlen(name));
        return pp_arena_text(&scans.seen_arena, buffer, length + strlen(name));
    }
    return pp_arena_text(&scans.seen_arena, name, strlen(name));
}

/* `before`: the list when the scan began. The objects of one scan do not overlap. */
static bool already_seen(const pp_seen *before, const pp_mapping *mapping, const char *name)
{
    for (const pp_seen *s = before; s != NULL; s = s->next) {
        if (s->mapping.start < mapping->limit && mapping->start < s->mapping.limit) {
            /* The newest object in this place: the same object, or one that was unloaded
             * meanwhile. */
            return s->mapping.start == mapping->start && s->mapping.limit == mapping->limit &&
                   s->mapping.offset == mapping->offset &&
                   s->mapping.build_id_size == mapping->build_id_size &&
                   memcmp(s->mapping.build_id, mapping->build_id, mapping->build_id_size) == 0 &&
                   (s->main_program ||
                    strcmp(pp_base_name(s->mapping.path), pp_base_name(name)) == 0);
        }
    }
    return false;
}

/* Whether libc is in the program: no object is libc. */
static bool is_static(const scan *s)
{
    size_t i = 0;
    while (i < s->count && !pp_libc_is(s->objects[i].soname) &&
           !(pp_loader_is_libc() && getauxval(AT_BASE) != 0)) {
        i++;
    }
    return i == s->count;
}

static uint8_t code_of(const scan *s, const object *o, bool main_program)
{
    if (main_program) {
        return is_static(s) ? PP_CODE_OF_PROGRAM | PP_CODE_OF_LIBC : PP_CODE_OF_PROGRAM;
    }
    if (pp_libc_is(o->soname)) {
        return PP_CODE_OF_LIBC;
    }
    uintptr_t loader = (uintptr_t)getauxval(AT_BASE);
    if (loader == 0 || !contains(o->info, loader)) {
        return 0;
    }
    return pp_loader_is_libc() ? PP_CODE_OF_LOADER | PP_CODE_OF_LIBC : PP_CODE_OF_LOADER;
}

static void remember_segment(const scan *s, const pp_seen *before, const object *o,
                             const ElfW(Phdr) * segment)
{
    const struct dl_phdr_info *info = o->info;
    bool main_program = o == s->objects;
    const uintptr_t page_mask = ~(uintptr_t)(PAGE - 1);
    pp_mapping mapping = {
        .start = (info->dlpi_addr + segment->p_vaddr) & page_mask,
        .limit = (info->dlpi_addr + segment->p_vaddr + segment->p_memsz + PAGE - 1) & page_mask,
        .offset = segment->p_offset & page_mask,
        .bias = info->dlpi_addr,
        .code_of = code_of(s, o, main_program),
        .in_memory = o->vdso,
    };
    pp_elf_build_id(info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr, mapping.build_id,
                    &mapping.build_id_size);
    if (scans.seen_count == MAX_SEEN ||
        already_seen(before, &mapping, o->vdso ? vdso_name : info->dlpi_name)) {
        return;
    }
    pp_seen *entry = pp_arena_alloc(&scans.seen_arena, sizeof *entry);
    mapping.path = object_path(o, main_program);
    if (entry == NULL || mapping.path == NULL) {
        return;
    }
    *entry = (pp_seen){.next = pp_modules_seen, .mapping = mapping, .main_program = main_program};
    __atomic_store_n(&pp_modules_seen, entry, __ATOMIC_RELEASE);
    scans.seen_count++;
}

static void remember_objects(const scan *s)
{
    const pp_seen *before = pp_modules_seen;
    for (size_t i = 0; i < s->count; i++) {
        const struct dl_phdr_info *info = s->objects[i].info;
        for (int j = 0; j < info->dlpi_phnum; j++) {
            if (is_code(&info->dlpi_phdr[j])) {
                remember_segment(s, before, &s->objects[i], &info->dlpi_phdr[j]);
            }
        }
    }
}

/* ---- refresh ---- */

/* Runs before the scan, without a lock of ours: the loader takes its own locks in another order. */
static void find_loader_state(void)
{
    const void *state = NULL;
    size_t size = 0;
    if (__atomic_load_n(&scans.loader_sought, __ATOMIC_ACQUIRE)) {
        return;
    }
    if (pp_loader_find_state(&state, &size)) {
        __atomic_store_n(&scans.loader_size, size, __ATOMIC_RELAXED);
        __atomic_store_n(&scans.loader, state, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&scans.loader_sought, true, __ATOMIC_RELEASE);
}

static void calibrate_epoch(const scan *s)
{
    pp_loader_calibrate(scans.loader, scans.loader_size, s->loads,
                        (uint32_t)(s->loads - s->unloads));
}

/* Does all that needs the objects to stay loaded, inside the loader's lock: in one callback. */
static int scan_all(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)info;
    (void)size;
    scan *s = context;
    pp_libc_each_object(collect, s); /* the loader's lock is recursive */
    if (!s->unchanged && !s->failed) {
        mark_permanent(s);
        bool published = publish_table(s);
        remember_objects(s);
        calibrate_epoch(s);
        if (published) {
            scans.loads = s->loads;
            scans.unloads = s->unloads;
            scans.is_complete = true;
        }
    }
    return 1;
}

/* The record of the first object has the loader's counters, so this reads no other object. */
static int calibrate_from_first(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)context;
    if (size >= offsetof(struct dl_phdr_info, dlpi_tls_modid)) {
        pp_loader_calibrate(scans.loader, scans.loader_size, info->dlpi_adds,
                            (uint32_t)(info->dlpi_adds - info->dlpi_subs));
    }
    return 1;
}

void pp_modules_init(void)
{
    pp_modules_set_entries((uintptr_t)getauxval(AT_BASE), (uintptr_t)getauxval(AT_ENTRY));
    find_loader_state();
    pp_libc_each_object(calibrate_from_first, NULL);
}

void pp_modules_refresh(void)
{
    if (pp_loader_is_suspect()) {
        return;
    }
    find_loader_state();
    if (!pp_lock_take_within(&scans.lock, pp_task_self(), scan_patience_ns)) {
        return;
    }
    scan s = {.arena = PP_ARENA_INIT};
    pp_libc_each_object(scan_all, &s);
    pp_arena_release(&s.arena);
    pp_lock_release(&scans.lock);
}

void pp_modules_before_fork(void)
{
    scans.fork_from_threads = !pp_loader_begin_fork();
}

void pp_modules_after_fork_in_parent(void)
{
    pp_loader_end_fork();
}

void pp_modules_after_fork_in_child(void)
{
    pp_lock_release(&scans.lock); /* in the child its holder, if any, does not exist */
    pp_modules_forget_readers();
    pp_loader_after_fork_in_child();
    pp_single_thread_after_fork_in_child();
    if (scans.fork_from_threads) {
        pp_loader_suspect();
    }
}
