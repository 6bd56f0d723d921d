/* SPDX-License-Identifier: MIT
 *
 * fuzz_maps.c: any text as /proc/self/maps; and once, the real one.
 *
 * Sources: src/modules/maps.c src/sys/own_files.c src/base/arena.c src/base/memory.c
 * Sources: src/sys/apart.c src/sys/own_threads.c src/arch/x86_64_apart.S
 * Seeds: lines as the kernel writes them.
 */
#include "modules/maps.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Read whole, whatever its size, and every line of it understood. */
static void read_the_real_one(void)
{
    enum { PAGE = 4096, PAGES = 3000 };
    pp_arena arena = {NULL, false};
    pp_map_line line;
    char *text = NULL;
    char *pages = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (size_t i = 0; pages != MAP_FAILED && i < PAGES; i += 2)
        mprotect(pages + i * PAGE, PAGE, PROT_NONE); /* many lines, more than the first buffer */
    size_t length = 0;
    size_t lines = 0;
    size_t understood = 0;
    if (pp_maps_text(&arena, &text, &length) != 0 || strlen(text) != length)
        abort();
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    for (char *at = text; pp_maps_next(&at, &line); understood++) {
    }
    if (understood != lines || lines == 0)
        abort();
    pp_arena_release(&arena);
    munmap(pages, PAGES * PAGE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int started;
    if (!started) {
        started = 1;
        read_the_real_one();
    }
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
