/* SPDX-License-Identifier: MIT
 *
 * got_types.h: the words that the loader fills in with the addresses of functions, by the types of
 * their relocations.
 *
 * Each architecture's header defines pp_got_type_of().
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_GOT_TYPES_H
#define PP_ARCH_GOT_TYPES_H

typedef enum pp_got_type {
    PP_GOT_NONE,
    PP_GOT_CALL,   /* of the linkage table: bound at the first call, or before */
    PP_GOT_POINTER /* bound when the object is loaded */
} pp_got_type;

#if defined(__x86_64__)
#include "arch/x86_64_got_types.h"
#else
#error "libpprof knows no relocations of this architecture yet: add src/arch/<name>_slot_types.h"
#endif

#endif
