/* SPDX-License-Identifier: MIT
 *
 * test_end_file.c: the end of the process while another thread writes a profile that does not come to an end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "output/end_file.h"
#include "output/output.h"
#include "sys/log.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sem_t writes, may_go_on;

static int write_slowly(pprof_writer writer, int debug)
{
    (void)debug;
    sem_post(&writes);
    sem_wait(&may_go_on);
    return writer.write(writer.ctx, "whole", 5);
}

static void *write_other(void *files)
{
    pp_end_files_write(files, true, false);
    return NULL;
}

static const char *content_of(const char *path)
{
    static char text[1024];
    FILE *file = fopen(path, "re");
    size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = '\0';
    if (file != NULL) {
        fclose(file);
    }
    return text;
}

static void the_log_says_which_profile_is_lost(void **state)
{
    static pp_end_file files[] = {{.name = "cpu", .write = write_slowly, .wanted = true},
                                  {.name = NULL}};
    pthread_t other;
    (void)state;
    assert_int_equal(pthread_create(&other, NULL, write_other, files), 0);
    sem_wait(&writes);
    pp_end_files_write(files, false, true);
    assert_non_null(
        strstr(content_of("log"), "the cpu profile is lost: another thread still writes"));
    assert_int_equal(access("profile", F_OK), -1);
    sem_post(&may_go_on);
    pthread_join(other, NULL);
    assert_string_equal(content_of("profile"), "whole");
}

static char folder[] = "/tmp/test_end_file.XXXXXX";

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(pp_output_set_template("profile"), 0);
    assert_int_equal(pp_log_set_path("log"), 0);
    return sem_init(&writes, 0, 0) | sem_init(&may_go_on, 0, 0);
}

static int tear_down(void **state)
{
    (void)state;
    unlink("log");
    unlink("profile");
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_log_says_which_profile_is_lost)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
