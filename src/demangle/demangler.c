/* SPDX-License-Identifier: MIT
 *
 * demangler.c: chooses the reader of a symbol.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 */
#include "demangle/demangler.h"

#include "demangle/cxx.h"
#include "demangle/rust_name.h"

#include <string.h>

pp_demangler pp_demangler_begin(pp_arena *arena)
{
    return (pp_demangler){.arena = arena, .stack = PP_MANGLED_STACK};
}

pp_demangler pp_demangler_begin_small(pp_arena *arena)
{
    return (pp_demangler){.arena = arena, .stack = PP_MANGLED_SMALL_STACK};
}

static bool read_name(pp_cxx *work, size_t stack, const char *name, pp_span *text)
{
    pp_mangled *m = &work->m;
    bool is_read = false;
    pp_mangled_begin(m, name, stack);
    if (name[1] == 'R') {
        is_read = pp_rust_second_scheme(m);
    } else if (pp_rust_is_first_scheme(name)) {
        is_read = pp_rust_first_scheme(m);
    } else {
        return pp_cxx_read(work, text);
    }
    *text = pp_mangled_since(m, 0);
    return is_read;
}

static bool is_control(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f;
}

static size_t without_controls(const char *name)
{
    size_t length = 0;
    while (name[length] != '\0' && !is_control(name[length])) {
        length++;
    }
    return length;
}

/* A control character would break the line of a text. */
static const char *replace_controls(pp_arena *arena, const char *name)
{
    char *copy = pp_arena_text(arena, name, strlen(name));
    for (char *c = copy; c != NULL && *c != '\0'; c++) {
        if (is_control(*c)) {
            *c = '?';
        }
    }
    return copy != NULL ? copy : "?";
}

const char *pp_demangle(pp_demangler *demangler, const char *name)
{
    pp_span text;
    if (name[without_controls(name)] != '\0') {
        return replace_controls(demangler->arena, name);
    }
    if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R')) {
        return name;
    }
    if (demangler->work == NULL) {
        demangler->work = pp_arena_alloc(demangler->arena, sizeof *demangler->work);
    }
    pp_cxx *work = demangler->work;
    if (work == NULL || !read_name(work, demangler->stack, name, &text)) {
        return name;
    }
    const char *copy = pp_arena_text(demangler->arena, work->m.text + text.at, text.size);
    return copy != NULL ? copy : name;
}
