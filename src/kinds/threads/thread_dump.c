/* SPDX-License-Identifier: MIT
 *
 * thread_dump.c: makes a text of each row.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: e2e.thread_profile, e2e.crash
 */
#include "kinds/threads/thread_dump.h"

#include "base/text.h"
#include "kinds/threads/thread_text.h"
#include "profile/mappings.h"
#include "sys/clock.h"

#include <errno.h>
#include <string.h>

/* Leaves frames out of the middle, as Go does: the leaf says what happened, the root where. */
static void shorten(const pp_thread_dump *dump, pp_thread_text *text, pp_arena *arena)
{
    uint32_t leaves = dump->most_frames / 2;
    uint32_t roots = dump->most_frames - leaves;
    uintptr_t *pcs = NULL;
    if (dump->most_frames == 0 || text->depth <= dump->most_frames) {
        return;
    }
    pcs = pp_arena_array(arena, dump->most_frames, sizeof *pcs);
    if (pcs == NULL) {
        return;
    }
    memcpy(pcs, text->pc, leaves * sizeof *pcs);
    memcpy(pcs + leaves, text->pc + text->depth - roots, roots * sizeof *pcs);
    text->pc = pcs;
    text->left_out = text->depth - dump->most_frames;
    text->left_out_after = leaves;
    text->depth = dump->most_frames;
}

static pp_thread_text text_of(const pp_thread_dump *dump, const pp_thread_row *row, pp_arena *arena)
{
    const pp_stack_entry *creation = row->creation;
    pp_thread_text text = {.tid = row->tid,
                           .name = row->name,
                           .state = pp_thread_state_text(row),
                           .pc = row->pc,
                           .depth = row->depth,
                           .creator = row->creator};
    if (creation != NULL && creation->depth > 1) {
        text.creation = &creation->pc[1]; /* the caller of pthread_create */
    }
    shorten(dump, &text, arena);
    return text;
}

/* "channel, 5 minutes": Go's words for how long. */
static const char *state_of(const pp_coroutine_row *row, uint64_t now_ns, pp_arena *arena)
{
    const uint64_t minute_ns = 60 * (uint64_t)PP_NS_PER_S;
    const char *state = row->runs ? "running" : row->why != NULL ? row->why : "runnable";
    if (row->since_ns == 0 || now_ns < row->since_ns + minute_ns) {
        return state;
    }
    pp_text text = PP_TEXT_INIT;
    pp_text_add(&text, state);
    pp_text_add(&text, ", ");
    pp_text_add_count(&text, (now_ns - row->since_ns) / minute_ns, " [minute|minutes]");
    const char *copy = pp_arena_text(arena, text.data, text.length);
    return copy != NULL ? copy : state;
}

static pp_thread_text text_of_coroutine(const pp_thread_dump *dump, const pp_coroutine_row *row,
                                        uint64_t now_ns, pp_arena *arena)
{
    pp_thread_text text = {.task = row->id,
                           .name = row->name,
                           .state = state_of(row, now_ns, arena),
                           .pc = row->pc,
                           .depth = row->depth,
                           .creation = &row->created_at,
                           .creator = row->creator_thread,
                           .creator_task = row->creator};
    shorten(dump, &text, arena);
    return text;
}

static int add_mappings(const pp_thread_dump *dump, pp_arena *arena, pp_profile *profile)
{
    if (dump->mappings == NULL) {
        return pp_profile_add_all_mappings(arena, profile);
    }
    profile->mappings = dump->mappings->mappings;
    profile->mapping_count = dump->mappings->mapping_count;
    return 0;
}

int pp_thread_dump_write(const pp_thread_dump *dump, pp_arena *arena, pprof_writer writer)
{
    pp_profile profile = {.symbolize = dump->symbolize};
    size_t coroutines = dump->coroutines != NULL ? dump->coroutines->count : 0;
    size_t count = dump->count + coroutines;
    uint64_t now_ns = pp_clock_ns(CLOCK_MONOTONIC);
    pp_thread_text *texts = pp_arena_array(arena, count, sizeof *texts);
    int error = texts != NULL ? add_mappings(dump, arena, &profile) : -ENOMEM;
    for (size_t i = 0; error == 0 && i < dump->count; i++) {
        texts[i] = text_of(dump, &dump->rows[i], arena);
        texts[i].interrupted = dump->interrupted && i == 0;
        texts[i].wait = dump->waits != NULL && dump->waits[i].lock != NULL ? &dump->waits[i] : NULL;
    }
    for (size_t i = 0; error == 0 && i < coroutines; i++) {
        texts[dump->count + i] = text_of_coroutine(dump, &dump->coroutines->rows[i], now_ns, arena);
    }
    return error == 0 ? pp_thread_text_encode(&profile, texts, count, arena, writer) : error;
}
