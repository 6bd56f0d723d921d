/* SPDX-License-Identifier: MIT
 *
 * test_bytes.c: the library's own functions of <string.h> answer what libc's answer, at every
 * length, alignment and overlap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

void *own_memcpy(void *restrict to, const void *restrict from, size_t size) __asm__("pp_memcpy");
void *own_memmove(void *to, const void *from, size_t size) __asm__("pp_memmove");
void *own_memset(void *to, int value, size_t size) __asm__("pp_memset");
int own_memcmp(const void *a, const void *b, size_t size) __asm__("pp_memcmp");
void *own_memchr(const void *bytes, int wanted, size_t size) __asm__("pp_memchr");
size_t own_strlen(const char *text) __asm__("pp_strlen");
size_t own_strnlen(const char *text, size_t most) __asm__("pp_strnlen");
int own_strcmp(const char *a, const char *b) __asm__("pp_strcmp");
int own_strncmp(const char *a, const char *b, size_t most) __asm__("pp_strncmp");
char *own_strchr(const char *text, int wanted) __asm__("pp_strchr");
char *own_strrchr(const char *text, int wanted) __asm__("pp_strrchr");
char *own_strstr(const char *text, const char *wanted) __asm__("pp_strstr");
size_t own_strspn(const char *text, const char *accepted) __asm__("pp_strspn");
size_t own_strcspn(const char *text, const char *rejected) __asm__("pp_strcspn");

enum { ROOM = 200, LONGEST = 140, SHIFTS = 17 };

static unsigned char ours[ROOM], libcs[ROOM], source[ROOM];

static int fill(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ROOM; i++) {
        source[i] = (unsigned char)(i * 37 + 11);
        ours[i] = libcs[i] = (unsigned char)(i * 101 + 3);
    }
    return 0;
}

static void all_lengths_and_places_are_copied(void **state)
{
    (void)state;
    for (size_t size = 0; size <= LONGEST; size++) {
        for (size_t from = 0; from < SHIFTS; from++) {
            for (size_t to = 0; to < SHIFTS; to++) {
                assert_ptr_equal(own_memcpy(ours + to, source + from, size), ours + to);
                memcpy(libcs + to, source + from, size);
                assert_memory_equal(ours, libcs, ROOM);
                fill(NULL);
            }
        }
    }
}

static void what_overlaps_is_moved(void **state)
{
    (void)state;
    for (size_t size = 0; size <= LONGEST; size++) {
        for (size_t from = 0; from < 2 * SHIFTS; from++) {
            for (size_t to = 0; to < 2 * SHIFTS; to++) {
                assert_ptr_equal(own_memmove(ours + to, ours + from, size), ours + to);
                memmove(libcs + to, libcs + from, size);
                assert_memory_equal(ours, libcs, ROOM);
                fill(NULL);
            }
        }
    }
}

static void all_lengths_and_places_are_set(void **state)
{
    (void)state;
    volatile int value = 0x1f7; /* of which one byte counts */
    for (size_t size = 0; size <= LONGEST; size++) {
        for (size_t to = 0; to < SHIFTS; to++) {
            assert_ptr_equal(own_memset(ours + to, value, size), ours + to);
            memset(libcs + to, value, size);
            assert_memory_equal(ours, libcs, ROOM);
            fill(NULL);
        }
    }
}

static int sign(int number)
{
    return (number > 0) - (number < 0);
}

/* Each byte in turn is another one, with its highest bit set or not. */
static void differences_are_found_wherever_they_are(void **state)
{
    (void)state;
    for (size_t size = 0; size <= LONGEST; size++) {
        for (size_t at = 0; at < size + 3; at++) {
            memcpy(ours, source, ROOM);
            ours[at] ^= at % 2 ? 0x80 : 1;
            assert_int_equal(sign(own_memcmp(ours, source, size)),
                             sign(memcmp(ours, source, size)));
            assert_int_equal(sign(own_memcmp(source, ours, size)),
                             sign(memcmp(source, ours, size)));
            assert_ptr_equal(own_memchr(source, source[at] | 0x700, size),
                             memchr(source, source[at], size));
        }
    }
}

static void texts_are_measured_and_compared(void **state)
{
    static const char *const texts[] = {"",   "a",   "b",    "ab",      "aab",    "aaab",
                                        "ba", "b\n", "\xff", "\xffz",   "banana", "ananas",
                                        "an", "nan", "na n", "bananas", "%ekp"};
    enum { TEXTS = sizeof texts / sizeof *texts };
    (void)state;
    for (unsigned i = 0; i < TEXTS; i++) {
        const char *x = texts[i];
        assert_int_equal(own_strlen(x), strlen(x));
        for (size_t most = 0; most < 9; most++) {
            assert_int_equal(own_strnlen(x, most), strnlen(x, most));
        }
        for (unsigned k = 0; k < TEXTS; k++) {
            const char *y = texts[k];
            assert_int_equal(sign(own_strcmp(x, y)), sign(strcmp(x, y)));
            assert_ptr_equal(own_strstr(x, y), strstr(x, y));
            assert_int_equal(own_strspn(x, y), strspn(x, y));
            assert_int_equal(own_strcspn(x, y), strcspn(x, y));
            assert_ptr_equal(own_strchr(x, *y), strchr(x, *y));
            assert_ptr_equal(own_strrchr(x, *y), strrchr(x, *y));
            for (size_t most = 0; most < 9; most++) {
                assert_int_equal(sign(own_strncmp(x, y, most)), sign(strncmp(x, y, most)));
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(all_lengths_and_places_are_copied, fill),
        cmocka_unit_test_setup(what_overlaps_is_moved, fill),
        cmocka_unit_test_setup(all_lengths_and_places_are_set, fill),
        cmocka_unit_test_setup(differences_are_found_wherever_they_are, fill),
        cmocka_unit_test(texts_are_measured_and_compared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
