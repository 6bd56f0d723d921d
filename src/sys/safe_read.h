/* SPDX-License-Identifier: MIT
 *
 * safe_read.h: looks at memory that may not be there, without a fault.
 *
 * The library does not take over SIGSEGV. Where an address cannot be trusted it asks the kernel, by
 * system calls that answer EFAULT instead of raising a signal.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_SYS_SAFE_READ_H
#define PP_SYS_SAFE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies `size` bytes from `from`, all or nothing: false if any of them is not readable. By
 * process_vm_readv(2) on our own process; where a sandbox refuses that call, by a check of each
 * page followed by a plain copy, which leaves a window for a concurrent munmap.
 */
bool pp_safe_copy(void *to, uintptr_t from, size_t size);

/*
 * Copies as many bytes as can be read from `from` on, at most `size`, and returns how many. For
 * what another thread may unmap at any moment: by process_vm_readv; where that is refused, by
 * /proc/thread-self/mem, which reads what cannot be read in place as well.
 */
size_t pp_safe_copy_part(void *to, uintptr_t from, size_t size);

/*
 * Whether the page of `address` can be read now. Asks by rt_sigprocmask(2) with an invalid `how`:
 * the kernel fetches the new mask from `address` first, and then refuses, changing nothing.
 */
bool pp_page_readable(uintptr_t address);

/* Told by start-up when process_vm_readv must not be tried (a sandbox that kills). */
void pp_safe_read_forbid_copy(void);

#endif
