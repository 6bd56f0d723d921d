/* SPDX-License-Identifier: MIT
 *
 * marks.h: what the calling thread does for the library, in one word: a host has little room for
 * thread-local storage (tools/check-zones).
 *
 * Zone: SIGNAL.
 * Owns: the marks (8 bytes of TLS). Each belongs to one file.
 */
#ifndef PP_BASE_MARKS_H
#define PP_BASE_MARKS_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pp_marks {
    bool memory_is_calling; /* base/memory.c: the thread is in one of its functions */
    uint8_t place;          /* sys/apart.c */
    int acts_for;           /* sys/own_threads.c: a thread's id, or 0 */
} pp_marks;

extern PP_TLS pp_marks pp_thread_marks;

#endif
