/* SPDX-License-Identifier: MIT
 *
 * module_cfi.h: finds the call-frame information of a loaded object.
 *
 *   usual        PT_GNU_EH_FRAME -> .eh_frame_hdr and .eh_frame in one read-only segment
 *   split        .eh_frame is writable and in the data segment, beyond a hole (linkers until about
 *                2005; some vendors' tools still have their crt files). The unwinder reads it by
 *                copies, in all of the object, if the header's segment has no entry.
 *   no header    the object was linked with --no-eh-frame-hdr, or by a direct call of ld: only the
 *                section headers of the file have the address of .eh_frame
 *   no table     a header of a few bytes, where the linker could not read some of .eh_frame
 *   none         Go, Free Pascal: there is no call-frame information
 *
 * GCC links fully static programs without header on aarch64. Where there is no table, the FDEs are listed: a handler that
 * went through .eh_frame for each new PC would take milliseconds.
 *
 * Zone: NORMAL.
 * Locks: none. The object must stay loaded: the caller holds the loader's lock.
 */
#ifndef PP_MODULES_MODULE_CFI_H
#define PP_MODULES_MODULE_CFI_H

#include "modules/modules.h"
#include "sys/own_files.h"
#include "sys/safe_read.h"

#include <link.h>

/*
 * Fills the ranges and eh_frame_hdr of `module`; leaves them 0 if the object has no call-frame
 * information. `path` is the object's file, one of `files` (NULL: of this process), which is read
 * only if there is no header; it must have the program headers of `info`.
 */
void pp_module_cfi_describe(const struct dl_phdr_info *info, const pp_files *files,
                            const char *path, pp_module *module);

/*
 * Lists the FDEs of a module that lacks a table, in `memory` (sys/safe_read.h): their addresses (index) and those of their
 * code (key), as they come. Writes at most `room`, and returns how many there are; 0 if they cannot be read.
 * Zone: NORMAL. unwind/cfi_entry.c defines it, which reads FDEs for the unwinder.
 */
size_t pp_module_list_frames(const pp_module *module, const pp_memory *memory, pp_keyed *list,
                             size_t room);

#endif
