/* SPDX-License-Identifier: MIT
 *
 * test_alloctrace.c: the text of events, names asked for once, whole events from many threads, a
 * lock whose holder is gone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/system_call.h"
#include "kinds/heap/alloctrace.h"
#include "sys/log.h"
#include "sys/tasks.h"

#include "parked_thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, EVENTS = 500, TEXT_MAX = 8 << 20 };

static char path[64];
static char text[TEXT_MAX];
static unsigned asked;

static void name_all(pp_trace_place *places, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        asked++;
        places[i].function = "function";
        places[i].offset = places[i].address & 0xf;
        places[i].module = "/module";
        places[i].module_offset = 0x77;
    }
}

/* What is in the log; it is empty afterwards. */
static const char *read_log(void)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    fclose(file);
    assert_int_equal(truncate(path, 0), 0);
    return text;
}

static int prepare(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/test_alloctrace.XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0 || pp_log_set_path(path) != 0) {
        return 1;
    }
    close(fd);
    pp_alloctrace_start(name_all);
    /* Hooked or not, the test's own calls of malloc are no events from here on. */
    return pp_alloctrace_stop() ? 0 : 1;
}

static int finish(void **state)
{
    (void)state;
    return unlink(path);
}

static void an_allocation(void **state)
{
    (void)state;
    char expected[256];
    char name[17] = "";
    FILE *comm = fopen("/proc/self/comm", "r");
    assert_non_null(comm);
    assert_non_null(fgets(name, sizeof name, comm));
    fclose(comm);
    name[strcspn(name, "\n")] = '\0';
    errno = EEXIST;
    pp_alloctrace_allocation(0xabc0, 100, "malloc", (uintptr_t)__builtin_return_address(0));
    assert_int_equal(errno, EEXIST);
    read_log();
    snprintf(expected, sizeof expected,
             "tracealloc(0xabc0, 0x64, malloc)\nthread %d \"%s\" [running]:\n\t0x%lx "
             "function+0x%lx /module+0x77\n",
             pp_task_self(), name, (unsigned long)(uintptr_t)__builtin_return_address(0),
             ((unsigned long)(uintptr_t)__builtin_return_address(0) - 1) & 0xf);
    assert_memory_equal(text, expected, strlen(expected));
    size_t length = strlen(text);
    assert_string_equal(text + length - 2, "\n\n");
    assert_null(strstr(text, "\n\n\n"));
}

static void a_free(void **state)
{
    (void)state;
    pp_alloctrace_free(UINTPTR_MAX, 0, 0);
    static const char expected[] = "tracefree(0xffffffffffffffff, 0x0)\nthread ";
    assert_int_equal(strncmp(read_log(), expected, strlen(expected)), 0);
}

static void a_size_that_nobody_knows(void **state)
{
    (void)state;
    pp_alloctrace_free(0xabc0, PP_TRACE_SIZE_UNKNOWN, 0);
    static const char freed[] = "tracefree(0xabc0, unknown)\nthread ";
    assert_int_equal(strncmp(read_log(), freed, strlen(freed)), 0);
    pp_alloctrace_allocation(0xabc0, PP_TRACE_SIZE_UNKNOWN, "je_realloc", 0);
    static const char allocated[] = "tracealloc(0xabc0, unknown, je_realloc)\nthread ";
    assert_int_equal(strncmp(read_log(), allocated, strlen(allocated)), 0);
}

static void a_collection(void **state)
{
    (void)state;
    static const char end[] = "end tracegc\n\n";
    char header[64];
    parked_thread other = {.computes = false};
    parked_start(&other);
    pthread_setname_np(other.thread, "a \"name\"\n\x1b");
    errno = EEXIST;
    pp_alloctrace_collection(0);
    assert_int_equal(errno, EEXIST);
    read_log();
    assert_int_equal(strncmp(text, "tracegc()\nthread ", 17), 0);
    assert_string_equal(text + strlen(text) - strlen(end), end);
    snprintf(header, sizeof header, "\n\nthread %d \"a \\x22name\\x22\\x0a\\x1b\" [", other.tid);
    const char *found = strstr(text, header);
    assert_non_null(found);
    assert_null(strstr(found + 2, "\nthread ")); /* each once */
    snprintf(header, sizeof header, "\n\t0x%lx ", (unsigned long)other.returns_to[1]);
    assert_non_null(strstr(found, header));
    assert_true(parked_end(&other));
}

static void names_are_asked_for_once(void **state)
{
    (void)state;
    for (volatile int i = 0; i < 3; i++) { /* one call, however the compiler turns the loop */
        asked = 0;
        pp_alloctrace_free(1, 1, 0);
    }
    read_log();
    assert_int_equal(asked, 0);
}

static void *trace_many(void *unused)
{
    for (int i = 0; i < EVENTS; i++)
        pp_alloctrace_allocation((uintptr_t)i, 7, "calloc", 0);
    return unused;
}

/* Every event is whole: header, thread, at least one frame, a blank line. */
static void events_are_not_mixed(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, trace_many, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    read_log();
    unsigned events = 0;
    enum { HEADER, THREAD, FRAMES } expected = HEADER;
    for (char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        if (expected == HEADER) {
            assert_int_equal(strncmp(line, "tracealloc(0x", 13), 0);
            expected = THREAD;
        } else if (expected == THREAD) {
            assert_int_equal(strncmp(line, "thread ", 7), 0);
            expected = FRAMES;
        } else if (*line == '\n') {
            events++;
            expected = HEADER;
        } else {
            assert_int_equal(strncmp(line, "\t0x", 3), 0);
        }
    }
    assert_int_equal(events, THREADS * EVENTS);
}

static void *trace_for_ever(void *stop)
{
    while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED))
        pp_alloctrace_free(2, 2, 0);
    return NULL;
}

/*
 * Children that come into being while other threads hold the lock, past pthread_atfork: each of
 * them must get it in the end. With four threads that do nothing else, it is held nearly always.
 */
static void a_dead_holder_is_no_obstacle(void **state)
{
    (void)state;
    enum { CHILDREN = 20 };
#ifdef __SANITIZE_THREAD__
    skip(); /* it does not know that in the child the other threads are gone */
#endif
    bool stop = false;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, trace_for_ever, &stop), 0);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = (pid_t)pp_system_call(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child == 0) {
            pp_alloctrace_free(3, 3, 0);
            pp_system_call(SYS_exit_group, 0);
        }
        int status = 1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_allocation),
        cmocka_unit_test(a_free),
        cmocka_unit_test(a_size_that_nobody_knows),
        cmocka_unit_test(a_collection),
        cmocka_unit_test(names_are_asked_for_once),
        cmocka_unit_test(events_are_not_mixed),
        cmocka_unit_test(a_dead_holder_is_no_obstacle),
    };
    return cmocka_run_group_tests(tests, prepare, finish);
}
