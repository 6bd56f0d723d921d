/* SPDX-License-Identifier: MIT
 *
 * elf_facts.h: what a program's file tells of the profiles that it can have.
 */
#ifndef CP_ELF_FACTS_H
#define CP_ELF_FACTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cp_elf_facts {
    char loader[256];    /* the dynamic loader; "" if it has none */
    bool has_symbols;    /* of all functions: .symtab */
    bool has_debug_data; /* .gnu_debugdata, a compressed table of the same */
    bool has_lines;      /* .debug_info, maybe compressed */
    bool has_build_id;
    bool is_go; /* the Go toolchain has made it */
    bool
        exports_malloc; /* its own malloc() serves its libraries, too, and no library's serves it */
    bool hides_malloc;  /* its own malloc() is called within it */
    const char *jemalloc; /* is linked into it: what turns its profiler on; NULL: there is none */
    uint64_t entry;
} cp_elf_facts;

/* Reads the file. Returns 0; -errno, or -ENOEXEC if it is no 64-bit ELF file or is damaged. */
int cp_elf_facts_read(const char *path, cp_elf_facts *facts);

#endif
