/* SPDX-License-Identifier: MIT
 *
 * mutate.c FROM TO SEED FIRST SIZE: copies a file with damage: every fourth seed cuts it off, the
 * others change 1 to 32 bytes of the SIZE bytes from FIRST on. One seed always does the same damage.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state;

static uint64_t next(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

static uint8_t worst(uint8_t byte)
{
    static const uint8_t bytes[] = {0, 1, 0x7f, 0x80, 0xff};
    uint64_t choice = next(8);
    return choice < sizeof bytes ? bytes[choice] : (uint8_t)(byte ^ 1u << next(8));
}

int main(int argc, char **argv)
{
    FILE *from = argc == 6 ? fopen(argv[1], "rb") : NULL;
    FILE *to = from != NULL ? fopen(argv[2], "wb") : NULL;
    uint8_t *bytes = malloc(1 << 24);
    if (to == NULL || bytes == NULL) {
        return 2;
    }
    size_t size = fread(bytes, 1, 1 << 24, from);
    uint64_t seed = strtoull(argv[3], NULL, 10);
    uint64_t first = strtoull(argv[4], NULL, 10);
    uint64_t count = strtoull(argv[5], NULL, 10);
    state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    if (first + count > size || count == 0) {
        return 2;
    }
    if (seed % 4 == 3) {
        size = (size_t)(first + next(count));
    }
    for (uint64_t i = 0, changes = 1 + next(32); seed % 4 != 3 && i < changes; i++) {
        uint64_t at = first + next(count);
        bytes[at] = worst(bytes[at]);
    }
    return fwrite(bytes, 1, size, to) == size && fclose(to) == 0 ? 0 : 2;
}
