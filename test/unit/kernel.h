/* SPDX-License-Identifier: MIT
 *
 * kernel.h: for tests that need what qemu-user does not have.
 *
 * It marks no robust mutex of a thread that has ended, which would be waited for for ever. It keeps limits
 * of the address space to itself, and its notes of each page that is mapped, even of a reserve of terabytes,
 * take all memory of the machine. Such a test fails at once there, and runs in the virtual machine (tools/port).
 */
#ifndef PP_TEST_KERNEL_H
#define PP_TEST_KERNEL_H

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void need_kernel(void)
{
    void *head;
    size_t size;
    assert_return_code(syscall(SYS_get_robust_list, 0, &head, &size), errno);
}

#endif
