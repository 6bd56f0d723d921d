/* SPDX-License-Identifier: MIT
 *
 * all_kinds.c: loops over the list of kinds (kinds.c).
 *
 * Zone: NORMAL; the fatal-signal writer calls pp_all_write() too.
 * Owns: the options of the process.
 * Tested by: e2e.options, e2e.children, e2e.exit, toy_kind.toy_kind
 */
#include "api/all_kinds.h"

#include "host/stack_room.h"
#include "modules/linked.h"
#include "output/end_file.h"
#include "output/line_plugin.h"
#include "output/output.h"
#include "output/prepare.h"

pp_all_kinds pp_all;

void pp_all_distinguish_files(void)
{
    unsigned files = 0;
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        files += pp_kind_files(pp_kinds[i]);
    }
    if (files > 1) {
        pp_output_distinguish_kinds();
    }
}

/* Whether the kind is started and stopped by the option `signal`: one whose profile covers a time. */
static bool is_toggled(const pp_kind *kind)
{
    return pp_all.options.dump_signal != 0 && kind->timed != NULL;
}

static int start_kind(const pp_kind *kind)
{
    if (kind->start != NULL) {
        return kind->start(pp_all.options.duration_ns);
    }
    if (kind->files != NULL) {
        pp_prepare_asked(kind->files);
    }
    return 0;
}

int pp_all_start(void)
{
    int error = 0;
    for (size_t i = pp_kinds_count(); i-- > 0;) {
        int start_error = is_toggled(pp_kinds[i]) ? 0 : start_kind(pp_kinds[i]);
        error = error != 0 ? error : start_error;
    }
    return error;
}

bool pp_all_any(bool (*is)(const pp_kind *kind))
{
    size_t i = 0;
    while (pp_kinds[i] != NULL && !is(pp_kinds[i])) {
        i++;
    }
    return pp_kinds[i] != NULL;
}

uint64_t pp_all_on(void)
{
    uint64_t on = 0;
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        on |= (uint64_t)pp_kind_is_on(pp_kinds[i]) << i;
    }
    return on;
}

/* ---- files ---- */

/* Calls work(context), which writes profiles if there are any. An idle library looks for no room:
 * to look takes a system call, which the program's filter may forbid. */
static void write_by(void (*work)(void *context), void *context)
{
    if (pp_all_any(pp_kind_is_on)) {
        pp_with_stack_room(work, context);
    } else {
        work(context);
    }
}

/* What a child of fork did until its exec is seen in the profiles of a time. It has hardly
 * allocated, and the kinds that show a state show that of the program to come. */
static bool lasts(const pp_kind *kind)
{
    return !pp_all.is_fork || kind->timed != NULL;
}

typedef struct writing {
    bool so_far;
    const void *interrupted;
} writing;

static void write_kinds(void *context)
{
    const writing *w = context;
    if (w->interrupted != NULL) {
        pp_line_plugin_end();
    }
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        if (!w->so_far || lasts(pp_kinds[i])) {
            pp_kind_write(pp_kinds[i], w->so_far, w->interrupted);
        }
    }
}

void pp_all_write(bool so_far, const void *interrupted)
{
    writing w = {so_far, interrupted};
    write_by(write_kinds, &w);
}

void pp_all_resume(uint64_t left_ns)
{
    for (size_t i = pp_kinds_count(); i-- > 0;) {
        if (pp_kinds[i]->resume != NULL) {
            pp_kinds[i]->resume(left_ns);
        }
    }
}

/* ---- stops ---- */

static void confine_kinds(void *context)
{
    bool *ended = context;
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_kind *kind = pp_kinds[i];
        *ended |= kind->files != NULL ? pp_end_files_wanted(kind->files) : pp_kind_is_on(kind);
        pp_kind_stop(kind, true);
    }
}

bool pp_all_confine(void)
{
    bool ended = false;
    write_by(confine_kinds, &ended);
    return ended;
}

void pp_all_stop(uint64_t all_but)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        if ((all_but >> i & 1) == 0) {
            pp_kind_stop(pp_kinds[i], false);
        }
    }
}

void pp_all_end_duration(void)
{
    bool linked = pp_is_linked();
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_kind *kind = pp_kinds[i];
        if (kind->files != NULL && !linked) {
            pp_kind_stop(kind, false);
        } else {
            pp_kind_write(kind, false, NULL);
        }
    }
}

static void toggle(const pp_kind *kind)
{
    if (pp_kind_is_on(kind)) {
        pp_kind_stop(kind, false);
    } else if (pp_kind_files(kind) > 0) {
        kind->start(0);
    }
}

void pp_all_toggle(void)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        if (is_toggled(pp_kinds[i])) {
            toggle(pp_kinds[i]);
        } else {
            pp_kind_write(pp_kinds[i], true, NULL);
        }
    }
}

void pp_all_after_fork(void)
{
    pp_all.is_fork = true;
    pp_lock_release(&pp_all.asking);
    pp_end_files_after_fork();
    for (size_t i = pp_kinds_count(); i-- > 0;) {
        if (pp_kinds[i]->after_fork != NULL) {
            pp_kinds[i]->after_fork(pp_all.options.subprocesses);
        }
        if (pp_kinds[i]->files != NULL && !pp_all.options.subprocesses) {
            pp_end_files_forget(pp_kinds[i]->files);
        }
    }
}
