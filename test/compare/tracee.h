/* SPDX-License-Identifier: MIT
 *
 * tracee.h: the stepped program, by ptrace(2).
 *
 * Its main thread alone is traced, through every execve. There is one.
 *
 * Zone: tests.
 * Owns: the child process.
 */
#ifndef PP_COMPARE_TRACEE_H
#define PP_COMPARE_TRACEE_H

#include "machine.h"
#include "protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

typedef enum tracee_event {
    TRACEE_STEPPED, /* one instruction, or into a signal handler */
    TRACEE_SIGNAL,  /* none; a signal waits to be delivered by the next step */
    TRACEE_EXEC,    /* another program is at its first instruction */
    TRACEE_GONE
} tracee_event;

typedef struct tracee {
    pid_t pid;
    struct user_regs_struct now;
    int signal;      /* to be delivered by the next step */
    int exit_status; /* once it is gone, as of waitpid(2) */
} tracee;

extern tracee tracee_the;

/* Starts the command, without address-space randomisation; it is stopped at its first instruction.
 */
bool tracee_start(char *const command[], const char *agent, const char *shared_path);

tracee_event tracee_step(void);

/* Whether the frame of the slot, whose return address is `pc`, is over. */
static inline bool tracee_is_over(uint64_t slot, uint64_t pc)
{
    uint64_t sp = machine_sp(&tracee_the.now);
    return sp > slot ||
           (MACHINE_CALL_PUSHES == 0 && sp == slot && machine_pc(&tracee_the.now) == pc);
}

/* Lets it run until it is at `pc` with SP above `slot` (or at it, where a call pushes nothing), or has SP above `slot` when it is looked
 * after, which happens now and then: TRACEE_STEPPED. */
tracee_event tracee_run_to(uint64_t pc, uint64_t slot);

/* Has the agent answer for the registers that the program has now, on the stack
 * below `stack_top`. */
bool tracee_ask(compare_shared *shared, uint64_t ways, uint64_t stack_top);

size_t tracee_read(uint64_t address, void *to, size_t size);
bool tracee_read_word(uint64_t address, uint64_t *word);

/* The entry point of the program itself, not of its loader. */
uint64_t tracee_program_entry(void);

void tracee_kill(void);

#endif
