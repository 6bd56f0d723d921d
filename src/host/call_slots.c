/* SPDX-License-Identifier: MIT
 *
 * call_slots.c: goes through the linkage tables once, and remembers which slots it has given to real
 * functions.
 *
 * A slot that is bound has the address of our entry. One that waits for the first call leads into
 * the object's own linkage table; the loader would fill in our entry if our definition is the first.
 *
 * Zone: NORMAL.
 * Locks: `lock`; the loader's second one, while slots are looked for.
 * Owns: the list.
 * Tested by: e2e.call_slots
 */
#include "host/call_slots.h"

#include "arch/linkage.h"
#include "arch/system_call.h"
#include "base/memory.h"
#include "modules/libc.h"
#include "modules/loaded_objects.h"
#include "sys/loaded_symbols.h"
#include "sys/lock.h"
#include "sys/tasks.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

enum {
    MOST_SLOTS = 1024 /* calls through further slots go by way of our functions */
};

typedef struct slot {
    uintptr_t *at;
    uint32_t hook;     /* its number */
    bool is_read_only; /* once the loader has bound it (RELRO) */
} slot;

static struct {
    pp_lock lock;
    size_t count;
    slot *slots; /* MOST_SLOTS while they are looked for, then as many as there are */
    uintptr_t entry[PP_CALLED_HOOKS], real[PP_CALLED_HOOKS]; /* of each hook; 0: not known */
} state;

enum { LETTERS = 3 };

typedef struct scan {
    const pp_called_hook *hooks;
    size_t count;
    bool is_later[PP_CALLED_HOOKS]; /* an object before us defines the function of the hook */
    bool has[LETTERS][256];         /* letters with which names begin: few others have all three */
    size_t objects;                 /* that are left */
} scan;

/* The linker defines it for this object. */
extern ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") __attribute__((weak, visibility("hidden")));

/* ---- one slot ---- */

static uintptr_t page_of(uintptr_t address)
{
    return address & ~(uintptr_t)(pp_page_bytes() - 1);
}

static bool protect(uintptr_t page, int protection)
{
    return pp_system_call(SYS_mprotect, page, pp_page_bytes(), protection) == 0;
}

static void close_page(uintptr_t *open)
{
    if (*open != 0) {
        protect(*open, PROT_READ);
        *open = 0;
    }
}

/* At most one page is writable at a time that was not; the slots of a page are together. */
static bool open_page(uintptr_t *open, const slot *s)
{
    uintptr_t page = page_of((uintptr_t)s->at);
    if (!s->is_read_only || page == *open) {
        return true;
    }
    close_page(open);
    *open = protect(page, PROT_READ | PROT_WRITE) ? page : 0;
    return *open != 0;
}

static bool change(uintptr_t *open, const slot *s, uintptr_t from, uintptr_t to)
{
    return open_page(open, s) &&
           __atomic_compare_exchange_n(s->at, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static bool may_be_hooked(const scan *s, const char *name)
{
    for (unsigned i = 0; i < LETTERS; i++) {
        if (!s->has[i][(unsigned char)name[i]]) {
            return false;
        }
    }
    return true;
}

/* The number of hooks if there is none. */
static size_t hook_of(const scan *s, const char *name)
{
    size_t i = may_be_hooked(s, name) ? 0 : s->count;
    while (i < s->count && strcmp(s->hooks[i].name, name) != 0) {
        i++;
    }
    return i;
}

/* ---- one object ---- */

typedef struct object {
    const struct dl_phdr_info *info;
    pp_loaded_symbols symbols;
    const ElfW(Rela) * calls;
    size_t count;
} object;

static bool is_in(const object *o, uintptr_t address, uint32_t flag)
{
    for (unsigned i = 0; i < o->info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &o->info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (p->p_flags & flag) != 0 &&
            address - (o->info->dlpi_addr + p->p_vaddr) < p->p_memsz) {
            return true;
        }
    }
    return false;
}

/* The loader rounds both ends of the part that it makes read-only down to pages. */
static bool is_relro(const object *o, uintptr_t address)
{
    for (unsigned i = 0; i < o->info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &o->info->dlpi_phdr[i];
        uintptr_t start = o->info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_GNU_RELRO && address >= page_of(start) &&
            address < page_of(start + p->p_memsz)) {
            return true;
        }
    }
    return false;
}

static void read_symbols(pp_loaded_symbols *symbols, const struct dl_phdr_info *info)
{
    pp_loaded_symbols_read(symbols, pp_loaded_dynamic(info), info->dlpi_addr);
}

static bool read_object(object *o, const struct dl_phdr_info *info)
{
    *o = (object){.info = info};
    read_symbols(&o->symbols, info);
    for (const ElfW(Dyn) *d = o->symbols.dynamic; d != NULL && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_JMPREL) {
            o->calls = (const ElfW(Rela) *)d->d_un.d_ptr;
        } else if (d->d_tag == DT_PLTRELSZ) {
            o->count = d->d_un.d_val / sizeof *o->calls;
        }
    }
    /* The vDSO's addresses are not relocated, and it calls nobody. */
    return o->calls != NULL && is_in(o, (uintptr_t)o->calls, PF_R) && o->symbols.symbols != NULL &&
           o->symbols.names != NULL;
}

static void look_at_slot(const scan *s, const object *o, const ElfW(Rela) * r)
{
    const ElfW(Sym) *symbol = &o->symbols.symbols[ELF64_R_SYM(r->r_info)];
    size_t i =
        symbol->st_shndx == SHN_UNDEF ? hook_of(s, o->symbols.names + symbol->st_name) : s->count;
    if (i == s->count || state.count == MOST_SLOTS) {
        return;
    }
    uintptr_t *at = (uintptr_t *)(o->info->dlpi_addr + r->r_offset);
    uintptr_t value = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (value == s->hooks[i].entry || (!s->is_later[i] && is_in(o, value, PF_X))) {
        state.slots[state.count++] =
            (slot){.at = at, .hook = (uint32_t)i, .is_read_only = is_relro(o, (uintptr_t)at)};
    }
}

/* Objects that were there at the start are never unloaded. */
static int look_at_object(struct dl_phdr_info *info, size_t size, void *context)
{
    scan *s = context;
    object o;
    (void)size;
    size_t count = read_object(&o, info) ? o.count : 0;
    for (size_t i = 0; i < count; i++) {
        if (pp_got_type_of(&o.calls[i]) == PP_GOT_CALL) {
            look_at_slot(s, &o, &o.calls[i]);
        }
    }
    return --s->objects == 0;
}

/* ---- all ---- */

/* Ends with us. dlsym would return the program's stub for a function whose address it takes. */
static int look_for_definitions(struct dl_phdr_info *info, size_t size, void *context)
{
    scan *s = context;
    pp_loaded_symbols symbols;
    (void)size;
    read_symbols(&symbols, info);
    if (symbols.dynamic == own_dynamic) {
        return 1;
    }
    for (size_t i = 0; i < s->count; i++) {
        const char *name = s->hooks[i].name;
        s->is_later[i] |= pp_loaded_symbols_defines(&symbols, name, pp_loaded_symbols_hash(name));
    }
    return 0;
}

/* Keeps the first `count` slots in a list that is not larger than they need, if there is memory. */
static void shorten(size_t count)
{
    slot *all = state.slots;
    slot *kept = count > 0 ? pp_memory_map(count * sizeof *kept) : NULL;
    state.count = count;
    if (count > 0 && kept == NULL) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        kept[i] = all[i];
    }
    state.slots = kept;
    pp_memory_unmap(all, MOST_SLOTS * sizeof *all);
}

static void find_slots(const pp_called_hook *hooks, size_t count)
{
    scan s = {.hooks = hooks, .count = count};
    if (pp_loaded_objects_at_begin() == 0) {
        pp_loaded_objects_begin();
    }
    s.objects = pp_loaded_objects_at_begin();
    for (size_t i = 0; i < count; i++) {
        for (unsigned letter = 0; letter < LETTERS; letter++) {
            s.has[letter][(unsigned char)hooks[i].name[letter]] = true;
        }
    }
    if (s.objects > 0 && count > 0) {
        pp_libc_each_object(look_for_definitions, &s);
        pp_libc_each_object(look_at_object, &s);
    }
}

/* Keeps the slots in the list that have real functions from now on. */
void pp_call_slots_bind(const pp_called_hook *hooks, size_t count)
{
    uintptr_t open = 0;
    size_t kept = 0;
    state.slots = pp_memory_map(MOST_SLOTS * sizeof *state.slots);
    if (state.slots == NULL) {
        return;
    }
    find_slots(hooks, count);
    for (size_t i = 0; i < state.count; i++) {
        const slot *s = &state.slots[i];
        const pp_called_hook *hook = &hooks[s->hook];
        uintptr_t *real = &state.real[s->hook];
        *real = *real != 0 ? *real : hook->find_real(hook->hook);
        state.entry[s->hook] = hook->entry;
        uintptr_t value = __atomic_load_n(s->at, __ATOMIC_ACQUIRE);
        uintptr_t to = hook->is_needed ? hook->entry : *real;
        if (*real != 0 && value != to && change(&open, s, value, to) && to == *real) {
            state.slots[kept++] = *s;
        }
    }
    close_page(&open);
    shorten(kept);
}

void pp_call_slots_give_back(void)
{
    uintptr_t open = 0;
    pp_lock_take(&state.lock, pp_task_self());
    for (; state.count > 0; state.count--) {
        const slot *s = &state.slots[state.count - 1];
        change(&open, s, state.real[s->hook], state.entry[s->hook]);
    }
    close_page(&open);
    pp_lock_release(&state.lock);
}

void pp_call_slots_after_fork(void)
{
    pp_lock_release(&state.lock);
}
