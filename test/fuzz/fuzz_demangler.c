/* SPDX-License-Identifier: MIT
 *
 * fuzz_demangler.c: any bytes as the name of a symbol.
 *
 * What comes out is a text of one line that is the same when it is asked for again; no name takes
 * more than its share of steps and of text.
 *
 * Sources: src/demangle/demangler.c src/demangle/mangled.c src/demangle/punycode.c
 * Sources: src/demangle/rust_first.c src/demangle/rust_second.c
 * Sources: src/demangle/cxx_symbol.c src/demangle/cxx_name.c src/demangle/cxx_lambda.c
 * Sources: src/demangle/cxx_template.c
 * Sources: src/demangle/cxx_type.c src/demangle/cxx_expression.c
 * Sources: src/base/arena.c src/base/memory.c src/base/text.c
 * Seeds: names of both languages, and such as stand for endless ones, in corpus/demangler/.
 */
#include "demangle/cxx.h"
#include "demangle/demangler.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_bounds(const pp_cxx *work)
{
    if (work->m.steps > PP_MANGLED_STEPS + 1 || work->m.used > PP_MANGLED_TEXT ||
        work->reference_count > PP_CXX_REFERENCES || work->argument_count > PP_CXX_ARGUMENTS ||
        work->declared_count > PP_CXX_DECLARED)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *name = malloc(size + 1); /* exactly as long */
    pp_arena arena = PP_ARENA_INIT;
    pp_demangler demangler = pp_demangler_begin(&arena);
    memcpy(name, data, size);
    name[size] = '\0';
    const char *first = pp_demangle(&demangler, name);
    const char *second = pp_demangle(&demangler, name);
    if (strcmp(first, second) != 0)
        abort();
    if (*first == '\0' && *name != '\0')
        abort();
    for (const char *c = first; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ')
            abort();
    }
    if (demangler.work != NULL)
        check_bounds(demangler.work);
    pp_arena_release(&arena);
    free(name);
    return 0;
}
