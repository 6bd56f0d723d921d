/* SPDX-License-Identifier: MIT
 *
 * stack_memory.c: bounds of stacks, declared or probed.
 *
 * Zone: SIGNAL.
 * Owns: the calling thread's bounds.
 */
#include "unwind/stack_memory.h"

#include "arch/rule.h"

#include <string.h>

enum {
    PAGE = 4096,
    WORD = sizeof(uintptr_t),
    /* How far beyond the window the next frame of the same stack may be. The kernel's signal frame
     * has 3 KiB (11 with AMX); larger frames are rarer than stacks that are side by side. */
    MAX_GROWTH = 16 * PAGE
};

typedef struct own_stack {
    uintptr_t limit, top;
} own_stack;

static PP_TLS own_stack own;

void pp_stack_declare(uintptr_t limit, uintptr_t top)
{
    own.top = 0; /* a walk in a handler must not see one new bound and one old one */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    own.limit = limit;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    own.top = top;
}

static bool is_on_own(uintptr_t sp)
{
    return sp >= own.limit && sp < own.top && own.top - sp >= WORD;
}

uintptr_t pp_stack_room(uintptr_t sp)
{
    return sp >= own.limit && sp < own.top ? sp - own.limit : 0;
}

uintptr_t pp_stack_limit(void)
{
    return own.top != 0 ? own.limit : 0;
}

static void show(pp_stack_window *window, uintptr_t lo, uintptr_t hi)
{
    uintptr_t lowest = lo + PP_PACKED_WORDS_BELOW_CFA * WORD;
    window->lo = lo;
    window->span = hi - lo - (WORD - 1);
    window->cfa_lo = lowest <= hi ? lowest : UINTPTR_MAX;
    window->cfa_hi = lowest <= hi ? hi : 0;
}

void pp_stack_window_open(pp_stack_window *window, uintptr_t sp, pp_stack_copy *copy)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    copy->lo = copy->hi = 0;
    window->copy = copy;
    window->image = NULL;
    if (is_on_own(here)) {
        show(window, here, own.top);
    } else if (is_on_own(sp)) {
        show(window, sp, own.top);
    } else {
        show(window, here, (here | (PAGE - 1)) + 1);
    }
}

/* An empty window: no word is read in place, and it cannot grow. */
void pp_stack_window_open_other(pp_stack_window *window, const pp_memory *memory,
                                const pp_stack_image *image, pp_stack_copy *copy)
{
    copy->lo = copy->hi = 0;
    *window = (pp_stack_window){.lo = UINTPTR_MAX - (WORD - 1),
                                .cfa_lo = UINTPTR_MAX,
                                .copy = copy,
                                .image = image,
                                .memory = memory};
}

static uintptr_t end_of(const pp_stack_window *window)
{
    return window->lo + window->span + (WORD - 1);
}

/* What says `sp` is memory, which need not be a signal frame: so one page is checked. Those above
 * it are there (pp_stack_declare). The window of a walk of another thread is empty. */
PP_COLD_PATH void pp_stack_window_move(pp_stack_window *window, uintptr_t sp)
{
    if (window->span != 0 && end_of(window) != own.top && is_on_own(sp) && pp_page_readable(sp)) {
        show(window, sp, own.top);
    }
}

/* Grows the window up to `address`, on a stack whose upper end is not known. False if it cannot.
 */
static bool grow(pp_stack_window *window, uintptr_t address)
{
    uintptr_t hi = end_of(window);
    uintptr_t wanted = (address | (PAGE - 1)) + 1;
    if (hi == own.top || address < hi || address - hi >= MAX_GROWTH) {
        return false;
    }
    for (; hi != wanted; hi += PAGE) {
        if (!pp_page_readable(hi)) {
            return false;
        }
        show(window, window->lo, hi + PAGE);
    }
    return true;
}

static bool fill_copy(const pp_stack_window *window, uintptr_t address, size_t size)
{
    uint8_t *bytes = window->copy->bytes;
    return window->image == NULL
               ? pp_safe_copy(bytes, address, size)
               : pp_memory_copy_part(window->memory, bytes, address, size) == size;
}

/* An image may be a stack itself, to which another thread writes. */
PP_RAW_MEMORY static bool copy_word(const pp_stack_window *window, uintptr_t address,
                                    uintptr_t *word)
{
    pp_stack_copy *copy = window->copy;
    const pp_stack_image *image = window->image;
    if (image != NULL && address >= image->lo && address < image->hi) {
        *word = *(const volatile uintptr_t *)(image->bytes + (address - image->lo));
        return true;
    }
    if (address < copy->lo || address >= copy->hi) {
        uintptr_t to_page_end = PAGE - address % PAGE;
        uintptr_t size = to_page_end < PP_STACK_COPY_BYTES ? to_page_end : PP_STACK_COPY_BYTES;
        copy->lo = copy->hi = 0;
        if (!fill_copy(window, address, size)) {
            return false;
        }
        copy->lo = address;
        copy->hi = address + size;
    }
    memcpy(word, copy->bytes + (address - copy->lo), WORD);
    return true;
}

PP_COLD_PATH PP_RAW_MEMORY bool pp_stack_read_beyond(pp_stack_window *window, uintptr_t address,
                                                     uintptr_t *word)
{
    if (address % WORD != 0) {
        return false;
    }
    if (grow(window, address)) {
        *word = *(const volatile uintptr_t *)address;
        return true;
    }
    return copy_word(window, address, word);
}

PP_RAW_MEMORY bool pp_stack_peek(const pp_stack_window *window, uintptr_t address, uintptr_t *word)
{
    if (address - window->lo < window->span) {
        *word = *(const volatile uintptr_t *)address;
        return true;
    }
    return address % WORD == 0 && copy_word(window, address, word);
}
