/* SPDX-License-Identifier: MIT
 *
 * cfi_table.h: whether an image's search table is one: sorted, as linkers leave it.
 *
 * Another one gives whatever the search comes upon first, which depends on how it goes about it;
 * and a removable module without a table is not searched at all.
 */
#ifndef PP_TEST_CFI_TABLE_H
#define PP_TEST_CFI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Tables with another header than the usual one are not looked into: false. */
static inline bool cfi_table_is_sound(const uint8_t *bytes, size_t size)
{
    enum { HEADER = 12, ENTRY = 8 };
    static const uint8_t encodings[] = {1, 0x1b, 0x03, 0x3b};
    uint32_t count = 0;
    uintptr_t previous = 0;
    if (size < HEADER || memcmp(bytes, encodings, sizeof encodings) != 0)
        return false;
    memcpy(&count, bytes + 8, sizeof count);
    if (count > (size - HEADER) / ENTRY)
        return false;
    for (size_t i = 0; i < count; i++) {
        int32_t start = 0;
        memcpy(&start, bytes + HEADER + i * ENTRY, sizeof start);
        uintptr_t address = (uintptr_t)bytes + (uintptr_t)(intptr_t)start;
        if (address <= previous)
            return false;
        previous = address;
    }
    return true;
}

#endif
