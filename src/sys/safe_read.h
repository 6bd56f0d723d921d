/* SPDX-License-Identifier: MIT
 *
 * safe_read.h: reads memory that may be unmapped, without a fault.
 *
 * The library recovers from no SIGSEGV. For an address that it cannot trust, it makes a system call
 * that fails with EFAULT instead of raising a signal.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_SAFE_READ_H
#define PP_SYS_SAFE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/*
 * Copies `size` bytes from `from`, or returns false if any of them is not readable. Uses
 * process_vm_readv(2) on this process. If a sandbox refuses that call, or may do so
 * (pp_safe_read_permit_copy), checks each page and then copies, which leaves a window for a
 * concurrent munmap.
 */
bool pp_safe_copy(void *to, uintptr_t from, size_t size);

/*
 * Copies the readable bytes from `from` on, at most `size`, and returns their number. For memory
 * that another thread may unmap at any moment. Uses process_vm_readv; if that is forbidden,
 * /proc/thread-self/mem, which also reads pages without read permission.
 */
size_t pp_safe_copy_part(void *to, uintptr_t from, size_t size);

/* Whether the page of `address` is readable now. Calls rt_sigprocmask(2) with an invalid `how`: the
 * kernel first fetches the new mask from `address`, and then refuses, changing nothing. */
bool pp_page_readable(uintptr_t address);

/* The memory of another process. The functions do what pp_safe_copy() and pp_safe_copy_part() do. */
typedef struct pp_memory {
    bool (*copy)(const struct pp_memory *memory, void *to, uintptr_t from, size_t size);
    size_t (*copy_part)(const struct pp_memory *memory, void *to, uintptr_t from, size_t size);
} pp_memory;

/* Copies from `memory`; NULL: of this process. */
static inline bool pp_memory_copy(const pp_memory *memory, void *to, uintptr_t from, size_t size)
{
    return memory == NULL ? pp_safe_copy(to, from, size) : memory->copy(memory, to, from, size);
}

static inline size_t pp_memory_copy_part(const pp_memory *memory, void *to, uintptr_t from,
                                         size_t size)
{
    return memory == NULL ? pp_safe_copy_part(to, from, size)
                          : memory->copy_part(memory, to, from, size);
}

/*
 * Lists the pieces of `size` bytes from `from` on for process_vm_readv(2): one element for each page,
 * since the kernel copies only whole elements, `capacity` at most. Returns their number, and stores
 * in *listed how many bytes they have.
 */
size_t pp_memory_list_pages(struct iovec *pages, size_t capacity, uintptr_t from, size_t size,
                            size_t *listed);

/* Permits process_vm_readv, unless it has been forbidden: no sandbox refuses it (sandbox.c has found out). Before
 * that pp_safe_copy() does without it, as a filter might kill for it. */
void pp_safe_read_permit_copy(void);

/* Forbids process_vm_readv. Start-up code calls it where a sandbox would kill the process. */
void pp_safe_read_forbid_copy(void);

#endif
