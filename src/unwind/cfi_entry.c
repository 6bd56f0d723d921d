/* SPDX-License-Identifier: MIT
 *
 * cfi_entry.c: searches .eh_frame_hdr, or .eh_frame where there is no table, and parses CIEs and
 * FDEs.
 *
 * Zone: SIGNAL.
 * Tested by: unit.cfi, fuzz.cfi
 */
#include "unwind/cfi_entry.h"

#include "arch/registers.h"
#include "base/compiler.h"
#include "modules/module_cfi.h"

/* Pointer encodings, LSB Core 5.0 tables 10-2 and 10-3. */
enum {
    ENC_ABSPTR = 0x00,
    ENC_ULEB128 = 0x01,
    ENC_UDATA2 = 0x02,
    ENC_UDATA4 = 0x03,
    ENC_UDATA8 = 0x04,
    ENC_SLEB128 = 0x09,
    ENC_SDATA2 = 0x0a,
    ENC_SDATA4 = 0x0b,
    ENC_SDATA8 = 0x0c,
    ENC_FORMAT = 0x0f,
    ENC_PCREL = 0x10,
    ENC_DATAREL = 0x30,
    ENC_ALIGNED = 0x50, /* the whole byte: an absolute address at the next multiple of its size */
    ENC_BASE = 0x70,
    ENC_INDIRECT = 0x80,
    ENC_OMIT = 0xff
};

enum {
    MAX_SCANNED = 1 << 15, /* entries of an .eh_frame without table: they take a millisecond */
    MAX_LISTED = 1 << 22,  /* those of a process that is up to mischief have an end */
    TABLE_ENTRY_SIZE = 8,  /* two sdata4 */
    CHUNK_ENTRIES = PP_CHUNK_BYTES / TABLE_ENTRY_SIZE
};

/* ---- pointers ---- */

uint64_t pp_cfi_pointer(pp_cursor *cursor, uint8_t encoding, uintptr_t data_base)
{
    if (encoding == ENC_ALIGNED) {
        pp_cursor_skip(cursor, -cursor->at % sizeof(uintptr_t));
        return pp_cursor_fixed(cursor, sizeof(uintptr_t));
    }
    uintptr_t here = cursor->at;
    uint64_t value = 0;
    switch (encoding & ENC_FORMAT) {
    case ENC_ABSPTR:
    case ENC_UDATA8:
    case ENC_SDATA8:
        value = pp_cursor_fixed(cursor, 8);
        break;
    case ENC_ULEB128:
        value = pp_cursor_uleb(cursor);
        break;
    case ENC_UDATA2:
        value = pp_cursor_fixed(cursor, 2);
        break;
    case ENC_UDATA4:
        value = pp_cursor_fixed(cursor, 4);
        break;
    case ENC_SLEB128:
        value = (uint64_t)pp_cursor_sleb(cursor);
        break;
    case ENC_SDATA2:
        value = (uint64_t)(int64_t)(int16_t)pp_cursor_fixed(cursor, 2);
        break;
    case ENC_SDATA4:
        value = (uint64_t)(int64_t)(int32_t)pp_cursor_fixed(cursor, 4);
        break;
    default:
        pp_cursor_fail(cursor);
        return 0;
    }
    switch (encoding & ENC_BASE) {
    case 0:
        break;
    case ENC_PCREL:
        value += here;
        break;
    case ENC_DATAREL:
        value += data_base;
        break;
    default:
        pp_cursor_fail(cursor);
        break;
    }
    uintptr_t target = 0;
    if ((encoding & ENC_INDIRECT) && value != 0) {
        if (!pp_image_copy(cursor->image, cursor->chunk, (uintptr_t)value, &target,
                           sizeof target)) {
            pp_cursor_fail(cursor);
        }
        pp_cursor_move(cursor, cursor->at);
        value = target;
    }
    return value;
}

/* ---- .eh_frame_hdr ---- */

static bool parse_header(pp_cfi_finder *finder, const pp_image *image, pp_cfi_table *t)
{
    pp_cursor *cursor = &finder->program;
    pp_cursor_init(cursor, image, &finder->table_chunk, image->header, image->hi);
    uint8_t version = pp_cursor_u8(cursor);
    uint8_t frame_encoding = pp_cursor_u8(cursor);
    uint8_t count_encoding = pp_cursor_u8(cursor);
    uint8_t table_encoding = pp_cursor_u8(cursor);
    if (cursor->failed || version != 1 || count_encoding == ENC_OMIT ||
        table_encoding != (ENC_DATAREL | ENC_SDATA4)) {
        return false;
    }
    pp_cfi_pointer(cursor, frame_encoding & (uint8_t)(~ENC_INDIRECT), image->header);
    t->count = pp_cfi_pointer(cursor, count_encoding, image->header);
    t->entries = cursor->at;
    return !cursor->failed && t->count > 0 &&
           t->count <= (image->hi - t->entries) / TABLE_ENTRY_SIZE;
}

/* Makes finder->table the image's; false if the image has none that can be read. */
static bool open_table(pp_cfi_finder *finder, const pp_image *image)
{
    if (image->header == 0) {
        return false;
    }
    if (finder->table_of != image->header) {
        finder->table_of = parse_header(finder, image, &finder->table) ? image->header : 0;
    }
    return finder->table_of != 0;
}

static bool read_entry(pp_cfi_finder *finder, const pp_image *image, uint64_t index,
                       uintptr_t *start, uintptr_t *fde)
{
    int32_t entry[2];
    if (!pp_image_copy(image, &finder->table_chunk,
                       finder->table.entries + index * TABLE_ENTRY_SIZE, entry, sizeof entry)) {
        return false;
    }
    *start = image->header + (uintptr_t)(intptr_t)entry[0];
    *fde = image->header + (uintptr_t)(intptr_t)entry[1];
    return true;
}

/* A part of the table: the entries [low, high), whose addresses are from `from` up to `to`. */
typedef struct part {
    uint64_t low, high;
    uintptr_t from, to;
} part;

/* The index of `pc` if functions were spread evenly; or, not `evenly`, the middle of the part. */
static uint64_t guess(const part *p, uintptr_t pc, bool evenly)
{
    uint64_t count = p->high - p->low;
    uint64_t product = 0;
    if (evenly && pc > p->from && pc < p->to &&
        !__builtin_mul_overflow(count, pc - p->from, &product)) {
        return p->low + product / (p->to - p->from);
    }
    return p->low + count / 2;
}

/* Finds the entries of the part that are whole in the chunk of the entry at `index`. */
static void entries_beside(const pp_cfi_table *t, const part *p, uint64_t index, uint64_t *first,
                           uint64_t *last)
{
    uintptr_t begin = pp_chunk_begin(t->entries + index * TABLE_ENTRY_SIZE);
    uintptr_t end = begin + PP_CHUNK_BYTES;
    uint64_t ahead = begin > t->entries ? (begin - t->entries - 1) / TABLE_ENTRY_SIZE + 1 : 0;
    uint64_t behind = (end - t->entries) / TABLE_ENTRY_SIZE; /* index >= 0: end > entries */
    uint64_t stop = behind < p->high ? behind : p->high;
    *first = ahead > p->low ? ahead : p->low;
    *last = stop - 1;
    if (*first > index || index >= stop) {
        *first = *last = index; /* which two chunks share */
    }
}

/*
 * Narrows the search to entries that are in one chunk. This is for a removable image, where each
 * read may be a system call. Every first step interpolates between the addresses that are known so
 * far, since functions are spread nearly evenly. Every second step halves the part, so that the
 * search ends.
 */
static bool narrow(pp_cfi_finder *finder, const pp_image *image, uintptr_t pc, part *p)
{
    for (bool evenly = true; p->high - p->low > CHUNK_ENTRIES / 2; evenly = !evenly) {
        uint64_t first = 0;
        uint64_t last = 0;
        uintptr_t first_start = 0;
        uintptr_t last_start = 0;
        uintptr_t fde = 0;
        entries_beside(&finder->table, p, guess(p, pc, evenly), &first, &last);
        if (!read_entry(finder, image, first, &first_start, &fde) ||
            !read_entry(finder, image, last, &last_start, &fde)) {
            return false;
        }
        if (pc < first_start) {
            p->high = first > p->low ? first : p->low + 1;
            p->to = first_start;
        } else if (pc >= last_start) {
            p->low = last;
            p->from = last_start;
        } else {
            p->low = first;
            p->high = last;
            break;
        }
    }
    return true;
}

/* Finds the FDE with the greatest start that is <= pc. */
PP_COLD_PATH static bool find_fde(pp_cfi_finder *finder, const pp_image *image, uintptr_t pc,
                                  uintptr_t *fde)
{
    if (!open_table(finder, image)) {
        return false;
    }
    part p = {.high = finder->table.count, .from = image->code_lo, .to = image->code_hi};
    uintptr_t start = 0;
    if (!image->permanent && !narrow(finder, image, pc, &p)) {
        return false;
    }
    while (p.high - p.low > 1) {
        uint64_t middle = p.low + (p.high - p.low) / 2;
        uintptr_t middle_fde = 0;
        if (!read_entry(finder, image, middle, &start, &middle_fde)) {
            return false;
        }
        if (start <= pc) {
            p.low = middle;
        } else {
            p.high = middle;
        }
    }
    if (!read_entry(finder, image, p.low, &start, fde)) {
        return false;
    }
    finder->why = PP_NOT_COVERED;
    return start <= pc;
}

/* ---- CIE and FDE ---- */

/*
 * Reads the length field of an entry, and ends the cursor where the entry ends. The next field, the
 * CIE's id or its distance, has four bytes in .eh_frame, even where the length has twelve.
 */
static bool open_entry(pp_cursor *cursor, const pp_image *image, pp_chunk *chunk, uintptr_t at)
{
    pp_cursor_init(cursor, image, chunk, at, image->hi);
    uint64_t length = pp_cursor_fixed(cursor, 4);
    if (length == UINT32_MAX) {
        length = pp_cursor_fixed(cursor, 8);
    }
    if (cursor->failed || length == 0 || length > image->hi - cursor->at) {
        return false;
    }
    pp_cursor_set_end(cursor, cursor->at + (uintptr_t)length);
    return true;
}

static bool read_augmentation(pp_cursor *cursor, const char *letters, pp_cie *info)
{
    if (letters[0] == '\0') {
        return true;
    }
    if (letters[0] != 'z') {
        return false; /* "eh" and others, which no compiler writes since GCC 2 */
    }
    info->has_augmentation_data = true;
    uint64_t size = pp_cursor_uleb(cursor);
    if (cursor->failed || size > cursor->end - cursor->at) {
        return false;
    }
    uintptr_t end = cursor->at + (uintptr_t)size;
    for (const char *letter = letters + 1; *letter != '\0'; letter++) {
        if (*letter == 'R') {
            info->pointer_encoding = pp_cursor_u8(cursor);
        } else if (*letter == 'P') {
            uint8_t encoding = pp_cursor_u8(cursor);
            pp_cfi_pointer(cursor, encoding == ENC_ALIGNED ? encoding : encoding & ENC_FORMAT, 0);
        } else if (*letter == 'L') {
            pp_cursor_u8(cursor);
        } else if (*letter == 'S') {
            info->signal_frame = true;
        } else if (*letter == 'B' || *letter == 'G') {
            continue; /* aarch64: the key of signed addresses, a tagged frame */
        } else {
            break; /* unknown: the size leads past its data */
        }
    }
    if (cursor->failed || cursor->at > end) {
        return false;
    }
    pp_cursor_move(cursor, end);
    return true;
}

static bool parse_cie(pp_cfi_finder *finder, const pp_image *image, uintptr_t at)
{
    pp_cursor *cursor = &finder->cie_program;
    pp_cie *info = &finder->cie;
    if (!open_entry(cursor, image, &finder->cie_chunk, at) || pp_cursor_fixed(cursor, 4) != 0) {
        return false;
    }
    uint8_t version = pp_cursor_u8(cursor);
    if (version != 1 && version != 3) {
        return false;
    }
    char letters[8];
    unsigned length = 0;
    while ((letters[length] = (char)pp_cursor_u8(cursor)) != '\0') {
        if (++length == sizeof letters) {
            return false;
        }
    }
    *info = (pp_cie){.pointer_encoding = ENC_ABSPTR};
    info->code_align = pp_cursor_uleb(cursor);
    info->data_align = pp_cursor_sleb(cursor);
    uint64_t return_register = version == 1 ? pp_cursor_u8(cursor) : pp_cursor_uleb(cursor);
    if (cursor->failed || return_register != PP_REG_RA ||
        !read_augmentation(cursor, letters, info)) {
        return false;
    }
    finder->cie_at = at;
    finder->cie_program_at = cursor->at;
    finder->cie_program_end = cursor->end;
    return true;
}

/* Leaves cie_program at the CIE's program. Most FDEs have the CIE of the FDE before. */
static bool read_cie(pp_cfi_finder *finder, const pp_image *image, uintptr_t at)
{
    if (at == finder->cie_at) {
        pp_cursor_init(&finder->cie_program, image, &finder->cie_chunk, finder->cie_program_at,
                       finder->cie_program_end);
        return true;
    }
    finder->cie_at = 0;
    return parse_cie(finder, image, at);
}

/* Opens an FDE, and leaves the cursor after the pointer to its CIE. */
static bool open_fde(pp_cfi_finder *finder, const pp_image *image, uintptr_t at, uintptr_t *cie_at)
{
    pp_cursor *cursor = &finder->program;
    if (!open_entry(cursor, image, &finder->chunk, at)) {
        return false;
    }
    uintptr_t pointer_at = cursor->at;
    uint64_t back = pp_cursor_fixed(cursor, 4);
    if (cursor->failed || back == 0 || back > pointer_at - image->lo) {
        return false;
    }
    *cie_at = pointer_at - (uintptr_t)back;
    return true;
}

/* Reads the addresses that an FDE covers; false if `pc` is not one of them. */
static bool read_range(pp_cfi_finder *finder, uintptr_t pc)
{
    pp_cursor *cursor = &finder->program;
    uint8_t encoding = finder->cie.pointer_encoding;
    uintptr_t start = (uintptr_t)pp_cfi_pointer(cursor, encoding, cursor->image->header);
    uint64_t range = pp_cfi_pointer(cursor, encoding & ENC_FORMAT, 0);
    finder->start = start;
    finder->limit = start + (uintptr_t)range;
    finder->why = cursor->failed ? PP_BAD_ENTRY : PP_NOT_COVERED;
    return !cursor->failed && pc >= start && pc - start < range;
}

/* Reads an FDE and its CIE, and leaves both cursors at the programs. False if the FDE does not
 * cover `pc`. */
PP_COLD_PATH static bool read_fde(pp_cfi_finder *finder, const pp_image *image, uintptr_t at,
                                  uintptr_t pc)
{
    pp_cursor *cursor = &finder->program;
    uintptr_t cie_at = 0;
    finder->why = PP_BAD_ENTRY;
    if (!open_fde(finder, image, at, &cie_at) || !read_cie(finder, image, cie_at) ||
        !read_range(finder, pc)) {
        return false;
    }
    if (finder->cie.has_augmentation_data) {
        pp_cursor_skip(cursor, pp_cursor_uleb(cursor));
    }
    return !cursor->failed;
}

/* ---- .eh_frame without a table ---- */

/*
 * The start of an .eh_frame that has no table, or none that open_table() can read: a linker that
 * could not read some of .eh_frame leaves the table out, and other linkers may encode it in another
 * way. `header` may also be the start of .eh_frame itself. Returns 0 if there is a table, or
 * nothing.
 */
PP_COLD_PATH static uintptr_t frames_without_table(pp_cfi_finder *finder, const pp_image *image)
{
    pp_cursor *cursor = &finder->program;
    pp_cursor_init(cursor, image, &finder->chunk, image->header, image->hi);
    if (pp_cursor_u8(cursor) != 1) {
        return image->header; /* the first byte is of a CIE's length, a multiple of 4 */
    }
    uint8_t frame_encoding = pp_cursor_u8(cursor);
    uint8_t count_encoding = pp_cursor_u8(cursor);
    uint8_t table_encoding = pp_cursor_u8(cursor);
    bool has_table = count_encoding != ENC_OMIT && table_encoding == (ENC_DATAREL | ENC_SDATA4);
    if (has_table || frame_encoding == ENC_OMIT) {
        return 0;
    }
    uintptr_t frames = (uintptr_t)pp_cfi_pointer(cursor, frame_encoding, image->header);
    return cursor->failed ? 0 : frames;
}

/* Goes on behind the entry that was opened last: the length of one that is no FDE leads to the next one. False at the end
 * mark, or at bytes that are no entry. */
static bool go_on_behind(pp_cfi_finder *finder, const pp_image *image, uintptr_t *at)
{
    if (finder->program.end <= *at || finder->program.end == image->hi) {
        finder->why = PP_NOT_COVERED;
        return false;
    }
    *at = finder->program.end;
    return *at >= image->lo && *at < image->hi;
}

/* Tries each entry in turn. */
PP_COLD_PATH static bool scan_frames(pp_cfi_finder *finder, const pp_image *image, uintptr_t pc,
                                     uintptr_t *fde)
{
    if (image->header == 0) {
        finder->why = PP_NO_TABLES;
        return false;
    }
    if (finder->why == PP_NOT_COVERED) {
        return false; /* there is a table, and it begins above `pc` */
    }
    if (!image->permanent && !image->cheap) {
        finder->why = PP_NO_INDEX;
        return false;
    }
    uintptr_t at = frames_without_table(finder, image);
    if (at < image->lo || at >= image->hi) {
        return false;
    }
    unsigned tried = 0;
    do {
        uintptr_t cie_at = 0;
        if (open_fde(finder, image, at, &cie_at) && read_cie(finder, image, cie_at) &&
            read_range(finder, pc)) {
            *fde = at;
            return true;
        }
    } while (++tried < MAX_SCANNED && go_on_behind(finder, image, &at));
    return false;
}

size_t pp_module_list_frames(const pp_module *module, const pp_memory *memory, pp_keyed *list,
                             size_t room)
{
    const pp_image image = {.lo = module->cfi_lo,
                            .hi = module->cfi_hi,
                            .header = module->eh_frame_hdr,
                            .memory = memory,
                            .permanent = module->permanent};
    pp_cfi_finder finder;
    pp_cfi_finder_open(&finder);
    uintptr_t at = image.header != 0 ? frames_without_table(&finder, &image) : 0;
    if (at < image.lo || at >= image.hi) {
        return 0;
    }
    size_t count = 0;
    unsigned tried = 0;
    do {
        uintptr_t cie_at = 0;
        if (!open_fde(&finder, &image, at, &cie_at) || !read_cie(&finder, &image, cie_at)) {
            continue;
        }
        read_range(&finder, 0);
        /* Not that of a function which the linker has left out. */
        bool has_code =
            finder.why == PP_NOT_COVERED && finder.start != 0 && finder.limit > finder.start;
        if (has_code && count < room) {
            list[count] = (pp_keyed){finder.start, at};
        }
        count += has_code;
    } while (++tried < MAX_LISTED && go_on_behind(&finder, &image, &at));
    return count;
}

/* Finds the FDE with the greatest start that is <= pc, of those that were listed. */
PP_COLD_PATH static bool find_listed(pp_cfi_finder *finder, const pp_image *image, uintptr_t pc,
                                     uintptr_t *fde)
{
    const pp_keyed *found = pp_key_last_up_to(image->frames, image->frame_count, pc);
    finder->why = PP_NOT_COVERED;
    *fde = found != NULL ? found->index : 0;
    return found != NULL;
}

/* ---- both ---- */

void pp_cfi_finder_open(pp_cfi_finder *finder)
{
    pp_chunk_clear(&finder->table_chunk);
    pp_chunk_clear(&finder->chunk);
    pp_chunk_clear(&finder->cie_chunk);
    finder->cie_at = 0;
    finder->table_of = 0;
}

bool pp_cfi_find(pp_cfi_finder *finder, const pp_image *image, uintptr_t pc)
{
    uintptr_t fde = 0;
    finder->why = PP_BAD_INDEX;
    bool is_found = image->frames != NULL
                        ? find_listed(finder, image, pc, &fde)
                        : find_fde(finder, image, pc, &fde) || scan_frames(finder, image, pc, &fde);
    return is_found && read_fde(finder, image, fde, pc);
}
