/* SPDX-License-Identifier: MIT
 *
 * safe_read.c: reads memory by system calls that fail with EFAULT.
 *
 * Zone: SIGNAL.
 * Owns: whether process_vm_readv is permitted.
 * Tested by: unit.safe_read, e2e.seccomp
 */
#include "sys/safe_read.h"

#include "arch/system_call.h"
#include "base/compiler.h"
#include "sys/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/uio.h>

enum {
    PAGE = 4096, /* the smallest page size of Linux; a larger one only costs a few more checks */
    KERNEL_SIGSET_SIZE = 8,
    PART_PAGES = 8 /* for one system call of pp_safe_copy_part() */
};

static enum copy_permission { COPY_NOT_TRIED, COPY_PERMITTED, COPY_FORBIDDEN } copying;

bool pp_page_readable(uintptr_t address)
{
    uintptr_t word = address & ~(uintptr_t)(PAGE - 1);
    const int no_such_how = -1;
    return pp_system_call(SYS_rt_sigprocmask, no_such_how, word, NULL, KERNEL_SIGSET_SIZE) ==
           -EINVAL;
}

static bool pages_readable(uintptr_t from, size_t size)
{
    for (uintptr_t page = from & ~(uintptr_t)(PAGE - 1); page < from + size; page += PAGE) {
        if (!pp_page_readable(page)) {
            return false;
        }
    }
    return true;
}

PP_RAW_MEMORY static void copy_in_place(void *to, uintptr_t from, size_t size)
{
    /* Copies byte by byte through volatile: sanitizers would check a call of memcpy. */
    volatile const uint8_t *source = (volatile const uint8_t *)from;
    for (size_t i = 0; i < size; i++) {
        ((uint8_t *)to)[i] = source[i];
    }
}

static bool is_refusal(long result)
{
    return result == -ENOSYS || result == -EPERM || result == -EACCES;
}

/* Uses the thread's id, and /proc/thread-self, not the process's id: if the first thread has ended,
 * the process's id has no memory. */
bool pp_safe_copy(void *to, uintptr_t from, size_t size)
{
    if (from + size < from) {
        return false;
    }
    if (__atomic_load_n(&copying, __ATOMIC_RELAXED) == COPY_PERMITTED) {
        struct iovec local = {to, size};
        struct iovec remote = {(void *)from, size};
        long got = pp_system_call(SYS_process_vm_readv, pp_system_call(SYS_gettid), &local, 1,
                                  &remote, 1, 0);
        if (got >= 0 || got == -EFAULT) {
            return got == (long)size;
        }
        if (is_refusal(got)) {
            pp_safe_read_forbid_copy();
        }
    }
    if (!pages_readable(from, size)) {
        return false;
    }
    copy_in_place(to, from, size);
    return true;
}

size_t pp_memory_list_pages(struct iovec *pages, size_t capacity, uintptr_t from, size_t size,
                            size_t *listed)
{
    size_t count = 0;
    *listed = 0;
    while (*listed < size && count < capacity) {
        uintptr_t at = from + *listed;
        size_t to_page_end = PAGE - at % PAGE;
        size_t left = size - *listed;
        size_t part = to_page_end < left ? to_page_end : left;
        pages[count++] = (struct iovec){(void *)at, part};
        *listed += part;
    }
    return count;
}

/* One element is faster by far than one for each page, but may be copied in part or not at all: at the end of a
 * mapping, which a stack seldom comes near. */
static bool copy_whole(void *to, uintptr_t from, size_t size)
{
    struct iovec local = {to, size};
    struct iovec remote = {(void *)from, size};
    return pp_system_call(SYS_process_vm_readv, pp_system_call(SYS_gettid), &local, 1, &remote, 1,
                          0) == (long)size;
}

static size_t copy_part(void *to, uintptr_t from, size_t size)
{
    size_t copied = 0;
    if (copy_whole(to, from, size)) {
        return size;
    }
    while (copied < size) {
        struct iovec pages[PART_PAGES];
        size_t listed = 0;
        size_t count =
            pp_memory_list_pages(pages, PART_PAGES, from + copied, size - copied, &listed);
        struct iovec local = {(char *)to + copied, listed};
        long got = pp_system_call(SYS_process_vm_readv, pp_system_call(SYS_gettid), &local, 1,
                                  pages, count, 0);
        if (is_refusal(got)) {
            pp_safe_read_forbid_copy();
        }
        copied += got > 0 ? (size_t)got : 0;
        if (got != (long)listed) {
            break;
        }
    }
    return copied;
}

typedef struct part {
    void *to;
    uintptr_t from;
    size_t size;
    long got;
} part;

static void read_memory(void *of_part)
{
    part *p = of_part;
    long memory =
        pp_system_call(SYS_openat, AT_FDCWD, "/proc/thread-self/mem", O_RDONLY | O_CLOEXEC);
    if (memory >= 0) {
        p->got = pp_system_call(SYS_pread64, memory, p->to, p->size, p->from);
        pp_system_call(SYS_close, memory);
    }
}

static size_t read_part(void *to, uintptr_t from, size_t size)
{
    part p = {to, from, size, 0};
    pp_apart(read_memory, &p);
    return p.got > 0 ? (size_t)p.got : 0;
}

static bool is_forbidden(void)
{
    return __atomic_load_n(&copying, __ATOMIC_RELAXED) == COPY_FORBIDDEN;
}

size_t pp_safe_copy_part(void *to, uintptr_t from, size_t size)
{
    if (from + size < from) {
        return 0;
    }
    if (!is_forbidden()) {
        size_t copied = copy_part(to, from, size);
        if (!is_forbidden()) {
            return copied;
        }
    }
    return read_part(to, from, size);
}

void pp_safe_read_permit_copy(void)
{
    enum copy_permission before = COPY_NOT_TRIED;
    __atomic_compare_exchange_n(&copying, &before, COPY_PERMITTED, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
}

void pp_safe_read_forbid_copy(void)
{
    __atomic_store_n(&copying, COPY_FORBIDDEN, __ATOMIC_RELAXED);
}
