/* SPDX-License-Identifier: MIT
 *
 * cmd_record_parts.c: the messages of several processes become profiles. A message that is
 * incomplete, out of order or not the library's never does. If the last profile has all the others,
 * only the last one counts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/record_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static cp_parts parts;
static const cp_part *selected[64];

static int release(void **state)
{
    (void)state;
    cp_parts_release(&parts);
    return 0;
}

static void take(const char *header, const char *data)
{
    char message[256];
    int length = snprintf(message, sizeof message, "libpprof-part 1 %s\n%s", header, data);

    cp_parts_take_message(&parts, message, (size_t)length);
}

static void assert_selected(const char *kind, pid_t command, const char *expected)
{
    char found[256] = "";
    size_t count = cp_parts_select(&parts, kind, command, selected);

    for (size_t i = 0; i < count; i++) {
        snprintf(found + strlen(found), sizeof found - strlen(found), "%d:%.*s ",
                 (int)selected[i]->process, (int)selected[i]->bytes.length,
                 (const char *)selected[i]->bytes.data);
    }
    assert_string_equal(found, expected);
}

static void pieces_of_several_processes_are_put_together(void **state)
{
    (void)state;
    take("7 100 1 cpu 0 more", "ab");
    take("8 100 1 cpu 0 more", "AB");
    take("7 100 2 heap 0 last", "hh");
    take("7 100 1 cpu 2 more", "cd");
    take("8 100 1 cpu 2 last", "CD");
    assert_selected("cpu", 0, "8:ABCD ");
    take("7 100 1 cpu 4 last", "");
    assert_selected("cpu", 0, "7:abcd 8:ABCD ");
    assert_selected("cpu", 7, "7:abcd ");
    assert_selected("heap", 0, "7:hh ");
    assert_selected("block", 0, "");
    assert_int_equal(parts.strange, 0);
}

static void what_is_not_whole_is_left_out(void **state)
{
    (void)state;
    take("7 100 1 cpu 0 more", "ab");
    take("7 100 1 cpu 3 last", "d"); /* one byte is missing */
    take("8 100 1 cpu 2 last", "cd");
    take("9 100 1 cpu 0 more", "never ended");
    take("10 100 1 cpu 0 last", "good");
    take("10 100 1 cpu 4 last", "more after its end");
    assert_selected("cpu", 0, "");
    assert_int_equal(cp_parts_incomplete(&parts, "cpu", 0), 4);
    assert_int_equal(cp_parts_incomplete(&parts, "cpu", 9), 1);
    assert_int_equal(cp_parts_incomplete(&parts, "heap", 0), 0);
    take("9 100 2 cpu 0 last", "once more");
    assert_int_equal(cp_parts_incomplete(&parts, "cpu", 9), 0);
}

static void what_is_no_message_is_counted(void **state)
{
    (void)state;
    static const char *const strange[] = {
        "7 100 1 cpu 0",        "7 100 1 cpu 0 later",  "7 100 1 cpu zero last",
        "0 100 1 cpu 0 last",   "-7 100 1 cpu 0 last",  "7 100 1",
        "7 100 1 cpu 0 last x", "7 100 1 cpu 0 lastly", "7 100 1 a-kind-with-a-long-name 0 last"};
    size_t count = sizeof strange / sizeof *strange;
    char zeros[300] = "";

    for (size_t i = 0; i < count; i++) {
        take(strange[i], "x");
    }
    assert_int_equal(parts.strange, count);
    cp_parts_take_message(&parts, zeros, sizeof zeros);
    cp_parts_take_message(&parts, zeros, 0);
    cp_parts_take_message(&parts, "libpprof-part 1 7 100 1 cpu 0 last", 34); /* no end of line */
    memset(zeros, 'x', sizeof zeros);
    cp_parts_take_message(&parts, zeros, sizeof zeros);
    assert_int_equal(parts.strange, count + 4);
    assert_int_equal(parts.count, 0);
}

/* 100 is the first program of process 7; 200 is the program that it executes. */
static void what_one_process_writes_is_added_or_replaced(void **state)
{
    static const char *const kinds[] = {"cpu", "heap", "thread", "fd"};
    static const char *const expected[] = {"7:three 7:one 7:two 8:other ", "7:three 7:two 8:other ",
                                           "7:three 8:other ", "7:three 8:other "};

    (void)state;
    char header[64];
    for (int i = 0; i < 4; i++) {
        snprintf(header, sizeof header, "7 100 1 %s 0 last", kinds[i]);
        take(header, "one");
        snprintf(header, sizeof header, "7 100 2 %s 0 last", kinds[i]);
        take(header, "two");
        snprintf(header, sizeof header, "7 200 1 %s 0 last", kinds[i]);
        take(header, "three");
        snprintf(header, sizeof header, "7 300 1 %s 0 more", kinds[i]);
        take(header, "incomplete");
        snprintf(header, sizeof header, "8 50 1 %s 0 last", kinds[i]);
        take(header, "other");
        assert_selected(kinds[i], 0, expected[i]);
    }
}

static void put_file(const char *folder, const char *name, const char *content)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static void files_count_as_much(void **state)
{
    static const char *const names[] = {
        "7.cpu.100.2.pb.gz", "7.heap.100.1.pb.gz", "7.cpu.100.3.pb.gz.tmp.7.0",
        "x.cpu.100.1.pb.gz", "libpprof.so.0",      "7.cpu.100.pb.gz"};
    char folder[] = "/tmp/cmd_record_parts.XXXXXX";

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        put_file(folder, names[i], "file");
    }
    take("7 100 1 cpu 0 last", "message");
    take("7 100 1 heap 0 more", "incomplete");
    cp_parts_take_folder(&parts, folder);
    assert_selected("cpu", 7, "7:message 7:file ");
    assert_selected("heap", 7, "7:file ");
    assert_int_equal(parts.count, 3);
    cp_parts_take_folder(&parts, "/nowhere");
    char path[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(pieces_of_several_processes_are_put_together, release),
        cmocka_unit_test_teardown(what_is_not_whole_is_left_out, release),
        cmocka_unit_test_teardown(what_is_no_message_is_counted, release),
        cmocka_unit_test_teardown(what_one_process_writes_is_added_or_replaced, release),
        cmocka_unit_test_teardown(files_count_as_much, release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
