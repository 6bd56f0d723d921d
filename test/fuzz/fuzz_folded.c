/* SPDX-License-Identifier: MIT
 *
 * fuzz_folded.c: any bytes as folded stacks (imported.h).
 */
#include "imported.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_imported(data, size, &cp_folded);
}
