/* SPDX-License-Identifier: MIT
 *
 * must.h: what a program cannot go on without.
 */
#ifndef MUST_H
#define MUST_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program if the condition does not hold; errno may say why. */
static inline void check(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "FAIL: %s (%s)\n", what, strerror(errno));
        exit(1);
    }
}

#endif
