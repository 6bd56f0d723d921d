/* SPDX-License-Identifier: MIT
 *
 * mangled.h: what the two demanglers share: a name that is read, and the text that is made of it.
 *
 * Names come from the symbol tables of whatever is loaded, and may hold anything. The first thing
 * that is not as it should be fails the whole: `failed` is sticky, and from then on the name reads
 * as if it had ended. Four bounds hold for every name, so that none costs more than a moment:
 *
 *   bytes of the caller's stack   as many as it gives, told by the address of each frame that recurses
 *   steps                         PP_MANGLED_STEPS, where a part of the name may be read again
 *   bytes of text                 PP_MANGLED_TEXT, what is thrown away again included
 *   bytes of the name             by the last two
 *
 * Zone: SIGNAL (arithmetic on the caller's memory).
 */
#ifndef PP_SYMBOL_MANGLED_H
#define PP_SYMBOL_MANGLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PP_MANGLED_STACK = 12 * 1024,      /* real names need 8 at most, as far as seen */
    PP_MANGLED_SMALL_STACK = 4 * 1024, /* enough for all but one in 2000 */
    PP_MANGLED_STEPS = 16 * 1024,      /* 400 */
    PP_MANGLED_TEXT = 32 * 1024        /* 8 KiB */
};

/* A piece of the text. */
typedef struct pp_span {
    uint32_t at, size;
} pp_span;

typedef struct pp_mangled {
    const char *start, *at; /* NUL-terminated */
    uintptr_t floor;        /* no frame that recurses lies below */
    uint32_t steps;
    bool failed;
    bool silent; /* what is read makes no text */
    uint32_t used;
    char text[PP_MANGLED_TEXT];
} pp_mangled;

/* With so many bytes of stack from the caller's frame on downwards. */
void pp_mangled_begin(pp_mangled *m, const char *name, size_t stack);

/* False, and failed. */
bool pp_mangled_fail(pp_mangled *m);

/* At the beginning of each function that may call itself: whether it may go on. */
bool pp_mangled_enter(pp_mangled *m);

/* ---- reading ---- */

static inline char pp_mangled_peek(const pp_mangled *m)
{
    return *m->at;
}

/* The character after that; NUL if there is none. */
static inline char pp_mangled_peek_next(const pp_mangled *m)
{
    return m->at[*m->at != '\0' ? 1 : 0];
}

/* The next character, passed; NUL at the end, which is never passed. */
char pp_mangled_next(pp_mangled *m);

/* Passes `wanted` if it is there. */
bool pp_mangled_take(pp_mangled *m, const char *wanted);

/* Fails if it is not there. */
void pp_mangled_expect(pp_mangled *m, char wanted);

bool pp_is_digit(char c);
bool pp_is_lower(char c);
bool pp_is_upper(char c);

/* Of a lowercase hexadecimal digit; -1 if it is none. */
int pp_hex_value(char c);

/* Decimal digits, at least one. */
uint32_t pp_mangled_number(pp_mangled *m);

/* Passes `size` bytes and returns where they begin; NULL if there are not as many. */
const char *pp_mangled_bytes(pp_mangled *m, uint32_t size);

/* ---- writing ---- */

/* What was written since `begin`, a value that `used` had. */
static inline pp_span pp_mangled_since(const pp_mangled *m, uint32_t begin)
{
    return (pp_span){begin, m->used - begin};
}

void pp_mangled_put(pp_mangled *m, const char *bytes, size_t size);
void pp_mangled_put_text(pp_mangled *m, const char *text);
void pp_mangled_put_number(pp_mangled *m, uint64_t number);
void pp_mangled_put_character(pp_mangled *m, uint32_t c); /* in UTF-8 */
void pp_mangled_put_span(pp_mangled *m, pp_span span);

#endif
