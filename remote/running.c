/* SPDX-License-Identifier: MIT
 *
 * running.c: a perf event of a thread, and its ring of records.
 *
 * Formats: perf_event_open(2).
 *
 * Tested by: e2e.cpprof_dump
 */
#include "remote/running.h"

#include "arch/system_call.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    RING_BYTES = 128 * 1024, /* three records fit; the first one is enough */
    PERIOD_NS = 200000
};

static uint64_t all_registers(void)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < PP_REG_COUNT; i++) {
        mask |= UINT64_C(1) << pp_perf_bit_of_register[i];
    }
    return mask;
}

int pp_running_open(pp_running *running, int tid)
{
    struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE,
                                         .size = sizeof attributes,
                                         .config = PERF_COUNT_SW_CPU_CLOCK,
                                         .sample_period = PERIOD_NS,
                                         .sample_type =
                                             PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
                                         .exclude_kernel = 1,
                                         .exclude_hv = 1,
                                         .wakeup_events = 1,
                                         .sample_regs_user = all_registers(),
                                         .sample_stack_user = PP_RUNNING_STACK_BYTES};
    *running = (pp_running){.fd = -1};
    long fd = syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    running->fd = (int)fd;
    running->sample = malloc(sizeof *running->sample);
    running->ring =
        mmap(NULL, pp_page_bytes() + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    if (running->sample == NULL || running->ring == MAP_FAILED) {
        int error = running->sample == NULL ? ENOMEM : errno;
        pp_running_close(running);
        return -error;
    }
    return 0;
}

void pp_running_close(pp_running *running)
{
    if (running->ring != NULL && running->ring != MAP_FAILED) {
        munmap(running->ring, pp_page_bytes() + RING_BYTES);
    }
    free(running->sample);
    close(running->fd);
}

/* ---- records ---- */

/* Copies bytes out of the ring, which may end in the middle of them. */
static void copy(const pp_running *running, uint64_t at, void *to, size_t size)
{
    const uint8_t *data = (const uint8_t *)running->ring + pp_page_bytes();
    size_t offset = at % RING_BYTES;
    size_t first = RING_BYTES - offset < size ? RING_BYTES - offset : size;
    memcpy(to, data + offset, first);
    memcpy((uint8_t *)to + first, data, size - first);
}

static uint64_t word_at(const pp_running *running, uint64_t at)
{
    uint64_t word;
    copy(running, at, &word, sizeof word);
    return word;
}

/* The registers stand in the order of their bits. */
static void read_registers(const pp_running *running, uint64_t at, pp_registers *registers)
{
    uint64_t mask = all_registers();
    for (unsigned i = 0; i < PP_REG_COUNT; i++) {
        uint64_t below = mask & ((UINT64_C(1) << pp_perf_bit_of_register[i]) - 1);
        unsigned place = (unsigned)__builtin_popcountll(below);
        registers->r[i] = (uintptr_t)word_at(running, at + place * sizeof(uint64_t));
    }
}

/* A record of a sample: abi, registers, size of the stack, stack, bytes of it that were there. */
static bool read_sample(pp_running *running, uint64_t at, uint64_t end)
{
    const size_t word = sizeof(uint64_t);
    uint64_t registers = at + sizeof(struct perf_event_header) + word;
    uint64_t stack = registers + PP_REG_COUNT * word + word;
    if (registers + word > end || word_at(running, registers - word) != PERF_SAMPLE_REGS_ABI_64 ||
        stack + word > end) {
        return false;
    }
    uint64_t size = word_at(running, stack - word);
    if (size == 0 || size > PP_RUNNING_STACK_BYTES || stack + size + word > end) {
        return false;
    }
    uint64_t there = word_at(running, stack + size);
    read_registers(running, registers, &running->sample->registers);
    running->sample->stack_bytes = there < size ? there & ~(uint64_t)15 : size;
    copy(running, stack, running->sample->stack, running->sample->stack_bytes);
    return true;
}

static bool take_next(pp_running *running)
{
    struct perf_event_mmap_page *page = running->ring;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = page->data_tail;
    bool taken = false;
    while (!taken && tail + sizeof(struct perf_event_header) <= head) {
        struct perf_event_header header;
        copy(running, tail, &header, sizeof header);
        if (header.size < sizeof header || tail + header.size > head) {
            tail = head;
            break;
        }
        taken = header.type == PERF_RECORD_SAMPLE && read_sample(running, tail, tail + header.size);
        tail += header.size;
    }
    __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
    return taken;
}

const pp_running_sample *pp_running_wait(pp_running *running, int ms)
{
    struct pollfd arrival = {.fd = running->fd, .events = POLLIN};
    if (take_next(running)) {
        return running->sample;
    }
    return poll(&arrival, 1, ms) > 0 && take_next(running) ? running->sample : NULL;
}
