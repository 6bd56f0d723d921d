/* SPDX-License-Identifier: MIT
 *
 * jemalloc_find.c: searches tables of symbols for jemalloc's functions.
 *
 * Zone: NORMAL.
 * Locks: the loader's second one (modules/loaded_objects.h), while libraries are looked through.
 * Tested by: e2e.jemalloc_samples
 */
#include "kinds/heap/jemalloc_find.h"

#include "base/text.h"
#include "modules/find_object.h"
#include "modules/loaded_objects.h"
#include "symbol/function_symbols.h"
#include "symbol/omitted_functions.h"
#include "sys/program.h"

#include <string.h>

enum { VERSION_TEXT = 32, PATH_BYTES = 4096 };

static const char mallctl_name[] = "mallctl";

static struct {
    char told[PP_JEMALLOC_PREFIX];   /* by the user; "": nothing */
    char prefix[PP_JEMALLOC_PREFIX]; /* of what was found */
    char version[VERSION_TEXT];
    pp_jemalloc jemalloc; /* ask is NULL: not found */
} found;

bool pp_jemalloc_set_prefix(const char *prefix)
{
    size_t length = strlen(prefix);
    if (length >= sizeof found.told) {
        return false;
    }
    memcpy(found.told, prefix, length + 1);
    return true;
}

/* ---- names ---- */

/* The last prefix is none. */
enum { PREFIXES = 4 };

static const char *prefix_number(unsigned i)
{
    const char *const prefixes[PREFIXES] = {found.told, "_rjem_", "je_", ""};
    return prefixes[i];
}

/* NULL: it has another prefix. */
static const char *without_prefix(const char *name, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(name, prefix, length) == 0 ? name + length : NULL;
}

static bool is_mallctl(const char *name, const char *prefix)
{
    const char *rest = without_prefix(name, prefix);
    return rest != NULL && strcmp(rest, mallctl_name) == 0;
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strcspn(name, "."); /* then comes the compiler's suffix */
    size_t size = strlen(end);
    return length >= size && memcmp(name + length - size, end, size) == 0;
}

typedef enum role { OTHER, ALLOCATES, AS_MALLOC, AS_REALLOC, AS_NEW, MAPS, WALKS } role;

/*
 * What the function does, by its name. Those that malloc and its kin may jump to have names of
 * their own: malloc_default and do_rallocx, which may have prefixes, and the template
 * fallbackNewImpl.
 */
static role role_of(const char *name)
{
    const char *rest = without_prefix(name, found.prefix);
    if (pp_symbol_is_allocator(rest != NULL ? rest : name, false)) {
        return ALLOCATES;
    }
    return strstr(name, "fallbackNewImpl") != NULL  ? AS_NEW
           : ends_with(name, "malloc_default")      ? AS_MALLOC
           : ends_with(name, "do_rallocx")          ? AS_REALLOC
           : ends_with(name, "pages_map")           ? MAPS
           : ends_with(name, "prof_backtrace_impl") ? WALKS
                                                    : OTHER;
}

/* ---- one file ---- */

typedef struct reading {
    unsigned prefix;       /* the number of the best one with which there is a mallctl */
    uintptr_t mallctl;     /* that one; 0: none */
    uintptr_t shown[MAPS]; /* the function of a role that has another one shown for it */
    pp_jemalloc *to;
} reading;

static void look_for_mallctl(const char *name, uintptr_t start, uint64_t size, void *context)
{
    reading *r = context;
    (void)size;
    for (unsigned i = 0; i < r->prefix; i++) {
        if (is_mallctl(name, prefix_number(i))) {
            r->prefix = i;
            r->mallctl = start;
        }
    }
}

static void look_for_functions(const char *name, uintptr_t start, uint64_t size, void *context)
{
    static const char *const shown[MAPS] = {
        [AS_MALLOC] = "malloc", [AS_REALLOC] = "realloc", [AS_NEW] = "_Znwm"};
    reading *r = context;
    role what = role_of(name);
    for (role i = AS_MALLOC; what == ALLOCATES && i < MAPS; i++) {
        const char *rest = i == AS_NEW ? name : without_prefix(name, found.prefix);
        if (rest != NULL && strcmp(rest, shown[i]) == 0) {
            r->shown[i] = start;
        }
    }
    if (what == WALKS) {
        r->to->walk = start;
    } else if (what != OTHER && size > 0 && r->to->count < PP_JEMALLOC_FUNCTIONS) {
        r->to->function[r->to->count++] =
            (pp_jemalloc_function){.start = start,
                                   .limit = start + size,
                                   .shown_as = what == ALLOCATES ? start : (uintptr_t)what};
    }
}

/* Roles become the functions that are shown. */
static void finish_functions(const reading *r)
{
    for (size_t i = 0; i < r->to->count; i++) {
        pp_jemalloc_function *f = &r->to->function[i];
        if (f->shown_as == MAPS) {
            f->shown_as = 0;
        } else if (f->shown_as < MAPS) {
            uintptr_t shown = r->shown[f->shown_as];
            f->shown_as = shown != 0 ? shown : f->start;
        }
    }
}

/* Returns the address of mallctl; 0 if the file has none. */
static uintptr_t read_file(const char *path, uintptr_t bias, pp_jemalloc *to)
{
    reading r = {.prefix = PREFIXES, .to = to};
    pp_function_symbols_each(path, bias, mallctl_name, look_for_mallctl, &r);
    if (r.mallctl != 0) {
        const char *prefix = prefix_number(r.prefix);
        memcpy(found.prefix, prefix, strlen(prefix) + 1);
        pp_function_symbols_each(path, bias, mallctl_name, look_for_functions, &r);
        finish_functions(&r);
    }
    return r.mallctl;
}

/* ---- the loaded objects ---- */

typedef struct search {
    char path[PATH_BYTES]; /* of the library that has it; "": none */
    uintptr_t program_bias;
    uintptr_t mallctl; /* 0: none */
} search;

static uintptr_t mallctl_of(const pp_loaded_symbols *symbols, unsigned prefix)
{
    char name[PP_JEMALLOC_PREFIX + sizeof mallctl_name];
    size_t length = strlen(prefix_number(prefix));
    memcpy(name, prefix_number(prefix), length);
    memcpy(name + length, mallctl_name, sizeof mallctl_name);
    return pp_loaded_symbols_find(symbols, name);
}

/* Object 0 is the program, whose file is read in any case. */
static void look_at_objects(pp_loaded_objects *objects, void *context)
{
    search *s = context;
    s->program_bias = objects->count > 0 ? objects->object[0].symbols.bias : 0;
    for (size_t at = 1; at < objects->count && s->mallctl == 0; at++) {
        const pp_loaded_object *object = &objects->object[at];
        for (unsigned i = 0; i < PREFIXES && s->mallctl == 0; i++) {
            s->mallctl = mallctl_of(&object->symbols, i);
        }
        if (s->mallctl != 0 && strlen(object->path) < sizeof s->path) {
            memcpy(s->path, object->path, strlen(object->path) + 1);
        }
    }
}

static void find_in_library(const search *s)
{
    pp_found_object object;
    pp_jemalloc *to = &found.jemalloc;
    if (pp_object_find(s->mallctl, &object) || pp_object_find_listed(s->mallctl, &object)) {
        read_file(s->path, object.map->l_addr, to);
        to->ask = (pp_mallctl *)s->mallctl;
        to->start = object.start;
        to->limit = object.end;
    }
}

static void look_for_it(void)
{
    static search s;
    s = (search){.path = ""};
    pp_loaded_objects_read(look_at_objects, &s);
    found.jemalloc.ask =
        (pp_mallctl *)read_file(pp_program_file(), s.program_bias, &found.jemalloc);
    if (found.jemalloc.ask == NULL && s.mallctl != 0) {
        find_in_library(&s);
    }
}

/* ---- what it says ---- */

static bool says(const char *name)
{
    bool value = false;
    size_t size = sizeof value;
    return found.jemalloc.ask(name, &value, &size, NULL, 0) == 0 && value;
}

static bool has_hooks(void)
{
    void *hook = NULL;
    size_t size = sizeof hook;
    return found.jemalloc.ask("experimental.hooks.prof_sample", &hook, &size, NULL, 0) == 0;
}

/* The hook got its fifth argument between 5.3.0 and 5.3.1. */
static bool is_new_enough(void)
{
    static const unsigned needed[] = {5, 3, 1};
    const char *at = found.version;
    for (unsigned i = 0; i < sizeof needed / sizeof *needed; i++) {
        unsigned number = 0;
        for (; *at >= '0' && *at <= '9'; at++) {
            number = number * 10 + (unsigned)(*at - '0');
        }
        if (number != needed[i]) {
            return number > needed[i];
        }
        at += *at == '.';
    }
    return true;
}

static void ask_version(void)
{
    const char *version = NULL;
    size_t size = sizeof version;
    if (found.jemalloc.ask("version", &version, &size, NULL, 0) == 0 && version != NULL) {
        size_t length = strcspn(version, "-");
        length = length < sizeof found.version ? length : 0;
        memcpy(found.version, version, length);
        found.version[length] = '\0';
    }
}

/* ---- comments ---- */

/* The name of the variable of the environment that jemalloc reads its options from. */
static void add_variable(pp_text *text)
{
    char upper[PP_JEMALLOC_PREFIX];
    memcpy(upper, found.prefix, sizeof upper);
    for (char *c = upper; *c != '\0'; c++) {
        *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    }
    pp_text_add(text, upper);
    pp_text_add(text, "MALLOC_CONF");
}

void pp_jemalloc_describe(pp_jemalloc_state is, bool by_hooks)
{
    static const char *const words[] = {
        [PP_JEMALLOC_BARE] = ", which was built without its profiler (--enable-prof)",
        [PP_JEMALLOC_OLD] = ", whose profiler has no hooks for samples; they came with 5.3.1",
        [PP_JEMALLOC_OFF] = ", whose profiler is off; when the program starts, this turns it on: ",
        [PP_JEMALLOC_INACTIVE] = ", whose profiler waits until the program sets prof.active",
        [PP_JEMALLOC_ACTIVE] =
            ", whose own profiler chooses the blocks; their sizes are those of its classes"};
    pp_text text = PP_TEXT_INIT;
    if (is != PP_JEMALLOC_NONE && (!by_hooks || is == PP_JEMALLOC_OFF)) {
        pp_text_add(&text, "the program has jemalloc ");
        pp_text_add(&text, found.version);
        pp_text_add(&text, words[is]);
        if (is == PP_JEMALLOC_OFF) {
            add_variable(&text);
            pp_text_add(&text, "=prof:true");
        }
        if (!by_hooks && is < PP_JEMALLOC_ACTIVE) {
            pp_text_add(&text, is == PP_JEMALLOC_INACTIVE ? "; until then its blocks are not seen"
                                                          : "; its blocks are not seen");
        }
    }
    pp_jemalloc_set_about(text.data, text.length);
}

pp_jemalloc_state pp_jemalloc_find(void)
{
    if (found.jemalloc.ask == NULL) {
        look_for_it();
    }
    if (found.jemalloc.ask == NULL) {
        return PP_JEMALLOC_NONE;
    }
    ask_version();
    return !says("config.prof")               ? PP_JEMALLOC_BARE
           : !has_hooks() || !is_new_enough() ? PP_JEMALLOC_OLD
           : !says("opt.prof")                ? PP_JEMALLOC_OFF
           : !says("prof.active")             ? PP_JEMALLOC_INACTIVE
                                              : PP_JEMALLOC_ACTIVE;
}

const pp_jemalloc *pp_jemalloc_found(void)
{
    return &found.jemalloc;
}

bool pp_jemalloc_has_plain_names(void)
{
    return found.prefix[0] == '\0';
}
