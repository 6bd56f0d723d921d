/* SPDX-License-Identifier: MIT
 *
 * path_template.c: builds paths character by character.
 *
 * Zone: SIGNAL.
 * Owns: the program's name, and when the library was loaded.
 * Tested by: unit.output, unit.options
 */
#include "sys/path_template.h"

#include "base/text.h"
#include "sys/clock.h"
#include "sys/file_calls.h"
#include "sys/tasks.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

enum { PROGRAM_BYTES = 64 };

static struct {
    char program[PROGRAM_BYTES];
    uint64_t loaded_ns; /* of CLOCK_MONOTONIC */
} state;

/* ---- text ---- */

pp_path pp_path_begin(char *data, size_t capacity)
{
    data[0] = '\0';
    return (pp_path){.data = data, .capacity = capacity};
}

void pp_path_add_char(pp_path *path, char c)
{
    if (path->length + 1 >= path->capacity) {
        path->overflow = true;
        return;
    }
    path->data[path->length++] = c;
    path->data[path->length] = '\0';
}

void pp_path_add(pp_path *path, const char *text)
{
    while (*text != '\0') {
        pp_path_add_char(path, *text++);
    }
}

void pp_path_add_number(pp_path *path, uint64_t number)
{
    char digits[PP_DECIMAL_BYTES];
    pp_path_add(path, pp_decimal(number, digits));
}

/* ---- templates ---- */

uint64_t pp_path_stamp(void)
{
    return state.loaded_ns;
}

void pp_path_template_init(const char *name)
{
    state.loaded_ns = pp_clock_ns(CLOCK_MONOTONIC);
    size_t length = 0;
    while (name != NULL && name[length] != '\0' && length + 1 < sizeof state.program) {
        state.program[length] = name[length];
        if (state.program[length] == '/') {
            state.program[length] = '_';
        }
        length++;
    }
    state.program[length] = '\0';
}

bool pp_path_template_is_valid(const char *template)
{
    for (; *template != '\0'; template ++) {
        if (*template == '%') {
            template ++;
            if (*template == '\0' || strchr("epktns%", *template) == NULL) {
                return false;
            }
        }
    }
    return true;
}

/* Adds a text to a template that expands to this text. */
static void add_literally(pp_path *path, const char *text)
{
    for (; *text != '\0'; text++) {
        pp_path_add_char(path, *text);
        if (*text == '%') {
            pp_path_add_char(path, '%');
        }
    }
}

int pp_path_template_complete(char *to, size_t capacity, const char *name, bool literally)
{
    char absolute[PATH_MAX];
    pp_path path = pp_path_begin(absolute, sizeof absolute);
    if (*name != '/') {
        char folder[PATH_MAX];
        int error = pp_working_folder(folder, sizeof folder);
        if (error != 0) {
            return error;
        }
        add_literally(&path, folder);
        pp_path_add_char(&path, '/');
    }
    if (literally) {
        add_literally(&path, name);
    } else {
        pp_path_add(&path, name);
    }
    if (path.overflow || path.length >= capacity) {
        return -ENAMETOOLONG;
    }
    memcpy(to, absolute, path.length + 1);
    return 0;
}

void pp_path_add_placeholder(pp_path *path, char what, const pp_path_values *values)
{
    switch (what) {
    case 'e':
        pp_path_add(path, state.program);
        break;
    case 'p':
        pp_path_add_number(path, (uint64_t)pp_task_process());
        break;
    case 'k':
        pp_path_add(path, values->kind);
        break;
    case 't':
        pp_path_add_number(path, pp_clock_ns(CLOCK_REALTIME) / PP_NS_PER_S);
        break;
    case 's':
        pp_path_add_number(path, state.loaded_ns);
        break;
    case 'n':
        pp_path_add_number(path, values->counter);
        break;
    default:
        pp_path_add_char(path, '%');
        break;
    }
}

void pp_path_add_template(pp_path *path, const char *template, const pp_path_values *values)
{
    for (const char *c = template; *c != '\0'; c++) {
        if (*c == '%') {
            pp_path_add_placeholder(path, *++c, values);
        } else {
            pp_path_add_char(path, *c);
        }
    }
}
