/* SPDX-License-Identifier: MIT
 *
 * section.h: the contents of a section of a file, read and uncompressed.
 *
 * libelf would uncompress them as well, but into blocks of the program's allocator: glibc's keeps
 * more memory for ever after it has been given a large block back.
 *
 */
#ifndef PP_DWARF_SECTION_H
#define PP_DWARF_SECTION_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/* Reads `size` bytes. 0, -errno, or -EIO if the file has become shorter. */
int pp_section_read_at(int fd, void *to, size_t size, uint64_t offset);

/*
 * How large the contents of the section are, in *size: uncompressed if the section says that it is
 * compressed by zlib (SHF_COMPRESSED), else as they are in the file. 0, or the error of reading.
 */
int pp_section_size(int fd, const Elf64_Shdr *header, uint64_t *size);

/*
 * Reads them to `to`, where there is room for as much, and makes `header` that of a section that is
 * not compressed. 0; -EIO if they are not what the section says; -ENOMEM, or -errno of reading.
 */
int pp_section_read(int fd, Elf64_Shdr *header, uint64_t size, uint8_t *to);

#endif
