/* SPDX-License-Identifier: MIT
 *
 * thread_answers.c: slots and their timers (states in the header).
 *
 * A slot's word has its state in the two low bits, and the number of the question above them. A
 * signal that comes late finds another number, or another thread.
 *
 * Zone: SIGNAL.
 * Owns: the slots.
 */
#include "threads/thread_answers.h"

#include "arch/system_call.h"
#include "base/bitmap.h"
#include "base/compiler.h"
#include "sys/lock.h"
#include "sys/sampling_signal.h"
#include "sys/sanitizers.h"
#include "sys/tasks.h"
#include "threads/small_stacks.h"
#include "unwind/scratch.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum { IDLE, ASKED, CLAIMED, DONE, STATES };

enum { LOOKS = 24000 /* some 2 s */ };

_Static_assert((int)PP_ANSWERS_MAX == (int)PP_BITMAP_WORD, "one word says which are taken");

struct pp_answer {
    uint64_t word; /* number of the question * STATES + state */
    int tid;
    int timer;
    bool has_timer;       /* it sends its signal, or there will be none */
    pprof_labels *labels; /* a reference, while DONE */
    pp_scratch scratch;
};

static struct {
    pp_answer answers[PP_ANSWERS_MAX];
    uint64_t taken; /* a bit for each slot */
    uint64_t left;  /* the same: given up while its thread was walking */
    int (*install_handler)(void);
} state;

void pp_answers_init(int (*install)(void))
{
    state.install_handler = install;
}

int pp_answers_prepare(void)
{
    return state.install_handler != NULL ? state.install_handler() : -ENOSYS;
}

static unsigned state_of(uint64_t word)
{
    return (unsigned)(word % STATES);
}

/* ---- the asker ---- */

static void drop_labels(pp_answer *answer)
{
    pp_labels_unref(answer->labels);
    answer->labels = NULL;
}

static void free_those_left(void)
{
    uint64_t some = __atomic_load_n(&state.left, __ATOMIC_ACQUIRE);
    for (size_t i = 0; (i = pp_bitmap_next(&some, 1, i)) < PP_ANSWERS_MAX; i++) {
        uint64_t bit = UINT64_C(1) << i;
        if (state_of(__atomic_load_n(&state.answers[i].word, __ATOMIC_ACQUIRE)) == DONE &&
            (__atomic_fetch_and(&state.left, ~bit, __ATOMIC_ACQ_REL) & bit) != 0) {
            drop_labels(&state.answers[i]);
            pp_bitmap_release(&state.taken, i);
        }
    }
}

bool pp_answers_have_room(void)
{
    free_those_left();
    return __atomic_load_n(&state.taken, __ATOMIC_RELAXED) != UINT64_MAX;
}

/* Either this sees that the thread has a small stack by now, or pp_answers_withdraw() sees the question. */
PP_RAW_MEMORY static bool may_arm(const pp_answer *answer)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return !pp_small_stacks_has(answer->tid);
}

static bool arm(pp_answer *answer)
{
    const struct itimerspec at_once = {.it_value.tv_nsec = 1};
    return pp_task_timer_create(answer->tid, pp_task_cpu_clock(answer->tid), PP_SAMPLING_SIGNAL,
                                answer, &answer->timer) == 0 &&
           pp_system_call(SYS_timer_settime, answer->timer, 0, &at_once, NULL) == 0;
}

pp_answer *pp_answer_ask(int tid)
{
    free_those_left();
    int index = pp_bitmap_take(&state.taken, 1);
    if (index < 0) {
        return NULL;
    }
    pp_answer *answer = &state.answers[index];
    answer->timer = -1;
    __atomic_store_n(&answer->has_timer, false, __ATOMIC_RELAXED);
    __atomic_store_n(&answer->tid, tid, __ATOMIC_RELAXED); /* a late signal may be looking */
    __atomic_store_n(&answer->word, (answer->word / STATES + 1) * STATES + ASKED, __ATOMIC_RELEASE);
    bool armed = may_arm(answer) && arm(answer);
    __atomic_store_n(&answer->has_timer, true, __ATOMIC_RELEASE);
    if (!armed) {
        pp_answer_close(answer);
        return NULL;
    }
    return answer;
}

const pp_walk *pp_answer_look(const pp_answer *answer)
{
    bool done = state_of(__atomic_load_n(&answer->word, __ATOMIC_ACQUIRE)) == DONE;
    return done ? &answer->scratch.walk : NULL;
}

pprof_labels *pp_answer_labels(const pp_answer *answer)
{
    return answer->labels;
}

void pp_answer_close(pp_answer *answer)
{
    size_t index = (size_t)(answer - state.answers);
    uint64_t word = __atomic_load_n(&answer->word, __ATOMIC_ACQUIRE);
    if (answer->timer >= 0) {
        pp_system_call(SYS_timer_delete, answer->timer);
    }
    if (state_of(word) == ASKED) { /* if the thread claims it now, the exchange updates `word` */
        __atomic_compare_exchange_n(&answer->word, &word, word - ASKED + IDLE, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    }
    if (state_of(word) == CLAIMED) {
        __atomic_fetch_or(&state.left, UINT64_C(1) << index, __ATOMIC_ACQ_REL);
    } else {
        if (state_of(word) == DONE) {
            drop_labels(answer);
        }
        pp_bitmap_release(&state.taken, index);
    }
}

/* ---- the thread that is asked ---- */

bool pp_answers_own(const void *value)
{
    uintptr_t offset = (uintptr_t)value - (uintptr_t)state.answers;
    return offset < sizeof state.answers && offset % sizeof *state.answers == 0;
}

/* Whether there is a question to the calling thread, which owns it from now on until it is done. */
static bool claim(pp_answer *answer)
{
    uint64_t word = __atomic_load_n(&answer->word, __ATOMIC_ACQUIRE);
    return state_of(word) == ASKED &&
           __atomic_load_n(&answer->tid, __ATOMIC_RELAXED) == pp_task_self() &&
           __atomic_compare_exchange_n(&answer->word, &word, word - ASKED + CLAIMED, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void finish(pp_answer *answer)
{
    uint64_t word = __atomic_load_n(&answer->word, __ATOMIC_RELAXED);
    answer->labels = pp_labels_ref(pp_labels_current());
    __atomic_store_n(&answer->word, word - CLAIMED + DONE, __ATOMIC_RELEASE);
}

void pp_answer_give(void *value, const void *context)
{
    pp_answer *answer = value;
    if (!claim(answer)) {
        return;
    }
    pp_scratch *scratch = &answer->scratch;
    scratch->walk =
        (pp_walk){.pcs = scratch->pcs, .space = &scratch->space, .capacity = PP_SCRATCH_DEPTH};
    pp_walk_from_context(context, &scratch->walk);
    if (pp_sanitizers_look_for_leaks()) {
        memset(&scratch->space, 0, sizeof scratch->space);
    }
    finish(answer);
}

/* The timer may be deleted twice: the kernel gives no number out again for a long time. Its signal has come before the
 * call returns. */
static void withdraw(pp_answer *answer)
{
    if (!claim(answer)) {
        return;
    }
    for (unsigned look = 0; !__atomic_load_n(&answer->has_timer, __ATOMIC_ACQUIRE) && look < LOOKS;
         look++) {
        pp_lock_pause(look); /* the asker is in the middle of two system calls */
    }
    if (answer->timer >= 0) {
        pp_system_call(SYS_timer_delete, answer->timer);
    }
    answer->scratch.walk = (pp_walk){.pcs = answer->scratch.pcs, .stop = PP_STOP_NO_RULE};
    finish(answer);
}

PP_RAW_MEMORY void pp_answers_withdraw(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    uint64_t some = __atomic_load_n(&state.taken, __ATOMIC_ACQUIRE);
    for (size_t i = 0; (i = pp_bitmap_next(&some, 1, i)) < PP_ANSWERS_MAX; i++) {
        withdraw(&state.answers[i]);
    }
}

/* Slots that are not taken are left alone: each is on pages of its own, which the child would have to copy. */
void pp_answers_after_fork_in_child(void)
{
    for (size_t i = 0; (i = pp_bitmap_next(&state.taken, 1, i)) < PP_ANSWERS_MAX; i++) {
        if (state_of(state.answers[i].word) == DONE) {
            drop_labels(&state.answers[i]);
        }
        state.answers[i].word = state.answers[i].word / STATES * STATES;
    }
    state.taken = state.left = 0;
}
