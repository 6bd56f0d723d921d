/* SPDX-License-Identifier: MIT
 *
 * fuzz_maps.c: any text as /proc/self/maps.
 *
 * Sources: src/sys/maps.c src/base/arena.c
 * Seeds: lines as the kernel writes them.
 */
#include "sys/maps.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* exactly as long */
    memcpy(text, data, size);
    text[size] = '\0';
    const char *end = text + strlen(text);
    char *at = text;
    pp_map_line line;
    size_t lines = 0;
    while (pp_maps_next(&at, &line)) {
        if (line.start >= line.limit || line.path < text || line.path > end || at > end ||
            strlen(line.path) > (size_t)(end - line.path) || ++lines > size)
            abort();
    }
    if (at != end)
        abort();
    free(text);
    return 0;
}
