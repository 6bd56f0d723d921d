/* SPDX-License-Identifier: MIT
 *
 * got_memory.c: see got_memory.h.
 *
 * Zone: NORMAL.
 * Tested by: unit.got_memory
 */
#include "attach/got_memory.h"

#include "arch/system_call.h"
#include "modules/maps.h"

#include <string.h>
#include <sys/mman.h>

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (const char *c = strchr(text, '\n'); c != NULL; c = strchr(c + 1, '\n')) {
        count++;
    }
    return count;
}

static int protection_of(const pp_map_line *line)
{
    return (line->readable ? PROT_READ : 0) | (line->writable ? PROT_WRITE : 0) |
           (line->executable ? PROT_EXEC : 0);
}

void pp_got_memory_begin(pp_got_memory *m)
{
    char *text = NULL;
    size_t length = 0;
    pp_map_line line;
    *m = (pp_got_memory){.arena = PP_ARENA_INIT};
    if (pp_maps_text(&m->arena, &text, &length) != 0) {
        return;
    }
    m->ranges = pp_arena_array(&m->arena, count_lines(text) + 1, sizeof *m->ranges);
    while (m->ranges != NULL && pp_maps_next(&text, &line)) {
        m->ranges[m->count++] = (pp_got_range){line.start, line.limit, protection_of(&line)};
    }
}

void pp_got_memory_end(pp_got_memory *m)
{
    pp_got_memory_close(m);
    pp_arena_release(&m->arena);
}

/* The last range that begins at the address or before. */
static const pp_got_range *range_of(const pp_got_memory *m, uintptr_t address)
{
    size_t low = 0;
    size_t high = m->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (m->ranges[middle].start <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && address < m->ranges[low - 1].limit ? &m->ranges[low - 1] : NULL;
}

static bool protect(uintptr_t at, int protection)
{
    return pp_system_call(SYS_mprotect, at, pp_page_bytes(), protection) == 0;
}

void pp_got_memory_close(pp_got_memory *m)
{
    if (m->open != 0) {
        protect(m->open, m->before);
        m->open = 0;
    }
}

bool pp_got_memory_open(pp_got_memory *m, uintptr_t address)
{
    uintptr_t at = address & ~(uintptr_t)(pp_page_bytes() - 1);
    if (m->open == at && at != 0) {
        return true;
    }
    pp_got_memory_close(m);
    const pp_got_range *range = range_of(m, address);
    if (range == NULL || (range->protection & PROT_READ) == 0) {
        return false;
    }
    if ((range->protection & PROT_WRITE) != 0) {
        return true;
    }
    if (!protect(at, range->protection | PROT_WRITE)) {
        return false;
    }
    m->open = at;
    m->before = range->protection;
    return true;
}
