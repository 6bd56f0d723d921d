/* SPDX-License-Identifier: MIT
 *
 * lines.c: see lines.h.
 *
 * If libdw gets no memory it ends the process, unless it has a handler, which must not return. The
 * handler here jumps back to pp_dwarf_find_lines(). The memory that libdw allocated is not freed
 * then: its state is not consistent.
 *
 * Owns: nothing after the call.
 */
#include "dwarf/lines.h"

#include "dwarf/array.h"
#include "dwarf/debug_file.h"
#include "dwarf/line_table.h"
#include "dwarf/scopes.h"
#include "dwarf/split_unit.h"
#include "dwarf/units.h"

#include <dwarf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { GNU_DISCRIMINATOR = 0x2136 }; /* DW_AT_GNU_discriminator, which elfutils' dwarf.h lacks */

/* An address and its unit. */
typedef struct wanted {
    Dwarf_Addr address; /* in the file */
    size_t index;       /* the caller's */
    long unit;
} wanted;

typedef struct finder {
    const pprof_dwarf_module *module;
    const pprof_dwarf_host *host;
    pp_debug_file file;
    pp_units units;
    pp_scopes scopes;
    pp_split_search splits;
    pp_split_unit split; /* the current one */
    wanted *wanted;      /* by unit, then by address */
    size_t count;
    Dwarf_Addr *addresses; /* of the current unit */
    int *innermost;        /* the scopes of these addresses */
    pprof_dwarf_function *functions;
    size_t function_room;
} finder;

static __thread jmp_buf *without_memory;

static void no_memory(void)
{
    longjmp(*without_memory, 1);
}

/* ---- a function ---- */

static const char *text_of(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute found;
    return dwarf_formstring(dwarf_attr_integrate(die, attribute, &found));
}

/* The linkage name is preferred: functions with equal names in the source have different ones. */
static const char *name_of(Dwarf_Die *die)
{
    static const unsigned attributes[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
    const char *name = NULL;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        name = text_of(die, attributes[i]);
        if (name != NULL && *name != '\0') {
            return name;
        }
    }
    return NULL;
}

static uint32_t number_of(Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute found;
    Dwarf_Word number = 0;
    if (dwarf_formudata(dwarf_attr(die, attribute, &found), &number) != 0 || number > UINT32_MAX) {
        return 0;
    }
    return (uint32_t)number;
}

/* The file in which a function is declared. In a split unit it is a number in the skeleton's table,
 * which libdw does not have there. Number 0 is the unit's own source since DWARF 5, and none for libdw. */
static const char *declared_in_file(const finder *f, const pp_line_table *table, Dwarf_Die *die)
{
    Dwarf_Attribute found;
    Dwarf_Word number = 0;
    if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &found), &number) != 0) {
        return NULL;
    }
    if (f->split.dwarf == NULL && (number != 0 || found.cu != die->cu)) {
        return dwarf_decl_file(die);
    }
    return pp_line_table_raw_file(table, number);
}

/* 0 if the function is declared in another file. */
static uint32_t start_line_of(const finder *f, const pp_line_table *table, Dwarf_Die *die,
                              size_t file)
{
    const char *declared_in = declared_in_file(f, table, die);
    const char *raw_file = pp_line_table_raw_file(table, file);
    int line = 0;
    if (declared_in == NULL || raw_file == NULL || strcmp(declared_in, raw_file) != 0 ||
        dwarf_decl_line(die, &line) != 0 || line < 0) {
        return 0;
    }
    return (uint32_t)line;
}

/* ---- an address ---- */

/* If `die` is NULL, only the line is known. */
static bool add_function(finder *f, pp_line_table *table, size_t *count, Dwarf_Die *die,
                         const pp_source_line *at)
{
    pprof_dwarf_function *functions =
        pp_array_more(f->functions, &f->function_room, *count, sizeof *functions);
    if (functions == NULL) {
        return false;
    }
    f->functions = functions;
    functions[*count] = (pprof_dwarf_function){.file = pp_line_table_file(table, at->file),
                                               .line = at->line,
                                               .discriminator = at->discriminator};
    if (die != NULL) {
        functions[*count].name = name_of(die);
        functions[*count].start_line = start_line_of(f, table, die, at->file);
    }
    ++*count;
    return true;
}

/* Moves `at` to the call of an inlined function; to the same file if the table does not have the
 * call's. */
static void go_to_call(const pp_line_table *table, Dwarf_Die *inlined, pp_source_line *at)
{
    size_t file = number_of(inlined, DW_AT_call_file);
    at->line = number_of(inlined, DW_AT_call_line);
    at->discriminator = number_of(inlined, GNU_DISCRIMINATOR);
    if (pp_line_table_raw_file(table, file) != NULL) {
        at->file = file;
    }
}

/* Tells what a symbol table knows of the address. */
static void tell_name(finder *f, const wanted *w)
{
    const pp_function_symbol *symbol = pp_symbols_find(&f->file.symbols, w->address);
    if (symbol == NULL) {
        return;
    }
    const pprof_dwarf_function function = {.name = symbol->name};
    const pprof_dwarf_place place = {.index = w->index,
                                     .functions = &function,
                                     .count = 1,
                                     .entry = symbol->start + f->file.bias,
                                     .limit = symbol->end + f->file.bias,
                                     .bias = f->file.bias};
    f->host->found(f->host->context, &place);
}

static void tell_names(finder *f, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        tell_name(f, &f->wanted[i]);
    }
}

/* Goes from the innermost scope outwards: the call of an inlined function is the line of its outer
 * scope at this address. */
static int tell(finder *f, pp_line_table *table, const wanted *w, int scope, bool split)
{
    pprof_dwarf_place place = {.index = w->index, .may_lack_inlined = split};
    pp_source_line at;
    if (!pp_line_table_find(table, w->address, &at)) {
        tell_name(f, w);
        return 0;
    }
    if (scope == PP_SCOPE_NONE && !add_function(f, table, &place.count, NULL, &at)) {
        return -ENOMEM;
    }
    while (scope != PP_SCOPE_NONE) {
        pp_scope *s = &f->scopes.scope[scope];
        if (!add_function(f, table, &place.count, &s->die, &at)) {
            return -ENOMEM;
        }
        place.entry = s->entry + f->file.bias; /* after the loop: that of the outermost scope */
        go_to_call(table, &s->die, &at);
        scope = s->outer;
    }
    const pp_function_symbol *symbol = pp_symbols_find(&f->file.symbols, w->address);
    if (symbol != NULL) {
        f->functions[place.count - 1].name = symbol->name;
        place.entry = symbol->start + f->file.bias;
        place.limit = symbol->end + f->file.bias;
    }
    place.bias = f->file.bias;
    place.functions = f->functions;
    f->host->found(f->host->context, &place);
    return 0;
}

/* ---- all of them ---- */

static int find_scopes(finder *f, pp_unit *unit, size_t count)
{
    int error = unit->split ? pp_split_unit_open(&f->splits, &unit->die, &f->split) : 0;
    if (error != 0) {
        return error;
    }
    Dwarf_Die *die = f->split.dwarf != NULL ? &f->split.die : &unit->die;
    return pp_scopes_find(&f->scopes, die, f->addresses, count, f->innermost);
}

static int find_in_unit(finder *f, size_t first, size_t count)
{
    pp_unit *unit = &f->units.unit[f->wanted[first].unit];
    pp_line_table table;
    for (size_t i = 0; i < count; i++) {
        f->addresses[i] = f->wanted[first + i].address;
    }
    pp_line_table_open(&table, &unit->die);
    int error = table.count > 0 ? find_scopes(f, unit, count) : 0;
    bool lacks = unit->split && f->split.dwarf == NULL;
    for (size_t i = 0; error == 0 && i < count && table.count > 0; i++) {
        error = tell(f, &table, &f->wanted[first + i], f->innermost[i], lacks);
    }
    if (table.count == 0) {
        tell_names(f, first, count);
    }
    pp_split_unit_close(&f->split);
    pp_line_table_close(&table);
    return error;
}

static int by_unit(const void *left, const void *right)
{
    const wanted *a = left;
    const wanted *b = right;
    if (a->unit != b->unit) {
        return a->unit > b->unit ? 1 : -1;
    }
    return (a->index > b->index) - (a->index < b->index); /* addresses ascend with it */
}

static int sort_by_unit(finder *f, const uint64_t *addresses)
{
    f->wanted = calloc(f->count, sizeof *f->wanted);
    f->addresses = calloc(f->count, sizeof *f->addresses);
    f->innermost = calloc(f->count, sizeof *f->innermost);
    if (f->wanted == NULL || f->addresses == NULL || f->innermost == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < f->count; i++) {
        Dwarf_Addr address = addresses[i] - f->file.bias;
        f->wanted[i] = (wanted){address, i, pp_units_find(&f->units, address)};
    }
    qsort(f->wanted, f->count, sizeof *f->wanted, by_unit);
    return 0;
}

static int find_all(finder *f, const uint64_t *addresses)
{
    int error = pp_debug_file_open(f->module, f->host, no_memory, &f->file);
    if (error == 0 && f->file.dwarf != NULL) {
        error = pp_units_read(&f->file, &f->units);
    }
    if (error == 0 || f->file.symbols.count > 0) {
        int unsorted = sort_by_unit(f, addresses);
        error = error != 0 ? error : unsorted;
    }
    if (error != 0 && f->wanted != NULL) {
        tell_names(f, 0, f->count);
    }
    for (size_t i = 0, end; error == 0 && i < f->count; i = end) {
        for (end = i + 1; end < f->count && f->wanted[end].unit == f->wanted[i].unit;) {
            end++;
        }
        if (f->wanted[i].unit != PP_UNIT_NONE) {
            error = find_in_unit(f, i, end - i);
        } else {
            tell_names(f, i, end - i);
        }
    }
    return error;
}

static void release(finder *f)
{
    free(f->wanted);
    free(f->addresses);
    free(f->innermost);
    free(f->functions);
    pp_scopes_release(&f->scopes);
    pp_units_release(&f->units);
    pp_split_unit_close(&f->split);
    pp_split_search_end(&f->splits);
    pp_debug_file_release(&f->file);
    free(f);
}

int pp_dwarf_find_lines(const pprof_dwarf_module *module, const uint64_t *addresses, size_t count,
                        const pprof_dwarf_host *host)
{
    jmp_buf here;
    jmp_buf *outer = without_memory;
    finder *const f = calloc(1, sizeof *f);
    if (f == NULL) {
        return -ENOMEM;
    }
    f->module = module;
    f->host = host;
    f->count = count;
    f->splits =
        (pp_split_search){.module = module, .host = host, .file = &f->file, .no_memory = no_memory};
    if (setjmp(here) != 0) {
        without_memory = outer;
        f->file.dwarf = f->file.shared = f->split.dwarf = NULL;
        release(f);
        return -ENOMEM;
    }
    without_memory = &here;
    int error = count > 0 ? find_all(f, addresses) : 0;
    without_memory = outer;
    release(f);
    return error;
}
