/* SPDX-License-Identifier: MIT
 *
 * columns.c: see columns.h.
 *
 * Tested by: unit.cmd_live_screen.
 */
#include "base/columns.h"

#include "src/base/utf8.h"

#include <stdint.h>

typedef struct range {
    uint32_t first, last;
} range;

/* From Unicode's EastAsianWidth.txt (W and F) and UnicodeData.txt (Mn, Me and Cf), in whole blocks:
 * characters that no table names take one column. */
static const range wide[] = {
    {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff},   {0x3400, 0x4dbf},
    {0x4e00, 0xa4cf},   {0xa960, 0xa97c},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
    {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};
static const range none[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f},   {0x0e34, 0x0e3a},
    {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x202a, 0x202e},   {0x2060, 0x2064},
    {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef},
};

static int contains(const range *ranges, size_t count, uint32_t code)
{
    for (size_t i = 0; i < count; i++) {
        if (code >= ranges[i].first && code <= ranges[i].last) {
            return 1;
        }
    }
    return 0;
}

unsigned cp_columns_of(const char *character, size_t bytes)
{
    uint32_t code = pp_utf8_character(character, bytes);

    if (contains(none, sizeof none / sizeof *none, code)) {
        return 0;
    }
    return contains(wide, sizeof wide / sizeof *wide, code) ? 2 : 1;
}
