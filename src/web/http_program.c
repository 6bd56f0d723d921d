/* SPDX-License-Identifier: MIT
 *
 * http_program.c: what readers ask about the program: its command line, and names of addresses.
 *
 * Zone: NORMAL.
 * Tested by: e2e.http_contract, e2e.http_option
 */
#include "web/http_paths.h"

#include "base/buffer.h"
#include "base/sort.h"
#include "encode/text_stream.h"
#include "web/http_proc.h"
#include "web/http_query.h"
#include "modules/modules.h"
#include "symbol/known_names.h"

#include <errno.h>
#include <string.h>

/* ---- the command line ---- */

static int write_command_line(pprof_http_answer *answer, pprof_writer writer)
{
    pp_buffer line = PP_BUFFER_INIT;
    (void)answer;
    int error = pp_http_read_file("/proc/self/cmdline", &line);
    size_t length = line.size - (line.size > 0 && line.data[line.size - 1] == '\0');
    if (error == 0) {
        error = writer.write(writer.ctx, line.data, length);
    }
    pp_buffer_release(&line);
    return error;
}

void pp_http_command_line(pprof_http_answer *answer)
{
    pp_http_succeed(answer, PP_HTTP_TEXT, write_command_line);
}

/* ---- names ---- */

/* Of one answer. A reader asks for an address once, and for 50 000 at most, whose names have some 200 bytes. */
static const size_t names_bytes_max = (size_t)32 << 20;

typedef struct names {
    uintptr_t *asked; /* in the order of the request */
    size_t count;
    uintptr_t *sorted; /* each once */
    size_t sorted_count;
    pp_symbol *symbols; /* of the sorted ones; those that were written have no name any more */
} names;

static int compare(const void *x, const void *y, void *unused)
{
    uintptr_t a = *(const uintptr_t *)x;
    uintptr_t b = *(const uintptr_t *)y;
    (void)unused;
    return a < b ? -1 : a > b;
}

/* Reads "0xA+0xB". What is no address, or 0, is skipped. */
static int read_addresses(const char *text, size_t length, pp_arena *arena, names *n)
{
    size_t most = 1;
    for (size_t i = 0; i < length; i++) {
        most += text[i] == '+';
    }
    n->asked = pp_arena_array(arena, most, sizeof *n->asked);
    n->sorted = pp_arena_array(arena, most, sizeof *n->sorted);
    n->symbols = pp_arena_array(arena, most, sizeof *n->symbols);
    if (n->asked == NULL || n->sorted == NULL || n->symbols == NULL) {
        return -ENOMEM;
    }
    for (size_t at = 0; at < length;) {
        const char *plus = memchr(text + at, '+', length - at);
        size_t word = plus != NULL ? (size_t)(plus - text) - at : length - at;
        uint64_t pc = 0;
        if (pp_http_parse_pc(text + at, word, &pc) && pc != 0) {
            n->asked[n->count++] = pc;
        }
        at += word + 1;
    }
    return 0;
}

static void sort(names *n)
{
    memcpy(n->sorted, n->asked, n->count * sizeof *n->asked);
    pp_sort(n->sorted, n->count, sizeof *n->sorted, compare, NULL);
    for (size_t i = 0; i < n->count; i++) {
        if (i == 0 || n->sorted[i] != n->sorted[n->sorted_count - 1]) {
            n->sorted[n->sorted_count++] = n->sorted[i];
        }
    }
}

/* The index of the first sorted address that is not below `pc`. */
static size_t lower_bound(const names *n, uintptr_t pc)
{
    size_t low = 0;
    size_t high = n->sorted_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (n->sorted[middle] < pc) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Resolves the addresses that lie in each mapping: these are neighbours when they are sorted. */
static int resolve(names *n, pp_arena *arena)
{
    pp_mapping *mappings = NULL;
    size_t mapping_count = 0;
    pp_modules_refresh();
    if (pp_modules_mappings(arena, &mappings, &mapping_count) == -ENOMEM) {
        return -ENOMEM;
    }
    sort(n);
    for (size_t m = 0; m < mapping_count; m++) {
        size_t first = lower_bound(n, mappings[m].start);
        size_t end = lower_bound(n, mappings[m].limit);
        if (end > first) {
            pp_known_names_resolve(mappings, mapping_count, m, n->sorted + first, end - first,
                                   n->symbols + first, arena);
        }
    }
    return 0;
}

static size_t names_bytes(const names *n)
{
    size_t bytes = 0;
    const char *last = NULL;
    size_t length = 0;
    for (size_t i = 0; i < n->sorted_count; i++) {
        if (n->symbols[i].name != last) { /* those of one function share their text */
            last = n->symbols[i].name;
            length = last != NULL ? strlen(last) : 0;
        }
        bytes += length;
    }
    return bytes;
}

static int write_lines(names *n, pprof_writer writer)
{
    pp_text_stream stream;
    pp_text_stream_init(&stream, writer);
    pp_text_stream_add(&stream, "num_symbols: 1\n");
    for (size_t i = 0; i < n->count; i++) {
        const char **name = &n->symbols[lower_bound(n, n->asked[i])].name;
        if (*name != NULL) {
            pp_text_stream_hex(&stream, n->asked[i]);
            pp_text_stream_add(&stream, " ");
            pp_text_stream_add(&stream, *name);
            pp_text_stream_add(&stream, "\n");
            *name = NULL;
        }
    }
    return pp_text_stream_finish(&stream);
}

static int write_names(pprof_http_answer *answer, pprof_writer writer)
{
    bool is_post = strcmp(answer->method, "POST") == 0;
    const char *text = is_post ? answer->body : answer->query;
    size_t length = is_post ? answer->body_size : strlen(answer->query);
    names n = {.count = 0};
    int error = read_addresses(text, length, &answer->arena, &n);
    error = error == 0 ? resolve(&n, &answer->arena) : error;
    if (error != 0) {
        return error;
    }
    if (names_bytes(&n) > names_bytes_max) {
        pp_http_fail(answer, 413,
                     "the names of these addresses are longer than 32 MiB: ask for fewer at once");
        return 0;
    }
    return write_lines(&n, writer);
}

void pp_http_symbol(pprof_http_answer *answer)
{
    pp_http_succeed(answer, PP_HTTP_TEXT, write_names);
}
