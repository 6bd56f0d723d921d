/* SPDX-License-Identifier: MIT
 *
 * test_http_since.c: delta_NAME in a child of fork, which another thread's request of the parent has left in the middle.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "host/kind.h"
#include "modules/modules.h"
#include "profile/model.h"
#include "web/http_paths.h"

#include "pprof_http.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

/* ---- a kind that always has one stack, which does not change ---- */

static const char constant[] = "constant";
static sem_t is_building, may_go_on;
static bool waits;

static int build(pp_arena *arena, struct pp_profile *profile)
{
    static const uintptr_t stack[] = {0x10, 0x20};
    static const pp_sample_label label = {.key = "is", .text = constant};
    pp_profile_sample *sample = pp_arena_alloc(arena, sizeof *sample);
    if (waits) {
        sem_post(&is_building);
        sem_wait(&may_go_on);
    }
    *sample = (pp_profile_sample){
        .pc = stack, .depth = 2, .label_count = 1, .labels = &label, .value = {3, 300}};
    *profile = (pp_profile){.sample_type_count = 2,
                            .sample_type = {{"contentions", "count"}, {"delay", "nanoseconds"}},
                            .period_type = {"contentions", "count"},
                            .period = 1,
                            .samples = sample,
                            .sample_count = 1};
    return 0;
}

static int64_t set_rate(int64_t rate)
{
    return rate;
}

static const pprof_profile profiles[] = {{.name = "block", .build = build, .set_rate = set_rate},
                                         {.name = NULL}};
static const pp_kind kind = {.name = "contention", .profiles = profiles};
const pp_kind *const pp_kinds[] = {&kind, NULL};

/* ---- requests ---- */

typedef struct received {
    int status;
    size_t length;
    unsigned char bytes[65536];
} received;

static int begin_response(void *of_received, int status, const pprof_http_header *headers,
                          size_t count)
{
    (void)headers;
    (void)count;
    ((received *)of_received)->status = status;
    return 0;
}

static int add(void *of_received, const void *data, size_t length)
{
    received *r = of_received;
    assert_true(length <= sizeof r->bytes - r->length);
    memcpy(r->bytes + r->length, data, length);
    r->length += length;
    return 0;
}

/* Whether the next delta_block has the stack. */
static bool has_constant(void)
{
    static received compressed;
    static unsigned char text[65536];
    enum { GZIP = 15 + 16 };
    const pprof_http_request request = {
        .size = sizeof request, .method = "GET", .target = "/debug/pprof/delta_block"};
    compressed = (received){.status = 0};
    pprof_http_response response = {
        .size = sizeof response, .begin = begin_response, .write = add, .ctx = &compressed};
    z_stream stream = {.next_out = text, .avail_out = sizeof text};
    assert_int_equal(pprof_http_handle(&request, &response), 0);
    assert_int_equal(compressed.status, 200);
    stream.next_in = compressed.bytes;
    stream.avail_in = (unsigned)compressed.length;
    assert_int_equal(inflateInit2(&stream, GZIP), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    inflateEnd(&stream);
    return memmem(text, stream.total_out, constant, strlen(constant)) != NULL;
}

static void *ask(void *unused)
{
    has_constant();
    return unused;
}

/* ---- the tests ---- */

static bool child_has_constant(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        waits = false;
        pp_http_profile_after_fork_in_child();
        _exit(has_constant() ? 1 : 0);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) == 1;
}

static void a_child_goes_on_from_the_last_request(void **state)
{
    (void)state;
    assert_true(has_constant());
    assert_false(has_constant());
    assert_false(child_has_constant());
}

static void a_child_begins_anew_after_a_request_that_was_not_over(void **state)
{
    pthread_t thread;
    (void)state;
    waits = true;
    assert_int_equal(pthread_create(&thread, NULL, ask, NULL), 0);
    sem_wait(&is_building);
    assert_true(child_has_constant());
    waits = false;
    sem_post(&may_go_on);
    pthread_join(thread, NULL);
    assert_false(has_constant());
}

static int set_up(void **state)
{
    (void)state;
    pp_modules_init();
    return sem_init(&is_building, 0, 0) | sem_init(&may_go_on, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_goes_on_from_the_last_request),
        cmocka_unit_test(a_child_begins_anew_after_a_request_that_was_not_over),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
