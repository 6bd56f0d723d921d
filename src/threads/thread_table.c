/* SPDX-License-Identifier: MIT
 *
 * thread_table.c: records in chunks (drawing in the header).
 *
 * Zone: HOOK.
 * Owns: the chunks, and which of their records are taken.
 */
#include "threads/thread_table.h"

#include "base/bitmap.h"
#include "base/memory.h"
#include "sys/lock.h"
#include "sys/own_threads.h"

#include <string.h>

enum {
    CHUNK = 1024, /* records: 48 KiB */
    CHUNKS = 64,
    RECORDS = CHUNK * CHUNKS, /* more threads than a process has */
    WORDS = RECORDS / PP_BITMAP_WORD,
    CHUNK_BYTES = CHUNK * sizeof(pp_thread_record),
    ENDING = 256 /* threads that have ended, but may still be listed by the kernel */
};

static struct {
    uint64_t taken[WORDS];
    size_t words;                        /* of `taken`; beyond them no record was ever taken */
    size_t ours;                         /* the number of records of libpprof's own threads */
    uint64_t added;                      /* the number of times that a record was shown */
    pp_thread_record *ending[ENDING];    /* a ring */
    uint64_t ended;                      /* its next place, as a number that only grows */
    pp_thread_record first_chunk[CHUNK]; /* a process has one thread at least */
} table;

/* Apart from the rest, which begins as 0 and takes no room in the file. */
static pp_thread_record *chunks[CHUNKS] = {table.first_chunk};

static pp_thread_record *chunk_at(size_t index)
{
    return __atomic_load_n(&chunks[index / CHUNK], __ATOMIC_ACQUIRE);
}

static pp_thread_record *record_at(size_t index)
{
    pp_thread_record *chunk = chunk_at(index);
    if (chunk != NULL) {
        return chunk + index % CHUNK;
    }
    pp_thread_record *fresh = pp_memory_map(CHUNK_BYTES);
    if (fresh == NULL) {
        return NULL;
    }
    if (!__atomic_compare_exchange_n(&chunks[index / CHUNK], &chunk, fresh, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
        pp_memory_unmap(fresh, CHUNK_BYTES);
        return chunk + index % CHUNK;
    }
    return fresh + index % CHUNK;
}

/* Other threads see the record after this. */
static void cover(size_t index)
{
    size_t needed = index / PP_BITMAP_WORD + 1;
    size_t words = __atomic_load_n(&table.words, __ATOMIC_RELAXED);
    while (words < needed && !__atomic_compare_exchange_n(&table.words, &words, needed, false,
                                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}

/* The first record from `index` on that is taken. False: there is none. */
static bool find_taken(size_t *index)
{
    size_t words = __atomic_load_n(&table.words, __ATOMIC_ACQUIRE);
    *index = pp_bitmap_next(table.taken, words, *index);
    return *index < words * PP_BITMAP_WORD;
}

/*
 * Write and read a field of a record. One thread writes while others may read: the serial becomes
 * even before any field changes, and a reader checks it again after it has read all fields.
 */
#define SHOW(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELEASE)
#define SEE(field)         __atomic_load_n(&(field), __ATOMIC_ACQUIRE)

static void show_record(pp_thread_record *r)
{
    uint64_t number = __atomic_add_fetch(&table.added, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&r->serial, 2 * number + 1, __ATOMIC_SEQ_CST);
}

pp_thread_record *pp_thread_table_add(const pp_thread_record *content)
{
    int index = pp_bitmap_take(table.taken, WORDS);
    pp_thread_record *r = index >= 0 ? record_at((size_t)index) : NULL;
    if (r == NULL) {
        if (index >= 0) {
            pp_bitmap_release(table.taken, (size_t)index);
        }
        return NULL;
    }
    cover((size_t)index);
    SHOW(r->tid, content->tid);
    SHOW(r->creator, content->creator);
    SHOW(r->ours, content->ours);
    SHOW(r->entry, content->entry);
    SHOW(r->creation, content->creation);
    SHOW(r->place, content->place);
    SHOW(r->stack, content->stack);
    show_record(r);
    return r;
}

/* Waits until nobody reads the place, after the serial has changed. */
static void let_readers_finish(const pp_thread_record *r)
{
    /* A mere yield would keep the processor from a reader of lower priority (SCHED_FIFO). */
    for (unsigned i = 0; __atomic_load_n(&r->readers, __ATOMIC_SEQ_CST) != 0; i++) {
        pp_lock_pause(i);
    }
}

static void stop_counting(const pp_thread_record *r)
{
    if (r->ours) {
        __atomic_sub_fetch(&table.ours, 1, __ATOMIC_RELAXED);
        pp_own_threads_replace(r->tid, 0);
    }
}

static size_t index_of(const pp_thread_record *r)
{
    size_t chunk = 0;
    while ((uintptr_t)r - (uintptr_t)chunks[chunk] >= CHUNK_BYTES) {
        chunk++;
    }
    return chunk * CHUNK + (size_t)(r - chunks[chunk]);
}

static void free_record(pp_thread_record *r)
{
    __atomic_store_n(&r->serial, r->serial + 1, __ATOMIC_SEQ_CST);
    let_readers_finish(r);
    pp_bitmap_release(table.taken, index_of(r));
}

/* Puts the record into the ring, in place of the oldest. To ask the kernel whether its thread is gone
 * would be a system call that the program may have forbidden. */
static void keep_a_while(pp_thread_record *r)
{
    uint64_t place = __atomic_fetch_add(&table.ended, 1, __ATOMIC_RELAXED) % ENDING;
    pp_thread_record *old = __atomic_exchange_n(&table.ending[place], r, __ATOMIC_ACQ_REL);
    if (old != NULL) {
        free_record(old);
    }
}

void pp_thread_table_remove(pp_thread_record *record)
{
    if (record != NULL) {
        stop_counting(record);
        free_record(record);
    }
}

void pp_thread_table_end(pp_thread_record *record)
{
    if (record == NULL) {
        return;
    }
    stop_counting(record);
    SHOW(record->place, NULL);
    show_record(record); /* at no moment is it not there */
    let_readers_finish(record);
    keep_a_while(record);
}

void pp_thread_table_disown(pp_thread_record *record)
{
    if (record != NULL && !record->ours) {
        SHOW(record->ours, true);
        __atomic_add_fetch(&table.ours, 1, __ATOMIC_RELAXED);
        pp_own_threads_replace(0, record->tid);
    }
}

static bool copy_record(const pp_thread_record *r, pp_thread_record *copy)
{
    uint64_t serial = __atomic_load_n(&r->serial, __ATOMIC_ACQUIRE);
    if (serial % 2 == 0) {
        return false;
    }
    *copy = (pp_thread_record){.serial = serial,
                               .tid = SEE(r->tid),
                               .creator = SEE(r->creator),
                               .ours = SEE(r->ours),
                               .entry = SEE(r->entry),
                               .creation = SEE(r->creation),
                               .place = SEE(r->place),
                               .stack = SEE(r->stack)};
    return SEE(r->serial) == serial;
}

size_t pp_thread_table_read(pp_thread_record *copies, pp_thread_record **from, size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; count < capacity && find_taken(&i); i++) {
        pp_thread_record *chunk = chunk_at(i);
        if (chunk != NULL && copy_record(chunk + i % CHUNK, &copies[count])) {
            if (from != NULL) {
                from[count] = chunk + i % CHUNK;
            }
            count++;
        }
    }
    return count;
}

size_t pp_thread_table_count(void)
{
    size_t count = 0;
    for (size_t i = 0; find_taken(&i); i++) {
        count++;
    }
    return count;
}

size_t pp_thread_table_count_ours(void)
{
    return SEE(table.ours);
}

/* Either the ending thread sees the reader and waits, or the reader sees that it is gone. */
bool pp_thread_table_look(pp_thread_record *record, const pp_thread_record *copy,
                          pp_thread_look *look, void *context)
{
    __atomic_add_fetch(&record->readers, 1, __ATOMIC_SEQ_CST);
    bool alive = __atomic_load_n(&record->serial, __ATOMIC_SEQ_CST) == copy->serial;
    if (alive && copy->place != NULL) {
        look(copy->place, context);
    }
    __atomic_sub_fetch(&record->readers, 1, __ATOMIC_SEQ_CST);
    return alive;
}

void pp_thread_table_after_fork_in_child(pp_thread_record *mine, int tid)
{
    memset(table.ending, 0, sizeof table.ending);
    for (size_t i = 0; find_taken(&i); i++) {
        pp_thread_record *chunk = chunks[i / CHUNK];
        pp_thread_record *r = chunk != NULL ? chunk + i % CHUNK : NULL;
        if (r == NULL) {
            pp_bitmap_release(table.taken, i);
            continue;
        }
        r->readers = 0;
        if (r == mine) {
            if (r->ours) {
                pp_own_threads_replace(r->tid, tid);
            }
            r->tid = tid;
        } else if (r->serial % 2 != 0) {
            stop_counting(r);
            free_record(r);
        } else {
            pp_bitmap_release(table.taken,
                              i); /* fork came while its thread was about to fill it in */
        }
    }
    table.ours = mine != NULL && mine->ours; /* one whose thread was ending is not counted twice */
}
