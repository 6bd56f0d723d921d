/* SPDX-License-Identifier: MIT
 *
 * section.c: see section.h. It reads by pread(), and uncompresses piece by piece.
 */
#include "dwarf/section.h"

#include <errno.h>
#include <stdbool.h>
#include <unistd.h>
#include <zlib.h>

enum { PIECE = 16 * 1024, MOST_AT_ONCE = 1 << 30 };

int pp_section_read_at(int fd, void *to, size_t size, uint64_t offset)
{
    char *at = to;
    while (size > 0) {
        ssize_t got = pread(fd, at, size, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got < 0 ? -errno : -EIO;
        }
        at += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
    return 0;
}

/* Reads the header of contents that zlib compressed. False if they are not compressed, or on an
 * error. */
static bool is_zlib(int fd, const Elf64_Shdr *header, Elf64_Chdr *compression, int *error)
{
    *error = 0;
    if ((header->sh_flags & SHF_COMPRESSED) == 0 || header->sh_size < sizeof *compression) {
        return false;
    }
    *error = pp_section_read_at(fd, compression, sizeof *compression, header->sh_offset);
    return *error == 0 && compression->ch_type == ELFCOMPRESS_ZLIB;
}

int pp_section_size(int fd, const Elf64_Shdr *header, uint64_t *size)
{
    Elf64_Chdr compression;
    int error = 0;
    *size = is_zlib(fd, header, &compression, &error) ? compression.ch_size : header->sh_size;
    return error;
}

/* Uncompresses `size` bytes at `offset` to exactly `out_size` bytes. */
static int inflate_all(int fd, uint64_t offset, uint64_t size, uint8_t *out, uint64_t out_size)
{
    unsigned char piece[PIECE];
    z_stream stream = {.next_out = out};
    if (inflateInit(&stream) != Z_OK) {
        return -ENOMEM;
    }
    int error = 0;
    int state = Z_OK;
    while (error == 0 && state == Z_OK && size > 0) {
        size_t part = size < PIECE ? (size_t)size : PIECE;
        error = pp_section_read_at(fd, piece, part, offset);
        offset += part;
        size -= part;
        stream.next_in = piece;
        stream.avail_in = error == 0 ? (uInt)part : 0;
        while (state == Z_OK && stream.avail_in > 0) {
            uint64_t room = out_size - stream.total_out;
            stream.avail_out = room < MOST_AT_ONCE ? (uInt)room : MOST_AT_ONCE;
            state = inflate(&stream, Z_NO_FLUSH);
        }
    }
    if (error == 0 && (state != Z_STREAM_END || stream.total_out != out_size)) {
        error = -EIO;
    }
    inflateEnd(&stream);
    return error;
}

int pp_section_read(int fd, Elf64_Shdr *header, uint64_t size, uint8_t *to)
{
    Elf64_Chdr compression;
    int error = 0;
    if (!is_zlib(fd, header, &compression, &error)) {
        return error != 0 ? error : pp_section_read_at(fd, to, (size_t)size, header->sh_offset);
    }
    error = inflate_all(fd, header->sh_offset + sizeof compression,
                        header->sh_size - sizeof compression, to, size);
    header->sh_flags &= ~(Elf64_Xword)SHF_COMPRESSED;
    header->sh_size = size;
    header->sh_addralign = compression.ch_addralign;
    return error;
}
