/* SPDX-License-Identifier: MIT
 *
 * http_again.c: starts and stops the server many times, from several threads, and in a child of fork; a request without a
 * server, by pprof_http_handle() and its two steps. Prints "ok", or what is wrong.
 */
#include <pprof.h>
#include <pprof_http.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s\n", __LINE__, #condition);                                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

typedef struct answer {
    int begun, status, writes, waits;
    size_t length;
    char type[64], first[64];
    int fails;   /* what write returns */
    int cancels; /* begin cancels its thread */
} answer;

static void *cancel(void *of_thread)
{
    pthread_cancel(*(pthread_t *)of_thread);
    return NULL;
}

static int begin(void *context, int status, const pprof_http_header *headers, size_t count)
{
    answer *a = context;
    a->begun++;
    a->status = status;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(headers[i].name, "Content-Type") == 0) {
            snprintf(a->type, sizeof a->type, "%s", headers[i].value);
        }
    }
    if (a->cancels) {
        pthread_t self = pthread_self();
        pthread_t other;
        CHECK(pthread_create(&other, NULL, cancel, &self) == 0 && pthread_join(other, NULL) == 0);
    }
    return 0;
}

static int take(void *context, const void *data, size_t length)
{
    answer *a = context;
    if (a->length == 0) {
        snprintf(a->first, sizeof a->first, "%.*s", (int)(length < 60 ? length : 60),
                 (const char *)data);
    }
    a->writes++;
    a->length += length;
    return a->fails;
}

static int hang_up_at_third(void *context, uint64_t nanoseconds)
{
    (void)nanoseconds;
    return ++((answer *)context)->waits == 3;
}

static int ask(const char *method, const char *target, answer *a)
{
    const pprof_http_request request = {.size = sizeof request,
                                        .method = method,
                                        .target = target,
                                        .wait = hang_up_at_third,
                                        .ctx = a};
    pprof_http_response response = {
        .size = sizeof response, .begin = begin, .write = take, .ctx = a};
    return pprof_http_handle(&request, &response);
}

static void check_handler(void)
{
    answer a = {.begun = 0};
    CHECK(ask("GET", "/debug/pprof/heap?debug=1", &a) == 0 && a.status == 200 && a.begun == 1);
    CHECK(strcmp(a.type, "text/plain; charset=utf-8") == 0);
    CHECK(strncmp(a.first, "heap profile: ", 14) == 0);
    a = (answer){.begun = 0};
    CHECK(ask("HEAD", "/debug/pprof/heap", &a) == 0 && a.status == 200 && a.writes == 0);
    a = (answer){.begun = 0};
    CHECK(ask("GET", "/elsewhere", &a) == 0 && a.status == 404);
    a = (answer){.begun = 0};
    CHECK(ask("GET", "http://localhost:80/debug/pprof/nope", &a) == 0 && a.status == 404);
    a = (answer){.begun = 0};
    CHECK(ask("DELETE", "/debug/pprof/heap", &a) == 0 && a.status == 405);
    /* Without the two steps and without libpprof-http's page there is an answer, too. */
    a = (answer){.fails = -EPIPE};
    CHECK(ask("GET", "/debug/pprof/thread", &a) == -EPIPE && a.writes == 1);
    a = (answer){.begun = 0};
    CHECK(ask("GET", "/debug/pprof/profile?seconds=60", &a) == -ECANCELED && a.begun == 0 &&
          a.waits == 3);
    a = (answer){.begun = 0};
    CHECK(ask("GET", "/debug/pprof/block?seconds=60&rate=1", &a) == -ECANCELED);
    CHECK(pprof_set_block_profile_rate(PPROF_RATE_READ) == 0);
    /* What was collected has ended: the program's own profile can begin. */
    CHECK(pprof_start_cpu_profile(pprof_writer_fd(-1)) == 0);
    a = (answer){.begun = 0};
    CHECK(ask("GET", "/debug/pprof/profile?seconds=1", &a) == 0 && a.status == 500);
    CHECK(pprof_stop_cpu_profile() == -EBADF);
}

static void check_arguments(void)
{
    answer a = {.begun = 0};
    pprof_http_request request = {
        .size = sizeof request, .method = "GET", .target = "/debug/pprof/"};
    pprof_http_response response = {
        .size = sizeof response, .begin = begin, .write = take, .ctx = &a};
    pprof_http_answer *begun = NULL;
    uint64_t wait_ns = 77;
    CHECK(pprof_http_handle(NULL, &response) == -EINVAL);
    CHECK(pprof_http_handle(&request, NULL) == -EINVAL);
    request.size--;
    CHECK(pprof_http_handle(&request, &response) == -EINVAL);
    request.size++;
    request.header_count = 1;
    CHECK(pprof_http_handle(&request, &response) == -EINVAL);
    request.header_count = 0;
    request.target = NULL;
    CHECK(pprof_http_handle(&request, &response) == -EINVAL);
    request.target = "/debug/pprof/profile?seconds=2";
    CHECK(pprof_http_begin(&request, &begun, &wait_ns) == 0 && wait_ns == 2000000000);
    CHECK(pprof_http_finish(begun, &response) == 0 &&
          a.status == 200); /* before its time: what there is */
    CHECK(pprof_http_begin(&request, &begun, &wait_ns) == 0);
    pprof_http_cancel(begun);
    pprof_http_cancel(NULL);
    CHECK(pprof_http_serve(NULL) == -EINVAL && pprof_http_serve("nonsense") == -EINVAL);
}

/* What a browser says of the page that asks; its server hands it on. */
static int ask_from(const char *site, const char *destination, const char *target)
{
    answer a = {.begun = 0};
    const pprof_http_header headers[] = {{"Accept", "text/html"},
                                         {"host", "example.com"},
                                         {"sec-fetch-site", site},
                                         {"sec-fetch-dest", destination}};
    const pprof_http_request request = {.size = sizeof request,
                                        .method = "GET",
                                        .target = target,
                                        .headers = headers,
                                        .header_count = sizeof headers / sizeof *headers};
    pprof_http_response response = {
        .size = sizeof response, .begin = begin, .write = take, .ctx = &a};
    CHECK(pprof_http_handle(&request, &response) == 0);
    return a.status;
}

static void check_sites(void)
{
    static const char of_time[] = "/debug/pprof/delta_heap";
    static const char as_it_is[] = "/debug/pprof/heap";
    CHECK(ask_from("cross-site", "document", of_time) == 403);
    CHECK(ask_from("same-site", NULL, of_time) == 403);
    CHECK(ask_from("same-origin", "empty", of_time) == 200);
    CHECK(ask_from("none", "document", of_time) == 200 && ask_from(NULL, NULL, of_time) == 200);
    CHECK(ask_from("cross-site", "document", as_it_is) == 200);
    CHECK(ask_from("cross-site", "iframe", as_it_is) == 403);
    CHECK(ask_from(NULL, NULL, "http://EXAMPLE.com/debug/pprof/delta_heap") == 200);
    CHECK(ask_from(NULL, NULL, "http://example.org/debug/pprof/delta_heap") == 403);
    CHECK(ask_from(NULL, NULL, "http://example.co/debug/pprof/delta_heap") == 403);
    /* A program that was built before there were headers. */
    answer a = {.begun = 0};
    pprof_http_response response = {
        .size = sizeof response, .begin = begin, .write = take, .ctx = &a};
    const pprof_http_request old = {.size = offsetof(pprof_http_request, headers),
                                    .method = "GET",
                                    .target = of_time,
                                    .header_count = 77};
    CHECK(pprof_http_handle(&old, &response) == 0 && a.status == 200);
}

static void *ask_until_cancelled(void *of_answer)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    ask("GET", "/debug/pprof/heap?debug=1", of_answer);
    pthread_testcancel();
    CHECK(!"the thread was not cancelled");
    return NULL;
}

/* The thread ends after the answer, not in the middle, where it would leave locks. */
static void check_cancellation(void)
{
    answer whole = {.begun = 0};
    answer a = {.cancels = 1};
    pthread_t thread;
    CHECK(ask("GET", "/debug/pprof/heap?debug=1", &whole) == 0);
    CHECK(pthread_create(&thread, NULL, ask_until_cancelled, &a) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(a.status == 200 && a.length >= whole.length / 2);
}

static void *serve_and_stop(void *unused)
{
    for (int i = 0; i < 20; i++) {
        int error = pprof_http_serve("127.0.0.1:0");
        CHECK(error == 0 || error == -EALREADY);
        CHECK(pprof_http_stop() == 0);
    }
    return unused;
}

static void check_again(void)
{
    pthread_t threads[4];
    for (unsigned i = 0; i < 4; i++) {
        CHECK(pthread_create(&threads[i], NULL, serve_and_stop, NULL) == 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    pprof_http_stop();
}

static void check_fork(void)
{
    char address[128];
    int status = 0;
    CHECK(pprof_http_address(address, sizeof address) == -ENOTCONN);
    CHECK(pprof_http_serve("127.0.0.1:0") == 0);
    CHECK(pprof_http_serve("127.0.0.1:0") == -EALREADY);
    CHECK(pprof_http_address(address, 4) == -ENOSPC);
    CHECK(pprof_http_address(address, sizeof address) == 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        CHECK(pprof_http_address(address, sizeof address) == -ENOTCONN);
        CHECK(pprof_http_stop() == 0);
        CHECK(pprof_http_serve("127.0.0.1:0") == 0);
        CHECK(pprof_http_stop() == 0);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(pprof_http_address(address, sizeof address) == 0);
    CHECK(pprof_http_stop() == 0 && pprof_http_stop() == 0);
}

static pprof_http_answer *begin_collection(const char *target)
{
    const pprof_http_request request = {.size = sizeof request, .method = "GET", .target = target};
    pprof_http_answer *begun = NULL;
    uint64_t wait_ns = 0;
    CHECK(pprof_http_begin(&request, &begun, &wait_ns) == 0 && wait_ns > 0);
    return begun;
}

static void check_rates(int64_t block, int64_t mutex, int64_t heap)
{
    CHECK(pprof_set_block_profile_rate(PPROF_RATE_READ) == block);
    CHECK(pprof_set_mutex_profile_fraction(PPROF_RATE_READ) == mutex);
    CHECK(pprof_set_mem_profile_rate(PPROF_RATE_READ) == heap);
}

/* In a child there is no request: its rates are those from before, but for the one that the program
 * has set itself meanwhile. The parent's go on. */
static void check_rates_after_fork(void)
{
    int status = 0;
    int64_t usual = pprof_set_mem_profile_rate(PPROF_RATE_READ);
    pprof_set_mutex_profile_fraction(5);
    pprof_http_answer *block = begin_collection("/debug/pprof/block?seconds=60&rate=1");
    pprof_http_answer *again = begin_collection("/debug/pprof/block?seconds=60&rate=2");
    pprof_http_answer *mutex = begin_collection("/debug/pprof/mutex?seconds=60&rate=1");
    pprof_http_answer *heap = begin_collection("/debug/pprof/heap?seconds=60&rate=4096");
    check_rates(1, 1, 4096);
    pprof_set_mem_profile_rate(77);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        check_rates(0, 5, 77);
        block = begin_collection("/debug/pprof/block?seconds=60&rate=3");
        check_rates(3, 5, 77);
        pprof_http_cancel(block);
        check_rates(0, 5, 77);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    check_rates(1, 1, 77);
    pprof_http_cancel(block);
    check_rates(1, 1, 77);
    pprof_http_cancel(again);
    pprof_http_cancel(mutex);
    pprof_http_cancel(heap);
    check_rates(0, 5, 77);
    pprof_set_mutex_profile_fraction(0);
    pprof_set_mem_profile_rate(usual);
}

int main(void)
{
    check_handler();
    check_arguments();
    check_sites();
    check_cancellation();
    check_again();
    check_fork();
    check_rates_after_fork();
    printf("ok\n");
    return 0;
}
