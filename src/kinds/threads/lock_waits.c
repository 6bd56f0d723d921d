/* SPDX-License-Identifier: MIT
 *
 * lock_waits.c: names the leaf-most frames of the threads that wait in futex(2), and reads the locks.
 *
 * Zone: NORMAL, and the fatal-signal writer.
 * Tested by: e2e.deadlocks, e2e.cpprof_dump
 */
#include "kinds/threads/lock_waits.h"

#include "base/key_sort.h"
#include "base/sort.h"
#include "symbol/known_names.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

enum {
    LEAF_FRAMES = 5,          /* of libc, from the call of futex(2) to the lock's function */
    OWNER = 8,                /* __owner, after __lock, in pthread_mutex_t of glibc */
    READERS_TO_PHASE = 8,     /* __wrphase_futex, after __readers, in pthread_rwlock_t */
    READERS_TO_WRITERS = 12,  /* likewise __writers_futex */
    WRITER_AFTER_PHASE = 16,  /* __cur_writer, after __wrphase_futex */
    WRITER_AFTER_WRITERS = 12 /* likewise, after __writers_futex */
};

static const uint32_t write_locked = 2; /* of __readers */

static const uint32_t tid_bits = 0x3fffffff; /* FUTEX_TID_MASK */
static const uint32_t written = 0x7fffffff;  /* musl's rwlock that has a writer, without bit 31 */

/* The names of leaf-most frames, by address. */
typedef struct names {
    uintptr_t *address; /* ascending */
    pp_symbol *symbol;
    size_t count;
} names;

typedef enum evidence { NO_NAME, OF_MUTEX, OF_RWLOCK, OF_JOIN, OF_CONDITION, OF_OTHERS } evidence;

/* The argument of the system call. */
enum { WORD, OPERATION, TIMEOUT = 3 };

static int operation_of(const pp_lock_thread *t)
{
    return (int)t->place->argument[OPERATION] & FUTEX_CMD_MASK;
}

static bool waits_for_word(const pp_lock_thread *t)
{
    if (t->place == NULL || t->place->call != SYS_futex) {
        return false;
    }
    int operation = operation_of(t);
    return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ||
           operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2;
}

static uint32_t leaf_frames(const pp_lock_thread *t)
{
    return t->depth < LEAF_FRAMES ? t->depth : LEAF_FRAMES;
}

/* ---- names ---- */

static int compare_addresses(const void *a, const void *b, void *context)
{
    (void)context;
    uintptr_t x = *(const uintptr_t *)a;
    uintptr_t y = *(const uintptr_t *)b;
    return (x > y) - (x < y);
}

static void collect_addresses(const pp_lock_thread *threads, size_t count, names *n)
{
    for (size_t i = 0; i < count; i++) {
        const pp_lock_thread *t = &threads[i];
        for (uint32_t k = 0; waits_for_word(t) && k < leaf_frames(t); k++) {
            n->address[n->count++] = t->pc[k] - 1;
        }
    }
    pp_sort(n->address, n->count, sizeof *n->address, compare_addresses, NULL);
    size_t kept = 0;
    for (size_t i = 0; i < n->count; i++) {
        if (kept == 0 || n->address[kept - 1] != n->address[i]) {
            n->address[kept++] = n->address[i];
        }
    }
    n->count = kept;
}

static void name_those_in(const pp_profile *profile, size_t mapping, const names *n,
                          pp_arena *arena)
{
    const pp_mapping *m = &profile->mappings[mapping];
    size_t first = 0;
    while (first < n->count && n->address[first] < m->start) {
        first++;
    }
    size_t end = first;
    while (end < n->count && n->address[end] < m->limit) {
        end++;
    }
    if (end > first) {
        pp_known_names_resolve(profile->mappings, profile->mapping_count, mapping,
                               n->address + first, end - first, n->symbol + first, arena);
    }
}

static int find_names(const pp_profile *profile, const pp_lock_thread *threads, size_t count,
                      pp_arena *arena, names *n)
{
    *n = (names){.address = pp_arena_array(arena, count * LEAF_FRAMES + 1, sizeof *n->address)};
    if (n->address == NULL) {
        return -ENOMEM;
    }
    collect_addresses(threads, count, n);
    n->symbol = pp_arena_array(arena, n->count + 1, sizeof *n->symbol);
    if (n->symbol == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < profile->mapping_count; i++) {
        name_those_in(profile, i, n, arena);
    }
    return 0;
}

static const char *name_of(const names *n, uintptr_t address)
{
    size_t low = 0;
    size_t high = n->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (n->address[middle] < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const pp_symbol *symbol = low < n->count && n->address[low] == address ? &n->symbol[low] : NULL;
    return symbol != NULL && symbol->name != NULL && !symbol->is_place ? symbol->name : NULL;
}

/* What the function says that the thread waits for. Functions below a lock's, lll_lock_wait and
 * futex_wait, say nothing; nor do those of other locks, as Rust's mutexes. A thread in
 * pthread_cond_wait() may wait for its mutex again. */
static evidence of_function(const char *name)
{
    static const struct {
        const char *part;
        evidence evidence;
    } known[] = {{"pthread_rwlock", OF_RWLOCK},  {"pthread_mutex", OF_MUTEX},
                 {"pthread_join", OF_JOIN},      {"pthread_clockjoin", OF_JOIN},
                 {"pthread_timedjoin", OF_JOIN}, {"pthread_cond", OF_CONDITION},
                 {"pthread_", OF_OTHERS},        {"sem_", OF_OTHERS}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strstr(name, known[i].part) != NULL) {
            return known[i].evidence;
        }
    }
    return NO_NAME;
}

static evidence of_names(const names *n, const pp_lock_thread *t)
{
    for (uint32_t k = 0; k < leaf_frames(t); k++) {
        const char *name = name_of(n, t->pc[k] - 1);
        evidence found = name != NULL ? of_function(name) : NO_NAME;
        if (found != NO_NAME) {
            return found;
        }
    }
    return NO_NAME;
}

/* ---- locks ---- */

/* The working memory of a look. */
typedef struct look {
    const pp_lock_thread *threads;
    size_t count;
    const pp_lock_questions *questions;
    pp_keyed *by_tid; /* the threads */
    names names;
} look;

static const pp_lock_thread *thread_of(const look *l, uint32_t tid)
{
    const pp_keyed *found = tid != 0 ? pp_key_last_up_to(l->by_tid, l->count, tid) : NULL;
    return found != NULL && found->key == tid ? &l->threads[found->index] : NULL;
}

static uint32_t word_at(const look *l, uintptr_t address)
{
    uint32_t word = 0;
    return pp_memory_copy(l->questions->memory, &word, address, sizeof word) ? word : 0;
}

static void set_holder(const look *l, uint32_t tid, pp_lock_wait *wait)
{
    wait->holder = (int)(tid & tid_bits);
    wait->holder_thread = thread_of(l, tid & tid_bits);
}

/* The word itself has the holder if the kernel takes part: priority inheritance, robust locks, and
 * musl's locks with a type. Those without have EBUSY there. */
static void read_mutex(const look *l, const pp_lock_thread *t, bool is_named, pp_lock_wait *wait)
{
    const uint32_t contended = 2; /* the highest value of a word that has no tid */
    uint32_t word = word_at(l, wait->address);
    bool has_ended = (word & FUTEX_WAITERS) != 0 && (word & tid_bits) > EBUSY;
    bool in_word = word > contended && (thread_of(l, word & tid_bits) != NULL || has_ended);
    set_holder(l, in_word ? word : word_at(l, wait->address + OWNER), wait);
    if (wait->holder_thread == NULL && (word & tid_bits) == EBUSY) {
        wait->holder = 0;
        wait->hides_holder = true;
    }
    if (wait->holder_thread != NULL || (is_named && word != 0)) {
        wait->lock = "mutex";
        wait->is_sure = is_named || (in_word && (word & FUTEX_WAITERS) != 0) ||
                        operation_of(t) == FUTEX_LOCK_PI || operation_of(t) == FUTEX_LOCK_PI2;
    }
}

static void read_rwlock(const look *l, pp_lock_wait *wait)
{
    set_holder(l, word_at(l, wait->address + WRITER_AFTER_PHASE), wait);
    if (wait->holder_thread == NULL) {
        set_holder(l, word_at(l, wait->address + WRITER_AFTER_WRITERS), wait);
    }
    if (wait->holder_thread == NULL) {
        wait->holder = 0;
        wait->hides_holder = (word_at(l, wait->address) & written) == written;
    }
    wait->lock = "rwlock";
    wait->is_sure = true;
}

/* A thread whose place has no name waits for a rwlock that has a writer, if the words around its futex say so. Of a
 * leaf function that has no frame (glibc's on aarch64) nothing may say who called it. */
static void read_unnamed_rwlock(const look *l, pp_lock_wait *wait)
{
    static const struct {
        uintptr_t before, after;
    } words[] = {{READERS_TO_PHASE, WRITER_AFTER_PHASE},
                 {READERS_TO_WRITERS, WRITER_AFTER_WRITERS}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        uint32_t writer = word_at(l, wait->address + words[i].after);
        if ((word_at(l, wait->address - words[i].before) & write_locked) != 0 &&
            thread_of(l, writer) != NULL) {
            set_holder(l, writer, wait);
            wait->lock = "rwlock";
            return;
        }
    }
}

static void read_joined(const look *l, pp_lock_wait *wait)
{
    set_holder(l, word_at(l, wait->address), wait);
    if (wait->holder_thread != NULL) {
        wait->lock = "end";
        wait->is_sure = true;
    }
}

/* Whether the thread waits as pthread_join() does, whose name a stripped libc does not have: for a
 * word with the tid of a thread alone, which the kernel clears, and so with a shared futex. Locks
 * with a tid in the word have a bit beside it while somebody waits. */
static bool waits_for_end(const look *l, const pp_lock_thread *t)
{
    uint32_t word = word_at(l, t->place->argument[WORD]);
    return (t->place->argument[OPERATION] & FUTEX_PRIVATE_FLAG) == 0 &&
           operation_of(t) != FUTEX_LOCK_PI && operation_of(t) != FUTEX_LOCK_PI2 &&
           thread_of(l, word) != NULL;
}

static void read_lock(const look *l, const pp_lock_thread *t, evidence named, pp_lock_wait *wait)
{
    named = named == NO_NAME && waits_for_end(l, t) ? OF_JOIN : named;
    switch (named) {
    case OF_RWLOCK:
        read_rwlock(l, wait);
        break;
    case OF_JOIN:
        read_joined(l, wait);
        break;
    case OF_OTHERS:
        break;
    case OF_CONDITION:
        if (operation_of(t) != FUTEX_WAIT_BITSET) { /* by which it waits for the signal */
            read_mutex(l, t, false, wait);
        }
        break;
    default:
        read_mutex(l, t, named == OF_MUTEX, wait);
        if (named == NO_NAME && wait->lock == NULL) {
            read_unnamed_rwlock(l, wait);
        }
        break;
    }
}

static bool lives(const look *l, int tid)
{
    return l->questions->lives != NULL && l->questions->lives(tid);
}

/* A holder that releases the lock first removes its name from it: so one that has ended, and is
 * named after that, never will. */
static void find_wait(const look *l, size_t index, pp_lock_wait *wait)
{
    const pp_lock_thread *t = &l->threads[index];
    evidence named = of_names(&l->names, t);
    pp_lock_wait now = {.address = t->place->argument[WORD],
                        .has_timeout = t->place->argument[TIMEOUT] != 0,
                        .is_shared = (t->place->argument[OPERATION] & FUTEX_PRIVATE_FLAG) == 0};
    *wait = now;
    read_lock(l, t, named, wait);
    if (wait->lock == NULL || wait->holder == 0 || wait->holder_thread != NULL || wait->is_shared ||
        lives(l, wait->holder)) {
        return;
    }
    read_lock(l, t, named, &now);
    wait->holder_ended = now.holder == wait->holder;
}

static bool has_stayed(const look *l, size_t index)
{
    const pp_lock_questions *q = l->questions;
    return q->has_stayed == NULL || q->has_stayed(index, q->context);
}

static void find_waits(const look *l, pp_lock_wait *waits)
{
    for (size_t i = 0; i < l->count; i++) {
        if (waits_for_word(&l->threads[i])) {
            find_wait(l, i, &waits[i]);
        }
    }
    for (size_t i = 0; i < l->count; i++) {
        if (waits[i].lock != NULL && !has_stayed(l, i)) {
            waits[i] = (pp_lock_wait){.lock = NULL};
        }
    }
}

/* ---- circles ---- */

static size_t holder_index(const pp_lock_waits *found, size_t i)
{
    return (size_t)(found->waits[i].holder_thread - found->threads);
}

/* A thread that nothing but memory says to wait for itself may as well have left its own id where a
 * lock would have that of its holder. */
static bool leads_on(const pp_lock_waits *found, size_t i)
{
    const pp_lock_wait *wait = &found->waits[i];
    return wait->lock != NULL && wait->holder_thread != NULL && !wait->has_timeout &&
           (wait->is_sure || holder_index(found, i) != i);
}

/* Follows the holders from thread `i`; true if they lead back to it. */
static bool leads_back(const pp_lock_waits *found, size_t i)
{
    size_t at = i;
    for (size_t steps = 0; leads_on(found, at) && steps < found->count; steps++) {
        at = holder_index(found, at);
        if (at == i) {
            return true;
        }
    }
    return false;
}

static void mark(pp_lock_waits *found, size_t i, size_t number)
{
    while (found->waits[i].circle == 0) {
        found->waits[i].circle = number;
        i = holder_index(found, i);
    }
}

static void find_circles(pp_lock_waits *found)
{
    for (size_t i = 0; i < found->count; i++) {
        if (found->waits[i].circle == 0 && leads_back(found, i)) {
            mark(found, i, ++found->circles);
        }
    }
}

int pp_lock_waits_find(const pp_profile *profile, const pp_lock_thread *threads, size_t count,
                       const pp_lock_questions *questions, pp_arena *arena, pp_lock_waits *found)
{
    look l = {.threads = threads,
              .count = count,
              .questions = questions,
              .by_tid = pp_arena_array(arena, 2 * count + 1, sizeof *l.by_tid)};
    *found = (pp_lock_waits){.threads = threads,
                             .waits = pp_arena_array(arena, count + 1, sizeof *found->waits),
                             .count = count};
    if (l.by_tid == NULL || found->waits == NULL ||
        find_names(profile, threads, count, arena, &l.names) != 0) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        l.by_tid[i] = (pp_keyed){(uint64_t)threads[i].tid, i};
    }
    pp_key_sort(l.by_tid, l.by_tid + count, count);
    find_waits(&l, found->waits);
    find_circles(found);
    return 0;
}

/* ---- words ---- */

static void write_thread(int tid, const char *name, pp_text_stream *out)
{
    pp_text_stream_add(out, "thread ");
    pp_text_stream_number(out, tid);
    if (name != NULL) {
        pp_text_stream_add(out, " ");
        pp_text_stream_quoted(out, name);
    }
}

static void write_holder(const pp_lock_wait *wait, pp_text_stream *out)
{
    const pp_lock_thread *holder = wait->holder_thread;
    if (wait->holder == 0) {
        pp_text_stream_add(out, wait->hides_holder     ? " held by another thread"
                                : wait->lock[0] == 'r' ? " held by readers"
                                                       : " held by nobody");
        return;
    }
    pp_text_stream_add(out, " held by ");
    write_thread(wait->holder, holder != NULL ? holder->name : NULL, out);
    if (wait->holder_ended) {
        pp_text_stream_add(out, ", which has ended");
    } else if (holder == NULL && wait->is_shared) {
        pp_text_stream_add(out, ", which is not in this process");
    }
}

void pp_lock_wait_write(const pp_lock_wait *wait, pp_text_stream *out)
{
    if (wait->lock[0] == 'e') {
        pp_text_stream_add(out, "the end of ");
        write_thread(wait->holder, wait->holder_thread->name, out);
    } else {
        pp_text_stream_add(out, wait->lock);
        pp_text_stream_add(out, " ");
        pp_text_stream_hex(out, wait->address);
        write_holder(wait, out);
    }
    if (wait->has_timeout) {
        pp_text_stream_add(out, ", with a time-out");
    }
}

void pp_lock_waits_write_thread(const pp_lock_waits *found, size_t index, pp_text_stream *out)
{
    write_thread(found->threads[index].tid, found->threads[index].name, out);
    pp_text_stream_add(out, " waits for ");
    pp_lock_wait_write(&found->waits[index], out);
    pp_text_stream_add(out, "\n");
}

void pp_lock_waits_write_circle(const pp_lock_waits *found, size_t number, pp_text_stream *out)
{
    size_t members = 0;
    for (size_t i = 0; i < found->count; i++) {
        members += found->waits[i].circle == number;
    }
    pp_text_stream_add(out, "deadlock: ");
    if (members == 1) {
        pp_text_stream_add(out, "a thread waits for itself\n");
    } else {
        pp_text_stream_unsigned(out, members);
        pp_text_stream_add(out, " threads wait for each other\n");
    }
    for (size_t i = 0; i < found->count; i++) {
        if (found->waits[i].circle == number) {
            pp_text_stream_add(out, "\t");
            pp_lock_waits_write_thread(found, i, out);
        }
    }
}
