/* SPDX-License-Identifier: MIT
 *
 * alloctrace_names.c: the namer of the trace: finds functions and modules of addresses in the
 * middle of the program's malloc.
 *
 * The namer is apart from alloctrace.c, which belongs to the hooks and does not read symbols. It
 * calls only what also writes a profile in a fatal signal's handler: no malloc, no stdio, no lock.
 *
 * Zone: NORMAL, and the fatal-signal writer (opens and reads files; maps memory).
 * Locks: none; the caller holds the trace's lock.
 * Owns: the texts of the last call.
 * Tested by: e2e.alloctrace
 */
#include "kinds/heap/alloctrace_names.h"

#include "base/sort.h"
#include "demangle/demangler.h"
#include "kinds/heap/alloctrace.h"
#include "kinds/heap/heap.h"
#include "modules/modules.h"
#include "output/symbolize.h"
#include "symbol/places.h"

#include <malloc.h>
#include <pthread.h>
#include <string.h>

/* NULL in a fully static program whose own malloc lacks this function. */
extern __typeof__(malloc_usable_size) malloc_usable_size __attribute__((weak));

static pp_arena texts = PP_ARENA_INIT;

static int by_address(const void *a, const void *b, void *context)
{
    (void)context;
    const pp_trace_place *x = a;
    const pp_trace_place *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

/* Names the places from `places` on that lie in mappings[index]. Returns their number. */
static size_t name_run(const pp_mapping *mappings, size_t mapping_count, size_t index,
                       pp_trace_place *places, size_t count)
{
    const pp_mapping *mapping = &mappings[index];
    size_t run = 0;
    while (run < count && places[run].address < mapping->limit) {
        run++;
    }
    uintptr_t *addresses = pp_arena_array(&texts, run, sizeof *addresses);
    pp_symbol *symbols = pp_arena_array(&texts, run, sizeof *symbols);
    if (addresses == NULL || symbols == NULL) {
        return run;
    }
    for (size_t i = 0; i < run; i++) {
        addresses[i] = places[i].address;
    }
    pp_demangler demangler = pp_demangler_begin_small(&texts);
    pp_places_resolve(mappings, mapping_count, index, addresses, run, symbols, &texts);
    for (size_t i = 0; i < run; i++) {
        places[i].function =
            symbols[i].name != NULL ? pp_demangle(&demangler, symbols[i].name) : NULL;
        places[i].offset = symbols[i].name != NULL ? places[i].address - symbols[i].entry : 0;
        places[i].module = mapping->path != NULL && *mapping->path != '\0' ? mapping->path : NULL;
        places[i].module_offset = places[i].address - mapping->bias;
    }
    return run;
}

/* Returns the index of the mapping that has the address; `count` if none has. */
static size_t mapping_of(const pp_mapping *mappings, size_t count, uintptr_t address)
{
    size_t i = 0;
    while (i < count && (address < mappings[i].start || address >= mappings[i].limit)) {
        i++;
    }
    return i;
}

static void name_places(pp_trace_place *places, size_t count)
{
    int cancel_state = PTHREAD_CANCEL_DISABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pp_mapping *mappings = NULL;
    size_t mapping_count = 0;
    pp_arena_release(&texts);
    pp_modules_mappings(&texts, &mappings, &mapping_count);
    pp_sort(places, count, sizeof *places, by_address, NULL);
    for (size_t i = 0; i < count;) {
        size_t index = mapping_of(mappings, mapping_count, places[i].address);
        i += index < mapping_count ? name_run(mappings, mapping_count, index, places + i, count - i)
                                   : 1;
    }
    pthread_setcancelstate(cancel_state, NULL);
}

void pp_alloctrace_begin(void)
{
    if (malloc_usable_size != NULL) {
        malloc_usable_size(NULL); /* finds the real function, which a free could not do */
    }
    pp_alloctrace_start(pp_symbolize_wanted() != PP_SYMBOLIZE_NONE ? name_places : NULL);
    pp_heap_look_at_all();
}
