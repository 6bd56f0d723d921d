/* SPDX-License-Identifier: MIT
 *
 * malloc_names_aarch64_shared.S: defines the names that only some allocators have once more.
 *
 * Only libpprof.so has this file: see kinds/heap/malloc_names_shared.c.
 *
 *   NAME@GLIBC_2.17    the same function under an old version's name, which dlsym does not find
 *   pp_resolve_NAME    the resolver that the loader calls for a hidden NAME: returns the
 *                      function, or NULL
 *
 * Zone: HOOK.
 */
#include "symbol/malloc_list.h"
#include "arch/aarch64_asm.inc"

        .text

.macro named name
        .globl pp_named_\name
        landing pp_named_\name, 3
        b       pp_entry_\name
        end pp_named_\name
        local pp_hidden_\name
        .set pp_hidden_\name, pp_named_\name
        .symver pp_named_\name, \name@GLIBC_2.17, remove
        local pp_resolve_\name
        landing pp_resolve_\name, 3
        address_of x0, pp_malloc_hook_\name
        b       pp_malloc_if_wanted
        end pp_resolve_\name
.endm

#define STUB(name, shape) named name ;
PP_MALLOC_LIST_OTHERS(STUB)

        properties
