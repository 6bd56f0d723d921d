/* SPDX-License-Identifier: MIT
 *
 * alloctrace_kind.c: the kind "alloctrace", which writes to the log instead of to a file.
 *
 * Zone: NORMAL.
 * Locks: those of kind.h.
 * Owns: whether the option is given.
 * Tested by: e2e.alloctrace, unit.options
 */
#include "kinds/heap/alloctrace_kind.h"

#include "host/kind.h"
#include "kinds/heap/alloctrace.h"
#include "kinds/heap/alloctrace_names.h"
#include "modules/modules.h"
#include "modules/own_code.h"

bool pp_alloctrace_asked;

/* The trace goes to the log. */
static unsigned files(void)
{
    return 0;
}

static int start(uint64_t duration_ns)
{
    (void)duration_ns;
    if (pp_alloctrace_asked) {
        pp_own_variables_leave_out_of_dumps();
        pp_modules_refresh();
        pp_alloctrace_begin();
    }
    return 0;
}

static const pp_word words[] = {{"alloctrace", NULL, "alloctrace, without a value"},
                                {.name = NULL}};

const pp_kind pp_kind_alloctrace = {
    .name = "alloctrace",
    .words = words,
    .asked = &pp_alloctrace_asked,
    .files = files,
    .start = start,
    .needs_calls = pp_alloctrace_is_on,
    .confine = pp_alloctrace_stop,
    .after_fork_in_child = pp_alloctrace_after_fork_in_child,
};
