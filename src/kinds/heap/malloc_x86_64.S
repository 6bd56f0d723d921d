/* SPDX-License-Identifier: MIT
 *
 * malloc_x86_64.S: the entries of the hooked allocation functions.
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
 * The entry of malloc adds 7 instructions to the real function, that of free 8; endbr64 is one of them.
 *
 * Zone: HOOK.
 */
#include "arch/hook_layout.h"
#include "arch/x86_64_asm.inc"
#include "kinds/heap/live_filter.h"
#include "libc/x86_64_tls.inc"
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
 * Subtracts \size bytes from the countdown, or jumps to \used_up, with no argument changed, if they use
 * it up. The countdown in memory is never below 0: a handler that jumps out of here would leave a
 * negative one, which would never end.
 */
.macro take_off size, used_up
        subtract_from_own pp_heap_countdown, \size, \used_up
.endm

.macro count_down size, name
        take_off \size, pp_slow_\name
        jmp     *pp_malloc_hook_\name+PP_HOOK_REAL(%rip)
.endm

/* Jumps to the slow path if the block in rdi may be sampled. */
.macro ask_filter name
        mov     pp_live_filter(%rip), %r10
        mov     %rdi, %rax
        shr     $PP_LIVE_FILTER_SHIFT, %rax
        and     PP_LIVE_FILTER_MASK(%r10), %rax
        cmpb    $0, PP_LIVE_FILTER_COUNTS(%r10,%rax)
        jne     pp_slow_\name
.endm

.macro slow_alloc name
        inner   pp_slow_\name
        lea     pp_malloc_hook_\name(%rip), %rax
        to_c    pp_malloc_slow_alloc, 4
        end \name
.endm

/* Calls C, which returns the address to continue at, with the arguments unchanged. */
.macro slow_free name
        inner   pp_slow_\name
        keep    rdi
        keep    rsi
        keep    rdx
        lea     pp_malloc_hook_\name(%rip), %rsi
        mov     24(%rsp), %rdx
        lea     32(%rsp), %rcx
        mov     %rbp, %r8
        mov     %rbx, %r9
        call    pp_malloc_slow_free
        restore rdx
        restore rsi
        restore rdi
        jmp     *%rax
        end \name
.endm

.macro through_target name
        export \name
        landing \name, 5
        jmp     *pp_malloc_hook_\name+PP_HOOK_TARGET(%rip)
        inner   pp_count_\name, 5
.endm

.macro MALLOC name
        export \name
        landing \name, 5
        count_down %rdi, \name
        local pp_count_\name
        .set pp_count_\name, \name
        slow_alloc \name
.endm

.macro ALLOC0 name
        through_target \name
        count_down %rdi, \name
        slow_alloc \name
.endm

.macro ALLOC1 name
        through_target \name
        count_down %rsi, \name
        slow_alloc \name
.endm

.macro POSIX name
        through_target \name
        count_down %rdx, \name
        slow_alloc \name
.endm

.macro CALLOC name
        through_target \name
        mov     %rdi, %rax
        mul     %rsi
        jo      pp_slow_\name
        count_down %rax, \name
        slow_alloc \name
.endm

.macro REALLOC name
        export \name
        landing \name, 5
        ask_filter \name
        count_down %rsi, \name
        local pp_count_\name
        .set pp_count_\name, \name
        slow_alloc \name
.endm

.macro RESIZE name
        through_target \name
        ask_filter \name
        count_down %rsi, \name
        slow_alloc \name
.endm

.macro IN_PLACE name
        through_target \name
        jmp     pp_slow_\name
        slow_alloc \name
.endm

.macro NEW name
        export \name
        landing \name, 5
        jmp     *pp_malloc_hook_\name+PP_HOOK_TARGET(%rip)
        inner   pp_count_\name
        count_down %rdi, \name
        inner   pp_direct_\name
        take_off %rdi, pp_slow_\name
        keep    rdi
        call    *pp_malloc_hook_malloc+PP_HOOK_REAL(%rip)
3:      .pushsection pp_stays, "a", @progbits   /* the frame stays (unwind/own_frames.c) */
        .balign 4
        .long   3b - ., 0
        .popsection
        restore rdi
        test    %rax, %rax
        je      2f
        ret
2:      jmp     *pp_malloc_hook_\name+PP_HOOK_REAL(%rip)
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
        jmp     *pp_malloc_hook_\name+PP_HOOK_TARGET(%rip)
        inner   pp_count_\name
        ask_filter \name
        jmp     *pp_malloc_hook_\name+PP_HOOK_REAL(%rip)
        inner   pp_direct_\name
        ask_filter \name
        jmp     *pp_malloc_hook_free+PP_HOOK_REAL(%rip)
        slow_free \name
.endm

.macro FREE name
        export \name
        landing \name, 5
        ask_filter \name
        jmp     *pp_malloc_hook_\name+PP_HOOK_REAL(%rip)
        local pp_count_\name
        .set pp_count_\name, \name
        slow_free \name
.endm

.macro RELEASE name
        through_target \name
        ask_filter \name
        jmp     *pp_malloc_hook_\name+PP_HOOK_REAL(%rip)
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
        mov     %rsi, %rax
        mul     %rdx
        jo      pp_malloc_too_large
        mov     %rax, %rsi
        jmp     *realloc@GOTPCREL(%rip)
        end reallocarray
#endif

.Lentries_end:
        .pushsection pp_allocators, "a", @progbits
        .balign 4
        .long   .Lentries - .
        .long   .Lentries_end - .
        .popsection

        .section .note.GNU-stack, "", @progbits
