/* SPDX-License-Identifier: MIT
 *
 * build_id.c: iterates over ELF notes (drawing in build_id.h).
 *
 * Zone: SIGNAL.
 */
#include "elf/build_id.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

static size_t padded(size_t size, size_t alignment)
{
    return (size + alignment - 1) & ~(alignment - 1);
}

int pp_note_build_id(const void *notes, size_t size, size_t alignment,
                     uint8_t build_id[PP_BUILD_ID_MAX], uint8_t *build_id_size)
{
    if (alignment != 8) {
        alignment = 4; /* 0 and 1 occur, and mean 4 */
    }
    const uint8_t *at = notes;
    while (size >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, at, sizeof(note));
        /* Sizes are 32 bits wide: none of these sums can overflow. */
        size_t desc = padded(sizeof(note) + note.n_namesz, alignment);
        size_t end = desc + note.n_descsz;
        if (end > size) {
            break;
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz > 0 &&
            memcmp(at + sizeof(note), ELF_NOTE_GNU, 4) == 0) {
            size_t length = note.n_descsz < PP_BUILD_ID_MAX ? note.n_descsz : PP_BUILD_ID_MAX;
            memcpy(build_id, at + desc, length);
            *build_id_size = (uint8_t)length;
            return 0;
        }
        size_t next = padded(end, alignment);
        if (next > size) {
            break;
        }
        at += next;
        size -= next;
    }
    return -ENOENT;
}

static bool is_loaded(const ElfW(Phdr) * headers, size_t header_count, const ElfW(Phdr) * note)
{
    for (size_t i = 0; i < header_count; i++) {
        const ElfW(Phdr) *load = &headers[i];
        if (load->p_type == PT_LOAD && (load->p_flags & PF_R) != 0 &&
            note->p_vaddr >= load->p_vaddr && note->p_memsz <= load->p_filesz &&
            note->p_vaddr - load->p_vaddr <= load->p_filesz - note->p_memsz) {
            return true;
        }
    }
    return false;
}

int pp_elf_build_id(const ElfW(Phdr) * headers, size_t header_count, uintptr_t bias,
                    uint8_t build_id[PP_BUILD_ID_MAX], uint8_t *build_id_size)
{
    for (size_t i = 0; i < header_count; i++) {
        const ElfW(Phdr) *note = &headers[i];
        if (note->p_type != PT_NOTE || !is_loaded(headers, header_count, note)) {
            continue;
        }
        if (pp_note_build_id((const void *)(bias + note->p_vaddr), note->p_memsz, note->p_align,
                             build_id, build_id_size) == 0) {
            return 0;
        }
    }
    return -ENOENT;
}
