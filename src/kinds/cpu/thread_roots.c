/* SPDX-License-Identifier: MIT
 *
 * thread_roots.c: walks from the frame where a thread begins, and keeps a short list of the callers
 * that these walks find.
 *
 * Zone: SIGNAL.
 * Owns: the list of callers; entries are added, and never change.
 * Tested by: e2e.threads
 */
#include "kinds/cpu/thread_roots.h"

#include "unwind/scratch.h"
#include "unwind/walk.h"

#include "pprof.h"

#include <stddef.h>
#include <string.h>

enum { KINDS = 16 };

typedef struct callers {
    uintptr_t pcs[PP_ROOT_DEPTH - 1];
    uint32_t depth;
} callers;

static struct {
    callers list[KINDS];
    uint8_t count;
} known;

/* The walk has room for a whole stack. Its frames are the root only if it reaches the stack's end.
 */
pp_root_frames pp_thread_root_of(uintptr_t entry, const pp_caller *caller)
{
    pp_root_frames root = {.pcs = {entry + 1}, .depth = 1};
    pp_scratch *scratch = pp_scratch_take_at(caller->sp);
    if (scratch == NULL) {
        return root;
    }
    pp_walk walk = {.pcs = scratch->pcs,
                    .space = &scratch->space,
                    .capacity = PP_SCRATCH_DEPTH,
                    .without_memo = true};
    pp_walk_from_caller(caller, &walk);
    if (walk.stop == PP_STOP_END && walk.depth < PP_ROOT_DEPTH) {
        memcpy(&root.pcs[1], walk.pcs, walk.depth * sizeof *walk.pcs);
        root.depth += walk.depth;
    }
    pp_scratch_give(scratch);
    return root;
}

pp_root_frames pp_thread_root_here(void)
{
    pp_root_frames root = {.depth = 0};
    pp_scratch *scratch = pp_scratch_take();
    if (scratch == NULL) {
        return root;
    }
    size_t depth = pprof_callers(0, scratch->pcs, PP_SCRATCH_DEPTH);
    if (depth >= PP_ROOT_DEPTH && depth < PP_SCRATCH_DEPTH) {
        memcpy(root.pcs, &scratch->pcs[depth - PP_ROOT_DEPTH], sizeof root.pcs);
        root.depth = PP_ROOT_DEPTH;
    }
    pp_scratch_give(scratch);
    return root;
}

uint8_t pp_thread_callers_keep(const pp_root_frames *root)
{
    callers wanted = {.depth = root->depth > 1 ? root->depth - 1 : 0};
    memcpy(wanted.pcs, &root->pcs[1], wanted.depth * sizeof *wanted.pcs);
    for (uint8_t i = 0; i < known.count; i++) {
        if (known.list[i].depth == wanted.depth &&
            memcmp(known.list[i].pcs, wanted.pcs, sizeof wanted.pcs) == 0) {
            return (uint8_t)(i + 1);
        }
    }
    if (wanted.depth == 0 || known.count == KINDS) {
        return 0;
    }
    known.list[known.count++] = wanted;
    return known.count;
}

pp_root_frames pp_thread_root_read(uintptr_t first, uint8_t number)
{
    pp_root_frames root = {.pcs = {first}, .depth = first != 0};
    if (first != 0 && number != 0) {
        const callers *c = &known.list[number - 1];
        memcpy(&root.pcs[1], c->pcs, c->depth * sizeof *c->pcs);
        root.depth += c->depth;
    }
    return root;
}
