/* SPDX-License-Identifier: MIT
 *
 * check_names.c: what a file's own tables and debug files can name; see checks.h.
 *
 * Tested by: e2e.cpprof_doctor
 */
#include "doctor/checks.h"

#include "base/base_name.h"
#include "doctor/elf_facts.h"
#include "doctor/findings.h"
#include "names/debug_package.h"
#include "names/line_reader.h"

#include <stdlib.h>
#include <string.h>

static void ignore_place(void *context, const pprof_dwarf_place *place)
{
    (void)context;
    (void)place;
}

/* Whether a debug file is here. A program's first function may have no line: no error is enough. */
static bool has_debug_file(const char *path, uint64_t entry)
{
    const pprof_dwarf_module module = {.path = path, .any_build = 1};

    return cp_line_reader_find(&module, &entry, 1, false, ignore_place, NULL) == 0;
}

/* The command that would bring the debug file, to be freed; NULL if none is known. */
static char *find_remedy(const char *installed)
{
    const char *folder = getenv("CPPROF_DPKG");
    char *package = cp_debug_package(folder ? folder : "/var/lib/dpkg", installed);
    char *remedy = package ? cp_heap_printf("apt install %s", package) : NULL;

    free(package);
    return remedy;
}

void cp_check_names(cp_findings *findings, const char *path, const char *installed)
{
    cp_elf_facts facts;

    if (cp_elf_facts_read(path, &facts) < 0) {
        return;
    }
    bool debug_file = has_debug_file(path, facts.entry);
    char *package = find_remedy(installed);
    size_t length;
    const char *base = cp_base_name(installed, &length);
    if (facts.has_symbols || debug_file) {
        cp_found(findings, "names", "a symbol table%s",
                 facts.has_symbols ? "" : " in a debug file");
    } else {
        cp_found_less(findings, CP_LIMITED, "", "names", package ? package : "do not strip it",
                      "stripped%s: functions that it does not export are shown as [%.*s]+0x1a40",
                      facts.has_debug_data ? ", but for .gnu_debugdata" : "", (int)length, base);
    }
    if (facts.has_lines || debug_file) {
        cp_found(findings, "lines", "debug information%s",
                 facts.has_lines ? "" : " in a debug file");
    } else {
        cp_found_less(findings, CP_LIMITED, "", "lines", package ? package : "compile it with -g1",
                      "no debug information: no files, lines and inlined functions");
    }
    if (!facts.has_build_id) {
        cp_found_less(findings, CP_LIMITED, "", "build id", "link it with -Wl,--build-id",
                      "none: debug files cannot be matched with the program");
    }
    free(package);
}
