/* SPDX-License-Identifier: MIT
 *
 * test_fd_kind.c: a recording that begins again knows nothing of the one before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "host/kind.h"
#include "kinds/fd/fd_opened.h"
#include "kinds/fd/fd_table.h"

#include <fcntl.h>
#include <unistd.h>

extern const pp_kind pp_kind_fd;

static const pp_trie_stack *stack_at(int fd)
{
    pprof_labels *labels = NULL;
    const pp_trie_stack *stack = pp_fd_table_get(fd, &labels);
    pp_labels_unref(labels);
    return stack;
}

static void start(void)
{
    pp_kind_fd.files[0].asked = true;
    assert_int_equal(pp_kind_fd.start(0), 0);
}

static void what_was_opened_between_two_recordings_is_earlier(void **state)
{
    (void)state;
    start();
    int fd = open("/dev/null", O_RDONLY);
    const pp_trie_stack *opened = stack_at(fd);
    const pp_trie_stack *earlier = stack_at(STDIN_FILENO);
    assert_non_null(opened);
    assert_non_null(earlier);
    assert_ptr_not_equal(opened, earlier);
    pp_kind_fd.stop(false);
    close(fd);
    assert_int_equal(dup(STDIN_FILENO), fd);
    start();
    assert_ptr_equal(stack_at(fd), earlier);
    pp_kind_fd.stop(false);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_opened_between_two_recordings_is_earlier)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
