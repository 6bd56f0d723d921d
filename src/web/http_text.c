/* SPDX-License-Identifier: MIT
 *
 * http_text.c: finds the text among the kinds.
 *
 * Zone: NORMAL.
 * Tested by: e2e.deadlocks
 */
#include "web/http_text.h"

#include "host/kind.h"
#include "modules/modules.h"

#include <string.h>

static const pp_kind_text *find(const char *name)
{
    for (size_t i = 0; pp_kinds[i] != NULL; i++) {
        const pp_kind_text *text = pp_kinds[i]->text;
        if (text != NULL && strcmp(text->name, name) == 0) {
            return text;
        }
    }
    return NULL;
}

static int write_text(pprof_http_answer *answer, pprof_writer writer)
{
    const pp_kind_text *text = find(answer->name);
    pp_modules_refresh();
    return text->write(writer);
}

bool pp_http_text(pprof_http_answer *answer)
{
    bool found = find(answer->name) != NULL;
    if (found) {
        pp_http_succeed(answer, PP_HTTP_TEXT, write_text);
    }
    return found;
}
