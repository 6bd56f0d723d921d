/* SPDX-License-Identifier: MIT
 *
 * preload_list.c: see preload_list.h.
 *
 * Zone: HOOK.
 * Tested by: e2e.children, e2e.cpprof_record_exec, e2e.other_libc
 */
#include "host/preload_list.h"

#include <string.h>

static const char preload_name[] = "LD_PRELOAD=";

/* Whether a word names this library. */
static bool is_us(const char *word, size_t length)
{
    static const char stem[] = "libpprof.so";
    for (size_t i = 0; i + sizeof stem - 1 <= length; i++) {
        if (memcmp(word + i, stem, sizeof stem - 1) == 0) {
            return i == 0 || word[i - 1] == '/';
        }
    }
    return false;
}

const char *pp_preload_list_find(const char *list, size_t *length)
{
    while (*list != '\0') {
        *length = strcspn(list, ": ");
        if (is_us(list, *length)) {
            return list;
        }
        list += *length + (list[*length] != '\0');
    }
    return NULL;
}

static bool is_entry(const char *entry, const char *name)
{
    return strncmp(entry, name, strlen(name)) == 0;
}

bool pp_preload_list_is_in(char *const envp[])
{
    size_t length = 0;
    while (envp != NULL && *envp != NULL && !is_entry(*envp, preload_name)) {
        envp++;
    }
    return envp != NULL && *envp != NULL &&
           pp_preload_list_find(*envp + sizeof preload_name - 1, &length) != NULL;
}

void pp_preload_list_remove(char *list)
{
    char *out = list;
    const char *in = list;
    while (*in != '\0') {
        size_t length = strcspn(in, ": ");
        size_t whole = length + (in[length] != '\0');
        if (!is_us(in, length)) {
            memmove(out, in, whole);
            out += whole;
        }
        in += whole;
    }
    *out = '\0';
    if (out > list && (out[-1] == ':' || out[-1] == ' ')) {
        out[-1] = '\0';
    }
}

size_t pp_preload_list_room(char *const envp[])
{
    size_t entries = 1;
    size_t bytes = 0;
    for (; *envp != NULL; envp++, entries++) {
        bytes += is_entry(*envp, preload_name) ? strlen(*envp) + 1 : 0;
    }
    return entries + (bytes + sizeof *envp - 1) / sizeof *envp;
}

char *const *pp_preload_list_leave_out(char *const envp[], char **room)
{
    size_t count = 0;
    while (envp[count] != NULL) {
        count++;
    }
    char **entry = room;
    char *text = (char *)(room + count + 1);
    for (size_t i = 0; i < count; i++) {
        *entry = envp[i];
        if (is_entry(envp[i], preload_name)) {
            size_t size = strlen(envp[i]) + 1;
            memcpy(text, envp[i], size);
            pp_preload_list_remove(text + sizeof preload_name - 1);
            *entry = text;
            text += size;
            entry += (*entry)[sizeof preload_name - 1] != '\0' ? 1 : 0;
        } else {
            entry++;
        }
    }
    *entry = NULL;
    return room;
}
