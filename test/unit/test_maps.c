/* SPDX-License-Identifier: MIT
 *
 * test_maps.c: lines of /proc/self/maps, as the kernel writes them, and as it never would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mmap_fault.h"
#include "base/random.h"
#include "modules/maps.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static char buffer[8192];
static char *rest;

static void set_text(const char *text)
{
    assert_true(strlen(text) < sizeof buffer);
    memcpy(buffer, text, strlen(text) + 1);
    rest = buffer;
}

static void assert_next(uintptr_t start, uintptr_t limit, bool executable, uint64_t offset,
                        const char *path)
{
    pp_map_line line;
    assert_true(pp_maps_next(&rest, &line));
    assert_int_equal(line.start, start);
    assert_int_equal(line.limit, limit);
    assert_int_equal(line.executable, executable);
    assert_int_equal(line.offset, offset);
    assert_string_equal(line.path, path);
}

static void assert_no_more(void)
{
    pp_map_line line;
    assert_false(pp_maps_next(&rest, &line));
    assert_int_equal(*rest, '\0');
}

static void lines_of_the_kernel_are_read(void **state)
{
    (void)state;
    set_text("55d0a2c9d000-55d0a2c9f000 r--p 00000000 08:01 1311  /usr/bin/cat\n"
             "55d0a2c9f000-55d0a2ca4000 r-xp 00002000 08:01 1311                 /usr/bin/cat\n"
             "7f2b1c000000-7f2b1c021000 rw-p 00000000 00:00 0 \n"
             "7f2b1e5d1000-7f2b1e5d3000 rwxp 00000000 00:00 0\n"
             "7ffd4a5e4000-7ffd4a605000 rw-p 00000000 00:00 0                    [stack]\n"
             "7ffd4a7c6000-7ffd4a7c8000 r-xp 00000000 00:00 0                    [vdso]\n"
             "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0            [vsyscall]\n");
    assert_next(0x55d0a2c9d000, 0x55d0a2c9f000, false, 0, "/usr/bin/cat");
    assert_next(0x55d0a2c9f000, 0x55d0a2ca4000, true, 0x2000, "/usr/bin/cat");
    assert_next(0x7f2b1c000000, 0x7f2b1c021000, false, 0, "");
    assert_next(0x7f2b1e5d1000, 0x7f2b1e5d3000, true, 0, "");
    assert_next(0x7ffd4a5e4000, 0x7ffd4a605000, false, 0, "[stack]");
    assert_next(0x7ffd4a7c6000, 0x7ffd4a7c8000, true, 0, "[vdso]");
    assert_next(0xffffffffff600000, 0xffffffffff601000, true, 0, "[vsyscall]");
    assert_no_more();
}

static void paths_are_taken_as_they_are(void **state)
{
    (void)state;
    set_text("1000-2000 r-xp 123456789abcdef0 fd:00 18446744073709551615 /a b/c (deleted)\n"
             "2000-3000 r-xs 00000000 00:05 7 /dev/zero (deleted)\n"
             "3000-4000 r-xp 00000000 00:00 0 [anon: with spaces ]\n"
             "4000-5000 r-xp 00000000 00:00 0 /with\\012newline\n"
             "5000-6000 r-xp 00000000 00:00 0 /last line without newline");
    assert_next(0x1000, 0x2000, true, 0x123456789abcdef0, "/a b/c (deleted)");
    assert_next(0x2000, 0x3000, true, 0, "/dev/zero (deleted)");
    assert_next(0x3000, 0x4000, true, 0, "[anon: with spaces ]");
    assert_next(0x4000, 0x5000, true, 0, "/with\\012newline");
    assert_next(0x5000, 0x6000, true, 0, "/last line without newline");
    assert_no_more();
}

static void other_lines_are_skipped(void **state)
{
    (void)state;
    set_text("\n"
             "garbage\n"
             "-\n"
             "1000\n"
             "1000-\n"
             "-2000 r-xp 0 00:00 0\n"
             "1000-2000\n"
             "1000-2000 \n"
             "1000-2000 r-x\n"
             "1000-2000 r-xp\n"
             "1000-2000 r-xp \n"
             "1000-2000 r-xp x 00:00 0 /no/offset\n"
             "2000-1000 r-xp 0 00:00 0 /backwards\n"
             "1000-1000 r-xp 0 00:00 0 /empty\n"
             "1000 2000 r-xp 0 00:00 0 /no/hyphen\n"
             "ABCD-F000 r-xp 0 00:00 0 /upper\n"
             "10000000000000000-10000000000000001 r-xp 0 00:00 0 /seventeen/digits\n"
             "1000-2000 toolong 0 00:00 0 /permissions\n"
             "0x1000-0x2000 r-xp 0 00:00 0 /prefix\n"
             "1000-2000 r-xp 7 00:00 0 /good\n"
             "\n\n\n");
    assert_next(0x1000, 0x2000, true, 7, "/good");
    assert_no_more();
}

static void short_lines_have_no_path(void **state)
{
    (void)state;
    set_text("1000-2000 r-xp 3\n"
             "1000-2000 r-xp 3 \n"
             "1000-2000 r-xp 3 08:01\n"
             "1000-2000 r-xp 3 08:01 \n"
             "1000-2000 r-xp 3 08:01 7\n");
    for (int i = 0; i < 5; i++)
        assert_next(0x1000, 0x2000, true, 3, "");
    assert_no_more();
}

static void an_empty_text_has_no_lines(void **state)
{
    (void)state;
    set_text("");
    assert_no_more();
    set_text("\n");
    assert_no_more();
}

static void random_changes_are_survived(void **state)
{
    (void)state;
    static const char good[] = "55d0a2c9d000-55d0a2c9f000 r-xp 00002000 08:01 1311  /usr/bin/cat\n"
                               "7f2b1c000000-7f2b1c021000 rw-p 00000000 00:00 0 \n";
    uint64_t seed = 11;
    for (int round = 0; round < 50000; round++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        for (int changes = 0; changes < 4; changes++)
            text[pp_random_below(&seed, sizeof good - 1)] = (char)pp_random_next(&seed);
        size_t length = strlen(text);
        char *copy = malloc(length + 1); /* exactly as long, for the sanitizer */
        memcpy(copy, text, length + 1);
        char *at = copy;
        pp_map_line line;
        int lines = 0;
        while (pp_maps_next(&at, &line)) {
            assert_true(line.start < line.limit);
            assert_true(line.path >= copy && line.path <= copy + length);
            assert_in_range(++lines, 1, length);
        }
        assert_ptr_equal(at, copy + length);
        free(copy);
    }
}

/* ---- the file itself ---- */

static void our_own_maps_are_read(void **state)
{
    (void)state;
    pp_arena arena = PP_ARENA_INIT;
    char *text = NULL;
    size_t length = 0;
    bool code = false;
    int local = 0;
    bool stack = false;
    assert_int_equal(pp_maps_text(&arena, &text, &length), 0);
    assert_int_equal(strlen(text), length);
    assert_int_equal(text[length - 1], '\n');
    pp_map_line line;
    uintptr_t previous = 0;
    while (pp_maps_next(&text, &line)) {
        assert_true(line.start >= previous);
        previous = line.limit;
        uintptr_t here = (uintptr_t)our_own_maps_are_read;
        code |= here >= line.start && here < line.limit && line.executable;
        stack |=
            (uintptr_t)&local >= line.start && (uintptr_t)&local < line.limit && !line.executable;
    }
    assert_true(code);
    assert_true(stack);
    pp_arena_release(&arena);
}

/* Longer than the first buffer. */
static void many_mappings_are_read(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, COUNT * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    for (size_t i = 0; i < COUNT; i += 2)
        mprotect(memory + i * page, page, PROT_READ | PROT_WRITE);
    pp_arena arena = PP_ARENA_INIT;
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(pp_maps_text(&arena, &text, &length), 0);
    assert_true(length > 65536);
    pp_map_line line;
    int ours = 0;
    while (pp_maps_next(&text, &line))
        ours += line.start >= (uintptr_t)memory && line.limit <= (uintptr_t)memory + COUNT * page;
    assert_in_range(ours, COUNT - 2, COUNT);
    pp_arena_release(&arena);
    munmap(memory, COUNT * page);
}

static void no_memory_is_an_error(void **state)
{
    (void)state;
    needs_mmap_fault();
    pp_arena arena = PP_ARENA_INIT;
    char *text = NULL;
    size_t length = 0;
    mappings_left = 0;
    int error = pp_maps_text(&arena, &text, &length);
    mappings_left = LONG_MAX;
    assert_int_equal(error, -ENOMEM);
    assert_null(text);
    pp_arena_release(&arena);
    assert_int_equal(mappings_live, 0);
}

static void no_descriptor_is_an_error(void **state)
{
    (void)state;
    struct rlimit old;
    pp_arena arena = PP_ARENA_INIT;
    char *text = NULL;
    size_t length = 0;
    getrlimit(RLIMIT_NOFILE, &old);
    const struct rlimit none = {0, old.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    int error = pp_maps_text(&arena, &text, &length);
    setrlimit(RLIMIT_NOFILE, &old);
    assert_int_equal(error, -EMFILE);
    pp_arena_release(&arena);
    /* And none is left open. */
    int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(before);
    assert_int_equal(pp_maps_text(&arena, &text, &length), 0);
    int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(after);
    assert_int_equal(after, before);
    pp_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_the_kernel_are_read),
        cmocka_unit_test(paths_are_taken_as_they_are),
        cmocka_unit_test(other_lines_are_skipped),
        cmocka_unit_test(short_lines_have_no_path),
        cmocka_unit_test(an_empty_text_has_no_lines),
        cmocka_unit_test(random_changes_are_survived),
        cmocka_unit_test(our_own_maps_are_read),
        cmocka_unit_test(many_mappings_are_read),
        cmocka_unit_test(no_memory_is_an_error),
        cmocka_unit_test(no_descriptor_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
