/* SPDX-License-Identifier: MIT
 *
 * second_opinion.c: libunwind-ptrace, with registers and memory read our way (a tenth of the system
 * calls).
 *
 * Built without libunwind's headers nobody has a second opinion.
 *
 * Zone: tests.
 * Owns: the address space and the per-process state.
 */
#include "second_opinion.h"

#ifdef COMPARE_HAS_LIBUNWIND

#include <libunwind-ptrace.h>
#include <string.h>
#include <sys/uio.h>

static unw_addr_space_t space;
static void *process;
static pid_t process_id;
static const struct user_regs_struct *current;

static const size_t register_offsets[] = {
    [UNW_X86_64_RAX] = offsetof(struct user_regs_struct, rax),
    [UNW_X86_64_RDX] = offsetof(struct user_regs_struct, rdx),
    [UNW_X86_64_RCX] = offsetof(struct user_regs_struct, rcx),
    [UNW_X86_64_RBX] = offsetof(struct user_regs_struct, rbx),
    [UNW_X86_64_RSI] = offsetof(struct user_regs_struct, rsi),
    [UNW_X86_64_RDI] = offsetof(struct user_regs_struct, rdi),
    [UNW_X86_64_RBP] = offsetof(struct user_regs_struct, rbp),
    [UNW_X86_64_RSP] = offsetof(struct user_regs_struct, rsp),
    [UNW_X86_64_R8] = offsetof(struct user_regs_struct, r8),
    [UNW_X86_64_R9] = offsetof(struct user_regs_struct, r9),
    [UNW_X86_64_R10] = offsetof(struct user_regs_struct, r10),
    [UNW_X86_64_R11] = offsetof(struct user_regs_struct, r11),
    [UNW_X86_64_R12] = offsetof(struct user_regs_struct, r12),
    [UNW_X86_64_R13] = offsetof(struct user_regs_struct, r13),
    [UNW_X86_64_R14] = offsetof(struct user_regs_struct, r14),
    [UNW_X86_64_R15] = offsetof(struct user_regs_struct, r15),
    [UNW_X86_64_RIP] = offsetof(struct user_regs_struct, rip),
};

static int access_register(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write,
                           void *arg)
{
    (void)as;
    (void)arg;
    if (write || reg < 0 || reg > UNW_X86_64_RIP) {
        return -UNW_EBADREG;
    }
    memcpy(value, (const char *)current + register_offsets[reg], sizeof *value);
    return 0;
}

static int access_memory(unw_addr_space_t as, unw_word_t address, unw_word_t *value, int write,
                         void *arg)
{
    (void)as;
    (void)arg;
    struct iovec local = {value, sizeof *value};
    struct iovec remote = {(void *)address, sizeof *value};
    if (write || process_vm_readv(process_id, &local, 1, &remote, 1, 0) != (ssize_t)sizeof *value) {
        return -UNW_EINVAL;
    }
    return 0;
}

bool second_opinion_available(void)
{
    return true;
}

void second_opinion_forget(void)
{
    if (process != NULL) {
        _UPT_destroy(process);
        process = NULL;
    }
    if (space != NULL) {
        unw_flush_cache(space, 0, 0);
    }
}

static bool prepare(pid_t pid)
{
    if (space == NULL) {
        unw_accessors_t accessors = _UPT_accessors;
        accessors.access_reg = access_register;
        accessors.access_mem = access_memory;
        space = unw_create_addr_space(&accessors, 0);
    }
    if (process == NULL) {
        process = _UPT_create(pid);
        process_id = pid;
    }
    return space != NULL && process != NULL;
}

size_t second_opinion_walk(pid_t pid, const struct user_regs_struct *registers, uint64_t *pcs,
                           size_t room)
{
    unw_cursor_t cursor;
    size_t depth = 0;
    bool exact = true;
    current = registers;
    if (!prepare(pid) || unw_init_remote(&cursor, space, process) != 0) {
        return 0;
    }
    while (depth < room) {
        unw_word_t pc = 0;
        if (unw_get_reg(&cursor, UNW_REG_IP, &pc) != 0 || pc == 0) {
            break;
        }
        pcs[depth++] = pc + exact;
        exact = unw_is_signal_frame(&cursor) > 0; /* its caller was interrupted */
        if (unw_step(&cursor) <= 0) {
            break;
        }
    }
    return depth;
}

#else

bool second_opinion_available(void)
{
    return false;
}

void second_opinion_forget(void)
{
}

size_t second_opinion_walk(pid_t pid, const struct user_regs_struct *registers, uint64_t *pcs,
                           size_t room)
{
    (void)pid;
    (void)registers;
    (void)pcs;
    (void)room;
    return 0;
}

#endif
