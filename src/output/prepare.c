/* SPDX-License-Identifier: MIT
 *
 * prepare.c: steps that kinds take before they record anything.
 *
 * Zone: NORMAL.
 * Tested by: e2e.output, e2e.seccomp
 */
#include "output/prepare.h"

#include "host/dispositions.h"
#include "output/output.h"
#include "modules/late.h"
#include "modules/modules.h"
#include "modules/own_code.h"
#include "sys/safe_read.h"
#include "sys/sandbox.h"

static const char default_template[] = "/tmp/%e.%p.%k.pb.gz";

void pp_prepare_files(void)
{
    pp_own_variables_are_sparse();
    if (!pp_output_has_template() && pp_output_has_default() && !pp_late_is()) {
        pp_output_set_template(default_template);
    }
}

/* Walks read code by a system call that a sandbox may forbid. */
void pp_prepare_walks(void)
{
    if (pp_sandbox_probe() != PP_SANDBOX_NONE) {
        pp_safe_read_forbid_copy();
    }
}

bool pp_prepare_asked(pp_end_file *files)
{
    bool any = false;
    for (pp_end_file *file = files; file->name != NULL; file++) {
        file->wanted |= file->asked;
        any |= file->asked;
    }
    if (any) {
        pp_prepare_files();
        pp_prepare_walks();
        pp_modules_refresh();
        pp_hook_fatal_signals();
    }
    return any;
}
