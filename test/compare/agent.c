/* SPDX-License-Identifier: MIT
 *
 * agent.c: the unwinder inside a program that is single-stepped.
 *
 * A small shared object, preloaded, with the library's own objects linked in and hidden: none of
 * the library's hooks is in it, so that the program runs as it does without. It never runs by
 * itself after its constructor. The stepper calls it at a stopped instruction (protocol.h), on the
 * program's stack below the red zone, as a signal's handler would run, or on a private one. The
 * stepper saves the registers, except for vector registers of x86-64, which are saved here.
 *
 * Zone: tests; the agent's entry obeys the rules of SIGNAL.
 * Owns: the private stack.
 */
#include "machine.h"
#include "protocol.h"

#include "modules/modules.h"
#include "unwind/rule_cache.h"
#include "unwind/stack_memory.h"
#include "unwind/walk.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PAGE = 4096, STACK_SIZE = 256 << 10 };

/* Named in the assembler below. */
__attribute__((visibility("hidden"))) void compare_entry(void);
__attribute__((visibility("hidden"), used)) void compare_walk(void);

__asm__(".text\n"
        ".p2align 4\n"
        "compare_entry:\n" MACHINE_AGENT_ENTRY ".bss\n.p2align 6\n"
        "compare_vector_state: .skip " MACHINE_VECTOR_STATE "\n.text\n");

static compare_shared *shared;
static pp_walk_space space;
__attribute__((aligned(64))) static char private_stack[STACK_SIZE];

static void begin(compare_answer *answer, pp_walk *walk, bool without_memo)
{
    *walk = (pp_walk){.keeps_own = true,
                      .pcs = (uintptr_t *)answer->pcs,
                      .space = &space,
                      .capacity = COMPARE_DEPTH,
                      .without_memo = without_memo,
                      .wants_hash = true};
}

static void end(compare_answer *answer, const pp_walk *walk)
{
    answer->depth = walk->depth;
    answer->stop = (uint32_t)walk->stop;
    answer->guessed = walk->guessed;
    answer->hash = walk->hash;
}

static void walk_context(compare_way way, const ucontext_t *context)
{
    compare_answer *answer = &shared->answer[way];
    pp_walk walk;
    if (!(shared->ways >> way & 1)) {
        return;
    }
    begin(answer, &walk, way != COMPARE_WARM && way != COMPARE_AGAIN);
    pp_walk_from_context(context, &walk);
    end(answer, &walk);
}

static void walk_caller(const gregset_t registers)
{
    compare_answer *answer = &shared->answer[COMPARE_FROM_CALLER];
    pp_walk walk;
    if (!(shared->ways >> COMPARE_FROM_CALLER & 1)) {
        return;
    }
    begin(answer, &walk, false);
    uintptr_t entry[3];
    machine_entry_registers(registers, entry);
    pp_caller caller = pp_caller_at_entry(entry[0], entry[1], entry[2]);
    pp_walk_from_caller(&caller, &walk);
    end(answer, &walk);
}

void compare_walk(void)
{
    ucontext_t context;
    pp_module module;
    if (shared->place != 0) {
        shared->place_is_known = pp_modules_find(shared->place, &module);
    }
    machine_context(&context, shared->registers);
    walk_context(COMPARE_WARM, &context);
    walk_context(COMPARE_AGAIN, &context);
    walk_context(COMPARE_WITHOUT_MEMO, &context);
    walk_caller(shared->registers);
    walk_context(COMPARE_ELSEWHERE, &context);
    if (shared->ways >> COMPARE_COLD & 1) {
        pp_rule_cache_clear();
        walk_context(COMPARE_COLD, &context);
    }
}

static void declare_stack(void)
{
    struct rlimit limit = {.rlim_cur = 8 << 20};
    getrlimit(RLIMIT_STACK, &limit);
    if (limit.rlim_cur > 64 << 20) {
        limit.rlim_cur = 64 << 20;
    }
    /* A string at the stack's very end. */
    uintptr_t stack_top = (getauxval(AT_EXECFN) + PAGE) & ~(uintptr_t)(PAGE - 1);
    pp_stack_declare(stack_top - limit.rlim_cur, stack_top);
}

__attribute__((constructor)) static void announce(void)
{
    const char *path = getenv(COMPARE_SHARED_VARIABLE);
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) {
        return;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (shared == MAP_FAILED) {
        return;
    }
    pp_modules_init();
    pp_modules_refresh();
    declare_stack();
    shared->entry = (uintptr_t)compare_entry;
    shared->stack_top = (uintptr_t)private_stack + STACK_SIZE;
    __atomic_store_n(&shared->ready, 1, __ATOMIC_RELEASE);
}
