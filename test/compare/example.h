/* SPDX-License-Identifier: MIT
 *
 * example.h: a disagreement, as text.
 *
 * Zone: tests.
 * Owns: the text.
 */
#ifndef PP_COMPARE_EXAMPLE_H
#define PP_COMPARE_EXAMPLE_H

#include "classes.h"

/* The frames around index `at`, a line each for the machine, for us, and for libunwind if it was
 * asked. Valid until the next call. */
const char *example_text(const compare_answer *ours, const chain *right, const chain *second,
                         size_t at);

#endif
