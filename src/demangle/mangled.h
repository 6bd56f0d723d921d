/* SPDX-License-Identifier: MIT
 *
 * mangled.h: the common base of the two demanglers: a symbol to read, and the text to write.
 *
 * Symbols come from the symbol tables of any loaded module, and may hold anything. The first error
 * fails the whole symbol: `failed` is sticky, and from then on the symbol reads as if it had ended.
 * Four bounds hold for every symbol, so that none takes long:
 *
 *   bytes of the caller's stack   a number from the caller; each recursive function checks the
 *                                 address of its frame
 *   steps                         PP_MANGLED_STEPS, because a part may be read several times
 *   bytes of text                 PP_MANGLED_TEXT, discarded text included
 *   bytes of the symbol           by the last two
 *
 * Zone: SIGNAL (arithmetic on the caller's memory).
 */
#ifndef PP_DEMANGLE_MANGLED_H
#define PP_DEMANGLE_MANGLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PP_MANGLED_STACK = 12 * 1024,      /* real symbols need 8 KiB at most, as far as measured */
    PP_MANGLED_SMALL_STACK = 4 * 1024, /* enough for all but one symbol in 2000 */
    PP_MANGLED_STEPS = 16 * 1024,      /* real symbols: 400 */
    PP_MANGLED_TEXT = 32 * 1024        /* real symbols: 8 KiB */
};

/* A piece of the text. */
typedef struct pp_span {
    uint32_t at, size;
} pp_span;

typedef struct pp_mangled {
    const char *start, *at; /* NUL-terminated */
    uintptr_t floor;        /* no recursive frame is below */
    uint32_t steps;
    bool failed;
    bool silent; /* the parser writes no text */
    uint32_t used;
    char text[PP_MANGLED_TEXT];
} pp_mangled;

/* Begins a symbol. Its recursion may use `stack` bytes from the caller's frame on downwards. */
void pp_mangled_begin(pp_mangled *m, const char *name, size_t stack);

/* Sets `failed`, and returns false. */
bool pp_mangled_fail(pp_mangled *m);

/* Every recursive function calls this first, and returns at once if it is false. */
bool pp_mangled_enter(pp_mangled *m);

/* ---- reading ---- */

static inline char pp_mangled_peek(const pp_mangled *m)
{
    return *m->at;
}

/* Returns the character after the next one; NUL if there is none. */
static inline char pp_mangled_peek_next(const pp_mangled *m)
{
    return m->at[*m->at != '\0' ? 1 : 0];
}

/* Returns and consumes the next character; at the end returns NUL and consumes nothing. */
char pp_mangled_next(pp_mangled *m);

/* Consumes `wanted` and returns true if it comes next. */
bool pp_mangled_take(pp_mangled *m, const char *wanted);

/* Consumes `wanted`; fails if it does not come next. */
void pp_mangled_expect(pp_mangled *m, char wanted);

bool pp_is_digit(char c);
bool pp_is_lower(char c);
bool pp_is_upper(char c);

/* The value of a lowercase hexadecimal digit; -1 for any other character. */
int pp_hex_value(char c);

/* Reads decimal digits, at least one. */
uint32_t pp_mangled_number(pp_mangled *m);

/* Consumes `size` bytes and returns their address; NULL if the symbol has fewer. */
const char *pp_mangled_bytes(pp_mangled *m, uint32_t size);

/* ---- writing ---- */

/* Returns the text that was written since `used` was `begin`. */
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
