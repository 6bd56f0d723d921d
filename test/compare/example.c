/* SPDX-License-Identifier: MIT
 *
 * example.c: frames with their modules and functions.
 *
 * Zone: tests.
 * Owns: the text.
 */
#include "example.h"

#include "places.h"
#include "tracee.h"

#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 4096, FRAMES_SHOWN = 3 };

static void add_frames(char *text, size_t room, const char *whose, const uint64_t *pcs,
                       size_t depth, size_t at)
{
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, room - used, "      %-10s", whose);
    for (size_t i = at > 1 ? at - 2 : 0; i < at + FRAMES_SHOWN && used + 256 < room; i++) {
        if (i >= depth) {
            used += (size_t)snprintf(text + used, room - used, " [%zu] end", i);
            break;
        }
        uint64_t offset = 0;
        place where = places_find(tracee_the.pid, pcs[i] - 1);
        const char *path = places_module(where.module)->path;
        const char *slash = strrchr(path, '/');
        const char *symbol = places_symbol(where, &offset);
        used +=
            (size_t)snprintf(text + used, room - used, " [%zu] %.40s:0x%lx", i,
                             slash != NULL ? slash + 1 : path, (unsigned long)where.address + 1);
        if (symbol[0] != '\0') {
            used += (size_t)snprintf(text + used, room - used, " %.60s+%lu", symbol,
                                     (unsigned long)offset + 1);
        }
    }
    snprintf(text + used, room - used, "\n");
}

const char *example_text(const compare_answer *ours, const chain *right, const chain *second,
                         size_t at)
{
    static char text[TEXT_SIZE];
    char whose[32];
    text[0] = '\0';
    add_frames(text, sizeof text, "machine", right->pcs, right->depth, at);
    snprintf(whose, sizeof whose, "ours(%u)", ours->stop);
    add_frames(text, sizeof text, whose, ours->pcs, ours->depth, at);
    if (second->depth > 0) {
        add_frames(text, sizeof text, "libunwind", second->pcs, second->depth, at);
    }
    return text;
}
