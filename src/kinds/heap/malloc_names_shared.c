/* SPDX-License-Identifier: MIT
 *
 * malloc_names_shared.c: keeps the names that only some allocators have from programs that have no
 * such allocator.
 *
 * A program that finds mallocx by a weak reference or by dlsym takes it that jemalloc is there, and
 * calls more of it, or passes what it knows of jemalloc. In the file we define all these names,
 * since the libraries that a program was linked to are relocated before us: what they refer to must
 * be there, as a plain function. (One that is chosen at run time, STT_GNU_IFUNC, the loader would
 * take from an object that is not relocated yet, and say so on stderr.) When we are relocated, just
 * before the program, the names that nothing else that is loaded defines are hidden:
 *
 *   symbols in the file                      symbols as the loader sees them from then on
 *   mallocx               -> the entry       no value: as if it were not there
 *   mallocx@GLIBC_2.2.5   -> the entry       STT_GNU_IFUNC -> pp_resolve_mallocx
 *
 * Of a name with an old version, references without a version are bound to that, and dlsym does not
 * find it [glibc, elf/dl-lookup.c: check_match]. So dlsym says that there is no such symbol, a weak
 * reference is NULL as it is without us, and a library that dlopen brings together with its
 * allocator, or after it, has its calls hooked: the loader asks for the function when it binds the
 * reference.
 *
 * The loader reads the address of the table of symbols from our dynamic section at each search.
 * That section can be written to until we are relocated; the table itself cannot, so that a copy is
 * made.
 *
 * What remains: libraries that the program was linked to find the names as before. What is asked of
 * dlsym while its allocator came later is the allocator's own, and not counted.
 *
 * Zone: HOOK.
 * Locks: the loader's second one, when a reference is bound after the start.
 * Owns: the copy.
 */
#include "base/shown_as.h"
#include "kinds/heap/malloc_hook.h"
#include "modules/libc.h"
#include "sys/loaded_symbols.h"
#include "modules/loader.h"

#include <link.h>
#include <string.h>

enum { SYMBOLS_MAX = 640 };

typedef struct name {
    pp_malloc_hook *hook;
    pp_malloc_function *hidden;  /* where NAME@GLIBC_2.2.5 leads in the file */
    pp_malloc_function *resolve; /* the loader's own calls, without arguments */
} name;

#define DECLARE_NAME(symbol, shape)                                                                \
    extern pp_malloc_function pp_entry_##symbol;                                                   \
    extern pp_malloc_function pp_hidden_##symbol;                                                  \
    extern pp_malloc_function pp_resolve_##symbol;
PP_MALLOC_LIST_OTHERS(DECLARE_NAME)

#define NAME_OF(symbol, shape) {&pp_malloc_hook_##symbol, pp_hidden_##symbol, pp_resolve_##symbol},
static const name names[] = {PP_MALLOC_LIST_OTHERS(NAME_OF)};
enum { NAMES = sizeof names / sizeof *names };

/* The linker's: of this object. */
extern ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));
extern const char own_start[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern struct r_debug loaders_list __asm__("_r_debug") __attribute__((weak));

static ElfW(Sym) copy[SYMBOLS_MAX];
static bool has_started;

/* Entered by the resolvers in arch/. */
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
    const ElfW(Dyn) *dynamic = NULL;
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
            dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        }
    }
    show(context, dynamic, info->dlpi_addr);
    return 0;
}

/* All but ourselves, the program first. */
static void each_object(object_visit *visit, void *context)
{
    visitor v = {.visit = visit, .context = context};
    if (__atomic_load_n(&has_started, __ATOMIC_RELAXED) && !pp_loader_is_suspect()) {
        pp_libc_each_object(show_reported, &v);
        return;
    }
    /* There is one thread, and libc may not be ready to be called. */
    const struct link_map *map = &loaders_list != NULL ? loaders_list.r_map : NULL;
    for (; map != NULL; map = map->l_next) {
        show(&v, map->l_ld, map->l_addr);
    }
}

typedef struct search {
    const char *name;
    uint32_t hash;
    bool found;
} search;

/* The program's own definitions come before ours, or lead back to us. */
static void look_for_one(const pp_loaded_symbols *symbols, bool is_program, void *context)
{
    search *s = context;
    s->found = s->found || (!is_program && pp_loaded_symbols_defines(symbols, s->name, s->hash)) ||
               pp_loaded_symbols_needs(symbols, s->name);
}

/* Without a list of objects nothing is known: as it would be without this file. */
static bool can_tell(void)
{
    return &loaders_list != NULL && loaders_list.r_map != NULL;
}

/* Who needs a name that nobody defines is served by a stand-in (malloc_fallback.c): NULL would be
 * called. */
__attribute__((visibility("hidden"), used)) pp_malloc_function *
pp_malloc_if_wanted(const pp_malloc_hook *hook)
{
    search s = {.name = hook->name, .hash = pp_loaded_symbols_hash(hook->name)};
    each_object(look_for_one, &s);
    return s.found ? hook->entry : NULL;
}

/* ---- the table of symbols ---- */

/* How many there are: the last one is at the end of a chain [System V ABI, DT_GNU_HASH]. */
static size_t count_symbols(const uint32_t *gnu_hash)
{
    uint32_t bucket_count = gnu_hash[0];
    uint32_t first = gnu_hash[1];
    const uint32_t *buckets = gnu_hash + 4 + gnu_hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chains = buckets + bucket_count;
    uint32_t last = 0;
    for (uint32_t i = 0; i < bucket_count; i++) {
        last = buckets[i] > last ? buckets[i] : last;
    }
    if (last < first) {
        return 0;
    }
    while ((chains[last - first] & 1) == 0) {
        last++;
    }
    return last + 1;
}

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

/* Code lies in the order of the list, that of the entries and that of the others. NAMES: none of
 * these. */
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

static void hide_names(void)
{
    pp_loaded_symbols own;
    all_names all;
    ElfW(Dyn) *table = NULL;
    for (ElfW(Dyn) *d = own_dynamic; d->d_tag != DT_NULL; d++) {
        table = d->d_tag == DT_SYMTAB ? d : table;
    }
    pp_loaded_symbols_read(&own, own_dynamic, (uintptr_t)own_start);
    /* Loaders that leave the section as it is in the file are left alone. */
    if (table == NULL || table->d_un.d_ptr != (uintptr_t)own.symbols || own.gnu_hash == NULL ||
        !can_tell()) {
        return;
    }
    size_t count = count_symbols(own.gnu_hash);
    if (count == 0 || count > SYMBOLS_MAX) {
        return;
    }
    memcpy(copy, own.symbols, count * sizeof *copy);
    find_defined(&all);
    for (size_t i = 0; i < count; i++) {
        size_t at = copy[i].st_shndx != SHN_UNDEF ? name_at((uintptr_t)own_start + copy[i].st_value)
                                                  : NAMES;
        if (at < NAMES && !all.defined[at]) {
            hide(&copy[i], &names[at]);
        }
    }
    table->d_un.d_ptr = (uintptr_t)copy;
}

/* ---- when ---- */

static void nothing(void)
{
}

/* The loader chooses this library's own functions last of all that it does to relocate it. */
__attribute__((used)) static void (*hide_names_and_choose(void))(void)
{
    hide_names();
    return nothing;
}

static void chosen(void) __attribute__((ifunc("hide_names_and_choose")));
__attribute__((used)) static void (*const volatile makes_the_loader_choose)(void) = chosen;

PP_NOT_SHOWN(start);
__attribute__((constructor)) static void start(void)
{
    __atomic_store_n(&has_started, true, __ATOMIC_RELAXED);
}
