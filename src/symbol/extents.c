/* SPDX-License-Identifier: MIT
 *
 * extents.c: finds extents in one pass over the sorted table, and reads each entry that was hit.
 *
 * Zone: NORMAL, and the fatal-signal writer (pread only).
 * Tested by: unit.places, e2e.stripped_names
 */
#include "symbol/extents.h"

#include <string.h>

enum {
    WINDOW_ENTRIES = 512, /* 4 KiB of the table in one read */
    WINDOW_BYTES = 4096,  /* of the entries: adjacent functions have adjacent entries */
    ENTRY_SIZE = 32,      /* the most bytes of an entry up to its size field */
    CIE_SIZE = 64,        /* bytes of a CIE up to its encodings: compilers write 30 */
    /* Pointer encodings, LSB Core 5.0 table 10-2. */
    ENCODING_UDATA4 = 0x03,
    ENCODING_SDATA4 = 0x0b,
    ENCODING_UDATA8 = 0x04,
    ENCODING_SDATA8 = 0x0c,
    ENCODING_ABSOLUTE = 0x00,
    ENCODING_FORMAT = 0x0f,
    ENCODING_OMIT = 0xff,
    TABLE_ENCODING = 0x3b /* two sdata4, relative to the table: as in the unwinder */
};

/* Bytes with a limit. A read past the end returns 0 and sets `failed`. */
typedef struct bytes {
    const uint8_t *at, *end;
    bool failed;
} bytes;

typedef struct table {
    const pp_elf *elf;
    uint64_t address; /* of the header, to which entries are relative */
    uint64_t offset;  /* of the first entry in the file */
    uint64_t count;
    uint64_t cie;        /* the CIE that was read last */
    unsigned cie_width;  /* bytes of an address in the entries of `cie`; 0 = unknown */
    uint64_t last_entry; /* the entry that was read last: adjacent addresses often share it */
    pp_extent last;
    Elf64_Phdr segment;     /* the segment of the entries; p_filesz 0 = none yet */
    uint64_t window_offset; /* of `window`, in the file */
    size_t window_size;
    uint8_t window[WINDOW_BYTES];
} table;

static uint64_t read_number(bytes *b, unsigned size)
{
    uint64_t value = 0;
    if ((size_t)(b->end - b->at) < size) {
        b->failed = true;
        return 0;
    }
    for (unsigned i = 0; i < size; i++) {
        value |= (uint64_t)b->at[i] << (8 * i);
    }
    b->at += size;
    return value;
}

static void skip_leb(bytes *b)
{
    while ((read_number(b, 1) & 0x80) != 0) {
    }
}

/* The bytes of a pointer in this encoding; 0 if the size is not fixed. */
static unsigned width_of(uint64_t encoding)
{
    switch (encoding & ENCODING_FORMAT) {
    case ENCODING_ABSOLUTE:
    case ENCODING_UDATA8:
    case ENCODING_SDATA8:
        return 8;
    case ENCODING_UDATA4:
    case ENCODING_SDATA4:
        return 4;
    default:
        return 0;
    }
}

/* ---- An entry ------------------------------------------------------------------------------ */

/* Skips a length field: four bytes, or twelve. */
static void take_length(bytes *b)
{
    if (read_number(b, 4) == UINT32_MAX) {
        read_number(b, 8);
    }
}

/* The letters of a CIE name the fields of its data. R, the encoding of addresses, may come last. */
static unsigned width_by_letters(bytes *b, const uint8_t *letters)
{
    for (; *letters != '\0' && *letters != 'R' && !b->failed; letters++) {
        if (*letters == 'P') {
            read_number(b, width_of(read_number(b, 1)));
        } else if (*letters == 'L') {
            read_number(b, 1);
        }
    }
    if (*letters == '\0') {
        return 8;
    }
    unsigned width = width_of(read_number(b, 1));
    return b->failed ? 0 : width;
}

static unsigned read_cie(const pp_elf *elf, uint64_t offset)
{
    uint8_t data[CIE_SIZE];
    bytes b = {data, data + pp_elf_read_some(elf, offset, data, sizeof(data)), false};
    take_length(&b);
    uint64_t id = read_number(&b, 4);
    uint64_t version = read_number(&b, 1);
    const uint8_t *letters = b.at;
    while (read_number(&b, 1) != '\0') {
    }
    if (b.failed || id != 0 || (version != 1 && version != 3)) {
        return 0;
    }
    if (*letters == '\0') {
        return 8;
    }
    skip_leb(&b); /* alignments of code and data, register of the return address */
    skip_leb(&b);
    skip_leb(&b);
    if (*letters != 'z') {
        return 0;
    }
    skip_leb(&b); /* the size of the fields */
    return width_by_letters(&b, letters + 1);
}

/* Returns the bytes at a link-time address, at most as many as an entry needs. */
static bytes bytes_at(table *t, uint64_t address, uint64_t *offset)
{
    Elf64_Phdr *segment = &t->segment;
    if ((address < segment->p_vaddr || address - segment->p_vaddr >= segment->p_filesz) &&
        !pp_elf_segment_of(t->elf, address, segment)) {
        return (bytes){NULL, NULL, true};
    }
    if (__builtin_add_overflow(segment->p_offset, address - segment->p_vaddr, offset)) {
        return (bytes){NULL, NULL, true};
    }
    uint64_t skip = *offset - t->window_offset;
    if (*offset < t->window_offset || skip > t->window_size || t->window_size - skip < ENTRY_SIZE) {
        t->window_offset = *offset;
        t->window_size = pp_elf_read_some(t->elf, *offset, t->window, WINDOW_BYTES);
        skip = 0;
    }
    size_t left = t->window_size - (size_t)skip;
    const uint8_t *at = t->window + skip;
    return (bytes){at, at + (left < ENTRY_SIZE ? left : ENTRY_SIZE), false};
}

/* Reads the entry at link-time address `address`, whose function starts at `start`. */
static pp_extent read_entry(table *t, uint64_t address, uint64_t start)
{
    uint64_t offset = 0, limit;
    bytes b = bytes_at(t, address, &offset);
    const uint8_t *begin = b.at;
    take_length(&b);
    uint64_t cie = offset + (uint64_t)(b.at - begin);
    uint64_t distance = read_number(&b, 4);
    if (b.failed || distance == 0 || distance > cie) {
        return (pp_extent){0, 0};
    }
    cie -= distance;
    if (cie != t->cie || t->cie_width == 0) {
        t->cie = cie;
        t->cie_width = read_cie(t->elf, cie);
    }
    read_number(&b, t->cie_width);
    uint64_t size = read_number(&b, t->cie_width);
    if (b.failed || t->cie_width == 0 || __builtin_add_overflow(start, size, &limit)) {
        return (pp_extent){0, 0};
    }
    return (pp_extent){start, limit};
}

/* ---- The table ----------------------------------------------------------------------------- */

static bool open_table(table *t, const pp_elf *elf)
{
    uint8_t data[12];
    uint64_t offset, size;
    t->elf = elf;
    t->last_entry = UINT64_MAX;
    if (!pp_elf_frame_header(elf, &t->address, &offset, &size)) {
        return false;
    }
    bytes b = {data, data + pp_elf_read_some(elf, offset, data, sizeof(data)), false};
    uint64_t version = read_number(&b, 1);
    uint64_t frame_encoding = read_number(&b, 1);
    uint64_t count_encoding = read_number(&b, 1);
    uint64_t table_encoding = read_number(&b, 1);
    unsigned frame_width = frame_encoding == ENCODING_OMIT ? 0 : width_of(frame_encoding);
    read_number(&b, frame_width);
    t->count = read_number(&b, 4);
    uint64_t head = (uint64_t)(b.at - data);
    if (b.failed || version != 1 || (frame_width != 4 && frame_encoding != ENCODING_OMIT) ||
        count_encoding != ENCODING_UDATA4 || table_encoding != TABLE_ENCODING || head > size) {
        return false;
    }
    t->offset = offset + head;
    if (t->count > (size - head) / 8) {
        t->count = (size - head) / 8;
    }
    return t->count > 0;
}

/* An entry of the table; both addresses are relative to the table. */
typedef struct pair {
    int32_t start, entry;
} pair;

typedef struct search {
    table t;
    const uint64_t *addresses;
    pp_extent *extents;
    size_t count;
    size_t next;  /* the first address without an answer */
    pair nearest; /* the last entry that starts at or below that address */
    bool any;     /* `nearest` is set */
} search;

static uint64_t own_address(const search *s, int32_t relative)
{
    return s->t.address + (uint64_t)(int64_t)relative;
}

static void settle(search *s)
{
    table *t = &s->t;
    uint64_t address = s->addresses[s->next];
    uint64_t entry = own_address(s, s->nearest.entry);
    if (entry != t->last_entry) {
        t->last_entry = entry;
        t->last = read_entry(t, entry, own_address(s, s->nearest.start));
    }
    if (address >= t->last.start && address < t->last.limit) {
        s->extents[s->next] = t->last;
    }
}

/* An address below `start` belongs to the nearest entry, or to none. */
static void settle_below(search *s, uint64_t start)
{
    for (; s->next < s->count && s->addresses[s->next] < start; s->next++) {
        if (s->any) {
            settle(s);
        }
    }
}

void pp_extents_find(const pp_elf *elf, const uint64_t *addresses, size_t count, pp_extent *extents,
                     pp_arena *scratch)
{
    memset(extents, 0, count * sizeof(*extents));
    pair *window = pp_arena_array(scratch, WINDOW_ENTRIES, sizeof(*window));
    search *s = pp_arena_alloc(scratch, sizeof(*s));
    if (window == NULL || s == NULL || !open_table(&s->t, elf)) {
        return;
    }
    s->addresses = addresses;
    s->extents = extents;
    s->count = count;
    for (uint64_t done = 0, size; done < s->t.count && s->next < count; done += size) {
        uint64_t left = s->t.count - done;
        size = left < WINDOW_ENTRIES ? left : WINDOW_ENTRIES;
        if (!pp_elf_read(elf, s->t.offset + done * sizeof(*window), window,
                         size * sizeof(*window))) {
            return;
        }
        for (size_t i = 0; i < size; i++) {
            settle_below(s, own_address(s, window[i].start));
            s->nearest = window[i];
            s->any = true;
        }
    }
    settle_below(s, UINT64_MAX);
}
