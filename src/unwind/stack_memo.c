/* SPDX-License-Identifier: MIT
 *
 * stack_memo.c: follows remembered frames, and keeps the ring in order (drawing in the header).
 *
 * Zone: SIGNAL.
 * Owns: the memos; the calling thread's pointer to its own.
 */
#include "unwind/stack_memo.h"

#include "base/bitmap.h"
#include "base/stack_hash.h"
#include "sys/safe_read.h"
#include "sys/sanitizers.h"
#include "unwind/rule_cache.h"

enum {
    WORD = sizeof(uintptr_t),
    PATIENCE = 64 /* walks refused between two checks whether the owner still exists */
};

static struct {
    pp_memo memo[PP_MEMO_THREADS];
    uint64_t taken[PP_MEMO_THREADS / PP_BITMAP_WORD]; /* a bit for each */
} all;

static PP_TLS struct {
    pp_memo *memo; /* NULL = none so far, or no more */
    bool ended;    /* the thread is about to end, and takes no memo any more */
} own;

_Static_assert(sizeof(pp_memo) <= 8192 - 512, "8 KiB a thread, its timer and labels included");

/* ---- whose memo ---- */

static void give_back(const pp_memo *memo)
{
    pp_bitmap_release(all.taken, (size_t)(memo - all.memo));
}

static void keep_taken(const pp_memo *memo)
{
    size_t index = (size_t)(memo - all.memo);
    __atomic_fetch_or(&all.taken[index / PP_BITMAP_WORD], UINT64_C(1) << index % PP_BITMAP_WORD,
                      __ATOMIC_RELAXED);
}

PP_COLD_PATH static pp_memo *claim(void)
{
    if (own.ended || pp_sanitizers_look_for_leaks()) { /* it would find words of the stack here */
        return NULL;
    }
    int index = pp_bitmap_take(all.taken, PP_MEMO_THREADS / PP_BITMAP_WORD);
    if (index < 0) {
        return NULL;
    }
    pp_memo *memo = &all.memo[index];
    pp_memo *already = NULL;
    memo->count = 0;
    memo->busy = 0;
    if (__atomic_compare_exchange_n(&own.memo, &already, memo, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
        keep_taken(memo); /* a handler may have forked before the child had this as its own */
        return memo;
    }
    if (already !=
        memo) { /* a handler was first; in a child that it forked, it may have taken the same one */
        give_back(memo);
    }
    return already;
}

void pp_memo_thread_end(void)
{
    pp_memo *memo = own.memo;
    own.ended = true;
    own.memo = NULL;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (memo != NULL) {
        give_back(memo);
    }
}

void pp_memo_after_fork_in_child(void)
{
    for (unsigned word = 0; word < PP_MEMO_THREADS / PP_BITMAP_WORD; word++) {
        all.taken[word] = 0;
    }
    if (own.memo != NULL) {
        keep_taken(own.memo); /* also in use: a handler that interrupted a walk may have forked */
    }
}

/* ---- one walk at a time ---- */

/* The mark of a walk whose pp_memo_use is at `address`. Hardly any other word has this value. */
static uintptr_t mark_of(const pp_memo *memo, uintptr_t address)
{
    return (uintptr_t)memo ^ address ^ (uintptr_t)0x6d656d6f2e757365;
}

/* Whether the walk that has the memo goes on. Its stack may have been unmapped. */
PP_COLD_PATH static bool is_in_use(pp_memo *memo)
{
    uintptr_t busy = memo->busy;
    uintptr_t mark = 0;
    return memo->refused++ % PATIENCE != 0 ||
           (pp_safe_copy(&mark, busy + offsetof(pp_memo_use, mark), sizeof mark) &&
            mark == mark_of(memo, busy));
}

void pp_memo_open(pp_memo_use *use, uint64_t epoch)
{
    pp_memo *memo = own.memo != NULL ? own.memo : claim();
    *use = (pp_memo_use){0}; /* also clears the mark of a walk that was abandoned here */
    if (memo == NULL || (pp_unlikely(memo->busy != 0) && is_in_use(memo))) {
        return;
    }
    *(volatile uintptr_t *)&use->mark = mark_of(memo, (uintptr_t)use);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memo->busy = (uintptr_t)use;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint32_t count = memo->epoch == epoch ? memo->count : 0;
    memo->count = 0; /* if this walk is abandoned, nobody must see what it has written */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memo->epoch = epoch;
    memo->refused = 0;
    use->memo = memo;
    use->old_lo = PP_MEMO_FRAMES + memo->first;
    use->old_hi = use->old_lo + count;
    use->new_lo = use->new_hi = use->old_hi - PP_MEMO_FRAMES;
}

/* ---- the ring ---- */

static void move(pp_memo *memo, uint32_t to, uint32_t from)
{
    pp_memo_frame *m = pp_memo_at(memo, to);
    *m = *pp_memo_at(memo, from);
    *pp_memo_slot(memo, m->sp) = (uint8_t)(to % PP_MEMO_FRAMES);
}

/* Makes the frames from `joined` to `end` the continuation of the new ones. Moves whichever are
 * fewer. */
static void join(pp_memo_use *use, uint32_t end)
{
    uint32_t written = use->new_hi - use->new_lo;
    uint32_t agreed = end - use->joined;
    if (written <= agreed) {
        for (uint32_t i = 1; i <= written; i++) {
            move(use->memo, use->joined - i, use->new_hi - i);
        }
        use->new_lo = use->joined - written;
        use->new_hi = end;
    } else {
        for (uint32_t i = 0; i < agreed; i++) {
            move(use->memo, use->new_hi + i, use->joined + i);
        }
        use->new_hi += agreed;
    }
    use->following = false;
}

/* ---- following ---- */

/* Finds the position of the remembered frame that equals `f`, a caller's. */
static bool find(const pp_memo_use *use, const pp_frame *f, uint32_t *position)
{
    uint32_t place = *pp_memo_slot(use->memo, f->sp);
    uint32_t first = use->old_lo % PP_MEMO_FRAMES;
    uint32_t at = use->old_lo + (place >= first ? place - first : place + PP_MEMO_FRAMES - first);
    const pp_memo_frame *m = &use->memo->frame[place];
    *position = at;
    return at >= use->new_hi && at < use->old_hi && m->pc == f->pc && m->sp == f->sp &&
           m->fp == f->fp && m->bx == f->bx && m->kind != PP_MEMO_EXACT &&
           f->pc != 0; /* a pc of 0 is the end */
}

PP_RAW_MEMORY static inline uintptr_t word_at(uintptr_t address)
{
    return *(const volatile uintptr_t *)address;
}

/* Follows at most `limit` steps from `m` through frames that are in a row; returns how many steps
 * agree. */
PP_RAW_MEMORY static inline __attribute__((always_inline)) size_t
follow_row(const pp_memo_frame *m, const pp_memo_frame *after_first, const pp_stack_window *window,
           uintptr_t *out, size_t limit)
{
    const uintptr_t lowest = window->cfa_lo + 1;
    const uintptr_t span = window->cfa_hi - window->cfa_lo;
    const pp_memo_frame *next = after_first;
    uintptr_t pc = m->pc;
    size_t left = 0;
    for (; left < limit; left++) {
        uintptr_t cfa = next->sp;
        if (pp_unlikely(cfa - lowest >= span)) {
            break;
        }
        uintptr_t next_pc = next->pc;
        uintptr_t word = word_at(pp_packed_return_address(cfa, m->bx_place));
        uintptr_t changed = pp_return_address(word) ^ next_pc;
        changed |= word_at(pp_packed_save_address(cfa, m->fp_place)) ^ m->fp_word;
        changed |= word_at(pp_packed_save_address(cfa, m->bx_place)) ^ m->bx_word;
        if (pp_unlikely(changed != 0)) {
            break;
        }
        out[left] = pc;
        pc = next_pc;
        m = next++;
    }
    return left;
}

/* Follows, from the frame at `position`, at most `limit` steps that agree. Stores the frames that
 * were left, and returns how many. An open frame never agrees. */
PP_RAW_MEMORY static size_t follow_steps(pp_memo *memo, uint32_t position,
                                         const pp_stack_window *window, uintptr_t *out,
                                         size_t limit)
{
    uint32_t place = position % PP_MEMO_FRAMES;
    const pp_memo_frame *m = &memo->frame[place];
    size_t row = PP_MEMO_FRAMES - 1 - place; /* steps up to the ring's last place */
    size_t left = follow_row(m, m + 1, window, out, limit < row ? limit : row);
    if (left == row && left < limit) {
        m = &memo->frame[PP_MEMO_FRAMES - 1];
        left += follow_row(m, memo->frame, window, out + left, limit - left);
    }
    return left;
}

/* Whether a step that was open, since its rule was not in the cache, would not be open now. */
static bool has_become_step(const pp_memo_frame *m, const pp_frame *f)
{
    uint64_t entry = pp_rule_cache_lookup(m->pc - 1, f->generation);
    return m->kind == PP_MEMO_OPEN && entry != 0 &&
           pp_cache_is_usual(entry, pp_cache_key_of_caller(m->pc));
}

size_t pp_memo_follow(pp_memo_use *use, pp_frame *f, uintptr_t *out, size_t room)
{
    if (!use->following) {
        if (!find(use, f, &use->joined)) {
            return 0;
        }
        use->following = true;
        use->at = use->joined;
    }
    size_t steps = use->old_hi - 1 - use->at;
    size_t left = follow_steps(use->memo, use->at, &f->window, out, steps < room ? steps : room);
    use->at += (uint32_t)left;
    const pp_memo_frame *m = pp_memo_at(use->memo, use->at);
    if (left != 0) {
        f->pc = m->pc;
        f->sp = m->sp;
        f->fp = m->fp;
        f->bx = m->bx;
    }
    if (left < room && (m->kind == PP_MEMO_STEP || has_become_step(m, f))) {
        join(use, use->at); /* the next step has changed, or was never taken */
    }
    return left;
}

/* ---- open steps ---- */

static bool is_open_frame(const pp_memo_frame *m, const pp_frame *f)
{
    return m->kind == (f->exact ? PP_MEMO_EXACT : PP_MEMO_OPEN) && m->pc == pp_frame_stored_pc(f);
}

void pp_memo_cut(pp_memo_use *use)
{
    if (use->memo != NULL && !use->cut) {
        if (use->following) {
            join(use, use->at);
        }
        use->cut = true;
    }
}

void pp_memo_before_step(pp_memo_use *use, const pp_frame *f)
{
    if (use->memo == NULL || use->cut) {
        return;
    }
    if (use->following) {
        if (is_open_frame(pp_memo_at(use->memo, use->at), f)) {
            return;
        }
        join(use, use->at); /* in another window, this step was not open */
    }
    bool begins_at_zero = pp_frame_stored_pc(f) == 0 && !f->exact && use->new_lo == use->new_hi;
    if (pp_memo_room(use) == 0 || begins_at_zero) { /* a pc of 0 would be taken for the end */
        use->cut = true;
        return;
    }
    pp_memo_frame *m = pp_memo_at(use->memo, use->new_hi++);
    pp_memo_put(use->memo, m, pp_frame_stored_pc(f), f->sp, f->fp, f->bx,
                f->exact ? PP_MEMO_EXACT : PP_MEMO_OPEN);
    m->fp_place = m->bx_place =
        PP_PACKED_UNCHANGED; /* the same word twice, with two values: never agrees */
    m->fp_word = 0;
    m->bx_word = 1;
}

void pp_memo_after_step(pp_memo_use *use, const pp_frame *f, bool ended)
{
    if (!use->following) {
        return;
    }
    bool is_last = use->at + 1 == use->old_hi;
    if (ended || is_last) {
        if (!ended || !is_last) {
            join(use, use->at + 1);
        }
        return;
    }
    const pp_memo_frame *m = pp_memo_at(use->memo, use->at + 1);
    if (m->pc == pp_frame_stored_pc(f) && m->sp == f->sp && m->fp == f->fp && m->bx == f->bx &&
        (m->kind == PP_MEMO_EXACT) == f->exact) {
        use->at++;
    } else {
        join(use, use->at + 1);
    }
}

/* ---- the end of a walk ---- */

static void hash_new_frames(pp_memo *memo, uint32_t count)
{
    uint32_t left = count - memo->hashed;
    uint64_t hash =
        memo->hashed > 0 ? pp_memo_at(memo, memo->first + left)->hash : PP_STACK_HASH_ROOT;
    while (left > 0) {
        pp_memo_frame *m = pp_memo_at(memo, memo->first + --left);
        bool is_end = m->pc == 0 && m->kind != PP_MEMO_EXACT;
        hash = is_end ? PP_STACK_HASH_ROOT : pp_stack_hash_extend(hash, m->pc);
        m->hash = hash;
    }
    memo->hashed = count;
}

void pp_memo_close(pp_memo_use *use, bool ended, uint32_t skip, uint64_t *hash)
{
    pp_memo *memo = use->memo;
    if (memo == NULL) {
        return;
    }
    uint32_t hashed = 0;
    bool whole = ended && !use->cut;
    if (use->following) {
        uint32_t agreed = use->old_hi - use->joined;
        hashed = memo->hashed < agreed ? memo->hashed : agreed;
        whole = whole && use->at + 1 == use->old_hi;
        join(use, use->old_hi);
    }
    uint32_t count = use->new_hi - use->new_lo;
    memo->first = use->new_lo % PP_MEMO_FRAMES;
    memo->hashed = hashed;
    if (whole && hash != NULL && skip < count) {
        hash_new_frames(memo, count);
        *hash = pp_memo_at(memo, memo->first + skip)->hash;
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memo->count = count;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memo->busy = 0;
}
