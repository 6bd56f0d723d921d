/* SPDX-License-Identifier: MIT
 *
 * path_template.h: paths with placeholders, of the options file= and log=.
 *
 *   %e program   %p process id   %k kind   %t time   %n counter   %% percent
 *   %s when the library was loaded, in nanoseconds: differs in each program that a process executes
 *
 * Zone: SIGNAL.
 * Owns: the program's name.
 */
#ifndef PP_SYS_PATH_TEMPLATE_H
#define PP_SYS_PATH_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text in the caller's memory, always terminated. A text that does not fit is cut, and `overflow`
 * set. */
typedef struct pp_path {
    char *data;
    size_t length, capacity;
    bool overflow;
} pp_path;

/* Begins an empty path in data[capacity]. */
pp_path pp_path_begin(char *data, size_t capacity);

void pp_path_add_char(pp_path *path, char c);
void pp_path_add(pp_path *path, const char *text);
void pp_path_add_number(pp_path *path, uint64_t number);

/* Records the program's name for %e. Start-up code calls it early: the name is in argv, which
 * servers overwrite with a title. */
void pp_path_template_init(const char *name);

/* The time of that call: nanoseconds of CLOCK_MONOTONIC. It tells the programs apart that one
 * process executes. */
uint64_t pp_path_stamp(void);

/* Whether each % is followed by a letter of the list above. */
bool pp_path_template_is_valid(const char *template);

/*
 * Makes an absolute template of `name` in to[capacity], which errors leave unchanged. With
 * `literally`, a % in `name` means itself. 0, -ENAMETOOLONG, or the error of reading the working
 * folder.
 */
int pp_path_template_complete(char *to, size_t capacity, const char *name, bool literally);

/* The values of placeholders at this moment. */
typedef struct pp_path_values {
    const char *kind;
    unsigned counter;
} pp_path_values;
void pp_path_add_placeholder(pp_path *path, char what, const pp_path_values *values);
void pp_path_add_template(pp_path *path, const char *template, const pp_path_values *values);

#endif
