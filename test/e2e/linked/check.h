/* SPDX-License-Identifier: MIT
 *
 * check.h: checks that go on after a failure: the line is printed, and `failures` is not 0 at the
 * end.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

static int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: not true: %s\n", __LINE__, #condition);                      \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

/* Whole numbers: results, errors, counts. */
#define CHECK_IS(call, expected)                                                                   \
    do {                                                                                           \
        long found_ = (long)(call);                                                                \
        if (found_ != (long)(expected)) {                                                          \
            fprintf(stderr, "line %d: %s is %ld, not %ld\n", __LINE__, #call, found_,              \
                    (long)(expected));                                                             \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

#endif
