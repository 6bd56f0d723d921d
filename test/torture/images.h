/* SPDX-License-Identifier: MIT
 *
 * images.h: which code an address of a traced process belongs to.
 *
 * Zone: tests.
 */
#ifndef PP_TORTURE_IMAGES_H
#define PP_TORTURE_IMAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum code_kind {
    CODE_NONE,
    CODE_LIBRARY,   /* libpprof.so */
    CODE_COMPANION, /* libpprof-http.so and its like, which stand in front of nothing */
    CODE_SYSTEM,    /* libc, the loader, the vDSO */
    CODE_PROGRAM
} code_kind;

typedef struct code_place {
    code_kind kind;
    const char *file;
    unsigned long offset; /* in the file */
    bool after_call;      /* the instruction before ends there and is a call */
    uintptr_t table_slot; /* 0, or the word of the file's global offset table by which it calls */
} code_place;

/* What is at `address` in this process. Reads its mappings if they are not known, or if `look_again` is set
 * and the address is in no known one. */
code_place images_find(pid_t process, uintptr_t address, bool look_again);

/* The process has other mappings now, or is gone. */
void images_forget(pid_t process);

#endif
