/* SPDX-License-Identifier: MIT
 *
 * malloc_aarch64.S: the entries of the hooked allocation functions.
 *
 * An entry decides nearly every call in a few instructions. They change no register with an
 * argument, so that the entry jumps to the real function, which returns to the program directly.
 * All other calls go to kinds/heap/malloc.c.
 *
 *   NAME            the function that the program calls: for MALLOC, REALLOC and FREE the counting
 *                   code itself, else a jump to the address in the hook's target
 *   pp_count_NAME   the counting code
 *   pp_slow_NAME    calls kinds/heap/malloc.c with a pp_malloc_call (kinds/heap/malloc_hook.h);
 *                   also the target of an unresolved hook
 *
 * Zone: HOOK.
 */
#include "arch/hook_layout.h"
#include "arch/aarch64_asm.inc"
#include "kinds/heap/live_filter.h"
#include "libc/aarch64_tls.inc"
#include "symbol/malloc_list.h"

        .text

/* All entries, and only they, are between these two labels (pp_allocators, symbol/omitted_functions.c). */
.Lentries:

/* Defines the exported symbol, and another one at the same address for the library itself. In
 * libpprof_static.a the name belongs to libc; the linker's --wrap redirects calls to the entry. */
.macro export name
#ifdef PP_MALLOC_WRAPPED
        .hidden __wrap_\name
        .globl __wrap_\name
        .set __wrap_\name, \name
#else
        .globl \name
#endif
        .hidden pp_entry_\name
        .globl pp_entry_\name
        .set pp_entry_\name, \name
.endm

/*
 * Subtracts \size bytes from the countdown, or jumps to \used_up, with nothing changed, if they use
 * it up. The countdown in memory is never below 0: a handler that jumps out of here would leave a
 * negative one, which would never end.
 */
.macro take_off size, used_up
        subtract_from_own pp_heap_countdown, \size, \used_up
.endm

.macro count_down size, name
        take_off \size, pp_slow_\name
        jump_through pp_malloc_hook_\name, PP_HOOK_REAL
.endm

/* Jumps to the slow path if the block in x0 may be sampled. */
.macro ask_filter name
        adrp    x16, pp_live_filter
        ldr     x16, [x16, #:lo12:pp_live_filter]
        ldr     x17, [x16, #PP_LIVE_FILTER_MASK]
        and     x17, x17, x0, lsr #PP_LIVE_FILTER_SHIFT
        add     x17, x17, x16
        ldrb    w17, [x17, #PP_LIVE_FILTER_COUNTS]
        cbnz    w17, pp_slow_\name
.endm

.macro slow_alloc name
        inner   pp_slow_\name
        address_of x9, pp_malloc_hook_\name
        to_c    pp_malloc_slow_alloc, 4
        end \name
.endm

/* Calls C, which returns the address to continue at, with the arguments unchanged. */
.macro slow_free name
        inner   pp_slow_\name
        frame   48
        stp     x0, x1, [sp]
        str     x2, [sp, #16]
        address_of x1, pp_malloc_hook_\name
        mov     x2, x30
        add     x3, sp, #48
        ldr     x4, [x29]
        mov     x5, x30         /* as `bx` */
        bl      pp_malloc_slow_free
        mov     x16, x0
        ldp     x0, x1, [sp]
        ldr     x2, [sp, #16]
        leave   48
        br      x16
        end \name
.endm

.macro through_target name
        export \name
        landing \name, 5
        jump_through pp_malloc_hook_\name, PP_HOOK_TARGET
        inner   pp_count_\name, 5
.endm

.macro MALLOC name
        export \name
        landing \name, 5
        count_down x0, \name
        local pp_count_\name
        .set pp_count_\name, \name
        slow_alloc \name
.endm

.macro ALLOC0 name
        through_target \name
        count_down x0, \name
        slow_alloc \name
.endm

.macro ALLOC1 name
        through_target \name
        count_down x1, \name
        slow_alloc \name
.endm

.macro POSIX name
        through_target \name
        count_down x2, \name
        slow_alloc \name
.endm

.macro CALLOC name
        through_target \name
        umulh   x10, x0, x1
        cbnz    x10, pp_slow_\name
        mul     x10, x0, x1
        count_down x10, \name
        slow_alloc \name
.endm

.macro REALLOC name
        export \name
        landing \name, 5
        ask_filter \name
        count_down x1, \name
        local pp_count_\name
        .set pp_count_\name, \name
        slow_alloc \name
.endm

.macro RESIZE name
        through_target \name
        ask_filter \name
        count_down x1, \name
        slow_alloc \name
.endm

.macro IN_PLACE name
        through_target \name
        b       pp_slow_\name
        slow_alloc \name
.endm

.macro NEW name
        export \name
        landing \name, 5
        jump_through pp_malloc_hook_\name, PP_HOOK_TARGET
        inner   pp_count_\name
        count_down x0, \name
        inner   pp_direct_\name
        take_off x0, pp_slow_\name
        frame   32
        str     x0, [sp]
        adrp    x16, pp_malloc_hook_malloc+PP_HOOK_REAL
        ldr     x16, [x16, #:lo12:pp_malloc_hook_malloc+PP_HOOK_REAL]
        blr     x16
3:      .pushsection pp_stays, "a", %progbits   /* the frame stays (unwind/own_frames.c) */
        .balign 4
        .long   3b - ., 0
        .popsection
        mov     x9, x0
        ldr     x0, [sp]
        leave   32
        cbz     x9, 2f
        mov     x0, x9
        ret
2:      jump_through pp_malloc_hook_\name, PP_HOOK_REAL
        slow_alloc \name
.endm

.macro CALLOC_IN name
        IN_PLACE \name
.endm

.macro RESIZE_IN name
        IN_PLACE \name
.endm

.macro DELETE name
        export \name
        landing \name, 5
        jump_through pp_malloc_hook_\name, PP_HOOK_TARGET
        inner   pp_count_\name
        ask_filter \name
        jump_through pp_malloc_hook_\name, PP_HOOK_REAL
        inner   pp_direct_\name
        ask_filter \name
        jump_through pp_malloc_hook_free, PP_HOOK_REAL
        slow_free \name
.endm

.macro FREE name
        export \name
        landing \name, 5
        ask_filter \name
        jump_through pp_malloc_hook_\name, PP_HOOK_REAL
        local pp_count_\name
        .set pp_count_\name, \name
        slow_free \name
.endm

.macro RELEASE name
        through_target \name
        ask_filter \name
        jump_through pp_malloc_hook_\name, PP_HOOK_REAL
        slow_free \name
.endm

#define STUB(name, shape) shape name ;
#ifdef PP_MALLOC_WRAPPED
PP_MALLOC_LIST_LIBC(STUB)
#else
PP_MALLOC_LIST(STUB)

/* Computes realloc(block, count * size), for every allocator. It calls the program's realloc, which
 * is not ours if an allocator without reallocarray precedes this library (jemalloc, tcmalloc). */
        export reallocarray
        landing reallocarray, 5
        umulh   x9, x1, x2
        cbnz    x9, pp_malloc_too_large
        mul     x1, x1, x2
        adrp    x16, :got:realloc
        ldr     x16, [x16, #:got_lo12:realloc]
        br      x16
        end reallocarray
#endif

.Lentries_end:
        .pushsection pp_allocators, "a", %progbits
        .balign 4
        .long   .Lentries - .
        .long   .Lentries_end - .
        .popsection

        properties
