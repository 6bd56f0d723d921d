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
#include "verbs/report_verb.h"
#include "base/pool.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char cp_help_flame[] =
    "usage: cpprof flame [OPTIONS] [FILE]\n"
    "\n"
    "Writes one HTML file with the profile inside. It needs no network and no other\n"
    "file. It shows flame graphs, a table, the call graph, lines of source and\n"
    "labels, and the difference to a second profile. OUT.svg becomes a flame graph\n"
    "as a picture, with all options of `cpprof convert`.\n"
    "\n"
    "Example: cpprof flame -o change.html --base before.pb.gz after.pb.gz\n"
    "\n"
    "The page is FILE's name in this folder, with .html, unless -o names it.\n" CP_PAGE_NOTES;

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

static bool is_svg(const char *path)
{
    size_t length = strlen(path);

    return cut_end(path, &length, ".svg");
}

/* Whether the command line has -o OUT.svg in one of its forms: then all options of the reports are
 * allowed. */
static bool wants_svg(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *name = argv[i] + strspn(argv[i], "-");

        if (name == argv[i]) {
            continue;
        }
        if (strcmp(name, "o") == 0 || strcmp(name, "output") == 0) {
            if (i + 1 < argc && is_svg(argv[i + 1])) {
                return true;
            }
        } else if (*name == 'o' && is_svg(name)) { /* -oOUT.svg, --output=OUT.svg */
            return true;
        }
    }
    return false;
}

static int write_page(const cp_page_options *options, const char *out)
{
    char *name = out && *out ? NULL : name_page(options->path);
    cp_error error;
    int status = cp_page_write(options, name ? name : out, &error);
    if (status < 0) {
        cp_complain("%s", error.text);
    } else if (name) {
        printf("%s\n", name);
    }
    free(name);
    return status < 0 || fflush(stdout) != 0 ? CP_EXIT_BAD_INPUT : CP_EXIT_OK;
}

int cp_run_flame(int argc, char **argv)
{
    cp_page_options options = {0};
    const char *out = NULL;
    char *newest;

    if (wants_svg(argc, argv)) {
        return cp_report_verb_run(&cp_flame_svg, argc, argv);
    }
    int status = CP_EXIT_OK;
    if (cp_page_parse("flame", argc, argv, &options, &out, &newest, &status) == 0) {
        status = write_page(&options, out);
    }
    cp_page_release(&options, newest);
    return status;
}
