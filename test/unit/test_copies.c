/* SPDX-License-Identifier: MIT
 *
 * test_copies.c: what was copied is found again, in its own epoch only, and never half of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "modules/loader.h"
#include "unwind/copies.h"

#include <pthread.h>
#include <stdbool.h>

enum { SOME_ADDRESS = 0x7000000, SLOTS = 96, ROUNDS = 200000 };

static int forget(void **state)
{
    (void)state;
    pp_copies_clear();
    return 0;
}

static pp_chunk chunk_at(uintptr_t begin, uint8_t filling)
{
    pp_chunk chunk = {.lo = begin, .hi = begin + PP_CHUNK_BYTES};
    memset(chunk.bytes, filling, sizeof chunk.bytes);
    return chunk;
}

/* All of the chunk. */
static bool find(uintptr_t begin, uint64_t epoch, pp_chunk *found)
{
    return pp_copies_find(begin, PP_CHUNK_BYTES, epoch, found);
}

static void a_kept_chunk_is_found_as_it_was(void **state)
{
    (void)state;
    pp_chunk kept = chunk_at(SOME_ADDRESS, 7);
    pp_chunk found;
    kept.hi -= 100; /* the image ended there */
    assert_false(find(SOME_ADDRESS, pp_loader_epoch(), &found));
    pp_copies_keep(SOME_ADDRESS, pp_loader_epoch(), &kept);
    assert_true(find(SOME_ADDRESS, pp_loader_epoch(), &found));
    assert_int_equal(found.lo, kept.lo);
    assert_int_equal(found.hi, kept.hi);
    assert_memory_equal(found.bytes, kept.bytes, kept.hi - kept.lo);
    assert_false(find(SOME_ADDRESS + PP_CHUNK_BYTES, pp_loader_epoch(), &found));
    assert_false(find(SOME_ADDRESS + SLOTS * PP_CHUNK_BYTES, pp_loader_epoch(), &found));
}

/* A chunk of an image that begins and ends within it, at no multiple of a word. */
static void a_part_of_a_chunk_has_the_bytes_from_there_on(void **state)
{
    (void)state;
    enum { FRONT = 20, BACK = 30, MOST = 40, SOME_MORE = 16 };
    pp_chunk kept = {.lo = SOME_ADDRESS + FRONT, .hi = SOME_ADDRESS + PP_CHUNK_BYTES - BACK};
    pp_chunk found;
    for (size_t i = 0; i < kept.hi - kept.lo; i++) {
        kept.bytes[i] = (uint8_t)(i * 7);
    }
    pp_copies_keep(SOME_ADDRESS, pp_loader_epoch(), &kept);
    for (uintptr_t at = kept.lo; at < kept.hi; at++) {
        uintptr_t end = kept.hi - at < MOST ? kept.hi : at + MOST;
        assert_true(pp_copies_find(at, MOST, pp_loader_epoch(), &found));
        assert_in_range(found.lo, kept.lo, at);
        assert_in_range(found.hi, end, kept.hi);
        assert_true(found.hi - found.lo <= MOST + SOME_MORE);
        assert_memory_equal(found.bytes, kept.bytes + (found.lo - kept.lo), found.hi - found.lo);
    }
    assert_false(pp_copies_find(kept.hi, MOST, pp_loader_epoch(), &found));
}

static void two_chunks_of_one_slot_replace_each_other(void **state)
{
    (void)state;
    uintptr_t other = SOME_ADDRESS + SLOTS * PP_CHUNK_BYTES;
    pp_chunk a = chunk_at(SOME_ADDRESS, 1);
    pp_chunk b = chunk_at(other, 2);
    pp_chunk found;
    pp_copies_keep(SOME_ADDRESS, pp_loader_epoch(), &a);
    pp_copies_keep(other, pp_loader_epoch(), &b);
    assert_false(find(SOME_ADDRESS, pp_loader_epoch(), &found));
    assert_true(find(other, pp_loader_epoch(), &found));
    assert_int_equal(found.bytes[0], 2);
}

static void nothing_of_another_epoch_is_found_or_kept(void **state)
{
    (void)state;
    uint64_t before = pp_loader_epoch();
    pp_chunk chunk = chunk_at(SOME_ADDRESS, 3);
    pp_chunk found;
    pp_copies_keep(SOME_ADDRESS, before, &chunk);
    pp_loader_note_change();
    assert_true(pp_loader_epoch() != before);
    assert_false(find(SOME_ADDRESS, pp_loader_epoch(), &found));
    pp_copies_clear();
    pp_copies_keep(SOME_ADDRESS, before, &chunk); /* a walk that began before the change */
    assert_false(find(SOME_ADDRESS, before, &found));
    assert_false(find(SOME_ADDRESS, pp_loader_epoch(), &found));
}

static unsigned torn;
static bool stop;

/* Two chunks of one slot, each of one byte repeated. */
static void *read_back(void *unused)
{
    (void)unused;
    pp_chunk found;
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        for (uintptr_t turn = 0; turn < 2; turn++) {
            uintptr_t begin = SOME_ADDRESS + turn * SLOTS * PP_CHUNK_BYTES;
            if (!find(begin, pp_loader_epoch(), &found))
                continue;
            bool whole = found.lo == begin && found.hi == begin + PP_CHUNK_BYTES;
            for (size_t i = 0; i < sizeof found.bytes; i++)
                whole &= found.bytes[i] == turn + 1;
            if (!whole)
                __atomic_add_fetch(&torn, 1, __ATOMIC_RELAXED);
        }
    }
    return NULL;
}

static void a_chunk_is_never_found_half_written(void **state)
{
    (void)state;
    pthread_t reader;
    torn = 0;
    stop = false;
    assert_int_equal(pthread_create(&reader, NULL, read_back, NULL), 0);
    for (uintptr_t i = 0; i < ROUNDS; i++) {
        uintptr_t begin = SOME_ADDRESS + i % 2 * SLOTS * PP_CHUNK_BYTES;
        pp_chunk chunk = chunk_at(begin, (uint8_t)(i % 2 + 1));
        pp_copies_keep(begin, pp_loader_epoch(), &chunk);
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    pthread_join(reader, NULL);
    assert_int_equal(torn, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_kept_chunk_is_found_as_it_was, forget),
        cmocka_unit_test_setup(a_part_of_a_chunk_has_the_bytes_from_there_on, forget),
        cmocka_unit_test_setup(two_chunks_of_one_slot_replace_each_other, forget),
        cmocka_unit_test_setup(nothing_of_another_epoch_is_found_or_kept, forget),
        cmocka_unit_test_setup(a_chunk_is_never_found_half_written, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
