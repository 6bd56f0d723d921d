/* SPDX-License-Identifier: MIT
 *
 * fuzz_legacy_text.c: any bytes as a profile in one of the formats of text (imported.h).
 */
#include "imported.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_imported(data, size, &cp_legacy_text);
}
