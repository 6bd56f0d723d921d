/* SPDX-License-Identifier: MIT
 *
 * fuzz_walk.h: the head of an input of fuzz_walk: registers and stack, in a form in which a changed
 * byte still is an address of something.
 */
#ifndef PP_TEST_FUZZ_WALK_H
#define PP_TEST_FUZZ_WALK_H

#include <stdint.h>
#include <string.h>

enum {
    FUZZ_WALK_REGISTERS = 17,
    FUZZ_WALK_WORDS = 64,
    FUZZ_WALK_CHANGES = 8,
    FUZZ_WALK_SP = 7,
    FUZZ_WALK_PC = 16
};

typedef enum fuzz_walk_kind {
    FUZZ_CODE,     /* number >> 13: a function of the image, the rest: an offset into it */
    FUZZ_WORD,     /* the n-th word of the stage */
    FUZZ_BYTE,     /* the n-th byte of the stage */
    FUZZ_SMALL,    /* the number */
    FUZZ_NEGATIVE, /* minus the number */
    FUZZ_NOWHERE,  /* one of a few addresses at the edges of the address space */
    FUZZ_PLAIN,    /* code without call-frame information, full of calls */
    FUZZ_RESTORER, /* a signal restorer without call-frame information */
    FUZZ_KINDS
} fuzz_walk_kind;

/* A word of the stack, or a register. */
typedef struct fuzz_walk_word {
    uint8_t kind; /* modulo FUZZ_KINDS */
    uint8_t low, high;
} fuzz_walk_word;

/* What changes between two walks: the n-th word behind SP, or a register. */
typedef struct fuzz_walk_change {
    uint8_t where; /* from FUZZ_WALK_REGISTER on: registers */
    fuzz_walk_word value;
} fuzz_walk_change;

enum { FUZZ_WALK_REGISTER = 240 };

typedef struct fuzz_walk_head {
    uint8_t
        place; /* modulo 3: the walk runs on the stack below the stage, whose end is 0: known, 1:
                      not known; 2: it runs elsewhere */
    uint8_t capacity, skip;
    fuzz_walk_change changes[FUZZ_WALK_CHANGES];
    fuzz_walk_word registers[FUZZ_WALK_REGISTERS];
    fuzz_walk_word stack[FUZZ_WALK_WORDS]; /* repeated over the whole stage */
} fuzz_walk_head;

/* Every word leads on: into one of the functions, or, for frame pointers, up the stage. */
static inline fuzz_walk_head fuzz_walk_usual_head(unsigned functions)
{
    fuzz_walk_head head;
    memset(&head, 0, sizeof head);
    head.capacity = 60;
    for (unsigned i = 0; i < FUZZ_WALK_REGISTERS; i++)
        head.registers[i] = (fuzz_walk_word){FUZZ_WORD, (uint8_t)(32 + 5 * i), 0};
    head.registers[FUZZ_WALK_SP] = (fuzz_walk_word){FUZZ_WORD, 24, 0};
    head.registers[FUZZ_WALK_PC] = (fuzz_walk_word){FUZZ_CODE, 1, 0};
    for (unsigned i = 0; i < FUZZ_WALK_WORDS; i++) {
        head.stack[i] =
            (fuzz_walk_word){FUZZ_CODE, (uint8_t)(1 + 3 * i), (uint8_t)((i % functions) << 5)};
        if (i % 8 == 3)
            head.stack[i] = (fuzz_walk_word){FUZZ_WORD, (uint8_t)(64 + 2 * i), 0};
    }
    for (unsigned i = 0; i < FUZZ_WALK_CHANGES; i++)
        head.changes[i] = (fuzz_walk_change){
            (uint8_t)(2 + 7 * i), {FUZZ_CODE, (uint8_t)(2 + i), (uint8_t)((i % functions) << 5)}};
    return head;
}

#endif
