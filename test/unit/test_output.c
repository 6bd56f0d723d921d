/* SPDX-License-Identifier: MIT
 *
 * test_output.c: where a profile goes: names from templates, files that appear whole or not at all,
 * links that are not followed, and what is no file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "output/output.h"
#include "sys/clock.h"
#include "sys/path_template.h"
#include "sys/recorder.h"
#include "sys/task_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char folder[64];
static pp_output output;
static const uint64_t patience_ns = 1000000000;

/* ---- a folder of its own for each test ---- */

static int enter_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test_output.XXXXXX");
    if (mkdtemp(folder) == NULL || chdir(folder) != 0)
        return -1;
    memset(&output, 0x77, sizeof output);
    return 0;
}

static int leave_folder(void **state)
{
    (void)state;
    DIR *entries = opendir(folder);
    if (chmod(folder, 0700) != 0 || entries == NULL)
        return -1;
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        if (unlinkat(dirfd(entries), entry->d_name, 0) != 0)
            unlinkat(dirfd(entries), entry->d_name, AT_REMOVEDIR);
    }
    closedir(entries);
    return chdir("/") | rmdir(folder);
}

static int count_files(void)
{
    int count = 0;
    DIR *entries = opendir(".");
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries))
        count += entry->d_name[0] != '.';
    closedir(entries);
    return count;
}

static void put_file(const char *name, const char *content)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static void assert_content(const char *name, const char *content)
{
    char buffer[256] = "";
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    size_t length = fread(buffer, 1, sizeof buffer - 1, file);
    fclose(file);
    buffer[length] = '\0';
    assert_string_equal(buffer, content);
}

/* Writes a small profile to the template `name`. */
static int write_profile(const char *name, const char *content)
{
    assert_int_equal(pp_output_set_template(name), 0);
    int error = pp_output_open(&output, "cpu");
    if (error == 0) {
        pprof_writer writer = pp_output_writer(&output, patience_ns);
        error = pp_output_close(&output, writer.write(writer.ctx, content, strlen(content)));
    }
    return error;
}

/* ---- names ---- */

static void assert_path(const char *template, const char *expected)
{
    assert_int_equal(pp_output_set_template(template), 0);
    int error = pp_output_open(&output, "cpu");
    assert_string_equal(output.path, expected);
    if (error == 0)
        pp_output_close(&output, -ECANCELED);
}

static void templates_are_expanded(void **state)
{
    (void)state;
    char expected[256];
    snprintf(expected, sizeof expected, "%s/a.%d.cpu.%%.pb.gz", folder, (int)getpid());
    assert_path("a.%p.%k.%%.pb.gz", expected);
    pp_output_init();
    snprintf(expected, sizeof expected, "%s/%s.pb.gz", folder, program_invocation_short_name);
    assert_path("%e.pb.gz", expected);
    assert_path("/nowhere/at/all", "/nowhere/at/all");
    assert_path("/nowhere/%k%k%k", "/nowhere/cpucpucpu");
}

/* Not time(): that is of the last tick, and may be a second behind. */
static uint64_t now_s(void)
{
    return pp_clock_ns(CLOCK_REALTIME) / PP_NS_PER_S;
}

static void time_and_counter_are_expanded(void **state)
{
    (void)state;
    char *end = NULL;
    assert_int_equal(pp_output_set_template("/nowhere/%n.%t"), 0);
    uint64_t before = now_s();
    pp_output_open(&output, "cpu");
    uint64_t after = now_s();
    assert_memory_equal(output.path, "/nowhere/", 9);
    unsigned long first = strtoul(output.path + 9, &end, 10);
    assert_int_equal(*end, '.');
    assert_in_range(strtoul(end + 1, &end, 10), before, after);
    assert_int_equal(*end, '\0');
    pp_output_open(&output, "cpu");
    assert_int_equal(strtoul(output.path + 9, &end, 10), first + 1);
    assert_int_equal(*end, '.');
}

static void bad_templates_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "%", "a%", "%x", "a.%z.b", "%%%", "100%!"};
    assert_int_equal(pp_output_set_template("/good"), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(pp_output_set_template(bad[i]), -EINVAL);
    assert_true(pp_output_has_template());
    pp_output_open(&output, "cpu");
    assert_string_equal(output.path, "/good"); /* the one before stays */
    if (output.fd >= 0)
        pp_output_close(&output, -ECANCELED);
}

static void long_names_are_refused(void **state)
{
    (void)state;
    static char name[PP_OUTPUT_PATH_MAX + 10];
    memset(name, 'x', sizeof name - 1);
    name[0] = '/';
    assert_int_equal(pp_output_set_template(name), -ENAMETOOLONG);
    /* It fits, but not what it stands for. */
    memset(name, 'x', sizeof name - 1);
    name[0] = '/';
    strcpy(name + PP_OUTPUT_PATH_MAX - 3, "%k");
    assert_int_equal(pp_output_set_template(name), 0);
    assert_int_equal(pp_output_open(&output, "a long kind"), -ENAMETOOLONG);
    /* A component that is too long for the file system. */
    memset(name, 'x', 300);
    name[300] = '\0';
    assert_int_equal(write_profile(name, "profile"), -ENAMETOOLONG);
    assert_int_equal(count_files(), 0);
}

static void a_relative_name_stays_where_it_was_meant(void **state)
{
    (void)state;
    char path[256];
    assert_int_equal(mkdir("100%n", 0700), 0); /* a folder whose name looks like a template */
    assert_int_equal(chdir("100%n"), 0);
    assert_int_equal(pp_output_set_template("here.%k"), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(pp_output_open(&output, "cpu"), 0);
    assert_int_equal(pp_output_close(&output, 0), 0);
    assert_int_equal(chdir(folder), 0);
    snprintf(path, sizeof path, "%s/100%%n/here.cpu", folder);
    assert_string_equal(output.path, path);
    assert_int_equal(unlink("100%n/here.cpu"), 0);
}

/* ---- files ---- */

static void a_new_file_appears_whole_and_private(void **state)
{
    (void)state;
    struct stat status;
    mode_t old_mask = umask(0);
    assert_int_equal(pp_output_set_template("new"), 0);
    assert_int_equal(pp_output_open(&output, "cpu"), 0);
    assert_int_equal(output.in_place, 0);
    assert_int_not_equal(access("new", F_OK), 0);
    pprof_writer writer = pp_output_writer(&output, patience_ns);
    assert_int_equal(writer.write(writer.ctx, "pro", 3), 0);
    assert_int_not_equal(access("new", F_OK), 0);
    assert_int_equal(writer.write(writer.ctx, "file", 4), 0);
    assert_int_equal(pp_output_close(&output, 0), 0);
    umask(old_mask);
    assert_content("new", "profile");
    assert_int_equal(stat("new", &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(count_files(), 1);
}

static void an_error_leaves_nothing_behind(void **state)
{
    (void)state;
    assert_int_equal(pp_output_set_template("new"), 0);
    assert_int_equal(pp_output_open(&output, "cpu"), 0);
    assert_int_equal(count_files(), 1);
    assert_int_equal(pp_output_close(&output, -ENOSPC), -ENOSPC);
    assert_int_equal(count_files(), 0);
}

static void an_existing_file_is_replaced_only_by_a_whole_one(void **state)
{
    (void)state;
    put_file("old", "old content");
    assert_int_equal(pp_output_set_template("old"), 0);
    assert_int_equal(pp_output_open(&output, "cpu"), 0);
    assert_int_equal(pp_output_close(&output, -EIO), -EIO);
    assert_content("old", "old content");
    assert_int_equal(write_profile("old", "new"), 0);
    assert_content("old", "new");
    assert_int_equal(count_files(), 1);
}

static void leftovers_of_the_same_process_number_are_passed_over(void **state)
{
    (void)state;
    char name[64];
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "new.tmp.%d.%d", (int)getpid(), i);
        put_file(name, "left over");
    }
    assert_int_equal(write_profile("new", "profile"), 0);
    assert_content("new", "profile");
    assert_int_equal(count_files(), 1001);
}

static void temporary_names_are_not_followed_if_they_are_links(void **state)
{
    (void)state;
    char name[64];
    put_file("victim", "precious");
    snprintf(name, sizeof name, "new.tmp.%d.0", (int)getpid());
    assert_int_equal(symlink("victim", name), 0);
    assert_int_equal(write_profile("new", "profile"), 0);
    assert_content("victim", "precious");
    assert_content("new", "profile");
}

static void a_link_is_replaced_not_followed(void **state)
{
    (void)state;
    struct stat status;
    put_file("victim", "precious");
    assert_int_equal(symlink("victim", "link"), 0);
    assert_int_equal(write_profile("link", "profile"), 0);
    assert_content("victim", "precious");
    assert_int_equal(lstat("link", &status), 0);
    assert_true(S_ISREG(status.st_mode));
    assert_int_equal(symlink("nothing", "dangling"), 0);
    assert_int_equal(write_profile("dangling", "profile"), 0);
    assert_int_not_equal(access("nothing", F_OK), 0);
    assert_content("dangling", "profile");
}

static void a_folder_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_int_equal(write_profile("folder", "profile"), -EISDIR);
    assert_int_equal(symlink("folder", "link"), 0);
    assert_int_equal(write_profile("link", "profile"), -EISDIR);
    assert_int_equal(count_files(), 2);
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(write_profile("no/such/folder/file", "profile"), -ENOENT);
    put_file("file", "");
    assert_int_equal(write_profile("file/below", "profile"), -ENOTDIR);
}

static void a_folder_that_may_not_be_written_is_an_error(void **state)
{
    (void)state;
    if (geteuid() == 0)
        skip(); /* may write everywhere */
    assert_int_equal(chmod(".", 0500), 0);
    assert_int_equal(write_profile("new", "profile"), -EACCES);
    assert_int_equal(chmod(".", 0700), 0);
    assert_int_equal(count_files(), 0);
}

/* ---- what is no file ---- */

static void devices_are_written_in_place(void **state)
{
    (void)state;
    assert_int_equal(write_profile("/dev/null", "profile"), 0);
    assert_int_equal(output.in_place, 1);
    assert_int_equal(write_profile("/dev/full", "profile"), -ENOSPC);
    struct stat status;
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    assert_int_equal(symlink("/dev/null", "sink"), 0);
    assert_int_equal(write_profile("sink", "profile"), 0);
    assert_int_equal(lstat("sink", &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(count_files(), 1);
}

static void descriptors_are_written_in_place(void **state)
{
    (void)state;
    char name[64];
    int fd = open("target", O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    snprintf(name, sizeof name, "/dev/fd/%d", fd);
    assert_int_equal(write_profile(name, "profile"), 0);
    close(fd);
    assert_content("target", "profile");
    assert_int_equal(count_files(), 1);
    assert_true(write_profile(name, "profile") != 0); /* closed by now */
}

static void a_fifo_gets_the_profile(void **state)
{
    (void)state;
    char buffer[64] = "";
    struct stat status;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(write_profile("fifo", "profile"), -ENXIO); /* nobody reads: no waiting */
    int reader = open("fifo", O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(write_profile("fifo", "profile"), 0);
    assert_int_equal(read(reader, buffer, sizeof buffer), 7);
    assert_string_equal(buffer, "profile");
    close(reader);
    assert_int_equal(lstat("fifo", &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    assert_int_equal(count_files(), 1);
}

static void a_fifo_whose_reader_stalls_is_given_up(void **state)
{
    (void)state;
    static char much[1 << 20];
    assert_int_equal(mkfifo("fifo", 0600), 0);
    int reader = open("fifo", O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(pp_output_set_template("fifo"), 0);
    assert_int_equal(pp_output_open(&output, "cpu"), 0);
    pprof_writer writer = pp_output_writer(&output, 1000000);
    assert_int_equal(writer.write(writer.ctx, much, sizeof much), -ETIMEDOUT);
    assert_int_equal(pp_output_close(&output, -ETIMEDOUT), -ETIMEDOUT);
    close(reader);
}

static void descriptors_do_not_leak(void **state)
{
    (void)state;
    int before = dup(0);
    close(before);
    write_profile("new", "profile");
    write_profile("/dev/null", "profile");
    write_profile("/dev/full", "profile");
    write_profile("no/such", "profile");
    assert_int_equal(mkdir("folder", 0700), 0);
    write_profile("folder", "profile");
    int after = dup(0);
    close(after);
    assert_int_equal(after, before);
}

/* ---- the socket of `cpprof record` ---- */

static int copy_text(pprof_writer writer, const void *text)
{
    return writer.write(writer.ctx, text, strlen(text));
}

/* Tells the library of a socket's end; returns the other one. */
static int enter_recorder(int *own)
{
    int ends[2];
    struct stat status;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    assert_int_equal(fstat(ends[0], &status), 0);
    assert_int_equal(pp_recorder_set(ends[0], status.st_dev, status.st_ino, 0), 0);
    *own = ends[0];
    return ends[1];
}

static void a_profile_goes_to_the_recorder_if_there_is_one(void **state)
{
    (void)state;
    int own = -1;
    int other = enter_recorder(&own);
    char message[256];
    char header[128];
    snprintf(header, sizeof header, "libpprof-part 1 %d %llu ", (int)getpid(),
             (unsigned long long)pp_path_stamp());
    assert_int_equal(pp_output_set_template("file"), 0);
    assert_int_equal(pp_output_put(&output, "cpu", patience_ns, copy_text, "content"), 0);
    ssize_t length = recv(other, message, sizeof message - 1, 0);
    assert_true(length > 0);
    message[length] = '\0';
    assert_memory_equal(message, header, strlen(header));
    assert_non_null(strstr(message, " cpu 0 last\ncontent"));
    assert_int_equal(count_files(), 0);
    assert_true(pp_recorder_has(own));
    assert_false(pp_recorder_has(other));
    pp_recorder_give_up();
    close(own);
    close(other);
}

static void the_recorder_hears_what_the_process_does(void **state)
{
    (void)state;
    int own = -1;
    int other = enter_recorder(&own);
    char message[256];
    char header[128];
    errno = EDOM;
    pp_recorder_tell(PP_RECORDER_STATIC, "/usr/bin/of two words");
    assert_int_equal(errno, EDOM);
    ssize_t length = recv(other, message, sizeof message - 1, 0);
    assert_true(length > 0);
    message[length] = '\0';
    snprintf(header, sizeof header, "libpprof-process 1 static %d %d %llu ", (int)getpid(),
             (int)getppid(), (unsigned long long)pp_path_stamp());
    assert_memory_equal(message, header, strlen(header));
    assert_string_equal(message + length - 12, "of two words");
    pp_recorder_tell_of(17, PP_RECORDER_CLEARED, "x");
    length = recv(other, message, sizeof message - 1, 0);
    assert_true(length > 0);
    message[length] = '\0';
    snprintf(header, sizeof header, "libpprof-process 1 cleared 17 %d %llu 0 0 x", (int)getpid(),
             (unsigned long long)pp_path_stamp());
    assert_string_equal(message, header);
    close(other);
    signal(SIGPIPE, SIG_DFL); /* which would end the process */
    pp_recorder_tell(PP_RECORDER_ENDS, NULL);
    signal(SIGPIPE, SIG_IGN);
    close(own);
}

static void a_descriptor_that_leads_elsewhere_is_not_written_to(void **state)
{
    (void)state;
    int own = -1;
    int other = enter_recorder(&own);
    int file = open("of the host", O_RDWR | O_CREAT, 0600);
    assert_int_equal(dup2(file, own), own);
    assert_false(pp_recorder_is_there());
    assert_int_equal(pp_output_set_template("file"), 0);
    assert_int_equal(pp_output_put(&output, "cpu", patience_ns, copy_text, "content"), 0);
    assert_content("file", "content");
    assert_content("of the host", "");
    close(own);
    assert_int_equal(pp_output_put(&output, "cpu", patience_ns, copy_text, "again"), 0);
    assert_content("file", "again");
    assert_int_equal(pp_recorder_set(file, 1, 1, 0), -EINVAL);
    assert_int_equal(pp_recorder_set(-1, 1, 1, 0), -EINVAL);
    close(file);
    close(other);
}

typedef struct swap {
    int teller; /* a thread's id */
    bool begins;
    int from, to;
} swap;

/* Gives the number to another socket while the teller waits. */
static void *swap_descriptors(void *of_swap)
{
    swap *s = of_swap;
    int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY);
    assert_true(tasks >= 0);
    while (!__atomic_load_n(&s->begins, __ATOMIC_ACQUIRE) ||
           pp_task_letter(tasks, s->teller) != 'S') {
        sched_yield();
    }
    assert_int_equal(dup2(s->from, s->to), s->to);
    close(tasks);
    return NULL;
}

static void a_descriptor_that_leads_elsewhere_after_a_wait_is_not_written_to(void **state)
{
    int hosts[2];
    int own = -1;
    int other = enter_recorder(&own);
    char byte = 0;
    pthread_t thread;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, hosts), 0);
    while (send(own, &byte, 1, 0) == 1) {
    }
    swap s = {.teller = (int)syscall(SYS_gettid), .from = hosts[0], .to = own};
    assert_int_equal(pthread_create(&thread, NULL, swap_descriptors, &s), 0);
    __atomic_store_n(&s.begins, true, __ATOMIC_RELEASE);
    pp_recorder_tell(PP_RECORDER_ENDS, NULL);
    pthread_join(thread, NULL);
    assert_int_equal(recv(hosts[1], &byte, 1, 0), -1);
    assert_false(pp_recorder_is_there());
    close(own);
    close(other);
    close(hosts[0]);
    close(hosts[1]);
}

static char much[1 << 20];

static int fill(pprof_writer writer, const void *times)
{
    int error = 0;
    for (int i = 0; error == 0 && i < *(const int *)times; i++)
        error = writer.write(writer.ctx, much, sizeof much);
    return error;
}

static void what_nobody_takes_goes_to_the_file(void **state)
{
    (void)state;
    static const int times = 2;
    int own = -1;
    int other = enter_recorder(&own);
    assert_int_equal(pp_output_set_template("file"), 0);
    assert_int_equal(pp_output_put(&output, "cpu", 50000000, fill, &times), 0);
    struct stat status;
    assert_int_equal(stat("file", &status), 0);
    assert_int_equal(status.st_size, times * (off_t)sizeof much);
    assert_false(pp_recorder_is_there()); /* it is not waited for again */
    close(own);
    close(other);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)
    const struct CMUnitTest tests[] = {
        TEST(templates_are_expanded),
        TEST(time_and_counter_are_expanded),
        TEST(bad_templates_are_refused),
        TEST(long_names_are_refused),
        TEST(a_relative_name_stays_where_it_was_meant),
        TEST(a_new_file_appears_whole_and_private),
        TEST(an_error_leaves_nothing_behind),
        TEST(an_existing_file_is_replaced_only_by_a_whole_one),
        TEST(leftovers_of_the_same_process_number_are_passed_over),
        TEST(temporary_names_are_not_followed_if_they_are_links),
        TEST(a_link_is_replaced_not_followed),
        TEST(a_folder_is_an_error),
        TEST(a_folder_that_is_not_there_is_an_error),
        TEST(a_folder_that_may_not_be_written_is_an_error),
        TEST(devices_are_written_in_place),
        TEST(descriptors_are_written_in_place),
        TEST(a_fifo_gets_the_profile),
        TEST(a_fifo_whose_reader_stalls_is_given_up),
        TEST(descriptors_do_not_leak),
        TEST(a_profile_goes_to_the_recorder_if_there_is_one),
        TEST(the_recorder_hears_what_the_process_does),
        TEST(a_descriptor_that_leads_elsewhere_is_not_written_to),
        TEST(a_descriptor_that_leads_elsewhere_after_a_wait_is_not_written_to),
        TEST(what_nobody_takes_goes_to_the_file),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
