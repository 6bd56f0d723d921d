/* SPDX-License-Identifier: MIT
 *
 * tracee.h: follows a program and its children by ptrace, and has one system call of the library fail.
 *
 * Zone: tests.
 */
#ifndef PP_TORTURE_TRACEE_H
#define PP_TORTURE_TRACEE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PLACE_FRAMES = 5 };

/* Where the library calls the kernel: the instruction, and return addresses in the library. */
typedef struct place {
    uint64_t key;
    long number;
    unsigned calls, depth;
    struct {
        const char *file; /* its last part; lives until the end */
        unsigned long offset;
    } frames[PLACE_FRAMES];
} place;

/* Call number `call` from the place of that key fails with `error`; without a key none does. */
typedef struct wanted_failure {
    uint64_t key;
    unsigned call;
    int error;
    bool done;
    void (*note)(const place *p); /* each call of the library, or NULL */
    const char *touches;          /* if not NULL: prints what calls touch; this folder is %D */
} wanted_failure;

/* In a child of fork: waits for tracee_follow(). */
void tracee_begin(void);

/* Follows the child until it ends and returns its status (wait(2)). Without `wanted`, it is not traced
 * and has not called tracee_begin(). */
int tracee_follow(pid_t child, wanted_failure *wanted);

/* Waits for whatever has been killed. */
void tracee_drain(void);

#endif
