/* SPDX-License-Identifier: MIT
 *
 * test_options.c: every word of LIBPPROF, its values, and what is said about those that are wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kinds/cpu/cpu_kind.h"
#include "host/kind.h"
#include "api/options.h"
#include "output/output.h"
#include "output/symbolize.h"
#include "sys/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static pp_options options;
static char log_path[64];

/* What was said on the log since the last time. */
static const char *said(void)
{
    static char buffer[16384];
    ssize_t length = 0;
    int fd = open(log_path, O_RDONLY);
    if (fd >= 0) {
        length = read(fd, buffer, sizeof buffer - 1);
        close(fd);
        assert_int_equal(truncate(log_path, 0), 0);
    }
    assert_true(length >= 0);
    buffer[length] = '\0';
    return buffer;
}

/* Whether the kind would write a file. */
static bool is_asked(const char *kind)
{
    size_t i = 0;
    while (strcmp(pp_kinds[i]->name, kind) != 0) {
        i++;
    }
    return pp_kind_files(pp_kinds[i]) > 0;
}

static void parse(const char *text)
{
    pp_options_init(&options);
    pp_options_parse(&options, text);
}

static void assert_good(const char *text)
{
    parse(text);
    assert_int_equal(options.error, 0);
    assert_string_equal(said(), "");
}

/* One line that names the word and what is wrong with it. */
static void assert_bad(const char *text, int error, const char *complaint)
{
    parse(text);
    assert_int_equal(options.error, error);
    const char *log = said();
    assert_ptr_equal(strstr(log, "libpprof: "), log);
    assert_non_null(strstr(log, complaint));
    assert_ptr_equal(strchr(log, '\n'), log + strlen(log) - 1);
}

static void nothing_is_on_by_default(void **state)
{
    (void)state;
    assert_good("");
    assert_false(is_asked("cpu"));
    assert_false(options.subprocesses);
    assert_true(pp_cpu_asked.request.to_file);
    assert_int_equal(pp_cpu_asked.request.hz, 0);
    assert_int_equal(options.duration_ns, 0);
    assert_int_equal(pp_symbolize_wanted(), PP_SYMBOLIZE_NAMES);
}

static void cpu_takes_a_frequency(void **state)
{
    (void)state;
    assert_good("cpu");
    assert_true(is_asked("cpu"));
    assert_int_equal(pp_cpu_asked.request.hz, 0);
    assert_good("cpu:250");
    assert_true(is_asked("cpu"));
    assert_int_equal(pp_cpu_asked.request.hz, 250);
    assert_good("cpu=1");
    assert_int_equal(pp_cpu_asked.request.hz, 1);
    assert_good("cpu:1000000");
    assert_int_equal(pp_cpu_asked.request.hz, 1000000);
    static const char *const bad[] = {
        "cpu:0",    "cpu:1000001", "cpu:-5",  "cpu:",     "cpu:ten",   "cpu:10x",
        "cpu: 100", "cpu:+100",    "cpu:1e3", "cpu:0x64", "cpu:100.5", "cpu:99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_bad(bad[i], -EINVAL, "bad value: option 'cpu");
        assert_false(is_asked("cpu"));
        assert_int_equal(pp_cpu_asked.request.hz, 0);
    }
}

static void symbolize_takes_a_degree(void **state)
{
    (void)state;
    assert_good("symbolize=none");
    assert_int_equal(pp_symbolize_wanted(), PP_SYMBOLIZE_NONE);
    assert_good("symbolize=none,symbolize=names");
    assert_int_equal(pp_symbolize_wanted(), PP_SYMBOLIZE_NAMES);
    assert_good("symbolize=lines");
    assert_int_equal(pp_symbolize_wanted(), PP_SYMBOLIZE_LINES);
    assert_bad("symbolize=Names", -EINVAL, "none, names");
    assert_bad("symbolize", -EINVAL, "'symbolize'");
}

static void engine_takes_a_name(void **state)
{
    (void)state;
    assert_good("");
    assert_int_equal(pp_cpu_asked.request.engine, PPROF_ENGINE_AUTO);
    assert_good("engine=timer");
    assert_int_equal(pp_cpu_asked.request.engine, PPROF_ENGINE_TIMER);
    assert_good("engine=perf");
    assert_int_equal(pp_cpu_asked.request.engine, PPROF_ENGINE_PERF);
    assert_good("engine=perf,engine=auto");
    assert_int_equal(pp_cpu_asked.request.engine, PPROF_ENGINE_AUTO);
    assert_bad("engine=", -EINVAL, "bad value");
    assert_bad("engine", -EINVAL, "bad value");
    assert_bad("engine=itimer", -EINVAL, "engine=itimer");
}

static void duration_takes_a_time(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {{"duration=10", 10000000000},   {"duration=10s", 10000000000},
                {"duration=500ms", 500000000},  {"duration=2m", 120000000000},
                {"duration=1h", 3600000000000}, {"duration:1ms", 1000000}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_good(good[i].text);
        assert_int_equal(options.duration_ns, good[i].ns);
    }
    static const char *const bad[] = {"duration",
                                      "duration=",
                                      "duration=0",
                                      "duration=0s",
                                      "duration=-1",
                                      "duration=s",
                                      "duration=1d",
                                      "duration=1 s",
                                      "duration=1.5s",
                                      "duration=1S",
                                      "duration=1mss",
                                      "duration=99999999999999h",
                                      "duration=999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_bad(bad[i], -EINVAL, "duration");
        assert_int_equal(options.duration_ns, 0);
    }
}

static void control_takes_a_path_or_nothing(void **unused)
{
    (void)unused;
    assert_good("control");
    assert_good("control=/run/%p-%e.sock");
    assert_bad("control=", -EINVAL, "write control or control=PATH");
    assert_bad("control=/run/%q", -EINVAL, "write control or control=PATH");
}

static void signal_takes_a_name_or_a_number(void **unused)
{
    (void)unused;
    assert_good("signal=USR2");
    assert_int_equal(options.dump_signal, SIGUSR2);
    assert_good("signal=SIGHUP");
    assert_int_equal(options.dump_signal, SIGHUP);
    assert_good("signal=10");
    assert_int_equal(options.dump_signal, 10);
    assert_bad("signal", -EINVAL, "write signal=USR2");
    assert_bad("signal=KILL", -EINVAL, "write signal=USR2");
    assert_bad("signal=9", -EINVAL, "write signal=USR2");
    assert_bad("signal=32", -EINVAL, "write signal=USR2");
    assert_bad("signal=65", -EINVAL, "write signal=USR2");
}

static void interval_takes_a_time(void **unused)
{
    (void)unused;
    assert_good("interval=250ms");
    assert_true(options.interval_ns == 250000000);
    assert_bad("interval", -EINVAL, "write interval=60s");
    assert_bad("interval=0", -EINVAL, "write interval=60s");
}

static void kinds_can_be_turned_off(void **unused)
{
    (void)unused;
    assert_good("heap,heap=off,block:off,mutex=off,cpu=off,fd=off,alloctrace=off");
    assert_bad("thread=off", -EINVAL, "'thread=off' is ignored");
    assert_bad("engine=off", -EINVAL, "'engine=off' is ignored");
    assert_bad("allocs=off", -EINVAL, "unknown option");
}

static void subprocesses_takes_nothing(void **state)
{
    (void)state;
    assert_good("subprocesses");
    assert_true(options.subprocesses);
    assert_bad("subprocesses=yes", -EINVAL, "without a value");
}

static void what_is_ignored_for_its_value_asks_for_nothing(void **state)
{
    (void)state;
    static const char *const words[] = {"thread:5", "fd:x", "peak=1", "subprocesses=yes",
                                        "alloctrace:1"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        assert_bad(words[i], -EINVAL, "is ignored");
        assert_false(is_asked("thread") || is_asked("fd") || is_asked("heap") ||
                     options.subprocesses);
    }
}

static void file_takes_a_template(void **state)
{
    (void)state;
    static pp_output output;
    assert_good("file=/nowhere/a.%k");
    assert_int_equal(pp_output_open(&output, "cpu"), -ENOENT);
    assert_string_equal(output.path, "/nowhere/a.cpu");
    assert_good("file=/nowhere/with:colon=and%%");
    pp_output_open(&output, "cpu");
    assert_string_equal(output.path, "/nowhere/with:colon=and%");
    assert_bad("file=/nowhere/%x", -EINVAL, "'file=/nowhere/%x'");
    assert_bad("file", -EINVAL, "bad value");
    assert_bad("file=", -EINVAL, "bad value");
    pp_output_open(&output, "cpu");
    assert_string_equal(output.path, "/nowhere/with:colon=and%");
}

static void log_takes_a_path_at_once(void **state)
{
    (void)state;
    char text[256];
    char other[80];
    snprintf(other, sizeof other, "%s.other", log_path);
    snprintf(text, sizeof text, "log=%s,nonsense", other);
    parse(text);
    assert_int_equal(options.error, -EINVAL);
    assert_string_equal(said(), "");
    struct stat status;
    assert_int_equal(stat(other, &status), 0);
    assert_true(status.st_size > 0);
    unlink(other);
    assert_int_equal(pp_log_set_path(log_path), 0);
    assert_bad("log", -EINVAL, "bad value");
    char long_path[5000];
    memset(long_path, 'x', sizeof long_path);
    memcpy(long_path, "log=/", 5);
    long_path[4080] = '\0';
    assert_good(long_path); /* just fits */
    assert_int_equal(pp_log_set_path(log_path), 0);
}

static off_t size_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_size : -1;
}

/* A child of fork means itself by %p. */
static void log_takes_a_template(void **state)
{
    (void)state;
    char text[256];
    char path[128];
    int status = -1;
    snprintf(text, sizeof text, "log=%s.%%p.%%k%%%%", log_path);
    assert_good(text);
    snprintf(path, sizeof path, "%s.%d.log%%", log_path, (int)getpid());
    assert_int_equal(size_of(path), -1);
    parse("nonsense");
    assert_true(size_of(path) > 0);
    off_t before = size_of(path);
    pid_t child = fork();
    if (child == 0) {
        pp_log_after_fork_in_child();
        parse("nonsense");
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(size_of(path), before);
    unlink(path);
    snprintf(path, sizeof path, "%s.%d.log%%", log_path, (int)child);
    assert_true(size_of(path) > 0);
    unlink(path);
    assert_int_equal(pp_log_set_path(log_path), 0);
    assert_bad("log=/tmp/%x", -EINVAL, "bad value");
    assert_bad("log=/tmp/%", -EINVAL, "bad value");
    assert_true(size_of(log_path) >= 0); /* it went on to the file from before */
}

static void relative_log_paths_are_completed(void **state)
{
    (void)state;
    char here[4096];
    char text[256];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir("/tmp"), 0);
    snprintf(text, sizeof text, "log=%s", log_path + strlen("/tmp/"));
    parse(text);
    assert_int_equal(options.error, 0);
    assert_int_equal(chdir("/"), 0);
    assert_bad("nonsense", -EINVAL, "nonsense");
    assert_int_equal(chdir(here), 0);
    assert_int_equal(pp_log_set_path(log_path), 0);
}

static void lists_are_taken_from_left_to_right(void **state)
{
    (void)state;
    assert_good("cpu:100,subprocesses,duration=3s,symbolize=none,cpu:200");
    assert_true(is_asked("cpu"));
    assert_true(options.subprocesses);
    assert_int_equal(pp_cpu_asked.request.hz, 200);
    assert_int_equal(options.duration_ns, 3000000000);
    assert_good(",,cpu,,");
    assert_true(is_asked("cpu"));
    assert_good(",");
}

static void unknown_words_do_not_stop_the_others(void **state)
{
    (void)state;
    assert_bad("cpuu,cpu:300", -EINVAL, "unknown option 'cpuu'");
    assert_true(is_asked("cpu"));
    assert_int_equal(pp_cpu_asked.request.hz, 300);
    assert_bad("=5", -EINVAL, "unknown option '=5'");
    assert_bad(":", -EINVAL, "unknown option ':'");
    assert_bad("CPU", -EINVAL, "'CPU'");
    assert_bad("cpu ", -EINVAL, "'cpu '");
    assert_bad("a_name_that_is_longer_than_any_word_we_know=1", -EINVAL, "unknown option");
    assert_bad("%s%n%d", -EINVAL, "'%s%n%d'");
}

static void the_first_error_is_kept(void **state)
{
    (void)state;
    parse("push=here,nonsense,cpu");
    assert_int_equal(options.error, -EINVAL);
    assert_true(is_asked("cpu"));
    const char *log = said();
    assert_non_null(strstr(log, "'push'"));
    assert_null(strstr(log, "here")); /* a password could be in it */
    assert_non_null(strstr(log, "nonsense"));
}

static void endless_words_are_cut(void **state)
{
    (void)state;
    char *text = malloc(20000);
    memset(text, 'x', 19999);
    memcpy(text + 10000, ",cpu,", 5);
    text[19999] = '\0';
    parse(text);
    assert_int_equal(options.error, -EINVAL);
    assert_true(is_asked("cpu"));
    said();
    free(text);
}

/* ---- gperftools' variables ---- */

static int clear_variables(void **state)
{
    (void)state;
    unsetenv("CPUPROFILE");
    unsetenv("CPUPROFILE_FREQUENCY");
    unsetenv("CPUPROFILESIGNAL");
    unsetenv("HEAPPROFILE");
    return 0;
}

static void variables_of_gperftools_are_known(void **state)
{
    (void)state;
    static pp_output output;
    pp_options_init(&options);
    pp_options_from_gperftools(&options);
    assert_false(is_asked("cpu"));
    setenv("CPUPROFILE_FREQUENCY", "500", 1);
    pp_options_from_gperftools(&options);
    assert_false(is_asked("cpu")); /* a frequency alone asks for nothing */
    setenv("CPUPROFILE", "/nowhere/prof", 1);
    pp_options_from_gperftools(&options);
    assert_true(is_asked("cpu"));
    assert_int_equal(pp_cpu_asked.request.hz, 500);
    assert_int_equal(options.error, 0);
    pp_output_open(&output, "cpu");
    assert_string_equal(output.path, "/nowhere/prof");
    assert_string_equal(said(), "");
}

static void empty_variables_ask_for_nothing(void **state)
{
    (void)state;
    setenv("CPUPROFILE", "", 1);
    pp_options_init(&options);
    pp_options_from_gperftools(&options);
    assert_false(is_asked("cpu"));
    assert_string_equal(said(), "");
}

static void with_a_signal_the_profile_waits_and_its_files_are_numbered(void **state)
{
    (void)state;
    static pp_output output;
    setenv("CPUPROFILE", "/nowhere/prof", 1);
    setenv("CPUPROFILESIGNAL", "12", 1);
    pp_options_init(&options);
    pp_options_from_gperftools(&options);
    assert_false(is_asked("cpu"));
    assert_int_equal(pp_cpu_asked.toggle_signal, 12);
    for (int i = 0; i < 2; i++) {
        pp_output_open(&output, "cpu");
        assert_string_equal(output.path, i == 0 ? "/nowhere/prof.0" : "/nowhere/prof.1");
    }
    setenv("CPUPROFILESIGNAL", "9", 1);
    pp_options_init(&options);
    pp_options_from_gperftools(&options);
    assert_true(is_asked("cpu"));
    assert_int_equal(pp_cpu_asked.toggle_signal, 0);
    assert_non_null(strstr(said(), "CPUPROFILESIGNAL"));
}

static void bad_variables_are_named(void **state)
{
    (void)state;
    setenv("CPUPROFILE", "/nowhere/prof", 1);
    setenv("CPUPROFILE_FREQUENCY", "fast", 1);
    pp_options_init(&options);
    pp_options_from_gperftools(&options);
    assert_true(is_asked("cpu"));
    assert_int_equal(pp_cpu_asked.request.hz, 0);
    assert_int_equal(options.error, -EINVAL);
    assert_string_equal(said(),
                        "libpprof: bad value: variable 'CPUPROFILE_FREQUENCY=fast' is ignored\n");
}

static void variables_are_for_their_kind_alone(void **state)
{
    (void)state;
    static pp_output output;
    static const char *const paths[][2] = {
        {"cpu", "/nowhere/prof"}, {"heap", "/nowhere/prefix.heap"}, {"mutex", "/nowhere/mutex"}};
    setenv("CPUPROFILE", "/nowhere/prof", 1);
    setenv("HEAPPROFILE", "/nowhere/prefix", 1);
    assert_good("mutex,file=/nowhere/%k");
    pp_options_from_gperftools(&options);
    assert_true(is_asked("cpu"));
    assert_true(is_asked("heap"));
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        pp_output_open(&output, paths[i][0]);
        assert_string_equal(output.path, paths[i][1]);
    }
    assert_string_equal(said(), "");
}

static int open_log(void **state)
{
    (void)state;
    strcpy(log_path, "/tmp/test_options.XXXXXX");
    int fd = mkstemp(log_path);
    return fd < 0 ? -1 : close(fd) | pp_log_set_path(log_path);
}

static int remove_log(void **state)
{
    (void)state;
    pp_log_set_path(NULL);
    return unlink(log_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_on_by_default),
        cmocka_unit_test(cpu_takes_a_frequency),
        cmocka_unit_test(symbolize_takes_a_degree),
        cmocka_unit_test(engine_takes_a_name),
        cmocka_unit_test(duration_takes_a_time),
        cmocka_unit_test(control_takes_a_path_or_nothing),
        cmocka_unit_test(kinds_can_be_turned_off),
        cmocka_unit_test(signal_takes_a_name_or_a_number),
        cmocka_unit_test(interval_takes_a_time),
        cmocka_unit_test(subprocesses_takes_nothing),
        cmocka_unit_test(what_is_ignored_for_its_value_asks_for_nothing),
        cmocka_unit_test(file_takes_a_template),
        cmocka_unit_test(log_takes_a_path_at_once),
        cmocka_unit_test(log_takes_a_template),
        cmocka_unit_test(relative_log_paths_are_completed),
        cmocka_unit_test(lists_are_taken_from_left_to_right),
        cmocka_unit_test(unknown_words_do_not_stop_the_others),
        cmocka_unit_test(the_first_error_is_kept),
        cmocka_unit_test(endless_words_are_cut),
        cmocka_unit_test_setup(variables_of_gperftools_are_known, clear_variables),
        cmocka_unit_test_setup(empty_variables_ask_for_nothing, clear_variables),
        cmocka_unit_test_setup_teardown(variables_are_for_their_kind_alone, clear_variables,
                                        clear_variables),
        cmocka_unit_test_setup_teardown(bad_variables_are_named, clear_variables, clear_variables),
        cmocka_unit_test_setup_teardown(with_a_signal_the_profile_waits_and_its_files_are_numbered,
                                        clear_variables, clear_variables),
    };
    return cmocka_run_group_tests(tests, open_log, remove_log);
}
