/* SPDX-License-Identifier: MIT
 *
 * names.c: see names.h.
 *
 * Tested by: unit.cmd_push_formats
 */
#include "push/names.h"

#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void push_name_of_label(const char *name, char to[PUSH_NAME_BYTES])
{
    size_t length = 0;
    if (*name >= '0' && *name <= '9') {
        to[length++] = '_';
    }
    for (; *name != '\0' && length + 1 < PUSH_NAME_BYTES; name++) {
        bool is_allowed = is_letter(*name) || (*name >= '0' && *name <= '9');
        to[length++] = (char)(is_allowed ? *name : '_');
    }
    to[length] = '\0';
}

void push_name_of_kind(const char *kind, char to[PUSH_NAME_BYTES])
{
    static const struct {
        const char *kind, *name;
    } names[] = {{"cpu", "process_cpu"},
                 {"profile", "process_cpu"},
                 {"heap", "memory"},
                 {"allocs", "memory"},
                 {"memory", "process_memory"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(kind, names[i].kind) == 0) {
            kind = names[i].name;
            break;
        }
    }
    push_name_of_label(kind, to);
}

bool push_name_is_taken(const push_profile *profile, size_t index)
{
    char name[PUSH_NAME_BYTES];
    char other[PUSH_NAME_BYTES];
    push_name_of_label(profile->labels[index].name, name);
    for (size_t i = 0; i < index; i++) {
        push_name_of_label(profile->labels[i].name, other);
        if (strcmp(name, other) == 0) {
            return true;
        }
    }
    return false;
}

const char *push_label_value(const push_profile *profile, const char *name, const char *otherwise)
{
    for (size_t i = 0; i < profile->label_count; i++) {
        if (strcmp(profile->labels[i].name, name) == 0) {
            return profile->labels[i].value;
        }
    }
    return otherwise;
}
