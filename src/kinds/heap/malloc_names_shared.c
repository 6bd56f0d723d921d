/* SPDX-License-Identifier: MIT
 *
 * malloc_names_shared.c: hides the names that only some allocators have, if the program has no such
 * allocator.
 *
 * A program that finds mallocx by a weak reference or by dlsym concludes that its allocator is
 * jemalloc, and calls more functions of jemalloc, or passes arguments that only jemalloc
 * understands. The library file defines all these names, because the loader relocates the libraries
 * that a program was linked to before us: their references need a definition, as a plain function.
 * (If it were an STT_GNU_IFUNC, the loader would call a resolver in an object that is not relocated
 * yet, and warn on stderr.) The loader relocates us just before the program. At that moment this
 * file hides the names that no other loaded object defines:
 *
 *   symbols in the file                      symbols as the loader sees them from then on
 *   mallocx               -> the entry       no value: as if there were no symbol
 *   mallocx@GLIBC_2.2.5   -> the entry       STT_GNU_IFUNC -> pp_resolve_mallocx
 *
 * If a name has only an old version, the loader binds references without a version to it, and dlsym
 * does not find it [glibc, elf/dl-lookup.c: check_match]. So dlsym reports that there is no such
 * symbol, and a weak reference is NULL, as without us. Calls of a library that dlopen loads
 * together with its allocator, or after it, are hooked: the loader calls the resolver when it binds
 * the reference.
 *
 * The loader reads the address of the symbol table from our dynamic section at each search. That
 * section is writable until we are relocated; the table is not, so this file copies it.
 *
 * Limits: libraries that the program was linked to find the names nevertheless. If the allocator is
 * loaded later, dlsym returns the allocator's own functions, whose calls are not counted.
 *
 * Zone: HOOK.
 * Locks: the loader's second one, when the loader binds a reference after the start.
 * Owns: the copy.
 * Tested by: e2e.allocator_names, e2e.late_names
 */
#include "arch/shown_as.h"
#include "kinds/heap/malloc_hook.h"
#include "modules/late.h"
#include "modules/libc.h"
#include "modules/loader.h"
#include "modules/loaders_list.h"
#include "sys/loaded_symbols.h"

#include <link.h>
#include <string.h>

enum { SYMBOLS_MAX = 640 };

typedef struct name {
    pp_malloc_hook *hook;
    pp_malloc_function *hidden;  /* the value of NAME@GLIBC_2.2.5 in the file */
    pp_malloc_function *resolve; /* called by the loader, without arguments */
} name;

#define DECLARE_NAME(symbol, shape)                                                                \
    extern pp_malloc_function pp_entry_##symbol;                                                   \
    extern pp_malloc_function pp_hidden_##symbol;                                                  \
    extern pp_malloc_function pp_resolve_##symbol;
PP_MALLOC_LIST_OTHERS(DECLARE_NAME)

#define NAME_OF(symbol, shape) {&pp_malloc_hook_##symbol, pp_hidden_##symbol, pp_resolve_##symbol},
static const name names[] = {PP_MALLOC_LIST_OTHERS(NAME_OF)};
enum { NAMES = sizeof names / sizeof *names };

/* The linker defines these for this object. */
extern ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));
extern const char own_start[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));

static struct {
    ElfW(Sym) copy[SYMBOLS_MAX];
    bool has_started;
} state;

/* Only the resolvers call this function. */
pp_malloc_function *pp_malloc_if_wanted(const pp_malloc_hook *hook);

/* ---- who defines a name, or needs it ---- */

typedef void object_visit(const pp_loaded_symbols *symbols, bool is_program, void *context);

typedef struct visitor {
    object_visit *visit;
    void *context;
    unsigned seen;
} visitor;

static void show(visitor *v, const ElfW(Dyn) * dynamic, uintptr_t bias)
{
    pp_loaded_symbols symbols;
    bool is_program = v->seen++ == 0;
    if (dynamic != NULL && dynamic != own_dynamic) {
        pp_loaded_symbols_read(&symbols, dynamic, bias);
        v->visit(&symbols, is_program, v->context);
    }
}

static int show_reported(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    show(context, pp_loaded_dynamic(info), info->dlpi_addr);
    return 0;
}

/* Visits all objects except this library, the program first. */
static void each_object(object_visit *visit, void *context)
{
    visitor v = {.visit = visit, .context = context};
    if (__atomic_load_n(&state.has_started, __ATOMIC_RELAXED) && !pp_loader_is_suspect()) {
        pp_libc_each_object(show_reported, &v);
        return;
    }
    /* The process has one thread, and libc may not be initialised yet. */
    const struct link_map *map = pp_loaders_list();
    for (; map != NULL; map = map->l_next) {
        show(&v, map->l_ld, map->l_addr);
    }
}

typedef struct search {
    const char *name;
    uint32_t hash;
    bool found;
} search;

/* Ignores the program's own definitions, which come before ours, or lead back to us. */
static void look_for_one(const pp_loaded_symbols *symbols, bool is_program, void *context)
{
    search *s = context;
    s->found = s->found || (!is_program && pp_loaded_symbols_defines(symbols, s->name, s->hash)) ||
               pp_loaded_symbols_needs(symbols, s->name);
}

/* Without a list of objects, no name is hidden. */
static bool can_tell(void)
{
    return pp_loaders_list() != NULL;
}

/* Returns NULL if no object defines or needs the name. If an object needs a name that nobody
 * defines, it gets a stand-in (malloc_fallback.c), since it would call NULL. */
__attribute__((visibility("hidden"), used)) pp_malloc_function *
pp_malloc_if_wanted(const pp_malloc_hook *hook)
{
    search s = {.name = hook->name, .hash = pp_loaded_symbols_hash(hook->name)};
    each_object(look_for_one, &s);
    return s.found ? hook->entry : NULL;
}

/* ---- the table of symbols ---- */

typedef struct all_names {
    uint32_t hash[NAMES];
    bool defined[NAMES];
} all_names;

static void look_for_all(const pp_loaded_symbols *symbols, bool is_program, void *context)
{
    all_names *all = context;
    for (size_t i = 0; !is_program && i < NAMES; i++) {
        all->defined[i] = all->defined[i] ||
                          pp_loaded_symbols_defines(symbols, names[i].hook->name, all->hash[i]);
    }
}

static void find_defined(all_names *all)
{
    for (size_t i = 0; i < NAMES; i++) {
        all->hash[i] = pp_loaded_symbols_hash(names[i].hook->name);
        all->defined[i] = false;
    }
    each_object(look_for_all, all);
}

static uintptr_t place_of(size_t i, bool hidden)
{
    return (uintptr_t)(hidden ? names[i].hidden : names[i].hook->entry);
}

/* Returns the index of the name whose code is at the address; NAMES if there is none. The entries
 * are in the order of the list, and so are the others. */
static size_t name_at(uintptr_t address)
{
    bool hidden = address >= place_of(0, true) && address <= place_of(NAMES - 1, true);
    size_t low = 0;
    size_t high = NAMES;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (place_of(middle, hidden) < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < NAMES && place_of(low, hidden) == address ? low : NAMES;
}

static void hide(ElfW(Sym) * symbol, const name *of)
{
    if ((uintptr_t)own_start + symbol->st_value == (uintptr_t)of->hook->entry) {
        symbol->st_value = 0;
    } else {
        symbol->st_value = (uintptr_t)of->resolve - (uintptr_t)own_start;
        symbol->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
    }
}

/* Nobody sees the names of a library that came late. */
static void hide_names(void)
{
    pp_loaded_symbols own;
    all_names all;
    ElfW(Dyn) *table = NULL;
    for (ElfW(Dyn) *d = own_dynamic; d->d_tag != DT_NULL; d++) {
        table = d->d_tag == DT_SYMTAB ? d : table;
    }
    pp_loaded_symbols_read(&own, own_dynamic, (uintptr_t)own_start);
    /* Does nothing if the loader has not relocated the addresses in the section. */
    if (table == NULL || table->d_un.d_ptr != (uintptr_t)own.symbols || own.gnu_hash == NULL ||
        !can_tell() || pp_late_find()) {
        return;
    }
    size_t count = pp_loaded_symbols_count(&own);
    if (count == 0 || count > SYMBOLS_MAX) {
        return;
    }
    memcpy(state.copy, own.symbols, count * sizeof *state.copy);
    find_defined(&all);
    for (size_t i = 0; i < count; i++) {
        size_t at = state.copy[i].st_shndx != SHN_UNDEF
                        ? name_at((uintptr_t)own_start + state.copy[i].st_value)
                        : NAMES;
        if (at < NAMES && !all.defined[at]) {
            hide(&state.copy[i], &names[at]);
        }
    }
    table->d_un.d_ptr = (uintptr_t)state.copy;
}

/* ---- the moment ---- */

static void do_nothing(void)
{
}

/* The loader calls this library's own resolvers at the very end of the relocation. */
__attribute__((used)) static void (*hide_names_and_choose(void))(void)
{
    hide_names();
    return do_nothing;
}

static void chosen(void) __attribute__((ifunc("hide_names_and_choose")));
__attribute__((used)) static void (*const volatile makes_the_loader_choose)(void) = chosen;

PP_NOT_SHOWN(start);
__attribute__((constructor)) static void start(void)
{
    __atomic_store_n(&state.has_started, true, __ATOMIC_RELAXED);
}
