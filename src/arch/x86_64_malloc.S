/* SPDX-License-Identifier: MIT
 *
 * x86_64_malloc.S: the entries of the hooked allocation functions.
 *
 * What happens at nearly every call is decided here, in a few instructions that touch no register
 * that carries an argument, so that the real function is reached by a jump and returns to the
 * program directly. The rest goes to kinds/heap/malloc.c.
 *
 *   NAME            what the program calls: for MALLOC, REALLOC and FREE the counting code itself,
 *                   else a jump to where the hook's target says
 *   pp_count_NAME   the counting code
 *   pp_slow_NAME    the way to kinds/heap/malloc.c, with a pp_malloc_call (kinds/heap/malloc_hook.h); also where a hook leads
 *                   that was not resolved yet
 *
 * malloc: 4 instructions more than the real one; free: 7.
 *
 * Zone: HOOK.
 */
#if defined(__x86_64__)

#include "arch/malloc_list.h"
#include "arch/x86_64_asm.inc"

/* pp_malloc_hook (kinds/heap/malloc_hook.h): offsets of its first two members. */
#define REAL   0
#define TARGET 8
/* pp_live_filter_table (kinds/heap/live_filter.h). */
#define FILTER_COUNTS 64

        .text

/* All entries lie between this and pp_malloc_entries_end (arch/malloc_entries.h). */
        local pp_malloc_entries
pp_malloc_entries:

/* The exported symbol, and another for the same place by which the library itself refers to it. In
 * libpprof_static.a the name belongs to libc; calls are led here by the linker's --wrap. */
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

/* Takes \size bytes off the countdown, or goes to \used_up where they use it up, with nothing
 * changed. It never lies below 0 in memory, where a handler that jumps out of here would leave it:
 * that would be a countdown without end. */
.macro take_off size, used_up
        mov     pp_heap_countdown@gottpoff(%rip), %r11
        mov     %fs:(%r11), %r10
        sub     \size, %r10
        jbe     \used_up
        mov     %r10, %fs:(%r11)
.endm

.macro count_down size, name
        take_off \size, pp_slow_\name
        jmp     *pp_malloc_hook_\name+REAL(%rip)
.endm

/* To the slow path if the block in rdi may be a sampled one. */
.macro ask_filter name
        mov     pp_live_filter(%rip), %r10
        mov     %rdi, %rax
        shr     $8, %rax
        and     (%r10), %rax
        cmpb    $0, FILTER_COUNTS(%r10,%rax)
        jne     pp_slow_\name
.endm

.macro slow_alloc name
        inner   pp_slow_\name
        lea     pp_malloc_hook_\name(%rip), %rax
        to_c    pp_malloc_slow_alloc, 4
        end \name
.endm

/* Asks where to go on with the arguments as they are. */
.macro slow_free name
        inner   pp_slow_\name
        keep    rdi
        keep    rsi
        keep    rdx
        lea     pp_malloc_hook_\name(%rip), %rsi
        mov     24(%rsp), %rdx
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
        jmp     *pp_malloc_hook_\name+TARGET(%rip)
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
        jmp     *pp_malloc_hook_\name+TARGET(%rip)
        inner   pp_count_\name
        count_down %rdi, \name
        inner   pp_direct_\name
        take_off %rdi, pp_slow_\name
        keep    rdi
        call    *pp_malloc_hook_malloc+REAL(%rip)
3:      .pushsection pp_stays, "a", @progbits   /* unwind/own_frames.c: a frame in the real one's place */
        .balign 4
        .long   3b - ., 0
        .popsection
        restore rdi
        test    %rax, %rax
        je      2f
        ret
2:      jmp     *pp_malloc_hook_\name+REAL(%rip)
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
        jmp     *pp_malloc_hook_\name+TARGET(%rip)
        inner   pp_count_\name
        ask_filter \name
        jmp     *pp_malloc_hook_\name+REAL(%rip)
        inner   pp_direct_\name
        ask_filter \name
        jmp     *pp_malloc_hook_free+REAL(%rip)
        slow_free \name
.endm

.macro FREE name
        export \name
        landing \name, 5
        ask_filter \name
        jmp     *pp_malloc_hook_\name+REAL(%rip)
        local pp_count_\name
        .set pp_count_\name, \name
        slow_free \name
.endm

.macro RELEASE name
        through_target \name
        ask_filter \name
        jmp     *pp_malloc_hook_\name+REAL(%rip)
        slow_free \name
.endm

#define STUB(name, shape) shape name ;
#ifdef PP_MALLOC_WRAPPED
PP_MALLOC_LIST_LIBC(STUB)
#else
PP_MALLOC_LIST(STUB)

/* realloc(block, count * size), in every allocator. The program's own realloc, which is not ours
 * where an allocator stands before us that has no reallocarray (jemalloc, tcmalloc). */
        export reallocarray
        landing reallocarray, 5
        mov     %rsi, %rax
        mul     %rdx
        jo      pp_malloc_too_large
        mov     %rax, %rsi
        jmp     *realloc@GOTPCREL(%rip)
        end reallocarray
#endif

        local pp_malloc_entries_end
pp_malloc_entries_end:

#else
#error "libpprof has no malloc entries for this architecture yet: add src/arch/<name>_malloc.S"
#endif

        .section .note.GNU-stack, "", @progbits
