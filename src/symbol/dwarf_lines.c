/* SPDX-License-Identifier: MIT
 *
 * dwarf_lines.c: asks libpprof-dwarf for the lines of a mapping, and copies its answers.
 *
 * Zone: NORMAL.
 * Tested by: e2e.lines, e2e.lines_variants, e2e.cpprof_dump
 */
#include "symbol/dwarf_lines.h"

#include "sys/own_files.h"
#include "sys/program.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* A call of the plugin. */
typedef struct question {
    const pp_files *files;
    pp_lines *lines;
    pp_arena *arena;
    bool lacks; /* an answer is incomplete, or could not be stored */
    struct copied {
        const char *text; /* the plugin's */
        const char *copy;
    } copied[64]; /* neighbours share their files and functions */
} question;

/* Debug information may name any file: a pipe, too. */
static int open_file(void *context, const char *path)
{
    const question *q = context;
    return pp_files_open(q->files, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
}

static void close_file(void *context, int fd)
{
    (void)context;
    pp_own_close(fd);
}

static const char *copy_of(question *q, const char *text)
{
    if (text == NULL) {
        return NULL;
    }
    struct copied *known = &q->copied[(uintptr_t)text * 0x9e3779b97f4a7c15u >> 58];
    if (known->text != text || strcmp(known->copy, text) != 0) {
        const char *copy = pp_arena_text(q->arena, text, strlen(text));
        *known = (struct copied){copy != NULL ? text : NULL, copy};
    }
    return known->copy;
}

static void take_place(void *context, const pprof_dwarf_place *place)
{
    question *q = context;
    pp_line *line = pp_arena_array(q->arena, place->count, sizeof *line);
    q->lacks |= line == NULL || place->may_lack_inlined;
    if (line == NULL) {
        return;
    }
    for (size_t i = 0; i < place->count; i++) {
        const pprof_dwarf_function *function = &place->functions[i];
        bool outermost = i + 1 == place->count;
        line[i] = (pp_line){
            .function = copy_of(q, function->name == NULL && !outermost ? "??" : function->name),
            .file = copy_of(q, function->file),
            .line = function->line,
            .start_line = function->start_line,
        };
        if (line[i].file == NULL || (line[i].function == NULL && !outermost)) {
            q->lacks = true; /* no memory */
            return;
        }
    }
    q->lines[place->index] =
        (pp_lines){.line = line, .count = (uint32_t)place->count, .entry = place->entry};
}

/* If the program's file was replaced while the program runs, pp_program_file() still leads to the
 * old file. The build id shows whether the mapping is the program. */
int pp_dwarf_lines_find(const pprof_dwarf_interface *plugin, const pp_mapping *mapping,
                        const uintptr_t *addresses, size_t count, pp_lines *lines, pp_arena *arena,
                        bool *whole)
{
    _Static_assert(sizeof *addresses == sizeof(uint64_t), "the plugin is given the same array");
    question q = {.files = mapping->files, .lines = lines, .arena = arena};
    const pprof_dwarf_host host = {
        .context = &q, .open = open_file, .close = close_file, .found = take_place};
    pprof_dwarf_module module = {.path = mapping->path,
                                 .build_id = mapping->build_id,
                                 .build_id_size = mapping->build_id_size,
                                 .bias = mapping->bias};
    *whole = false;
    if (mapping->in_memory || mapping->path == NULL || mapping->path[0] != '/') {
        return 0; /* "", "[vdso]", "[heap]": no file */
    }
    int error = plugin->find_lines(&module, (const uint64_t *)addresses, count, &host);
    if ((error == -ENOENT || error == -ENOLINK || error == -ESTALE) && mapping->build_id_size > 0) {
        module.opened_path = q.files != NULL ? q.files->program : pp_program_file();
        error = plugin->find_lines(&module, (const uint64_t *)addresses, count, &host);
    }
    *whole = error == 0 && !q.lacks;
    return error;
}
