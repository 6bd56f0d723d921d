/* SPDX-License-Identifier: MIT
 *
 * mappings.c: base/memory.h in the model. What is unmapped stays, unless a test has functions of its own.
 */
#include "base/memory.h"

#include "interleave/model.h"

void *pp_memory_map(size_t bytes)
{
    return model_alloc(bytes);
}

void pp_memory_unmap(void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
}

void pp_memory_empty(void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
}
