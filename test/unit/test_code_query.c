/* SPDX-License-Identifier: MIT
 *
 * test_code_query.c: the kernel's answers are the executable lines of /proc/self/maps, and a profile
 * has the same mappings by both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "modules/code_query.h"
#include "modules/modules.h"
#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 64 * 1024 /* the largest of Linux */, PIECES = 300 };

static pp_arena arena = PP_ARENA_INIT;

static char *text_of_maps(void)
{
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(pp_maps_text(&arena, &text, &length), 0);
    return text;
}

/* Whether the kernel has such questions: it refuses an empty one as wrong, not as unknown. */
static bool kernel_answers(void)
{
    enum { QUESTION_BYTES = 104 };
    uint64_t question[QUESTION_BYTES / 8] = {0};
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    assert_true(maps >= 0);
    unsigned number = _IOC(_IOC_READ | _IOC_WRITE, 'f', 17, QUESTION_BYTES);
    long status = syscall(SYS_ioctl, maps, number, question);
    int error = errno;
    close(maps);
    return status == 0 || (error != ENOTTY && error != ENOSYS && error != EPERM);
}

/* Skips the test where the kernel answers no questions. */
static pp_map_line *answers(size_t *count)
{
    pp_map_line *lines = pp_code_query(&arena, count);
    if (lines == NULL) {
        assert_false(kernel_answers());
        skip();
    }
    return lines;
}

static void nothing_is_asked_without_permission(void **state)
{
    (void)state;
    size_t count = 0;
    assert_null(pp_code_query(&arena, &count));
    pp_code_query_permit();
    assert_null(pp_code_query(&arena, &count)); /* nothing is known of [vsyscall] */
    pp_code_query_learn(text_of_maps());
}

static void the_answers_are_the_lines_of_code(void **state)
{
    (void)state;
    size_t count = 0;
    size_t compared = 0;
    pp_map_line line;
    char *text = text_of_maps();
    const pp_map_line *lines = answers(&count);
    while (pp_maps_next(&text, &line)) {
        if (line.executable) {
            assert_true(compared < count);
            assert_int_equal(lines[compared].start, line.start);
            assert_int_equal(lines[compared].limit, line.limit);
            assert_int_equal(lines[compared].offset, line.offset);
            assert_string_equal(lines[compared].path, line.path);
            compared++;
        }
    }
    assert_int_equal(compared, count);
}

static void many_pieces_of_code_are_all_there(void **state)
{
    (void)state;
    size_t before = 0;
    size_t count = 0;
    answers(&before);
    char *code =
        mmap(NULL, (size_t)2 * PIECES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(code, MAP_FAILED);
    for (size_t i = 0; i < PIECES; i++) {
        assert_int_equal(mprotect(code + 2 * i * PAGE, PAGE, PROT_READ | PROT_EXEC), 0);
    }
    answers(&count);
    assert_int_equal(count, before + PIECES);
    munmap(code, (size_t)2 * PIECES * PAGE);
}

static char *map_page(void *place, int access)
{
    int fixed = place != NULL ? MAP_FIXED : 0;
    char *code = mmap(place, PAGE, access, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
    assert_ptr_not_equal(code, MAP_FAILED);
    return code;
}

static bool is_found(const char *code)
{
    size_t count = 0;
    const pp_map_line *lines = answers(&count);
    for (size_t i = 0; i < count; i++) {
        if (lines[i].start <= (uintptr_t)code && (uintptr_t)code < lines[i].limit) {
            return true;
        }
    }
    return false;
}

/* The size of all code is the same before and after, and so is the number of its pieces. */
static void code_that_moves_is_found(void **state)
{
    (void)state;
    enum { WRITABLE = PROT_READ | PROT_WRITE, CODE = PROT_READ | PROT_EXEC };
    enum { STEPS = 20 };
    char *room = mmap(NULL, (size_t)STEPS * PAGE, WRITABLE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(room, MAP_FAILED);
    char *code = room;
    map_page(code, CODE);
    for (int i = 1; i < STEPS; i++) {
        assert_true(is_found(code));
        map_page(code, WRITABLE);
        char *next = room + (size_t)(i * 7 % STEPS) * PAGE;
        map_page(next, CODE);
        assert_true(is_found(next));
        assert_int_equal(is_found(code), next == code);
        code = next;
    }
    munmap(room, (size_t)STEPS * PAGE);
}

static time_t now_s = 1000; /* the clock, which stands still */

static int read_clock(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){.tv_sec = now_s};
    return 0;
}

/* This shows that the beginnings are kept, too. */
static void writable_code_is_found_a_second_later(void **state)
{
    (void)state;
    size_t count = 0;
    pp_clock_function *usual = pp_clock_reader;
    pp_clock_reader = read_clock;
    char *other = map_page(NULL, PROT_READ | PROT_EXEC);
    answers(&count);
    char *code = map_page(NULL, PROT_READ | PROT_WRITE | PROT_EXEC);
    assert_false(is_found(code));
    now_s++;
    assert_true(is_found(code));
    munmap(code, PAGE);
    assert_false(is_found(code));
    munmap(other, PAGE);
    pp_clock_reader = usual;
}

static void mappings_are_the_same_as_by_the_text(void **state)
{
    (void)state;
    pp_mapping *asked = NULL;
    pp_mapping *read = NULL;
    size_t asked_count = 0;
    size_t read_count = 0;
    void *code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                      0); /* no object's */
    assert_int_equal(pp_modules_mappings(&arena, &asked, &asked_count), 0);
    pp_code_query_forbid();
    assert_null(pp_code_query(&arena, &read_count));
    assert_int_equal(pp_modules_mappings(&arena, &read, &read_count), 0);
    munmap(code, PAGE);
    assert_int_equal(asked_count, read_count);
    for (size_t i = 0; i < read_count; i++) {
        assert_int_equal(asked[i].start, read[i].start);
        assert_int_equal(asked[i].limit, read[i].limit);
        assert_int_equal(asked[i].offset, read[i].offset);
        assert_int_equal(asked[i].bias, read[i].bias);
        assert_string_equal(asked[i].path, read[i].path);
    }
}

static int begin(void **state)
{
    (void)state;
    pp_modules_init();
    pp_modules_refresh();
    return 0;
}

static int end(void **state)
{
    (void)state;
    pp_arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_asked_without_permission),
        cmocka_unit_test(the_answers_are_the_lines_of_code),
        cmocka_unit_test(many_pieces_of_code_are_all_there),
        cmocka_unit_test(code_that_moves_is_found),
        cmocka_unit_test(writable_code_is_found_a_second_later),
        cmocka_unit_test(mappings_are_the_same_as_by_the_text),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
