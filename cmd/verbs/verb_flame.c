/* SPDX-License-Identifier: MIT
 *
 * verb_flame.c: `cpprof flame`, which writes a profile as a page for a browser.
 *
 * Tested by: page.logic
 */
#include "verbs/verbs.h"

#include "base/base_name.h"
#include "base/message.h"
#include "page/page_file.h"
#include "verbs/page_verb.h"
#include "base/pool.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char cp_help_flame[] =
    "usage: cpprof flame [-o OUT.html] [--base FILE] [--sources] [--demangle MODE] FILE\n"
    "\n"
    "Writes one HTML file with the profile inside. It needs no network and no other file. It "
    "shows\n"
    "flame graphs, a table, the call graph, lines of source and labels, and the difference to a\n"
    "second profile. FILE is any profile that cpprof reads; - is standard input.\n"
    "\n"
    "  -o OUT.html      the file to write (FILE's name in this folder, with .html)\n"
    "  --base FILE      show what changed since this profile\n"
    "  --sources        put the source files of the profile's lines into the page\n"
    "  --demangle MODE  names of C++ and Rust functions: simple (the default), templates, full,\n"
    "                   none\n";

static bool cut_end(const char *name, size_t *length, const char *end)
{
    size_t end_length = strlen(end);

    if (*length <= end_length || memcmp(name + *length - end_length, end, end_length) != 0) {
        return false;
    }
    *length -= end_length;
    return true;
}

/* "profiles/perl.pb.gz" becomes "perl.html"; to be freed. */
static char *name_page(const char *path)
{
    static const char *const ends[] = {".gz", ".pb", ".pprof", ".prof"};

    if (strcmp(path, "-") == 0) {
        path = "profile";
    }
    size_t length;
    const char *name = cp_base_name(path, &length);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        cut_end(name, &length, ends[i]);
    }
    return cp_heap_printf("%.*s.html", (int)length, name);
}

int cp_run_flame(int argc, char **argv)
{
    cp_page_options options = {0};
    const char *out = NULL;

    int status = CP_EXIT_OK;
    if (cp_page_parse("flame", argc, argv, &options, &out, &status) < 0) {
        return status;
    }
    size_t length = out ? strlen(out) : 0;
    if (out && cut_end(out, &length, ".svg")) {
        return cp_bad_usage("flame",
                            "flame: -o %s: expected the name of an HTML file; that page saves its "
                            "flame graph as an SVG",
                            out);
    }
    char *name = out && *out ? NULL : name_page(options.path);
    cp_error error;
    status = cp_page_write(&options, name ? name : out, &error);
    if (status < 0) {
        cp_complain("%s", error.text);
    } else if (name) {
        printf("%s\n", name);
    }
    free(name);
    return status < 0 || fflush(stdout) != 0 ? CP_EXIT_BAD_INPUT : CP_EXIT_OK;
}
