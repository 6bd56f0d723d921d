/* SPDX-License-Identifier: MIT
 *
 * encode_sample.c: writes one made-up profile of this very program in every format, for readers
 * that are not ours to look at (test_encode.sh).
 *
 *   encode_sample proto|legacy FILE     the profile
 *   encode_sample expect                what a reader must report: a line for each sample,
 *                                       "VALUE: 0xADDRESS 0xADDRESS ..."; leaf first
 *
 * The stacks are chosen to provoke what readers of the legacy format do to them: a second frame
 * that all samples share, a caller that equals the leaf, an empty stack.
 */
#include "base/arena.h"
#include "elf/build_id.h"
#include "encode/proto.h"
#include "kinds/cpu/legacy_cpu.h"

#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { MAPPINGS_MAX = 64, SAMPLES_MAX = 64, PAGE = 4096 };

static pp_mapping mappings[MAPPINGS_MAX];
static size_t mapping_count;

__attribute__((noinline)) int victim_leaf(int n)
{
    __asm__ volatile(".fill 64, 1, 0x90" : "+r"(n)); /* room for made-up return addresses */
    return n + 1;
}

__attribute__((noinline)) static int victim_static(int n)
{
    __asm__ volatile(".fill 64, 1, 0x90" : "+r"(n));
    return victim_leaf(n) + 1;
}

static int add_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    for (int i = 0; i < info->dlpi_phnum && mapping_count < MAPPINGS_MAX; i++) {
        const ElfW(Phdr) *load = &info->dlpi_phdr[i];
        if (load->p_type != PT_LOAD || (load->p_flags & PF_X) == 0)
            continue;
        pp_mapping *m = &mappings[mapping_count++];
        uintptr_t start = info->dlpi_addr + load->p_vaddr;
        m->start = start & ~(uintptr_t)(PAGE - 1);
        m->limit = (start + load->p_memsz + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
        m->offset = load->p_offset & ~(uint64_t)(PAGE - 1);
        m->bias = info->dlpi_addr;
        pp_elf_build_id(info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr, m->build_id,
                        &m->build_id_size);
        if (mapping_count == 1)
            m->path = realpath("/proc/self/exe", NULL);
        else if (start - load->p_vaddr == getauxval(AT_SYSINFO_EHDR))
            m->path = "[vdso]", m->in_memory = true;
        else
            m->path = realpath(info->dlpi_name, NULL);
    }
    return 0;
}

static void put_expected(const pp_profile_sample *sample)
{
    printf("%" PRId64 ":", sample->value[0]);
    for (uint32_t i = 0; i < sample->depth; i++)
        printf(" 0x%" PRIxPTR, sample->pc[i] - 1);
    putchar('\n');
}

int main(int argc, char **argv)
{
    dl_iterate_phdr(add_object, NULL);

    /* Return-like addresses: 4 bytes into a function, the leaf's one above the instruction. */
    uintptr_t leaf = (uintptr_t)victim_leaf + 32;
    uintptr_t inner = (uintptr_t)victim_static + 32;
    uintptr_t outer = (uintptr_t)main + 4;
    uintptr_t libc = (uintptr_t)qsort + 4;
    static uintptr_t stacks[SAMPLES_MAX][5];
    static pp_profile_sample samples[SAMPLES_MAX];
    size_t count = 0;
    for (; count < 40; count++) { /* "inner" is the second frame of nearly all */
        uintptr_t stack[] = {leaf + count % 3, inner, inner, libc, outer};
        memcpy(stacks[count], stack, sizeof(stack));
        samples[count].depth = 5;
    }
    stacks[7][0] = inner + 1; /* a leaf that equals its caller's return address */
    stacks[9][1] = outer;     /* the one sample without the shared frame */
    samples[11].depth = 1;
    pp_sample_label labels[] = {{"request", "caf\xc3\xa9 \xff", 0, NULL},
                                {"bytes", NULL, 4096, "bytes"}};
    for (size_t i = 0; i < count; i++) {
        samples[i].pc = stacks[i];
        samples[i].value[0] = (int64_t)i + 1;
        samples[i].value[1] = ((int64_t)i + 1) * 10000000;
    }
    if (argc == 3 && strcmp(argv[1], "proto") == 0) {
        samples[3].labels = labels;
        samples[3].label_count = 2;
    }

    const char *const comments[] = {"first comment", "second comment"};
    pp_profile profile = {
        .sample_type_count = 2,
        .sample_type = {{"samples", "count"}, {"cpu", "nanoseconds"}},
        .default_sample_type = "cpu",
        .period_type = {"cpu", "nanoseconds"},
        .period = 10000000,
        .time_ns = 1700000000123456789,
        .duration_ns = 2000000000,
        .samples = samples,
        .sample_count = count,
        .mappings = mappings,
        .mapping_count = mapping_count,
        .comments = comments,
        .comment_count = 2,
        .symbolize = PP_SYMBOLIZE_NAMES,
    };
    if (argc == 2 && strcmp(argv[1], "expect") == 0) {
        for (size_t i = 0; i < count; i++)
            put_expected(&samples[i]);
        return 0;
    }
    if (argc != 3)
        return 2;
    int fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        return 1;
    pp_arena arena = PP_ARENA_INIT;
    int error = strcmp(argv[1], "proto") == 0
                    ? pp_proto_encode(&profile, &arena, pprof_writer_fd(fd))
                    : pp_legacy_cpu_encode(&profile, &arena, pprof_writer_fd(fd));
    pp_arena_release(&arena);
    close(fd);
    return error == 0 ? victim_static(-2) : 1;
}
