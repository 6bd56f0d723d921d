/* SPDX-License-Identifier: MIT
 *
 * cfi_entry.h: the entries of an image's CFI: the FDE that covers a PC, and the CIE of that FDE.
 *
 *   pc --binary search--> .eh_frame_hdr table --> FDE --> CIE
 *                                                  |       |
 *                                          programs of both, for cfi.c to run
 *
 * Formats: Linux Standard Base Core 5.0, section 10.6 (.eh_frame, .eh_frame_hdr). All bytes are
 * untrusted: every read is bounded, every loop ends.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_UNWIND_CFI_ENTRY_H
#define PP_UNWIND_CFI_ENTRY_H

#include "unwind/image.h"
#include "unwind/reason.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct pp_cie {
    uint64_t code_align;
    int64_t data_align;
    uint8_t pointer_encoding;
    bool has_augmentation_data;
    bool signal_frame;
} pp_cie;

/* The table of an .eh_frame_hdr. */
typedef struct pp_cfi_table {
    uintptr_t entries;
    uint64_t count;
} pp_cfi_table;

/* A search for FDEs, with what it found and what it has read. Each of the three kinds of bytes has
 * a chunk of its own, in which the next search often finds its own bytes. */
typedef struct pp_cfi_finder {
    /* The results of pp_cfi_find(). The cursors are at the CFA programs of the FDE and of the CIE,
     * and end with them. */
    uintptr_t start, limit; /* the code that the FDE covers */
    pp_reason why;          /* if there is no such FDE */
    pp_cie cie;
    pp_cursor program, cie_program;
    /* Private. */
    pp_chunk table_chunk, chunk, cie_chunk;
    uintptr_t cie_at, cie_program_at, cie_program_end; /* the CIE in `cie`; cie_at 0 = none */
    uintptr_t table_of;                                /* the header of `table`; 0 = none */
    pp_cfi_table table;
} pp_cfi_finder;

/* Empties the finder. A finder serves for one walk: none of the modules whose CFI it holds can
 * have changed by then. */
void pp_cfi_finder_open(pp_cfi_finder *finder);

/* Finds the FDE of `image` that covers `pc`. False, and the reason, if there is none that can be
 * read. */
bool pp_cfi_find(pp_cfi_finder *finder, const pp_image *image, uintptr_t pc);

/* Reads a pointer in the form `encoding` (LSB Core 5.0, tables 10-2 and 10-3). `data_base` is what
 * DW_EH_PE_datarel counts from. After an encoding that is unknown, or a failed read, the cursor
 * has failed. */
uint64_t pp_cfi_pointer(pp_cursor *cursor, uint8_t encoding, uintptr_t data_base);

#endif
