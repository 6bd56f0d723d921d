/* SPDX-License-Identifier: MIT
 *
 * path_template.h: paths with placeholders, of the options file= and log=.
 *
 *   %e program   %p process id   %k kind   %t time   %n counter   %% percent
 *   %s when the library was loaded, in nanoseconds: another one in each program that a process executes
 *
 * Zone: SIGNAL.
 * Owns: the program's name.
 */
#ifndef PP_SYS_PATH_TEMPLATE_H
#define PP_SYS_PATH_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text in memory of the caller's, always terminated. What does not fit is left out, and
 * said so. */
typedef struct pp_path {
    char *data;
    size_t length, capacity;
    bool overflow;
} pp_path;

/* An empty one. */
pp_path pp_path_begin(char *data, size_t capacity);

void pp_path_add_char(pp_path *path, char c);
void pp_path_add(pp_path *path, const char *text);
void pp_path_add_number(pp_path *path, uint64_t number);

/* Remembers what %e is. Called early: the name lies in argv, which servers overwrite with
 * a title. */
void pp_path_template_init(const char *name);

/* When that was: nanoseconds of CLOCK_MONOTONIC. It tells programs that a process executes apart. */
uint64_t pp_path_stamp(void);

/* Whether each % is followed by a letter from the list. */
bool pp_path_template_is_valid(const char *template);

/*
 * Makes an absolute template of `name`, in to[capacity], which is left alone on errors. With
 * `literally`, a % means itself. 0, -ENAMETOOLONG, or the error that the working folder cannot be
 * had by.
 */
int pp_path_template_complete(char *to, size_t capacity, const char *name, bool literally);

/* What a placeholder stands for now: `what` is the letter. */
typedef struct pp_path_values {
    const char *kind;
    unsigned counter;
} pp_path_values;
void pp_path_add_placeholder(pp_path *path, char what, const pp_path_values *values);

#endif
