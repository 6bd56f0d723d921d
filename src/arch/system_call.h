/* SPDX-License-Identifier: MIT
 *
 * system_call.h: makes bare system calls, without errno and without wrappers that may be hooked; and
 * other single instructions.
 *
 * pp_system_call(number, ...) takes up to six arguments and returns the kernel's result: a value,
 * or -errno. <sys/syscall.h> has the numbers.
 * PP_LIBC_SYSCALL_HAS_RETURN_ADDRESS says whether the stack of a thread that waits in libc's syscall() shows
 * who has called it; PP_STORE_RETURN_ADDRESS() makes the function in which it stands have its own there.
 * pp_thread_pointer_from_kernel() returns the address of the thread control block, and
 * pp_is_control_block() says whether the word there is one that such a block begins with.
 * pp_call_poll(), pp_call_rename(), ... make calls that not all kernels have, or those that stand in
 * for them. PP_CALL_POLL, ... are their numbers, or such as no call has.
 * pp_page_bytes() returns the size of a page, at most PP_PAGE_BYTES_MAX.
 * pp_spin_hint() tells the processor that a loop waits for another one; it may run something else
 * meanwhile.
 *
 * Zone: SIGNAL.
 */
#ifndef PP_ARCH_SYSTEM_CALL_H
#define PP_ARCH_SYSTEM_CALL_H

#if defined(__x86_64__)
#include "arch/x86_64_system_call.h"
#elif defined(__aarch64__)
#include "arch/aarch64_system_call.h"
#else
#error "libpprof has no system calls for this architecture yet: add src/arch/<name>_system_call.h"
#endif

#include <sys/syscall.h>

#define PP_SYSTEM_CALL_PICK(n, a, b, c, d, e, f, ...)                                              \
    pp_system_call6((long)(n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define pp_system_call(...) PP_SYSTEM_CALL_PICK(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

#endif
