/* SPDX-License-Identifier: MIT
 *
 * fuzz_perf_script.c: any bytes as output of `perf script` (imported.h).
 */
#include "imported.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_imported(data, size, &cp_perf_script);
}
