/* SPDX-License-Identifier: MIT
 *
 * machine.h: the few instructions that a shadow stack has to tell apart, and the registers of a stopped
 * program, on the architecture that the test was built for.
 *
 * Zone: tests.
 */
#ifndef PP_COMPARE_MACHINE_H
#define PP_COMPARE_MACHINE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>
#include <ucontext.h>

typedef bool machine_read_word(uint64_t address, uint64_t *word);

typedef enum instruction_kind {
    INSTRUCTION_OTHER,
    INSTRUCTION_CALL,
    INSTRUCTION_RETURN,
    INSTRUCTION_JUMP, /* through a register or memory; direct jumps are OTHER */
    INSTRUCTION_SYSTEM_CALL
} instruction_kind;

typedef struct machine_step {
    uint8_t kind;   /* instruction_kind */
    uint8_t length; /* of calls, else 0 */
} machine_step;

#if defined(__x86_64__)
#include "machine_x86_64.h"
#elif defined(__aarch64__)
#include "machine_aarch64.h"
#endif

#endif
