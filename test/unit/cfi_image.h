/* SPDX-License-Identifier: MIT
 *
 * cfi_image.h: assembles call-frame information for tests: .eh_frame_hdr, one CIE, FDEs.
 *
 *   [ .eh_frame_hdr: 12 bytes | table | CIE | FDE | FDE ... | zero terminator ]
 *
 * The code that it describes lies CFI_CODE_DISTANCE behind the image and need not exist.
 */
#ifndef PP_TEST_CFI_IMAGE_H
#define PP_TEST_CFI_IMAGE_H

#include "unwind/cfi.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    CFI_IMAGE_BYTES = 4096,
    CFI_CODE_DISTANCE = 0x10000,
    CFI_HEADER_BYTES = 12,
    CFI_INDIRECT_AT = CFI_HEADER_BYTES, /* the first entry's place: for images that do without */
    CFI_RANGE = 0x100                   /* of each function */
};

/* A CFA program, or an augmentation's data, as a literal. */
typedef struct cfi_bytes {
    const uint8_t *data;
    size_t size;
} cfi_bytes;

#define CFI(...)                                                                                   \
    (cfi_bytes)                                                                                    \
    {                                                                                              \
        (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})                     \
    }

typedef struct cfi_options {
    const char *augmentation;    /* NULL: "zR" */
    cfi_bytes augmentation_data; /* of the CIE; empty: the encoding */
    uint8_t encoding;            /* 0: pcrel sdata4, as GCC writes; CFI_ABSPTR for 0 */
    uint8_t version;             /* 0: 1 */
    uint8_t code_align;          /* 0: 1 */
    uint8_t data_align;          /* sleb128 of one byte; 0: -8 */
    uint8_t return_register;     /* 0: 16 */
    bool wide;                   /* 64-bit lengths */
    bool no_initial_program;     /* else: CFA = rsp + 8, return address at CFA - 8 */
} cfi_options;

enum { CFI_PCREL_SDATA4 = 0x1b, CFI_ABSPTR = 0xfe };

typedef struct cfi_image {
    uint8_t *bytes;
    size_t size;
    size_t cie, functions;
    cfi_options options;
} cfi_image;

static inline void cfi_put(cfi_image *image, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        image->bytes[image->size++] = (uint8_t)(value >> (8 * i));
}

static inline void cfi_put_bytes(cfi_image *image, cfi_bytes bytes)
{
    if (bytes.size > 0)
        memcpy(image->bytes + image->size, bytes.data, bytes.size);
    image->size += bytes.size;
}

static inline void cfi_patch(cfi_image *image, size_t at, uint64_t value, size_t size)
{
    size_t end = image->size;
    image->size = at;
    cfi_put(image, value, size);
    image->size = end;
}

static inline uintptr_t cfi_here(const cfi_image *image)
{
    return (uintptr_t)image->bytes + image->size;
}

static inline uintptr_t cfi_code(const cfi_image *image, size_t function)
{
    uintptr_t first = ((uintptr_t)image->bytes + CFI_CODE_DISTANCE) & ~(uintptr_t)15;
    return first + function * 2 * CFI_RANGE; /* with gaps */
}

/* The length field, to be completed by cfi_close(). Returns where the entry's content begins. */
static inline size_t cfi_open(cfi_image *image)
{
    if (image->options.wide) {
        cfi_put(image, UINT32_MAX, 4);
        cfi_put(image, 0, 8);
    } else {
        cfi_put(image, 0, 4);
    }
    return image->size;
}

static inline void cfi_close(cfi_image *image, size_t content)
{
    while (image->size % 8 != 0)
        image->bytes[image->size++] = 0; /* DW_CFA_nop */
    if (image->options.wide)
        cfi_patch(image, content - 8, image->size - content, 8);
    else
        cfi_patch(image, content - 4, image->size - content, 4);
}

/* An address in the CIE's encoding, or, not `relative`, a length in its format. */
static inline void cfi_put_pointer(cfi_image *image, uint64_t value, bool relative)
{
    uint8_t encoding = image->options.encoding;
    uintptr_t here = cfi_here(image);
    if (encoding == 0)
        encoding = CFI_PCREL_SDATA4;
    else if (encoding == CFI_ABSPTR)
        encoding = 0;
    if (encoding == 0x50) { /* aligned */
        while (cfi_here(image) % 8 != 0)
            image->size++;
        cfi_put(image, value, 8);
        return;
    }
    if (relative && (encoding & 0x80)) /* indirect: a word that the test has to write */
        value = (uintptr_t)image->bytes + CFI_INDIRECT_AT;
    if (relative && (encoding & 0x70) == 0x10)
        value -= here;
    if (relative && (encoding & 0x70) == 0x30)
        value -= (uintptr_t)image->bytes;
    switch (encoding & 0x0f) {
    case 0x01: /* uleb128 */
    case 0x09: /* sleb128: padded, so that the top bit of the last byte's seven is clear */
        for (int i = 0; i < 8; i++, value >>= 7)
            cfi_put(image, (value & 0x7f) | 0x80, 1);
        cfi_put(image, value & 0x3f, 1);
        break;
    case 0x02:
    case 0x0a:
        cfi_put(image, value, 2);
        break;
    case 0x03:
    case 0x0b:
        cfi_put(image, value, 4);
        break;
    default:
        cfi_put(image, value, 8);
        break;
    }
}

/* Header, room for the table, and the CIE. */
static inline void cfi_begin(cfi_image *image, uint8_t *bytes, const cfi_options *options,
                             size_t functions, cfi_bytes program)
{
    static const cfi_options usual;
    *image = (cfi_image){.bytes = bytes, .options = options != NULL ? *options : usual};
    const cfi_options *o = &image->options;
    const char *letters = o->augmentation != NULL ? o->augmentation : "zR";
    memset(bytes, 0, CFI_IMAGE_BYTES);
    cfi_put_bytes(image, CFI(1, CFI_PCREL_SDATA4, 0x03, 0x3b));
    cfi_put(image, CFI_HEADER_BYTES - 4 + functions * 8, 4);
    cfi_put(image, functions, 4);
    image->size += functions * 8;

    image->cie = image->size;
    size_t content = cfi_open(image);
    cfi_put(image, 0, 4);
    cfi_put(image, o->version != 0 ? o->version : 1, 1);
    cfi_put_bytes(image, (cfi_bytes){(const uint8_t *)letters, strlen(letters) + 1});
    cfi_put(image, o->code_align != 0 ? o->code_align : 1, 1);
    cfi_put(image, o->data_align != 0 ? o->data_align : 0x78, 1);
    cfi_put(image, o->return_register != 0 ? o->return_register : 16, 1);
    if (letters[0] == 'z') {
        uint8_t encoding = o->encoding == 0            ? CFI_PCREL_SDATA4
                           : o->encoding == CFI_ABSPTR ? 0
                                                       : o->encoding;
        cfi_bytes data = o->augmentation_data.size != 0 ? o->augmentation_data : CFI(encoding);
        cfi_put(image, data.size, 1);
        cfi_put_bytes(image, data);
    }
    if (!o->no_initial_program)
        cfi_put_bytes(image, CFI(0x0c, 7, 8, 0x80 | 16, 1)); /* def_cfa rsp+8; offset rip -8 */
    cfi_put_bytes(image, program);
    cfi_close(image, content);
}

/* One more function, the next in the table. */
static inline void cfi_add(cfi_image *image, cfi_bytes program)
{
    uintptr_t code = cfi_code(image, image->functions);
    const char *letters = image->options.augmentation;
    size_t fde = image->size;
    size_t content = cfi_open(image);
    cfi_put(image, content - image->cie, 4);
    cfi_put_pointer(image, code, true);
    cfi_put_pointer(image, CFI_RANGE, false);
    if (letters == NULL || letters[0] == 'z')
        cfi_put(image, 0, 1);
    cfi_put_bytes(image, program);
    cfi_close(image, content);
    size_t entry = CFI_HEADER_BYTES + image->functions++ * 8;
    cfi_patch(image, entry, code - (uintptr_t)image->bytes, 4);
    cfi_patch(image, entry + 4, fde, 4);
}

/* As the unwinder gets it, cut off after `size` bytes. */
static inline pp_image cfi_cut(const cfi_image *image, size_t size)
{
    uintptr_t lo = (uintptr_t)image->bytes;
    return (pp_image){.lo = lo, .hi = lo + size, .header = lo, .permanent = true};
}

static inline pp_image cfi_whole(const cfi_image *image)
{
    return cfi_cut(image, image->size + 4); /* the terminator */
}

/* The same for a module without .eh_frame_hdr. */
static inline pp_image cfi_without_header(const cfi_image *image)
{
    pp_image whole = cfi_whole(image);
    whole.header += image->cie;
    return whole;
}

#endif
