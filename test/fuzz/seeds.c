/* SPDX-License-Identifier: MIT
 *
 * seeds.c FOLDER FILE...: small pieces of the call-frame information of real programs and
 * libraries, as seeds for fuzz_cfi and fuzz_walk.
 *
 * Of each file a few functions are taken, so that every kind of CFA operation, expression operation
 * and augmentation that the file has is in one of them. They are laid out as the fuzzers expect:
 *
 *   [ .eh_frame_hdr: 12 bytes | table | CIE FDE | CIE FDE ... | zero terminator ]
 *
 * with their code one function behind the other, CODE_DISTANCE behind the image.
 *
 * The files written are FOLDER/cfi/NAME and FOLDER/walk/NAME. What is read is trusted: a broken
 * file ends the program.
 */
#include "fuzz_walk.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FUNCTIONS = 8,
    HEADER_BYTES = 12,
    ENTRY_BYTES = 8,
    CODE_DISTANCE = 0x10000,
    PIECE_MAX = 512, /* bytes of an FDE or a CIE that is small enough for a seed */
    IMAGE_MAX = 16384,
    PCREL_SDATA4 = 0x1b,
    FEATURES = 512
};

/* ---- the file ---- */

typedef struct file {
    const uint8_t *bytes;
    size_t size;
    uint64_t header; /* offset of .eh_frame_hdr, and its address minus that */
    uint64_t bias;
} file;

static bool open_file(const char *path, file *f)
{
    struct stat status;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0)
        return false;
    f->size = (size_t)status.st_size;
    f->bytes = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (f->bytes == MAP_FAILED || f->size < sizeof(Elf64_Ehdr) ||
        memcmp(f->bytes, ELFMAG, SELFMAG) != 0)
        return false;
    const Elf64_Ehdr *elf = (const void *)f->bytes;
    const Elf64_Phdr *segments = (const void *)(f->bytes + elf->e_phoff);
    for (unsigned i = 0; i < elf->e_phnum; i++) {
        if (segments[i].p_type == PT_GNU_EH_FRAME) {
            f->header = segments[i].p_offset;
            f->bias = segments[i].p_vaddr - segments[i].p_offset;
            return true;
        }
    }
    return false;
}

static uint32_t u32_at(const file *f, uint64_t offset)
{
    uint32_t value = 0;
    if (offset > f->size - sizeof value)
        exit(1);
    memcpy(&value, f->bytes + offset, sizeof value);
    return value;
}

/* ---- what is in a piece ---- */

static uint64_t skip_leb(const uint8_t **at)
{
    uint64_t value = 0;
    unsigned shift = 0;
    do {
        value |= shift < 64 ? (uint64_t)(**at & 0x7f) << shift : 0;
        shift += 7;
    } while (*(*at)++ & 0x80);
    return value;
}

/* Sets the features of a CFA program: its operations, and those of its expressions. */
static void note_program(const uint8_t *at, const uint8_t *end, bool *features)
{
    static const char operands[256] = {
        [0x02] = '1', [0x03] = '2', [0x04] = '4', [0x05] = 'B', [0x06] = 'L', [0x07] = 'L',
        [0x08] = 'L', [0x09] = 'B', [0x0c] = 'B', [0x0d] = 'L', [0x0e] = 'L', [0x0f] = 'E',
        [0x10] = 'X', [0x11] = 'B', [0x12] = 'B', [0x13] = 'L', [0x14] = 'B', [0x15] = 'B',
        [0x16] = 'X', [0x2e] = 'L', [0x2f] = 'B'};
    while (at < end) {
        uint8_t op = *at++;
        features[op < 0x40 ? op : op & 0xc0] = true;
        if (op >= 0x40) {
            if ((op & 0xc0) == 0x80)
                skip_leb(&at);
            continue;
        }
        switch (operands[op]) {
        case '4':
            at += 2;
            /* fall through */
        case '2':
            at += 1;
            /* fall through */
        case '1':
            at += 1;
            break;
        case 'B':
            skip_leb(&at);
            /* fall through */
        case 'L':
            skip_leb(&at);
            break;
        case 'X':
            skip_leb(&at);
            /* fall through */
        case 'E': {
            uint64_t size = skip_leb(&at);
            for (uint64_t i = 0; i < size && at < end; i++)
                features[256 + *at++] = true; /* operands count as operations: never mind */
            break;
        }
        default:
            break;
        }
    }
}

/* A function's FDE and its CIE, in the file. */
typedef struct piece {
    uint64_t fde, cie; /* offsets of their length fields */
    uint32_t fde_bytes, cie_bytes, range;
    bool features[FEATURES];
} piece;

/* False for what is too large, too odd, or without the usual encoding. */
static bool read_piece(const file *f, uint64_t fde, piece *p)
{
    memset(p, 0, sizeof *p);
    p->fde = fde;
    p->fde_bytes = u32_at(f, fde) + 4;
    uint32_t back = u32_at(f, fde + 4);
    if (back == 0 || back > fde + 4 || p->fde_bytes > PIECE_MAX)
        return false;
    p->cie = fde + 4 - back;
    p->cie_bytes = u32_at(f, p->cie) + 4;
    if (p->cie_bytes > PIECE_MAX)
        return false;
    const char *letters = (const char *)f->bytes + p->cie + 9;
    const uint8_t *at = (const uint8_t *)letters + strlen(letters) + 1;
    const uint8_t *cie_end = f->bytes + p->cie + p->cie_bytes;
    if (letters[0] != 'z')
        return false;
    skip_leb(&at);
    skip_leb(&at);
    skip_leb(&at);
    const uint8_t *program = at + 1 + *at;
    at++;
    for (const char *letter = letters + 1; *letter != '\0'; letter++) {
        p->features[384 + (*letter & 0x7f)] = true;
        if (*letter == 'R' && *at != PCREL_SDATA4)
            return false;
        at += *letter == 'P' ? 5 : *letter == 'S' ? 0 : 1;
    }
    note_program(program, cie_end, p->features);
    p->range = u32_at(f, fde + 12);
    at = f->bytes + fde + 16;
    uint64_t augmentation_bytes = skip_leb(&at);
    at += augmentation_bytes;
    note_program(at, f->bytes + fde + p->fde_bytes, p->features);
    return p->range > 0 && p->range < 0x8000;
}

static unsigned count_new(const piece *p, const bool *known)
{
    unsigned count = 0;
    for (unsigned i = 0; i < FEATURES; i++)
        count += p->features[i] && !known[i];
    return count;
}

/* Greedily: the piece with the most that is new, again and again. */
static unsigned choose(const file *f, piece *chosen)
{
    bool known[FEATURES] = {false};
    uint32_t count = u32_at(f, f->header + 8);
    unsigned found = 0;
    while (found < FUNCTIONS) {
        unsigned best = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint64_t entry = f->header + HEADER_BYTES + (uint64_t)i * ENTRY_BYTES;
            piece p;
            if (!read_piece(f, f->header + (uint64_t)(int64_t)(int32_t)u32_at(f, entry + 4), &p))
                continue;
            unsigned is_new = count_new(&p, known);
            if (is_new > best) {
                best = is_new;
                chosen[found] = p;
            }
        }
        if (best == 0)
            break;
        for (unsigned i = 0; i < FEATURES; i++)
            known[i] |= chosen[found].features[i];
        found++;
    }
    return found;
}

/* ---- the image ---- */

typedef struct image {
    uint8_t bytes[IMAGE_MAX];
    uint32_t size;
} image;

static void put(image *to, const void *data, uint32_t size)
{
    if (to->size + size > IMAGE_MAX)
        exit(1);
    memcpy(to->bytes + to->size, data, size);
    to->size += size;
}

static void put_u32(image *to, uint32_t value)
{
    put(to, &value, sizeof value);
}

static void patch(image *to, uint32_t at, uint32_t value)
{
    memcpy(to->bytes + at, &value, sizeof value);
}

static void lay_out(const file *f, const piece *pieces, unsigned count, image *to)
{
    static const uint8_t encodings[] = {1, PCREL_SDATA4, 0x03, 0x3b};
    uint32_t code = CODE_DISTANCE;
    to->size = 0;
    put(to, encodings, sizeof encodings);
    put_u32(to, HEADER_BYTES + count * ENTRY_BYTES - 4);
    put_u32(to, count);
    for (unsigned i = 0; i < 2 * count; i++)
        put_u32(to, 0);
    for (unsigned i = 0; i < count; i++) {
        const piece *p = &pieces[i];
        uint32_t cie = to->size;
        put(to, f->bytes + p->cie, p->cie_bytes);
        uint32_t fde = to->size;
        put(to, f->bytes + p->fde, p->fde_bytes);
        patch(to, fde + 4, fde + 4 - cie);
        patch(to, fde + 8, code - (fde + 8));
        patch(to, HEADER_BYTES + i * ENTRY_BYTES, code);
        patch(to, HEADER_BYTES + i * ENTRY_BYTES + 4, fde);
        code += (p->range + 31) & ~UINT32_C(15);
    }
    put_u32(to, 0);
}

/* ---- files ---- */

static void write_file(const char *folder, const char *room, const char *path, const void *head,
                       size_t head_bytes, const image *body)
{
    char name[4096];
    const char *slash = strrchr(path, '/');
    snprintf(name, sizeof name, "%s/%s/%s", folder, room, slash != NULL ? slash + 1 : path);
    FILE *out = fopen(name, "wb");
    if (out == NULL || fwrite(head, 1, head_bytes, out) != head_bytes ||
        fwrite(body->bytes, 1, body->size, out) != body->size || fclose(out) != 0) {
        perror(name);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: seeds FOLDER FILE...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        static piece pieces[FUNCTIONS];
        static image made;
        file f;
        if (!open_file(argv[i], &f))
            continue;
        unsigned count = choose(&f, pieces);
        if (count == 0)
            continue;
        lay_out(&f, pieces, count, &made);
        fuzz_walk_head head = fuzz_walk_usual_head(count);
        write_file(argv[1], "cfi", argv[i], NULL, 0, &made);
        write_file(argv[1], "walk", argv[i], &head, sizeof head, &made);
    }
    return 0;
}
