/* SPDX-License-Identifier: MIT
 *
 * count_order.c FILE: reads rows of a profile that counts, writes them as text to standard output,
 * and as profile.proto to the file. Go's own order is in go/count_order.go.
 *
 *   COUNT <tab> 0xPC 0xPC ... [<tab> KEY <tab> VALUE]...
 */
#include "output/count.h"
#include "pprof.h"
#include "store/labels.h"
#include "modules/modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 10000, DEPTH = 16, PAIRS = 8, LINE_BYTES = 4096 };

static uintptr_t stacks[ROWS][DEPTH];
static pp_count_row rows[ROWS];

static char *next_field(char **rest)
{
    return strsep(rest, "\t\n");
}

static pprof_labels *read_labels(char **rest)
{
    const char *pairs[2 * PAIRS];
    size_t count = 0;
    int error = 0;
    while (count < PAIRS && *rest != NULL && **rest != '\0') {
        pairs[2 * count] = next_field(rest);
        pairs[2 * count + 1] = *rest != NULL ? next_field(rest) : "";
        count++;
    }
    return count > 0 ? pp_labels_new(NULL, pairs, count, &error) : NULL;
}

static void read_row(char *line, uintptr_t *stack, pp_count_row *row)
{
    char *rest = line;
    *row = (pp_count_row){.pc = stack, .count = strtoll(next_field(&rest), NULL, 10)};
    char *pcs = next_field(&rest);
    for (char *pc = strsep(&pcs, " "); pc != NULL && row->depth < DEPTH; pc = strsep(&pcs, " ")) {
        stack[row->depth++] = strtoull(pc, NULL, 16);
    }
    row->labels = read_labels(&rest);
}

int main(int argc, char **argv)
{
    static char line[LINE_BYTES];
    size_t count = 0;
    if (argc != 2) {
        return 2;
    }
    while (count < ROWS && fgets(line, sizeof line, stdin) != NULL) {
        read_row(line, stacks[count], &rows[count]);
        count++;
    }
    FILE *file = fopen(argv[1], "w");
    if (file == NULL) {
        return 1;
    }
    pp_modules_refresh();
    return pp_count_write("example.order", rows, count, 0, pprof_writer_stdio(file)) != 0 ||
           fclose(file) != 0 ||
           pp_count_write("example.order", rows, count, 1, pprof_writer_stdio(stdout)) != 0;
}
