/* SPDX-License-Identifier: MIT
 *
 * module_cfi.h: where the call-frame information of a loaded object lies.
 *
 *   usual        PT_GNU_EH_FRAME -> .eh_frame_hdr and .eh_frame in one read-only segment
 *   split        .eh_frame is writable and lies in the data segment (linkers up to 2005 or so,
 *                whose crt files live on in some vendors' tools), beyond a hole: read by copies, in
 *                all of the object, once nothing was found in the header's segment
 *   no header    linked with --no-eh-frame-hdr, or by calling ld directly: nothing in memory tells
 *                where .eh_frame is, the section headers of the file do
 *   none         Go, Free Pascal: nothing to be found
 *
 * Zone: NORMAL.
 * Locks: none. The object must stay loaded meanwhile: called under the loader's lock.
 */
#ifndef PP_MODULES_MODULE_CFI_H
#define PP_MODULES_MODULE_CFI_H

#include "modules/modules.h"

#include <link.h>

/*
 * Fills the ranges and eh_frame_hdr of `module`; leaves them 0 if the object has none. `path` is
 * the object's file, looked into only if there is no header; it has to have the program headers of
 * `info`.
 */
void pp_module_cfi_describe(const struct dl_phdr_info *info, const char *path, pp_module *module);

#endif
