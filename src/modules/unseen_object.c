/* SPDX-License-Identifier: MIT
 *
 * unseen_object.c: copies the ELF header, the program headers and the notes.
 *
 * Zone: SIGNAL.
 */
#include "modules/unseen_object.h"

#include "elf/build_id.h"
#include "sys/safe_read.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

enum {
    PAGE = 4096,
    HEADERS_MAX = 32,
    NOTES_MAX = 1024 /* the build id is in the first 100 bytes */
};

typedef struct object {
    ElfW(Phdr) headers[HEADERS_MAX];
    size_t count;
    uintptr_t bias;
} object;

static bool read_headers(uintptr_t image, object *o)
{
    ElfW(Ehdr) header;
    if (!pp_safe_copy(&header, image, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phnum > HEADERS_MAX ||
        header.e_phentsize != sizeof *o->headers) {
        return false;
    }
    o->count = header.e_phnum;
    return pp_safe_copy(o->headers, image + header.e_phoff, o->count * sizeof *o->headers);
}

static uintptr_t page_of(uintptr_t address)
{
    return address & ~(uintptr_t)(PAGE - 1);
}

/* The first segment has the beginning of the file. */
static bool find_bias(uintptr_t image, object *o)
{
    size_t i = 0;
    while (i < o->count && o->headers[i].p_type != PT_LOAD) {
        i++;
    }
    if (i == o->count || page_of(o->headers[i].p_offset) != 0) {
        return false;
    }
    o->bias = image - page_of(o->headers[i].p_vaddr);
    return true;
}

static bool has_code(const object *o, const pp_mapping *mapping)
{
    for (size_t i = 0; i < o->count; i++) {
        const ElfW(Phdr) *load = &o->headers[i];
        if (load->p_type == PT_LOAD && (load->p_flags & PF_X) != 0 &&
            page_of(load->p_offset) == mapping->offset &&
            page_of(o->bias + load->p_vaddr) == mapping->start) {
            return true;
        }
    }
    return false;
}

static void read_build_id(const object *o, pp_mapping *mapping)
{
    for (size_t i = 0; i < o->count && mapping->build_id_size == 0; i++) {
        const ElfW(Phdr) *note = &o->headers[i];
        _Alignas(8) uint8_t notes[NOTES_MAX];
        size_t size = note->p_memsz < sizeof notes ? note->p_memsz : sizeof notes;
        if (note->p_type == PT_NOTE && pp_safe_copy(notes, o->bias + note->p_vaddr, size)) {
            pp_note_build_id(notes, size, note->p_align, mapping->build_id,
                             &mapping->build_id_size);
        }
    }
}

bool pp_unseen_object_read(uintptr_t image, pp_mapping *mapping)
{
    object o;
    if (!read_headers(image, &o) || !find_bias(image, &o) || !has_code(&o, mapping)) {
        return false;
    }
    mapping->bias = o.bias;
    read_build_id(&o, mapping);
    return true;
}
