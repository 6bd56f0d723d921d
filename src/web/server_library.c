/* SPDX-License-Identifier: MIT
 *
 * server_library.c: loads libpprof-http.so.0 from this library's folder, or from where the loader
 * looks.
 *
 * Zone: NORMAL.
 * Tested by: e2e.http_option, e2e.control
 */
#include "web/server_library.h"

#include "base/text.h"
#include "modules/loader.h"
#include "sys/apart.h"
#include "sys/log.h"
#include "sys/own_files.h"
#include "sys/own_work.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

static const char file_name[] = "libpprof-http.so.0";

/* The path of the file in this library's folder, or else only its name. */
static const char *find_file(char path[PATH_MAX])
{
    if (pp_loader_own_folder(path, PATH_MAX - sizeof file_name)) {
        memcpy(path + strlen(path), file_name, sizeof file_name);
        int fd = pp_own_open(path, O_RDONLY, 0);
        if (fd >= 0) {
            pp_own_close(fd);
            return path;
        }
    }
    return file_name;
}

typedef struct search {
    const char *symbol;
    pp_text why;
    const void *found;
} search;

static void load(void *of_search)
{
    char path[PATH_MAX];
    search *s = of_search;
    pp_own_work_begin();
    s->found = pp_loader_load(find_file(path), s->symbol, &s->why);
    pp_own_work_end();
}

static void complain(const char *refusal, const pp_text *why)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, refusal);
    pp_text_add(&text, ", libpprof-http.so.0 could not be loaded: ");
    pp_text_add(&text, why->data);
    pp_log(&text);
}

const void *pp_server_library_find(const char *symbol, const char *refusal)
{
    search s = {symbol, PP_TEXT_INIT, NULL};
    if (pp_loader_is_suspect()) {
        pp_text_add(&s.why, "a child of fork cannot load it");
    } else {
        pp_apart(load, &s);
    }
    if (s.found == NULL) {
        complain(refusal, &s.why);
    }
    return s.found;
}
