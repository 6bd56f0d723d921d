/* SPDX-License-Identifier: MIT
 *
 * locks.c: names the leaf-most frames of the threads that wait in futex(2), and reads the locks.
 *
 * Tested by: e2e.cpprof_dump
 */
#include "remote/locks.h"

#include "base/sort.h"
#include "symbol/places.h"
#include "sys/safe_read.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

enum {
    LEAF_FRAMES = 5,          /* of libc, from the call of futex(2) to the lock's function */
    OWNER = 8,                /* __owner, after __lock, in pthread_mutex_t of glibc */
    WRITER_AFTER_PHASE = 16,  /* __cur_writer, after __wrphase_futex, in pthread_rwlock_t */
    WRITER_AFTER_WRITERS = 12 /* likewise, after __writers_futex */
};

static const uint32_t tid_bits = 0x3fffffff; /* FUTEX_TID_MASK */

/* The names of leaf-most frames, by address. */
typedef struct names {
    uintptr_t *address; /* ascending */
    pp_symbol *symbol;
    size_t count;
} names;

typedef enum evidence { NO_NAME, OF_MUTEX, OF_RWLOCK, OF_JOIN, OF_CONDITION, OF_OTHERS } evidence;

static bool waits_for_word(const pp_remote_thread *t)
{
    int operation = (int)t->place.argument[1] & FUTEX_CMD_MASK;
    return t->state == PP_REMOTE_WAITS && t->place.call == SYS_futex &&
           (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ||
            operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2);
}

static uint32_t leaf_frames(const pp_remote_thread *t)
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

static void collect_addresses(const pp_remote_threads *threads, names *n)
{
    for (size_t i = 0; i < threads->count; i++) {
        const pp_remote_thread *t = &threads->thread[i];
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
        pp_places_resolve(profile->mappings, profile->mapping_count, mapping, n->address + first,
                          end - first, n->symbol + first, arena);
    }
}

static int find_names(const pp_profile *profile, const pp_remote_threads *threads, pp_arena *arena,
                      names *n)
{
    *n = (names){.address =
                     pp_arena_array(arena, threads->count * LEAF_FRAMES + 1, sizeof *n->address)};
    if (n->address == NULL) {
        return -ENOMEM;
    }
    collect_addresses(threads, n);
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
 * futex_wait, say nothing. A thread in pthread_cond_wait() may wait for its mutex again. */
static evidence of_function(const char *name)
{
    static const struct {
        const char *part;
        evidence evidence;
    } known[] = {{"rwlock", OF_RWLOCK},          {"mutex", OF_MUTEX},     {"join", OF_JOIN},
                 {"pthread_cond", OF_CONDITION}, {"pthread_", OF_OTHERS}, {"sem_", OF_OTHERS}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strstr(name, known[i].part) != NULL) {
            return known[i].evidence;
        }
    }
    return NO_NAME;
}

static evidence of_names(const names *n, const pp_remote_thread *t)
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

static const pp_remote_thread *thread_of(const pp_remote_threads *threads, uint32_t tid)
{
    for (size_t i = 0; tid != 0 && i < threads->count; i++) {
        if ((uint32_t)threads->thread[i].tid == tid) {
            return &threads->thread[i];
        }
    }
    return NULL;
}

static uint32_t word_at(uintptr_t address)
{
    uint32_t word = 0;
    return pp_safe_copy(&word, address, sizeof word) ? word : 0;
}

/* The word itself has the holder if the kernel takes part: priority inheritance, robust locks, and
 * musl's locks with a type. */
static void read_mutex(const pp_remote_threads *threads, bool is_named, pp_remote_wait *wait)
{
    const uint32_t contended = 2; /* the highest value of a word that has no tid */
    uint32_t word = word_at(wait->address);
    uint32_t in_word = word > contended ? word & tid_bits : 0;
    uint32_t holder =
        thread_of(threads, in_word) != NULL ? in_word : word_at(wait->address + OWNER);
    const pp_remote_thread *found = thread_of(threads, holder);
    if (found != NULL || (is_named && word != 0)) {
        wait->lock = "mutex";
        wait->holder = (int)(holder & tid_bits);
        wait->holder_thread = found;
    }
}

static void read_rwlock(const pp_remote_threads *threads, pp_remote_wait *wait)
{
    const pp_remote_thread *found = thread_of(threads, word_at(wait->address + WRITER_AFTER_PHASE));
    if (found == NULL) {
        found = thread_of(threads, word_at(wait->address + WRITER_AFTER_WRITERS));
    }
    wait->lock = "rwlock";
    wait->holder = found != NULL ? found->tid : 0;
    wait->holder_thread = found;
}

static void read_joined(const pp_remote_threads *threads, pp_remote_wait *wait)
{
    wait->holder_thread = thread_of(threads, word_at(wait->address) & tid_bits);
    if (wait->holder_thread != NULL) {
        wait->lock = "end";
        wait->holder = wait->holder_thread->tid;
    }
}

static void find_wait(const pp_remote_threads *threads, evidence named, pp_remote_wait *wait)
{
    switch (named) {
    case OF_RWLOCK:
        read_rwlock(threads, wait);
        break;
    case OF_JOIN:
        read_joined(threads, wait);
        break;
    case OF_OTHERS:
        break;
    default:
        read_mutex(threads, named == OF_MUTEX, wait);
        break;
    }
}

int pp_remote_waits_find(const pp_profile *profile, const pp_remote_threads *threads,
                         pp_arena *arena, pp_remote_wait **waits)
{
    names n;
    *waits = pp_arena_array(arena, threads->count + 1, sizeof **waits);
    int error = *waits != NULL ? find_names(profile, threads, arena, &n) : -ENOMEM;
    for (size_t i = 0; error == 0 && i < threads->count; i++) {
        const pp_remote_thread *t = &threads->thread[i];
        if (waits_for_word(t)) {
            (*waits)[i].address = t->place.argument[0];
            find_wait(threads, of_names(&n, t), &(*waits)[i]);
        }
    }
    return error;
}

/* ---- circles ---- */

static size_t index_of(const pp_remote_threads *threads, const pp_remote_thread *t)
{
    return (size_t)(t - threads->thread);
}

/* Follows the holders from thread `i`; true if they lead back to it. */
static bool leads_back(const pp_remote_threads *threads, const pp_remote_wait *waits, size_t i)
{
    const pp_remote_thread *at = waits[i].holder_thread;
    for (size_t steps = 0; at != NULL && steps < threads->count; steps++) {
        if (index_of(threads, at) == i) {
            return true;
        }
        at = waits[index_of(threads, at)].holder_thread;
    }
    return false;
}

static void mark(const pp_remote_threads *threads, pp_remote_wait *waits, size_t i, size_t number)
{
    while (waits[i].circle == 0) {
        waits[i].circle = number;
        i = index_of(threads, waits[i].holder_thread);
    }
}

size_t pp_remote_circles_find(const pp_remote_threads *threads, pp_remote_wait *waits)
{
    size_t count = 0;
    for (size_t i = 0; i < threads->count; i++) {
        if (waits[i].circle == 0 && leads_back(threads, waits, i)) {
            mark(threads, waits, i, ++count);
        }
    }
    return count;
}
