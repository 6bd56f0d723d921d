/* SPDX-License-Identifier: MIT
 *
 * no_thread_context.h: stands in for store/thread_context.c, for tests that include store/labels.c: no
 * set has a record.
 */
#ifndef PP_TEST_INTERLEAVE_NO_THREAD_CONTEXT_H
#define PP_TEST_INTERLEAVE_NO_THREAD_CONTEXT_H

#include "interleave/model.h"
#include "store/thread_context.h"

bool pp_thread_context_is_on;

void *pp_context_record_write(void *memory, size_t room, const pp_label *labels, uint32_t count)
{
    (void)memory, (void)room, (void)labels, (void)count;
    MODEL_CHECK(false);
    return NULL;
}

void pp_thread_context_show(const void *record)
{
    (void)record;
    MODEL_CHECK(false);
}

#endif
