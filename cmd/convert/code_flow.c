/* SPDX-License-Identifier: MIT
 *
 * code_flow.c: see code_flow.h.
 *
 * A gate is where control passes: a block has one for what comes in, one for what goes out, and one for each call
 * in it. An edge goes from a gate to another one, or from or to code that is not known.
 *
 *   ---edge--> [in  block  out] ---edge--> [in  block  out]
 *                    '-call] ---edge--> [in  callee  out] ---edge--> [in  its first block
 *                                            '-returns] <---edge--- [out  its last blocks
 *
 * A function has a block without instructions, by which it is left as often as it is called. A jump to another function
 * is a call, and a return.
 *
 * Jumps through tables, or pointers, of a function go to a block without instructions, and from there to all that they
 * may go to: so there are as many edges as jumps and targets, and not their product.
 *
 * The flow is found in rounds. In each, a block takes the mean of its gates' flows, drawn to its samples by the
 * number of its instructions, and its edges are scaled to that. So edges keep their proportions at a gate until
 * their other ends tell more.
 *
 * Owns: nothing else.
 * Tested by: unit.cmd_code_flow, e2e.cpprof_pgo
 */
#include "convert/code_flow.h"

#include "base/pool.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define ROUNDS      300   /* later ones change little */
#define FLOW_WEIGHT 256.0 /* of the flow, in instructions whose samples weigh as much */
#define UNSEEN      0.01 /* of the mean, of an edge before the first round: never 0, which would stay */
#define NOWHERE     UINT32_MAX

typedef struct instruction {
    uint64_t address, end, target;
    uint8_t kind; /* cp_flow_kind */
    bool leads;   /* a block */
    uint32_t function;
    uint32_t block;
    double samples;
} instruction;

typedef struct block {
    uint32_t first, end; /* instructions */
    bool is_entered;     /* by an edge */
    bool is_reached;     /* from where a function begins, without tables */
    uint32_t in, out;    /* gates */
    double samples, rate;
    double runs;
} block;

typedef struct function {
    uint32_t entry; /* a block without instructions; NOWHERE: the function has none */
    uint32_t
        returns; /* a gate of that block; NOWHERE: of parts that jump into each other's midst */
} function;

typedef struct edge {
    uint32_t from, to; /* gates, or NOWHERE */
    double flow;
} edge;

/* What the stacks say about a call. */
typedef struct stacked_call {
    uint32_t instruction; /* or NOWHERE */
    uint32_t callee;      /* its first instruction */
    double samples;
} stacked_call;

typedef struct gate {
    uint32_t block;
    double flow;
} gate;

struct cp_flow {
    instruction *code;
    size_t count, room;
    uint32_t function_count;
    function *functions;
    block *blocks;
    size_t block_count, block_room, with_code; /* the first blocks are those with instructions */
    edge *edges;
    size_t edge_count, edge_room;
    gate *gates;
    size_t gate_count, gate_room;
    stacked_call *calls;
    size_t call_count, call_room;
    double mean; /* samples per instruction */
};

/* ---- instructions ---- */

cp_flow *cp_flow_new(void)
{
    return cp_heap_alloc(1, sizeof(cp_flow));
}

void cp_flow_free(cp_flow *flow)
{
    free(flow->code);
    free(flow->functions);
    free(flow->blocks);
    free(flow->edges);
    free(flow->gates);
    free(flow->calls);
    free(flow);
}

void cp_flow_function(cp_flow *flow)
{
    flow->function_count++;
}

void cp_flow_instruction(cp_flow *flow, uint64_t address, unsigned length, cp_flow_kind kind,
                         uint64_t target)
{
    flow->code = cp_heap_grow(flow->code, flow->count, &flow->room, sizeof *flow->code);
    flow->code[flow->count++] = (instruction){.address = address,
                                              .end = address + length,
                                              .target = target,
                                              .kind = (uint8_t)kind,
                                              .function = flow->function_count};
}

/* The instruction that has the address; NOWHERE: none, as where they cannot be read. */
static uint32_t at(const cp_flow *flow, uint64_t address)
{
    size_t lo = 0, hi = flow->count;

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (flow->code[middle].address <= address) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return lo && address < flow->code[lo - 1].end ? (uint32_t)(lo - 1) : NOWHERE;
}

/* The instruction that begins there; NOWHERE: none. */
static uint32_t beginning_at(const cp_flow *flow, uint64_t address)
{
    uint32_t i = at(flow, address);

    return i != NOWHERE && flow->code[i].address == address ? i : NOWHERE;
}

static bool begins_function(const cp_flow *flow, uint32_t i)
{
    return i == 0 || flow->code[i - 1].function != flow->code[i].function;
}

void cp_flow_samples(cp_flow *flow, uint64_t address, int64_t samples)
{
    uint32_t i = at(flow, address);

    if (i != NOWHERE) {
        flow->code[i].samples += (double)samples;
    }
}

void cp_flow_call(cp_flow *flow, uint64_t call, uint64_t callee, int64_t samples)
{
    uint32_t from = call ? at(flow, call) : NOWHERE, to = beginning_at(flow, callee);

    if (to == NOWHERE || !begins_function(flow, to) ||
        (from != NOWHERE && flow->code[from].kind != CP_FLOW_CALL)) {
        return;
    }
    flow->calls =
        cp_heap_grow(flow->calls, flow->call_count, &flow->call_room, sizeof *flow->calls);
    flow->calls[flow->call_count++] = (stacked_call){from, to, (double)samples};
}

/* ---- blocks ---- */

static bool is_jump(const instruction *one)
{
    return one->kind == CP_FLOW_JUMP || one->kind == CP_FLOW_BRANCH;
}

/* The target of a jump, which may be in another function, as that of a tail call; NOWHERE: not known. */
static uint32_t target_of(const cp_flow *flow, const instruction *one)
{
    return is_jump(one) && one->target ? beginning_at(flow, one->target) : NOWHERE;
}

static void find_leaders(cp_flow *flow)
{
    for (uint32_t i = 0; i < flow->count; i++) {
        const instruction *one = &flow->code[i];
        uint32_t target = target_of(flow, one);

        if (begins_function(flow, i)) {
            flow->code[i].leads = true;
        }
        if ((is_jump(one) || one->kind == CP_FLOW_END) && i + 1 < flow->count) {
            flow->code[i + 1].leads = true;
        }
        if (target != NOWHERE) {
            flow->code[target].leads = true;
        }
    }
}

static uint32_t new_gate(cp_flow *flow, uint32_t of)
{
    flow->gates =
        cp_heap_grow(flow->gates, flow->gate_count, &flow->gate_room, sizeof *flow->gates);
    flow->gates[flow->gate_count] = (gate){.block = of};
    return (uint32_t)flow->gate_count++;
}

/* A block without instructions yet. */
static uint32_t new_block(cp_flow *flow, double rate, bool is_reached)
{
    uint32_t of = (uint32_t)flow->block_count++;

    flow->blocks = cp_heap_grow(flow->blocks, of, &flow->block_room, sizeof *flow->blocks);
    flow->blocks[of] = (block){.is_reached = is_reached, .rate = rate};
    flow->blocks[of].in = new_gate(flow, of);
    flow->blocks[of].out = new_gate(flow, of);
    return of;
}

static void make_blocks(cp_flow *flow)
{
    double samples = 0;

    for (uint32_t i = 0; i < flow->count; i++) {
        if (flow->code[i].leads) {
            uint32_t of = new_block(flow, 0, false);
            flow->blocks[of].first = i;
        }
        block *b = &flow->blocks[flow->block_count - 1];
        flow->code[i].block = (uint32_t)(flow->block_count - 1);
        b->end = i + 1;
        b->samples += flow->code[i].samples;
        b->rate = b->samples / (double)(b->end - b->first);
        samples += flow->code[i].samples;
    }
    flow->with_code = flow->block_count;
    flow->mean = samples / (double)flow->count;
}

/* ---- edges ---- */

static void add_edge(cp_flow *flow, uint32_t from, uint32_t to, double at_first)
{
    flow->edges =
        cp_heap_grow(flow->edges, flow->edge_count, &flow->edge_room, sizeof *flow->edges);
    flow->edges[flow->edge_count++] = (edge){from, to, at_first};
}

static void pass(cp_flow *flow, uint32_t from, uint32_t to)
{
    flow->blocks[to].is_entered = true;
    add_edge(flow, flow->blocks[from].out, flow->blocks[to].in, 0);
}

static bool is_entry(const cp_flow *flow, uint32_t of)
{
    return begins_function(flow, flow->blocks[of].first);
}

static uint32_t function_of(const cp_flow *flow, uint32_t of)
{
    return flow->code[flow->blocks[of].first].function;
}

/* Whether the block ends with a jump through a table, or a pointer. */
static bool jumps_anywhere(const cp_flow *flow, uint32_t i)
{
    const instruction *last = &flow->code[flow->blocks[i].end - 1];

    return last->kind == CP_FLOW_JUMP && !last->target;
}

/* Where control goes after a block: blocks, or NOWHERE; and whether it may go to code that is not known. */
typedef struct ways {
    uint32_t target, next;
    bool leaves;
} ways;

static ways ways_of(const cp_flow *flow, uint32_t from)
{
    uint32_t last = flow->blocks[from].end - 1;
    const instruction *one = &flow->code[last];
    bool goes_on = one->kind != CP_FLOW_JUMP && one->kind != CP_FLOW_END &&
                   last + 1 < flow->count && !begins_function(flow, last + 1);
    uint32_t target = target_of(flow, one);

    target = target == NOWHERE ? NOWHERE : flow->code[target].block;
    return (ways){.target = target,
                  .next = goes_on && target != from + 1 ? from + 1 : NOWHERE,
                  .leaves = (one->kind != CP_FLOW_JUMP && !goes_on) ||
                            (is_jump(one) && target == NOWHERE)};
}

/* Marks a block, and notes it, if it is not marked yet. */
static void reach(cp_flow *flow, uint32_t to, uint32_t *noted, size_t *count)
{
    if (to != NOWHERE && !flow->blocks[to].is_reached) {
        flow->blocks[to].is_reached = true;
        noted[(*count)++] = to;
    }
}

static void find_reached(cp_flow *flow)
{
    uint32_t *noted = cp_heap_alloc(flow->block_count, sizeof *noted);
    size_t count = 0;

    for (uint32_t i = 0; i < flow->block_count; i++) {
        if (is_entry(flow, i)) {
            reach(flow, i, noted, &count);
        }
    }
    while (count) {
        ways to = ways_of(flow, noted[--count]);
        reach(flow, to.target, noted, &count);
        reach(flow, to.next, noted, &count);
    }
    free(noted);
}

/* The functions' blocks. A jump into the midst of another function, as one of a part that is a function of its own, is
 * neither a call nor a return: these functions need not return as often as they are called. */
static void make_functions(cp_flow *flow)
{
    flow->functions = cp_heap_alloc((size_t)flow->function_count + 1, sizeof *flow->functions);
    for (uint32_t i = 0; i <= flow->function_count; i++) {
        flow->functions[i] = (function){NOWHERE, NOWHERE};
    }
    for (uint32_t i = 0; i < flow->with_code; i++) {
        if (is_entry(flow, i)) {
            uint32_t entry = new_block(flow, flow->blocks[i].rate, true);
            flow->functions[function_of(flow, i)] = (function){entry, new_gate(flow, entry)};
            pass(flow, entry, i);
        }
    }
    for (uint32_t i = 0; i < flow->with_code; i++) {
        uint32_t to = ways_of(flow, i).target;
        if (to != NOWHERE && function_of(flow, to) != function_of(flow, i) && !is_entry(flow, to)) {
            flow->functions[function_of(flow, to)].returns = NOWHERE;
            flow->functions[function_of(flow, i)].returns = NOWHERE;
        }
    }
}

/* A block from which control leaves a function. */
static void leave(cp_flow *flow, uint32_t from, uint32_t own)
{
    add_edge(flow, flow->blocks[from].out, flow->functions[own].returns, 0);
}

/* A jump to another function is a call of that one, and a return of its own. */
static void call_and_leave(cp_flow *flow, uint32_t from, uint32_t callee, uint32_t own)
{
    uint32_t entry = flow->functions[callee].entry;

    flow->blocks[entry].is_entered = true;
    add_edge(flow, new_gate(flow, from), flow->blocks[entry].in, 0);
    leave(flow, from, own);
}

/* Where control goes after a block that does not jump anywhere. */
static void connect(cp_flow *flow, uint32_t from)
{
    ways to = ways_of(flow, from);
    uint32_t own = function_of(flow, from);

    if (to.target != NOWHERE) {
        uint32_t other = function_of(flow, to.target);
        if (other == own || !is_entry(flow, to.target)) {
            pass(flow, from, to.target);
        } else if (flow->code[flow->blocks[from].end - 1].kind == CP_FLOW_JUMP) {
            call_and_leave(flow, from, other, own);
        } else {
            const block *b = &flow->blocks[from];
            uint32_t taken = new_block(flow, b->rate / 2, b->is_reached);
            pass(flow, from, taken);
            call_and_leave(flow, taken, other, own);
        }
    }
    if (to.next != NOWHERE) {
        pass(flow, from, to.next);
    }
    if (to.leaves) {
        leave(flow, from, own);
    }
}

/* A block that nothing else goes to is one to which its function's jumps through tables may go. It may also be one of
 * padding, or for exceptions, and the jump a tail call: so its samples tell, and the others leave the function. */
static void connect_table(cp_flow *flow, uint32_t first, uint32_t end, double rate)
{
    uint32_t table = new_block(flow, rate, false);
    double others = rate;

    for (uint32_t i = first; i < end; i++) {
        block *b = &flow->blocks[i];
        if (jumps_anywhere(flow, i)) {
            add_edge(flow, b->out, flow->blocks[table].in, b->rate + flow->mean * UNSEEN);
        }
        if (i > first && !b->is_entered) {
            b->is_entered = true;
            others -= b->rate;
            add_edge(flow, flow->blocks[table].out, b->in, b->rate + flow->mean * UNSEEN);
        }
    }
    add_edge(flow, flow->blocks[table].out, flow->functions[function_of(flow, first)].returns,
             fmax(others, 0) + flow->mean * UNSEEN);
}

static void connect_tables(cp_flow *flow)
{
    for (uint32_t first = 0, end = 0; first < flow->with_code; first = end) {
        bool has_table = false;
        double rate = 0;

        do {
            if (jumps_anywhere(flow, end)) {
                has_table = true;
                rate += flow->blocks[end].rate;
            }
            end++;
        } while (end < flow->with_code && !is_entry(flow, end));
        if (has_table) {
            connect_table(flow, first, end, rate);
        }
    }
}

/* Before the first round, the edges of a block share its rate. A block that may be one of padding, or for exceptions,
 * has what its own samples say, or nothing: not what is known of the block that comes after it. */
static void guess(cp_flow *flow)
{
    double *edges_at = cp_heap_alloc(flow->gate_count + 1, sizeof *edges_at);

    for (size_t i = 0; i < flow->edge_count; i++) {
        edges_at[flow->edges[i].from]++;
        if (flow->edges[i].to != NOWHERE) {
            edges_at[flow->edges[i].to]++;
        }
    }
    for (size_t i = 0; i < flow->edge_count; i++) {
        edge *e = &flow->edges[i];
        const block *from = &flow->blocks[flow->gates[e->from].block];
        double out = from->rate / edges_at[e->from];
        double in = e->to == NOWHERE || !from->is_reached
                        ? out
                        : flow->blocks[flow->gates[e->to].block].rate / edges_at[e->to];
        if (e->flow == 0 && (from->is_reached || from->is_entered || from->rate > 0)) {
            e->flow = (out + in) / 2 + flow->mean * UNSEEN;
        }
    }
    free(edges_at);
}

/* ---- calls ---- */

static int by_instruction(const void *left, const void *right)
{
    const stacked_call *a = left, *b = right;

    if (a->instruction != b->instruction) {
        return a->instruction < b->instruction ? -1 : 1;
    }
    return (a->callee > b->callee) - (a->callee < b->callee);
}

static void sum_calls(cp_flow *flow)
{
    size_t kept = 0;

    if (flow->call_count) {
        qsort(flow->calls, flow->call_count, sizeof *flow->calls, by_instruction);
    }
    for (size_t i = 0; i < flow->call_count; i++) {
        if (kept && by_instruction(&flow->calls[kept - 1], &flow->calls[i]) == 0) {
            flow->calls[kept - 1].samples += flow->calls[i].samples;
        } else {
            flow->calls[kept++] = flow->calls[i];
        }
    }
    flow->call_count = kept;
}

/* An edge for a call. Calls of a function share its rate by the samples that the stacks have. */
static void add_call(cp_flow *flow, uint32_t from, uint32_t callee, double share)
{
    block *to = &flow->blocks[flow->functions[flow->code[callee].function].entry];

    to->is_entered = true;
    add_edge(flow, from, to->in, fmax(to->rate, flow->mean) * share + flow->mean * UNSEEN);
}

static void connect_calls(cp_flow *flow)
{
    double *stacked = cp_heap_alloc(flow->count + 1, sizeof *stacked); /* by callee */
    size_t next = 0;

    sum_calls(flow);
    for (size_t i = 0; i < flow->call_count; i++) {
        stacked[flow->calls[i].callee] += flow->calls[i].samples;
    }
    for (uint32_t i = 0; i < flow->count; i++) {
        const instruction *one = &flow->code[i];
        uint32_t target =
            one->kind == CP_FLOW_CALL && one->target ? beginning_at(flow, one->target) : NOWHERE;
        uint32_t from = NOWHERE;

        if (target != NOWHERE && !begins_function(flow, target)) {
            target = NOWHERE;
        }
        for (; next < flow->call_count && flow->calls[next].instruction == i; next++) {
            const stacked_call *call = &flow->calls[next];
            if (one->target && call->callee != target && at(flow, one->target) != NOWHERE) {
                continue; /* by a tail call of the function that is called; else by way of a stub */
            }
            from = from == NOWHERE ? new_gate(flow, one->block) : from;
            add_call(flow, from, call->callee, call->samples / stacked[call->callee]);
        }
        if (target != NOWHERE && from == NOWHERE) {
            add_call(flow, new_gate(flow, one->block), target, 0);
        }
    }
    for (; next < flow->call_count; next++) { /* from code that is not known */
        const stacked_call *call = &flow->calls[next];
        add_call(flow, NOWHERE, call->callee, call->samples / stacked[call->callee]);
    }
    for (uint32_t i = 0; i < flow->with_code; i++) {
        const function *f = &flow->functions[function_of(flow, i)];
        if (is_entry(flow, i) && !flow->blocks[f->entry].is_entered) {
            add_call(flow, NOWHERE, flow->blocks[i].first, 1);
        }
        if (is_entry(flow, i) && f->returns != NOWHERE) { /* what does not return */
            add_edge(flow, NOWHERE, f->returns, flow->mean * UNSEEN);
        }
    }
    free(stacked);
}

/* ---- the flow ---- */

static void sum_gates(cp_flow *flow)
{
    for (size_t i = 0; i < flow->gate_count; i++) {
        flow->gates[i].flow = 0;
    }
    for (size_t i = 0; i < flow->edge_count; i++) {
        const edge *e = &flow->edges[i];
        if (e->from != NOWHERE) {
            flow->gates[e->from].flow += e->flow;
        }
        if (e->to != NOWHERE) {
            flow->gates[e->to].flow += e->flow;
        }
    }
}

/* A block runs as often as the geometric mean of its gates says, and its samples. */
static void judge_blocks(cp_flow *flow, double *logs, double *open)
{
    for (size_t i = 0; i < flow->block_count; i++) {
        logs[i] = open[i] = 0;
    }
    for (size_t i = 0; i < flow->gate_count; i++) {
        const gate *g = &flow->gates[i];
        if (g->flow > 0) {
            logs[g->block] += log(g->flow);
            open[g->block]++;
        }
    }
    for (size_t i = 0; i < flow->block_count; i++) {
        block *b = &flow->blocks[i];
        double mean = open[i] > 0 ? exp(logs[i] / open[i]) : 0;
        b->runs = (b->samples + FLOW_WEIGHT * mean) / ((double)(b->end - b->first) + FLOW_WEIGHT);
    }
}

static double scale_at(const cp_flow *flow, uint32_t index)
{
    const gate *g = index == NOWHERE ? NULL : &flow->gates[index];

    return g && g->flow > 0 ? flow->blocks[g->block].runs / g->flow : 1;
}

static void scale_edges(cp_flow *flow)
{
    for (size_t i = 0; i < flow->edge_count; i++) {
        edge *e = &flow->edges[i];
        e->flow *= sqrt(scale_at(flow, e->from) * scale_at(flow, e->to));
    }
}

void cp_flow_solve(cp_flow *flow)
{
    if (!flow->count) {
        return;
    }
    find_leaders(flow);
    make_blocks(flow);
    find_reached(flow);
    make_functions(flow);
    for (uint32_t i = 0; i < flow->with_code; i++) {
        if (!jumps_anywhere(flow, i)) {
            connect(flow, i);
        }
    }
    connect_tables(flow);
    guess(flow);
    connect_calls(flow);

    double *logs = cp_heap_alloc(flow->block_count, sizeof *logs);
    double *open = cp_heap_alloc(flow->block_count, sizeof *open);
    for (int i = 0; i < ROUNDS; i++) {
        sum_gates(flow);
        judge_blocks(flow, logs, open);
        scale_edges(flow);
    }
    free(logs);
    free(open);
}

double cp_flow_runs(const cp_flow *flow, uint64_t address)
{
    uint32_t i = at(flow, address);

    return i == NOWHERE ? -1 : flow->blocks[flow->code[i].block].runs;
}

double cp_flow_entries(const cp_flow *flow, uint64_t address)
{
    uint32_t i = beginning_at(flow, address);

    return i == NOWHERE || !begins_function(flow, i)
               ? -1
               : flow->blocks[flow->functions[flow->code[i].function].entry].runs;
}
