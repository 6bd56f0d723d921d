/* SPDX-License-Identifier: MIT
 *
 * safe_read.c: the functions of sys/safe_read.h, for the target's memory.
 *
 * Tested by: e2e.cpprof_dump
 */
#include "sys/safe_read.h"

#include "remote/target.h"

#include <sys/uio.h>

enum { PAGE = 4096, PART_PAGES = 16 };

bool pp_safe_copy(void *to, uintptr_t from, size_t size)
{
    struct iovec local = {to, size};
    struct iovec remote = {(void *)from, size};
    return process_vm_readv(pp_the_target.pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* One element for each page: the kernel copies whole elements only. */
static size_t list_pages(struct iovec *pages, uintptr_t from, size_t size, size_t *listed)
{
    size_t count = 0;
    *listed = 0;
    while (*listed < size && count < PART_PAGES) {
        uintptr_t at = from + *listed;
        size_t to_page_end = PAGE - at % PAGE;
        size_t left = size - *listed;
        size_t part = to_page_end < left ? to_page_end : left;
        pages[count++] = (struct iovec){(void *)at, part};
        *listed += part;
    }
    return count;
}

size_t pp_safe_copy_part(void *to, uintptr_t from, size_t size)
{
    size_t copied = 0;
    while (copied < size) {
        struct iovec pages[PART_PAGES];
        size_t listed = 0;
        size_t count = list_pages(pages, from + copied, size - copied, &listed);
        struct iovec local = {(char *)to + copied, listed};
        ssize_t got = process_vm_readv(pp_the_target.pid, &local, 1, pages, count, 0);
        copied += got > 0 ? (size_t)got : 0;
        if (got != (ssize_t)listed) {
            break;
        }
    }
    return copied;
}

bool pp_page_readable(uintptr_t address)
{
    char byte = 0;
    return pp_safe_copy(&byte, address, 1);
}

void pp_safe_read_forbid_copy(void)
{
}
