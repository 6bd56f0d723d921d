/* SPDX-License-Identifier: MIT
 *
 * stack_memory.c: bounds of stacks, known or found out.
 *
 * Zone: SIGNAL.
 * Locks: none.
 * Owns: the calling thread's bounds.
 */
#include "unwind/stack_memory.h"

#include "sys/safe_read.h"

enum {
    PAGE = 4096,
    WORD = sizeof(uintptr_t),
    RED_ZONE = 128 /* System V ABI, AMD64: leaf functions keep data below SP */
};

typedef struct own_stack {
    uintptr_t limit, top;
} own_stack;

static PP_TLS own_stack own;

void pp_stack_declare(uintptr_t limit, uintptr_t top)
{
    own.top = 0; /* a sample between the two stores must not see half of it */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    own.limit = limit;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    own.top = top;
}

/* Words from `mapped` on are there, though the window for single reads may begin higher. */
static void allow_cfas(pp_stack_window *window, uintptr_t mapped, uintptr_t hi)
{
    uintptr_t lowest = mapped + PP_STACK_WORDS_BELOW_CFA * WORD;
    window->cfa_lo = lowest <= hi ? lowest : UINTPTR_MAX;
    window->cfa_hi = lowest <= hi ? hi : 0;
}

static void show(pp_stack_window *window, uintptr_t lo, uintptr_t hi)
{
    window->lo = lo;
    window->span = hi - lo - (WORD - 1);
    allow_cfas(window, lo, hi);
}

static bool on_own_stack(uintptr_t address)
{
    return address >= own.limit && address < own.top;
}

void pp_stack_window_open(pp_stack_window *window, uintptr_t sp)
{
    *window = (pp_stack_window){.floor = UINTPTR_MAX, .cfa_lo = UINTPTR_MAX};
    if (on_own_stack(sp)) {
        uintptr_t here = (uintptr_t)__builtin_frame_address(0);
        uintptr_t floor = (sp - RED_ZONE) & ~(uintptr_t)(WORD - 1);
        window->floor = floor > own.limit ? floor : own.limit;
        show(window, window->floor, own.top);
        if (on_own_stack(here) && here < sp) {
            allow_cfas(window, here, own.top); /* we run below SP: all in between is mapped */
        }
    }
}

/* Grows the window by the page, or moves it there if the page is not its neighbour. */
static void add_page(pp_stack_window *window, uintptr_t page)
{
    uintptr_t hi = window->lo + window->span + (WORD - 1);
    if (window->span != 0 && page == hi) {
        show(window, window->lo, hi + PAGE);
    } else if (window->span != 0 && page + PAGE == window->lo) {
        show(window, page, hi);
    } else {
        show(window, page, page + PAGE);
    }
}

PP_COLD_PATH bool pp_stack_window_reach(pp_stack_window *window, uintptr_t address)
{
    if (address % WORD != 0) {
        return false;
    }
    if (address >= window->floor && address < own.top) {
        show(window, window->floor, own.top); /* back on the own stack, from an alternate one */
        return true;
    }
    if (!pp_page_readable(address)) {
        return false;
    }
    add_page(window, address & ~(uintptr_t)(PAGE - 1));
    return true;
}
