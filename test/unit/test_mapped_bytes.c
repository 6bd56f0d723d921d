/* SPDX-License-Identifier: MIT
 *
 * test_mapped_bytes.c: a child of fork that releases bytes of its parent takes no memory that another thread of the parent
 * has mapped in the place of theirs, wherever the fork comes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int unmap_and_fork(void *memory, size_t size);
static void *move_and_fork(void *memory, size_t size, size_t new_size, int flags);

#define munmap unmap_and_fork
#define mremap move_and_fork
/* NOLINTNEXTLINE(bugprone-suspicious-include): with other calls of the kernel */
#include "../../http/mapped_bytes.c"
#undef munmap
#undef mremap

static bytes held;
static bool forks;
static int child_status;

static void *map(void *at, size_t size, int more)
{
    return mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0);
}

/* Forks when `memory`, which the bytes have had, is another thread's. */
static void fork_now(char *memory, size_t size)
{
    if (!forks) {
        return;
    }
    forks = false;
    assert_ptr_equal(map(memory, size, MAP_FIXED_NOREPLACE), memory);
    pid_t child = fork();
    if (child == 0) {
        bytes_release(&held);
        memset(memory, 1, size); /* a fault ends the child */
        _exit(0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &child_status, 0), child);
    assert_int_equal(munmap(memory, size), 0);
}

static int unmap_and_fork(void *memory, size_t size)
{
    int result = munmap(memory, size);
    fork_now(memory, size);
    return result;
}

static void *move_and_fork(void *memory, size_t size, size_t new_size, int flags)
{
    void *to = map(NULL, new_size, 0);
    void *moved = mremap(memory, size, new_size, flags | MREMAP_FIXED, to);
    assert_ptr_equal(moved, to);
    fork_now(memory, size);
    return moved;
}

static int set_up(void **state)
{
    (void)state;
    held = (bytes){.data = NULL};
    child_status = -1;
    assert_true(bytes_append_text(&held, "text"));
    forks = true;
    return 0;
}

static void a_fork_after_the_release_leaves_the_child_what_is_another_threads(void **state)
{
    (void)state;
    bytes_release(&held);
    assert_int_equal(child_status, 0);
    assert_null(held.data);
}

static void a_fork_after_a_move_leaves_the_child_what_is_another_threads(void **state)
{
    (void)state;
    assert_true(bytes_reserve(&held, held.capacity));
    assert_int_equal(child_status, 0);
    assert_int_equal(held.length, 4);
    assert_memory_equal(held.data, "text", 4);
    bytes_release(&held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_fork_after_the_release_leaves_the_child_what_is_another_threads,
                               set_up),
        cmocka_unit_test_setup(a_fork_after_a_move_leaves_the_child_what_is_another_threads,
                               set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
