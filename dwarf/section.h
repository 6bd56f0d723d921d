/* SPDX-License-Identifier: MIT
 *
 * section.h: a reader for the contents of a section, which uncompresses them.
 *
 * libelf uncompresses sections too, but into blocks of the host's allocator: after a large block is
 * freed, glibc's allocator keeps more memory for ever.
 */
#ifndef PP_DWARF_SECTION_H
#define PP_DWARF_SECTION_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/* Reads `size` bytes. Returns 0, -errno, or -EIO if the file has become shorter. */
int pp_section_read_at(int fd, void *to, size_t size, uint64_t offset);

/* Stores the size of the section's contents in *size: the uncompressed size if the section is
 * compressed by zlib (SHF_COMPRESSED), else the size in the file. Returns 0, or the error of
 * reading. */
int pp_section_size(int fd, const Elf64_Shdr *header, uint64_t *size);

/* Reads the contents to `to`, which has room for `size` bytes, and makes `header` that of a section
 * that is not compressed. Returns 0; -EIO if the contents do not have that size; -ENOMEM; or the
 * error of reading. */
int pp_section_read(int fd, Elf64_Shdr *header, uint64_t size, uint8_t *to);

#endif
