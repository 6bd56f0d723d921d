/* SPDX-License-Identifier: MIT
 *
 * server_library.c: loads a library of ours from this library's folder, or from where the loader
 * looks.
 *
 * Zone: NORMAL.
 * Tested by: e2e.http_option, e2e.control, e2e.push_option
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

/* The path of the file in this library's folder, or else only its name. */
static const char *find_file(char path[PATH_MAX], const char *file_name)
{
    size_t size = strlen(file_name) + 1;
    if (pp_loader_own_folder(path, PATH_MAX - size)) {
        memcpy(path + strlen(path), file_name, size);
        int fd = pp_own_open(path, O_RDONLY, 0);
        if (fd >= 0) {
            pp_own_close(fd);
            return path;
        }
    }
    return file_name;
}

typedef struct search {
    const char *library;
    const char *symbol;
    pp_text why;
    const void *found;
} search;

static void load(void *of_search)
{
    char path[PATH_MAX];
    search *s = of_search;
    pp_own_work_begin();
    s->found = pp_loader_load(find_file(path, s->library), s->symbol, &s->why);
    pp_own_work_end();
}

static void complain(const char *refusal, const char *library, const pp_text *why)
{
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, refusal);
    pp_text_add(&text, ", ");
    pp_text_add(&text, library);
    pp_text_add(&text, " could not be loaded: ");
    pp_text_add(&text, why->data);
    pp_log(&text);
}

const void *pp_server_library_find(const char *library, const char *symbol, const char *refusal)
{
    search s = {library, symbol, PP_TEXT_INIT, NULL};
    if (pp_loader_is_suspect()) {
        pp_text_add(&s.why, "a child of fork cannot load it");
    } else {
        pp_apart(load, &s);
    }
    if (s.found == NULL) {
        complain(refusal, library, &s.why);
    }
    return s.found;
}
