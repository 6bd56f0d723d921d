/* SPDX-License-Identifier: MIT
 *
 * code_instructions.c: see code_instructions.h. The decoder is the library's (src/arch/instruction.h).
 *
 * Owns: nothing else.
 * Tested by: e2e.cpprof_pgo
 */
#include "convert/code_instructions.h"

#include "base/pool.h"
#include "convert/code_symbols.h"
#include "src/arch/instruction.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

/* The debug information of the build that was profiled may be elsewhere, and another build here. */
int cp_code_read_begin(cp_code_file *file)
{
    if (pp_elf_open(&file->elf, NULL, file->name) != 0) {
        return -1;
    }
    if (file->elf.header.e_machine != MACHINE || !cp_code_is_build(&file->elf, file->build_id)) {
        pp_elf_close(&file->elf);
        return -1;
    }
    return 0;
}

void cp_code_read_end(cp_code_file *file)
{
    pp_elf_close(&file->elf);
}

static cp_flow_kind kind_of(const pp_decoded *read)
{
    switch ((pp_instruction_kind)read->kind) {
    case PP_INSTRUCTION_CALL:
        return CP_FLOW_CALL;
    case PP_INSTRUCTION_JUMP:
        return CP_FLOW_JUMP;
    case PP_INSTRUCTION_BRANCH:
        return CP_FLOW_BRANCH;
    case PP_INSTRUCTION_TAIL:
    case PP_INSTRUCTION_RETURN:
    case PP_INSTRUCTION_STOP:
        return CP_FLOW_END;
    default:
        return CP_FLOW_ON;
    }
}

/* Code after an instruction that the decoder does not know stays without instructions. */
static void decode(const uint8_t *code, size_t size, uint64_t entry, cp_flow *flow)
{
    pp_decoded read = {.length = 0};

    cp_flow_function(flow);
    for (size_t i = 0; i < size; i += read.length) {
        pp_instruction_read(code + i, size - i, entry + i, &read);
        if (read.kind == PP_INSTRUCTION_UNKNOWN || !read.length) {
            return;
        }
        cp_flow_instruction(flow, entry + i, read.length, kind_of(&read), read.target);
    }
}

int cp_code_read(const cp_code_file *file, uint64_t entry, uint64_t limit, cp_flow *flow)
{
    size_t size = (size_t)(limit - entry);
    uint8_t *code = cp_heap_alloc(size, 1);
    bool is_read = pp_elf_read(&file->elf, entry - file->start + file->offset, code, size);

    if (is_read) {
        decode(code, size, entry, flow);
    }
    free(code);
    return is_read ? 0 : -1;
}
