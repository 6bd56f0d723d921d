/* SPDX-License-Identifier: MIT
 *
 * memory.c: reads the target's memory. Pages of code and of call-frame information are copied once:
 * many walks read the same small parts of them.
 *
 * Owns: copies of 1 MiB of pages at most.
 * Tested by: e2e.cpprof_dump
 */
#include "remote/target.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, PART_PAGES = 16, COPIES = 256 };

static struct {
    uintptr_t page[COPIES]; /* 0 = none */
    uint8_t bytes[COPIES][PAGE];
} copies;

void pp_target_forget_pages(void)
{
    memset(copies.page, 0, sizeof copies.page);
}

/* Reads pieces of the target's memory that follow each other. A sandbox may forbid process_vm_readv(2)
 * (EPERM, ENOSYS), and the thread may have ended meanwhile (ESRCH). */
static ssize_t read_pieces(const pp_target *target, void *to, const struct iovec *pieces,
                           size_t count, size_t size)
{
    struct iovec local = {to, size};
    ssize_t got = process_vm_readv(target->thread, &local, 1, pieces, count, 0);
    return got >= 0 || errno == EFAULT
               ? got
               : pread(target->memory, to, size, (off_t)(uintptr_t)pieces[0].iov_base);
}

static bool read_now(const pp_target *target, void *to, uintptr_t from, size_t size)
{
    const struct iovec piece = {(void *)from, size};
    return read_pieces(target, to, &piece, 1, size) == (ssize_t)size;
}

/* Whether the page is of an object's code or of its call-frame information, which do not change. */
static bool is_constant(const pp_target *target, uintptr_t page)
{
    uintptr_t end = page + PAGE;
    for (size_t i = 0; i < target->walked.module_count; i++) {
        const pp_module *m = &target->walked.module[i];
        if ((page >= m->code_lo && end <= m->code_hi) || (page >= m->cfi_lo && end <= m->cfi_hi)) {
            return true;
        }
    }
    return false;
}

/* The copy of a page that does not change; NULL if it may, or cannot be read. */
static const uint8_t *page_at(const pp_target *target, uintptr_t page)
{
    size_t place = page / PAGE % COPIES;
    if (copies.page[place] == page) {
        return copies.bytes[place];
    }
    copies.page[place] = 0;
    if (!is_constant(target, page) || !read_now(target, copies.bytes[place], page, PAGE)) {
        return NULL;
    }
    copies.page[place] = page;
    return copies.bytes[place];
}

/* The target of which the memory is a part. */
static const pp_target *target_of(const pp_memory *memory)
{
    return (const pp_target *)memory;
}

static bool copy(const pp_memory *memory, void *to, uintptr_t from, size_t size)
{
    const pp_target *target = target_of(memory);
    uintptr_t page = from & ~(uintptr_t)(PAGE - 1);
    const uint8_t *bytes = from - page + size <= PAGE && page != 0 ? page_at(target, page) : NULL;
    if (bytes == NULL) {
        return read_now(target, to, from, size);
    }
    memcpy(to, bytes + (from - page), size);
    return true;
}

static size_t copy_part(const pp_memory *memory, void *to, uintptr_t from, size_t size)
{
    const pp_target *target = target_of(memory);
    size_t copied = 0;
    while (copied < size) {
        struct iovec pages[PART_PAGES];
        size_t listed = 0;
        size_t count =
            pp_memory_list_pages(pages, PART_PAGES, from + copied, size - copied, &listed);
        ssize_t got = read_pieces(target, (char *)to + copied, pages, count, listed);
        copied += got > 0 ? (size_t)got : 0;
        if (got != (ssize_t)listed) {
            break;
        }
    }
    return copied;
}

const pp_memory pp_target_reader = {copy, copy_part};
