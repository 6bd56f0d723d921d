/* SPDX-License-Identifier: MIT
 *
 * alloctrace_kind.c: the kind "alloctrace", which writes to the log instead of to a file.
 *
 * Zone: NORMAL.
 * Locks: those of kind.h.
 * Owns: whether the option is given.
 * Tested by: e2e.alloctrace, unit.options
 */
#include "host/kind.h"
#include "kinds/heap/alloctrace.h"
#include "kinds/heap/alloctrace_names.h"
#include "modules/modules.h"
#include "modules/own_code.h"
#include "output/word_values.h"

static bool asked;

static int take(const char *value)
{
    return pp_word_alone(value, &asked);
}

static int start(uint64_t duration_ns)
{
    (void)duration_ns;
    if (asked) {
        pp_call_slots_give_back();
        pp_own_variables_are_sparse();
        pp_modules_refresh();
        pp_alloctrace_begin();
        asked = false;
    }
    return 0;
}

static void stop(bool confined)
{
    (void)confined;
    pp_alloctrace_stop();
}

static const pp_word words[] = {{"alloctrace", take, "alloctrace, without a value"},
                                {.name = NULL}};

static const pp_kind_hooks hooks = {.record = pp_alloctrace_is_on};

const pp_kind pp_kind_alloctrace = {
    .name = "alloctrace",
    .words = words,
    .hooks = &hooks,
    .start = start,
    .stop = stop,
    .after_fork = pp_alloctrace_after_fork_in_child,
};
