/* SPDX-License-Identifier: MIT
 *
 * verb_memory.c: `cpprof memory`, which says on one page what holds the memory of a process.
 *
 * Tested by: e2e.cpprof_memory
 */
#include "verbs/verbs.h"

#include "ask/process_files.h"
#include "base/message.h"
#include "base/pool.h"
#include "verbs/command_line.h"
#include "verbs/token_option.h"
#include "why/memory.h"

#include <stdlib.h>

const char cp_help_memory[] =
    "usage: cpprof memory -p PID [OPTIONS]   or: FILE|URL\n"
    "\n"
    "Prints one page: the resident memory of a process (RSS) by what holds it: live\n"
    "blocks and who allocated them, what the allocator has free, stacks of threads,\n"
    "mappings and who made them, shared memory, files, libraries. It adds up to RSS.\n"
    "\n"
    "Example: cpprof memory -p $(pgrep -n redis-server)\n"
    "\n"
    "Who allocated a block is known if the process records its heap (LIBPPROF=heap,\n"
    "or `cpprof configure PID heap` from now on). Of a process without libpprof the\n"
    "page has what /proc says; nothing is loaded into it.\n"
    "\n"
    "FILE is a profile of the kind memory (`cpprof record -e memory`); URL is that of\n"
    "a server of libpprof with /debug/pprof/, such as http://127.0.0.1:6060.\n";

int cp_run_memory(int argc, char **argv)
{
    const char *process = NULL;
    const cp_option table[] = {
        {'p', "pid", NULL, CP_OPTION_TEXT, &process, 0, 0, "PID", "the process (see `cpprof ps`)"},
        CP_TOKEN_OPTION,
        {0},
    };
    cp_operands operands;
    cp_error error;
    int pid = 0, status = CP_EXIT_OK;

    if (cp_options_parse("memory", table, false, argc, argv, &operands, &status) < 0) {
        return status;
    }
    if (operands.count != (process ? 0 : 1)) {
        return cp_bad_usage("memory", "memory: expected -p PID, a FILE or a URL");
    }
    if (process && cp_process_parse(process, &pid, &error) < 0) {
        return cp_bad_usage("memory", "memory: %s", error.text);
    }
    char *source =
        process ? cp_heap_printf("pid:%d", pid) : cp_heap_printf("%s", operands.values[0]);
    status = cp_memory_run(source);
    free(source);
    return status;
}
