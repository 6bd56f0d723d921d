/* SPDX-License-Identifier: MIT
 *
 * cmd_push_sender.c: what the sender does when a server answers badly, or not, in a time that the test sets; and a day of
 * it, after which what was taken is what was counted.
 */
#include "push/guess.h"
#include "push/retry.h"
#include "push/sender.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

enum { SECOND = 1000000000 };

/* ---- a server, and a clock ---- */

static struct {
    uint64_t now_ns;
    push_answer (*answer)(const push_request *request);
    unsigned requests;
    int64_t taken; /* the sum of what was taken */
    char said[4096];
} world;

static const push_answer accepted = {.status = 200, .content_type = "text/test"};

/* The body is a list of numbers, each with a blank after it. */
static push_answer take_all(const push_request *request)
{
    char *at = (char *)(uintptr_t)request->body;
    const char *end = at + request->size;
    while (at < end) {
        world.taken += strtoll(at, &at, 10);
        at++;
    }
    return accepted;
}

static int exchange(void *context, const push_request *request, push_answer *answer,
                    uint64_t until_ns)
{
    (void)context;
    (void)until_ns;
    world.requests++;
    world.now_ns += SECOND / 100;
    *answer = world.answer(request);
    return 0;
}

static void wait_until(void *context, uint64_t until_ns)
{
    (void)context;
    world.now_ns = until_ns > world.now_ns ? until_ns : world.now_ns;
}

static void do_nothing(void *context)
{
    (void)context;
}

static uint64_t now(void *context)
{
    (void)context;
    return world.now_ns;
}

static uint64_t chance(void *context)
{
    (void)context;
    return world.now_ns * 0x9e3779b97f4a7c15;
}

static const push_transport transport = {.exchange = exchange,
                                         .wait = wait_until,
                                         .wake = do_nothing,
                                         .park = do_nothing,
                                         .close = do_nothing,
                                         .now_ns = now,
                                         .chance = chance};

static int encode(const push_entry *first, size_t count, push_body *body, push_body *query)
{
    if (strcmp(first->profile.kind, "labelled") == 0) {
        memset(push_body_extend(query, 2000), 'a', 2000);
    }
    for (size_t i = 0; i < count; i++, first = first->next) {
        if (first->profile.size == 0) {
            return -EBADMSG;
        }
        push_body_add(body, first->profile.data, first->profile.size);
        push_body_add_text(body, " ");
    }
    return body->failed ? -ENOMEM : 0;
}

static const push_format format = {.name = "test",
                                   .path = "/test",
                                   .content_type = "text/test",
                                   .accepted = "text/test",
                                   .entries = 4,
                                   .encode = encode};

static void say(const char *message)
{
    size_t length = strlen(world.said);
    snprintf(world.said + length, sizeof world.said - length, "%s\n", message);
}

static push_sender *open_sender(const push_settings *given)
{
    char why[PUSH_WHY_BYTES];
    push_sender *sender = NULL;
    push_settings settings = *given;
    settings.log = say;
    assert_int_equal(push_sender_open(&settings, &format, &transport, &sender, why), 0);
    return sender;
}

static int add_number(push_sender *sender, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)number);
    const push_profile profile = {.data = text,
                                  .size = strlen(text),
                                  .kind = "cpu",
                                  .begin_ns = (int64_t)world.now_ns,
                                  .end_ns = (int64_t)world.now_ns};
    return push_add(sender, &profile);
}

static int set_up(void **state)
{
    (void)state;
    memset(&world, 0, sizeof world);
    world.now_ns = 1000 * (uint64_t)SECOND;
    world.answer = take_all;
    return 0;
}

/* ---- verdicts ---- */

static void each_status_has_its_verdict(void **state)
{
    static const int sent[] = {200, 202, 204};
    static const int later[] = {0, 302, 307, 401, 403, 408, 425, 429, 500, 502, 503, 504};
    static const int never[] = {400, 404, 405, 411, 413, 415, 422, 501, 505};
    (void)state;
    push_answer answer = accepted;
    for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
        answer.status = sent[i];
        assert_int_equal(push_judge(&format, &answer), PUSH_SENT);
    }
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        answer.status = later[i];
        assert_int_equal(push_judge(&format, &answer), PUSH_LATER);
    }
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        answer.status = never[i];
        assert_int_equal(push_judge(&format, &answer), PUSH_NEVER);
    }
    const push_answer page = {.status = 200, .content_type = "text/html"};
    assert_int_equal(push_judge(&format, &page), PUSH_LATER);
    const push_answer type = {.status = 500,
                              .reason = "{\"message\":\"invalid profile type at row 0\"}"};
    assert_int_equal(push_judge(&push_format_parca, &type), PUSH_NEVER);
    assert_int_equal(push_judge(&push_format_pyroscope, &type), PUSH_LATER);
    const push_answer of_alloy = {
        .status = 500,
        .reason = "{\"code\":\"internal\",\"message\":\"unable to append series {}: failed to push "
                  "(0 retries): invalid_argument: invalid labels\"}"};
    assert_int_equal(push_judge(&push_format_pyroscope, &of_alloy), PUSH_NEVER);
}

static void waits_double_up_to_a_minute(void **state)
{
    (void)state;
    for (unsigned failures = 1; failures < 100; failures++) {
        uint64_t longest =
            failures < 7 ? (uint64_t)SECOND << (failures - 1) : 60 * (uint64_t)SECOND;
        longest = longest < 60 * (uint64_t)SECOND ? longest : 60 * (uint64_t)SECOND;
        for (uint64_t i = 0; i < 20; i++) {
            uint64_t wait = push_backoff_ns(failures, 0, i * 0x123456789abcdef);
            assert_in_range(wait, longest / 2, longest);
        }
    }
    assert_true(push_backoff_ns(1, 0, 1) != push_backoff_ns(1, 0, 77777));
    assert_int_equal(push_backoff_ns(1, 30, 5), 30 * (uint64_t)SECOND);
    assert_true(push_backoff_ns(9, 1, 0) > 1 * (uint64_t)SECOND);
    assert_int_equal(push_backoff_ns(1, 1 << 30, 5), 3600 * (uint64_t)SECOND);
}

/* ---- sending ---- */

static void profiles_are_sent_together(void **state)
{
    const push_settings settings = {.url = ""};
    (void)state;
    push_sender *sender = open_sender(&settings);
    for (int i = 1; i <= 6; i++) {
        assert_int_equal(add_number(sender, i), 0);
    }
    assert_true(push_flush(sender, world.now_ns + 10 * (uint64_t)SECOND));
    assert_int_equal(world.taken, 21);
    assert_int_equal(world.requests, 2);
    push_counters counters = push_count(sender);
    assert_int_equal(counters.sent, 6);
    assert_int_equal(counters.queued + counters.lost + counters.retried, 0);
    push_close(sender);
    assert_string_equal(world.said, "");
}

static push_answer fail_thrice(const push_request *request)
{
    static const push_answer busy = {.status = 429, .retry_after_s = 7};
    return world.requests <= 3 ? busy : take_all(request);
}

static void a_busy_server_is_asked_again(void **state)
{
    const push_settings settings = {.url = ""};
    (void)state;
    world.answer = fail_thrice;
    push_sender *sender = open_sender(&settings);
    add_number(sender, 5);
    uint64_t begun_ns = world.now_ns;
    assert_true(push_flush(sender, world.now_ns + 1000 * (uint64_t)SECOND));
    assert_int_equal(world.taken, 5);
    assert_int_equal(world.requests, 4);
    assert_true(world.now_ns - begun_ns >= 21 * (uint64_t)SECOND);
    assert_int_equal(push_count(sender).retried, 3);
    push_close(sender);
    assert_string_equal(world.said, "push: will try again: the server answers 429\n"
                                    "push: the server takes profiles again\n");
}

static push_answer refuse_seven(const push_request *request)
{
    static const push_answer bad = {.status = 400, .reason = "seven"};
    return memmem(request->body, request->size, "7", 1) != NULL ? bad : take_all(request);
}

static void a_bad_profile_is_the_only_one_that_is_lost(void **state)
{
    const push_settings settings = {.url = ""};
    (void)state;
    world.answer = refuse_seven;
    push_sender *sender = open_sender(&settings);
    for (int i = 5; i <= 9; i++) {
        add_number(sender, i);
    }
    assert_true(push_flush(sender, world.now_ns + 10 * (uint64_t)SECOND));
    assert_int_equal(world.taken, 5 + 6 + 8 + 9);
    assert_int_equal(push_count(sender).lost, 1);
    push_close(sender);
    assert_string_equal(world.said, "push: 1 profile is lost: the server answers 400: seven\n");
}

static void what_cannot_be_encoded_is_lost(void **state)
{
    const push_settings settings = {.url = ""};
    const push_profile nothing = {.data = "", .size = 0, .kind = "cpu"};
    (void)state;
    push_sender *sender = open_sender(&settings);
    push_add(sender, &nothing);
    add_number(sender, 3);
    assert_true(push_flush(sender, world.now_ns + 10 * (uint64_t)SECOND));
    assert_int_equal(world.taken, 3);
    assert_int_equal(push_count(sender).lost, 1);
    push_close(sender);
}

static void labels_that_are_too_long_are_said(void **state)
{
    const push_settings settings = {.url = ""};
    const push_profile labelled = {.data = "7", .size = 1, .kind = "labelled"};
    (void)state;
    push_sender *sender = open_sender(&settings);
    push_add(sender, &labelled);
    assert_true(push_flush(sender, world.now_ns + 10 * (uint64_t)SECOND));
    assert_int_equal(world.requests, 0);
    push_close(sender);
    assert_non_null(strstr(world.said, "1 profile is lost: "));
    assert_non_null(strstr(world.said, "its labels make the server's path too long"));
}

static push_answer no_answer(const push_request *request)
{
    static const push_answer none = {.status = 0, .reason = "nobody listens"};
    (void)request;
    return none;
}

static void the_queue_has_a_bound(void **state)
{
    const push_settings settings = {.url = "", .memory_bytes = 2000};
    (void)state;
    world.answer = no_answer;
    push_sender *sender = open_sender(&settings);
    assert_false(push_is_full(sender));
    for (int i = 0; i < 1000; i++) {
        add_number(sender, i);
        push_pump(sender, world.now_ns + SECOND);
    }
    assert_true(push_is_full(sender));
    push_counters counters = push_count(sender);
    assert_true(counters.queued_bytes <= 2400); /* and the request under way */
    assert_int_equal(counters.queued + counters.lost, 1000);
    push_close(sender);
    assert_non_null(
        strstr(world.said, "push: will try again: nobody listens\npush: 1000 profiles"));
}

static void empty_folder(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *found = NULL;
    while ((found = readdir(folder)) != NULL) {
        unlinkat(dirfd(folder), found->d_name, 0);
    }
    closedir(folder);
    rmdir(path);
}

static void limit_files(bool limits)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = limits ? 0 : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* What the spool cannot take waits in memory, and there is a bound to that, too. */
static void a_full_disk_loses_nothing(void **state)
{
    char folder[] = "/tmp/push_full_XXXXXX";
    const push_settings settings = {.url = "", .memory_bytes = 2000, .spool = folder};
    int64_t added = 0;
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_non_null(mkdtemp(folder));
    world.answer = no_answer;
    push_sender *sender = open_sender(&settings);
    limit_files(true);
    for (int i = 1; i <= 1000 && !push_is_full(sender); i++) {
        assert_int_equal(add_number(sender, i), 0);
        added += i;
        push_pump(sender, world.now_ns + SECOND);
    }
    limit_files(false);
    assert_true(push_is_full(sender));
    assert_true(push_count(sender).queued_bytes <= 2400);
    assert_string_equal(
        world.said, "push: will try again: nobody listens\npush: profiles wait in memory, because "
                    "the spool cannot be written: File too large\n");
    push_pump(sender, world.now_ns + 120 * (uint64_t)SECOND);
    assert_false(push_is_full(sender)); /* the spool has them */
    world.answer = take_all;
    assert_true(push_flush(sender, world.now_ns + 1000 * (uint64_t)SECOND));
    assert_int_equal(world.taken, added);
    assert_int_equal(push_count(sender).lost, 0);
    push_close(sender);
    empty_folder(folder);
}

static void the_end_does_not_wait(void **state)
{
    const push_settings settings = {.url = ""};
    (void)state;
    world.answer = no_answer;
    push_sender *sender = open_sender(&settings);
    add_number(sender, 1);
    push_pump(sender, world.now_ns + 1000 * (uint64_t)SECOND);
    unsigned before = world.requests;
    uint64_t begun_ns = world.now_ns;
    assert_false(push_drain(sender, world.now_ns + 2 * (uint64_t)SECOND));
    assert_int_equal(world.requests, before + 1);
    assert_true(world.now_ns - begun_ns < SECOND);
    world.answer = take_all;
    assert_true(push_drain(sender, world.now_ns + 2 * (uint64_t)SECOND));
    assert_int_equal(world.taken, 1);
    push_close(sender);
}

/* ---- a day ---- */

/* The server is down for an hour, busy for another, and refuses nothing for good. */
static push_answer of_the_day(const push_request *request)
{
    static const push_answer busy = {.status = 503, .retry_after_s = 20};
    uint64_t hour = world.now_ns / (3600 * (uint64_t)SECOND) % 24;
    if (hour == 5) {
        return no_answer(request);
    }
    return hour == 9 && world.requests % 3 != 0 ? busy : take_all(request);
}

/* What a process does: each 15 seconds it sends what was counted since it last could. The process begins anew every
 * two hours, and so does its sender. */
static int64_t live_a_day(const push_settings *settings)
{
    int64_t counted = 0;
    int64_t last = 0;
    push_sender *sender = open_sender(settings);
    uint64_t next_ns = world.now_ns;
    for (int turn = 0; turn < 24 * 3600 / 15; turn++) {
        counted += 1 + turn % 97;
        if (!push_is_full(sender) && add_number(sender, counted - last) == 0) {
            last = counted;
        }
        next_ns += 15 * (uint64_t)SECOND;
        push_pump(sender, next_ns);
        if (turn % 480 == 479 && settings->spool != NULL) {
            push_close(sender);
            sender = open_sender(settings);
        }
    }
    if (counted != last) {
        assert_int_equal(add_number(sender, counted - last), 0);
    }
    assert_true(push_flush(sender, world.now_ns + 1000 * (uint64_t)SECOND));
    assert_int_equal(push_count(sender).lost, 0);
    push_close(sender);
    return counted;
}

static void a_day_has_no_gap_and_nothing_twice(void **state)
{
    const push_settings settings = {.url = "", .memory_bytes = 3000};
    (void)state;
    world.answer = of_the_day;
    int64_t counted = live_a_day(&settings);
    assert_int_equal(world.taken, counted);
}

static void a_day_with_a_spool_has_no_gap_either(void **state)
{
    char folder[] = "/tmp/push_day_XXXXXX";
    const push_settings settings = {.url = "", .memory_bytes = 3000, .spool = folder};
    (void)state;
    assert_non_null(mkdtemp(folder));
    world.answer = of_the_day;
    int64_t counted = live_a_day(&settings);
    assert_int_equal(world.taken, counted);
    empty_folder(folder);
}

/* ---- which server ---- */

static const char *known_path;

static push_answer know_one_path(const push_request *request)
{
    static const push_answer unknown = {.status = 404, .content_type = "text/plain"};
    push_answer known = {.status = 200};
    if (strcmp(request->path, known_path) != 0) {
        return unknown;
    }
    snprintf(known.content_type, sizeof known.content_type, "%s", request->content_type);
    return known;
}

static void each_server_is_known_by_its_path(void **state)
{
    (void)state;
    world.answer = know_one_path;
    for (size_t i = 0; push_formats[i] != NULL; i++) {
        assert_ptr_equal(push_format_named(push_formats[i]->name), push_formats[i]);
        if (push_formats[i]->probe == NULL) {
            continue; /* only the URL names it */
        }
        push_guess guess = {.next = 0};
        push_answer answer;
        known_path = push_formats[i]->path;
        assert_int_equal(push_guess_ask(&guess, &transport, &answer, UINT64_MAX), 0);
        assert_ptr_equal(push_guess_found(&guess), push_formats[i]);
    }
    push_guess guess = {.next = 0};
    push_answer answer;
    known_path = "/";
    assert_int_equal(push_guess_ask(&guess, &transport, &answer, UINT64_MAX), 0);
    assert_null(push_guess_found(&guess));
    assert_non_null(strstr(answer.reason, "the server is none for"));
    world.answer = no_answer;
    assert_int_equal(push_guess_ask(&guess, &transport, &answer, UINT64_MAX), 0);
    assert_string_equal(answer.reason, "nobody listens");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_status_has_its_verdict, set_up),
        cmocka_unit_test_setup(waits_double_up_to_a_minute, set_up),
        cmocka_unit_test_setup(profiles_are_sent_together, set_up),
        cmocka_unit_test_setup(a_busy_server_is_asked_again, set_up),
        cmocka_unit_test_setup(a_bad_profile_is_the_only_one_that_is_lost, set_up),
        cmocka_unit_test_setup(what_cannot_be_encoded_is_lost, set_up),
        cmocka_unit_test_setup(labels_that_are_too_long_are_said, set_up),
        cmocka_unit_test_setup(the_queue_has_a_bound, set_up),
        cmocka_unit_test_setup(a_full_disk_loses_nothing, set_up),
        cmocka_unit_test_setup(the_end_does_not_wait, set_up),
        cmocka_unit_test_setup(a_day_has_no_gap_and_nothing_twice, set_up),
        cmocka_unit_test_setup(a_day_with_a_spool_has_no_gap_either, set_up),
        cmocka_unit_test_setup(each_server_is_known_by_its_path, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
