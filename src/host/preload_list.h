/* SPDX-License-Identifier: MIT
 *
 * preload_list.h: this library in the variable LD_PRELOAD, a list of words that ":" or " " separate.
 *
 * Zone: HOOK. A child of vfork calls these: they need no memory but the caller's.
 */
#ifndef PP_HOST_PRELOAD_LIST_H
#define PP_HOST_PRELOAD_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* The word of the list that names this library, and its length; NULL if there is none. */
const char *pp_preload_list_find(const char *list, size_t *length);

/* Takes this library out of the list, in place. */
void pp_preload_list_remove(char *list);

/* Whether the environment has LD_PRELOAD with this library in it. NULL has not. */
bool pp_preload_list_is_in(char *const envp[]);

/*
 * Makes an environment of the entries of `envp`, without this library, in `room`, which has as many words as the
 * first function returns. Of the strings only LD_PRELOAD is copied.
 */
size_t pp_preload_list_room(char *const envp[]);
char *const *pp_preload_list_leave_out(char *const envp[], char **room);

#endif
