/* SPDX-License-Identifier: MIT
 *
 * count_sample.c DIRECTORY: writes a made-up profile that counts, of this very program, in every
 * form: count.pb.gz, count.txt, count.bare; for readers that are not ours to look at
 * (test_count_text.sh).
 */
#include "output/count.h"
#include "pprof.h"
#include "modules/modules.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 10000, DEPTH = 3 };

__attribute__((noinline)) int leaf_function(int n)
{
    __asm__ volatile(".fill 64, 1, 0x90" : "+r"(n)); /* room for made-up return addresses */
    return n + 1;
}

static int write_form(const char *directory, const char *file, const pp_count_row *rows, int debug)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, file);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int error = pp_count_write("example.conn", rows, ROWS, debug, pprof_writer_fd(fd));
    close(fd);
    return error;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        return 2;
    }
    /* Row i has stack i % 4; the last one is empty. */
    static const uint32_t depths[] = {DEPTH, DEPTH, 2, 0};
    static uintptr_t stacks[4][DEPTH];
    static pp_count_row rows[ROWS];
    for (int i = 0; i < 4; i++) {
        stacks[i][0] = (uintptr_t)leaf_function + 32 + (uintptr_t)i;
        stacks[i][1] = (uintptr_t)qsort + 4;
        stacks[i][2] = (uintptr_t)main + 4;
    }
    for (int i = 0; i < ROWS; i++) {
        rows[i] = (pp_count_row){stacks[i % 4], depths[i % 4], NULL, i % 4 + 1};
    }
    pp_modules_refresh();
    return write_form(argv[1], "count.pb.gz", rows, 0) != 0 ||
           write_form(argv[1], "count.txt", rows, 1) != 0 ||
           write_form(argv[1], "count.bare", rows, PPROF_DEBUG_BARE) != 0;
}
