/* SPDX-License-Identifier: MIT
 *
 * cmd_push_spool.c: the folder of profiles that no server has taken: order, bound, locks, and files that are none.
 */
#include "push/entry.h"
#include "push/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];
static bool reading_fails;

ssize_t read(int fd, void *to, size_t size)
{
    if (reading_fails) {
        errno = EIO;
        return -1;
    }
    return syscall(SYS_read, fd, to, size);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/push_spool_XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static unsigned files(void)
{
    unsigned count = 0;
    DIR *list = opendir(folder);
    while (list != NULL && readdir(list) != NULL) {
        count++;
    }
    closedir(list);
    return count - 2;
}

static int tear_down(void **state)
{
    (void)state;
    DIR *list = opendir(folder);
    const struct dirent *found = NULL;
    while ((found = readdir(list)) != NULL) {
        unlinkat(dirfd(list), found->d_name, 0);
    }
    closedir(list);
    return rmdir(folder);
}

static push_spool *open_spool(uint64_t bytes)
{
    char why[PUSH_WHY_BYTES];
    push_spool *spool = NULL;
    assert_int_equal(push_spool_open(folder, bytes, &spool, why), 0);
    return spool;
}

static push_entry *make(int64_t end_ns, size_t size)
{
    static const push_label labels[] = {{"service.name", "shop"}, {"zone", ""}};
    char *data = calloc(size + 1, 1);
    memset(data, 'x', size);
    const push_profile profile = {.data = data,
                                  .size = size,
                                  .kind = "heap",
                                  .labels = labels,
                                  .label_count = 2,
                                  .begin_ns = -5,
                                  .end_ns = end_ns};
    push_entry *entry = push_entry_new(&profile);
    free(data);
    assert_non_null(entry);
    return entry;
}

/* How many are lost for it, itself included. */
static uint64_t put(push_spool *spool, int64_t end_ns, size_t size)
{
    uint64_t dropped = 0;
    push_entry *entry = make(end_ns, size);
    int error = push_spool_put(spool, entry, 0, &dropped);
    push_entry_free(entry);
    return dropped + (error != 0);
}

static int64_t take(push_spool *spool)
{
    push_entry *entry = push_spool_take(spool, 0);
    int64_t end_ns = entry != NULL ? entry->profile.end_ns : -1;
    push_entry_free(entry);
    return end_ns;
}

static void an_entry_is_what_it_was(void **state)
{
    (void)state;
    push_entry *entry = make(77, 3);
    assert_string_equal(entry->profile.kind, "heap");
    assert_int_equal(entry->profile.begin_ns, -5);
    assert_int_equal(entry->profile.end_ns, 77);
    assert_int_equal(entry->profile.label_count, 2);
    assert_string_equal(entry->profile.labels[0].name, "service.name");
    assert_string_equal(entry->profile.labels[0].value, "shop");
    assert_string_equal(entry->profile.labels[1].value, "");
    assert_int_equal(entry->profile.size, 3);
    assert_memory_equal(entry->profile.data, "xxx", 3);
    push_entry_free(entry);
}

static void each_cut_entry_is_refused_or_whole(void **state)
{
    (void)state;
    push_entry *entry = make(77, 0);
    for (size_t size = 0; size < entry->size; size++) {
        uint8_t *bytes = malloc(size + 1);
        memcpy(bytes, entry->bytes, size);
        assert_null(push_entry_parse(bytes, size));
    }
    push_entry_free(entry);
}

static void the_oldest_comes_first(void **state)
{
    (void)state;
    push_spool *spool = open_spool(1 << 20);
    put(spool, 30, 10);
    put(spool, 10, 10);
    put(spool, 20, 10);
    push_spool_close(spool);
    spool = open_spool(1 << 20);
    assert_int_equal(push_spool_count(spool), 3);
    assert_int_equal(take(spool), 10);
    assert_int_equal(take(spool), 20);
    push_spool_remove_taken(spool);
    assert_int_equal(files(), 1);
    assert_int_equal(take(spool), 30);
    assert_int_equal(take(spool), -1);
    push_spool_keep_taken(spool);
    assert_int_equal(take(spool), 30);
    push_spool_close(spool);
    assert_int_equal(files(), 1);
}

static void the_bound_costs_the_oldest(void **state)
{
    (void)state;
    push_spool *spool = open_spool(5000);
    uint64_t dropped = 0;
    for (int64_t i = 1; i <= 10; i++) {
        dropped += put(spool, i, 1000);
    }
    assert_int_equal(dropped, 6);
    assert_int_equal(files(), 4);
    assert_true(push_spool_bytes(spool) <= 5000);
    assert_int_equal(take(spool), 7);
    assert_int_equal(put(spool, 11, 9000), 1); /* it alone is too large */
    push_spool_close(spool);
}

static void a_file_is_sent_by_one_process(void **state)
{
    (void)state;
    push_spool *mine = open_spool(1 << 20);
    put(mine, 1, 10);
    put(mine, 2, 10);
    push_spool *other = open_spool(1 << 20);
    assert_int_equal(take(mine), 1);
    assert_int_equal(take(other), 2);
    assert_int_equal(take(other), -1);
    push_spool_remove_taken(mine);
    push_spool_close(other);
    push_spool_close(mine);
    assert_int_equal(files(), 1);
}

static void write_file(const char *name, const char *text)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) >= 0);
    close(fd);
}

static void what_is_no_profile_is_removed_or_left_alone(void **state)
{
    char link[160];
    (void)state;
    write_file("00000000000000000001.1.000001.push", "garbage");
    write_file("readme", "not ours");
    snprintf(link, sizeof link, "%s/00000000000000000002.1.000001.push", folder);
    assert_int_equal(symlink("/etc/passwd", link), 0);
    push_spool *spool = open_spool(1 << 20);
    put(spool, 3, 10);
    assert_int_equal(take(spool), 3);
    push_spool_close(spool);
    assert_int_equal(files(), 3);
}

static void files_are_for_their_user(void **state)
{
    struct stat status;
    char path[320];
    (void)state;
    push_spool *spool = open_spool(1 << 20);
    put(spool, 1, 10);
    push_spool_close(spool);
    DIR *list = opendir(folder);
    const struct dirent *found = NULL;
    while ((found = readdir(list)) != NULL && found->d_name[0] == '.') {
    }
    assert_non_null(found);
    snprintf(path, sizeof path, "%s/%s", folder, found->d_name);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    closedir(list);
}

static void a_folder_that_cannot_be_is_refused(void **state)
{
    char why[PUSH_WHY_BYTES] = "";
    push_spool *spool = NULL;
    (void)state;
    assert_true(push_spool_open("/proc/no/folder", 1, &spool, why) < 0);
    assert_non_null(strstr(why, "/proc/no/folder"));
}

static void a_parked_spool_goes_on(void **state)
{
    (void)state;
    push_spool *spool = open_spool(1 << 20);
    put(spool, 1, 10);
    assert_int_equal(take(spool), 1);
    push_spool_park(spool);
    put(spool, 2, 10);
    assert_int_equal(take(spool), 1);
    assert_int_equal(take(spool), 2);
    push_spool_close(spool);
}

static void what_cannot_be_read_now_stays(void **state)
{
    (void)state;
    push_spool *spool = open_spool(1 << 20);
    put(spool, 1, 10);
    reading_fails = true;
    assert_int_equal(take(spool), -1);
    reading_fails = false;
    assert_int_equal(files(), 1);
    push_entry *entry = push_spool_take(spool, UINT64_C(60000000000));
    assert_non_null(entry);
    push_entry_free(entry);
    push_spool_close(spool);
}

/* As a killed process leaves it whose number in its container was the same. */
static void a_part_that_was_left_is_in_nobodys_way(void **state)
{
    char name[64];
    (void)state;
    snprintf(name, sizeof name, ".%d.1.part", (int)getpid());
    write_file(name, "half");
    push_spool *spool = open_spool(1 << 20);
    assert_int_equal(put(spool, 1, 10), 0);
    assert_int_equal(take(spool), 1);
    push_spool_close(spool);
}

static void a_child_keeps_no_lock(void **state)
{
    int ends[2];
    char byte;
    (void)state;
    push_spool *mine = open_spool(1 << 20);
    put(mine, 1, 10);
    assert_int_equal(take(mine), 1);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        (void)!syscall(SYS_read, ends[0], &byte, 1);
        _exit(0);
    }
    push_spool_keep_taken(mine);
    push_spool *other = open_spool(1 << 20);
    assert_int_equal(take(other), 1);
    close(ends[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ends[0]);
    push_spool_close(other);
    push_spool_close(mine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_entry_is_what_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_cut_entry_is_refused_or_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_oldest_comes_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_bound_costs_the_oldest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_is_sent_by_one_process, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_profile_is_removed_or_left_alone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(files_are_for_their_user, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_parked_spool_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_read_now_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_part_that_was_left_is_in_nobodys_way, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_child_keeps_no_lock, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
