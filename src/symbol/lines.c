/* SPDX-License-Identifier: MIT
 *
 * lines.c: stores the source of lines.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Owns: the pointer to the source.
 * Tested by: unit.proto, unit.text_rows, e2e.lines
 */
#include "symbol/lines.h"

static const pp_lines_source *current;

void pp_lines_set_source(const pp_lines_source *source)
{
    __atomic_store_n(&current, source, __ATOMIC_RELEASE);
}

pp_lines_finder *pp_lines_begin(void)
{
    const pp_lines_source *source = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
    return source != NULL && source->begin() ? source->find : NULL;
}
