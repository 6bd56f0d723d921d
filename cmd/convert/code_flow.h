/* SPDX-License-Identifier: MIT
 *
 * code_flow.h: how often instructions run, from samples and the flow of control.
 *
 *   instructions -> blocks, between which control goes by jumps and calls
 *
 * Samples tell where time passes: at a load that misses the cache often, at a jump seldom. But all instructions of a
 * block run equally often, and a block runs as often as control comes to it, and as it leaves. So the flow corrects
 * the samples: it is the one that is nearest to them.
 *
 * Owns: the instructions and blocks, until cp_flow_free().
 */
#ifndef CP_CODE_FLOW_H
#define CP_CODE_FLOW_H

#include <stddef.h>
#include <stdint.h>

typedef struct cp_flow cp_flow;

typedef enum cp_flow_kind {
    CP_FLOW_ON,     /* control goes on */
    CP_FLOW_JUMP,   /* to the target; 0: not known */
    CP_FLOW_BRANCH, /* to the target, or on */
    CP_FLOW_CALL,   /* of the target, and on; 0: not known */
    CP_FLOW_END     /* a return, or nothing comes after it */
} cp_flow_kind;

cp_flow *cp_flow_new(void);
void cp_flow_free(cp_flow *flow);

/* The following instructions are of another function. Functions ascend, and instructions do. */
void cp_flow_function(cp_flow *flow);
void cp_flow_instruction(cp_flow *flow, uint64_t address, unsigned length, cp_flow_kind kind,
                         uint64_t target);

/* Samples at an instruction. After the instructions, as is cp_flow_call(). */
void cp_flow_samples(cp_flow *flow, uint64_t address, int64_t samples);

/* The samples of stacks with a call at an address that is in an instruction, and the callee's first instruction.
 * Call 0: from code that is not known. */
void cp_flow_call(cp_flow *flow, uint64_t call, uint64_t callee, int64_t samples);

/* Finds the flow. Then cp_flow_runs() returns how often the instruction at, or around, an address runs, in
 * samples per instruction; and cp_flow_entries() how often the function that begins at an address is entered, which is
 * less where its first instruction is one of a loop. Negative: there is none. */
void cp_flow_solve(cp_flow *flow);
double cp_flow_runs(const cp_flow *flow, uint64_t address);
double cp_flow_entries(const cp_flow *flow, uint64_t address);

#endif
