/* SPDX-License-Identifier: MIT
 *
 * disassembler.c: reads what objdump prints, such as
 *
 *       11c9:	add    $0x1,%eax
 *
 * Tested by: e2e.cpprof_asm
 */
#include "names/disassembler.h"

#include "base/message.h"
#include "base/pool.h"
#include "names/binutils.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct listing {
    cp_instruction_found *found;
    void *context;
} listing;

/* Finds the address and the text of a line. */
static void read_line(void *context, char *line)
{
    const listing *to = context;
    char *end;
    uint64_t address = strtoull(line, &end, 16);

    if (end != line && end[0] == ':' && end[1] == '\t') {
        to->found(to->context, address, end + 2);
    }
}

int cp_disassemble(const char *path, uint64_t start, uint64_t stop, cp_instruction_found *found,
                   void *context, cp_error *error)
{
    char *from = cp_heap_printf("--start-address=0x%" PRIx64, start);
    char *to = cp_heap_printf("--stop-address=0x%" PRIx64, stop);
    char *const arguments[] = {"objdump", "-d", "-w",         "--no-show-raw-insn",
                               from,      to,   (char *)path, NULL};
    listing lines = {found, context};

    int status = cp_binutils_run(arguments, (cp_binutils_limits){0}, read_line, &lines);
    free(from);
    free(to);
    if (status == -EIO) {
        return cp_fail(error, "%s: objdump cannot read it", path);
    }
    if (status < 0) {
        return cp_fail(error, "--asm: expected objdump, found none (%s); install binutils",
                       strerror(-status));
    }
    return 0;
}
