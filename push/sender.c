/* SPDX-License-Identifier: MIT
 *
 * sender.c: see push.h.
 *
 *   queue, spool --(take)--> batch --(encode)--> body --(exchange)--> answer --(judge)--> next batch
 *                              ^                                          |
 *                              '-------- later: the same again; never: one by one, then lost
 *
 * One request is under way at a time. As long as the server does not take it, the queue moves to the
 * spool, if there is one.
 *
 * Locks: `lock`, for the queue, the spool and the counters; never held while a request is under way.
 * Tested by: unit.cmd_push_sender, e2e.push, e2e.push_trouble
 */
#include "push/sender.h"

#include "push/age.h"
#include "push/guess.h"
#include "push/pprof.h"
#include "push/retry.h"
#include "push/spool.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ENTRY_MAX = 64 << 20, PATH_BYTES = 1024, MESSAGE_BYTES = PUSH_REASON_BYTES + 256 };

static const uint64_t default_spool_bytes = 64u << 20;
static const size_t default_memory_bytes = 8u << 20;
static const size_t batch_bytes = 1u << 20; /* a request has more only if one profile is larger */

typedef struct queue {
    push_entry *first, *last;
    size_t count, bytes;
} queue;

struct push_sender {
    pthread_mutex_t lock;
    push_transport transport;
    const push_format *format; /* NULL: the server was not asked yet */
    push_guess guess;
    push_spool *spool;
    size_t memory_bytes;
    size_t largest; /* entry so far */
    void (*log)(const char *message);
    queue waiting;
    /* The request that is under way, or that will be sent again. */
    queue batch;
    size_t batch_plain; /* its bytes without gzip */
    bool is_from_spool;
    size_t moved; /* so many of those that wait were in the spool: they are the oldest */
    size_t alone; /* so many of the next profiles go one by one */
    push_body body;
    char path[PATH_BYTES];
    /* What went wrong. */
    unsigned failures; /* in a row */
    uint64_t next_ns;
    bool has_complained;
    uint64_t lost_said;
    bool has_complained_of_spool;
    bool is_spool_full; /* it could not be written the last time */
    bool is_woken;
    push_counters counters;
};

/* ---- queues ---- */

static void append(queue *q, push_entry *entry)
{
    entry->next = NULL;
    if (q->last != NULL) {
        q->last->next = entry;
    } else {
        q->first = entry;
    }
    q->last = entry;
    q->count++;
    q->bytes += entry->size;
}

static push_entry *take_first(queue *q)
{
    push_entry *entry = q->first;
    q->first = entry->next;
    q->last = q->first == NULL ? NULL : q->last;
    q->count--;
    q->bytes -= entry->size;
    return entry;
}

static void empty(queue *q)
{
    while (q->first != NULL) {
        push_entry_free(take_first(q));
    }
}

/* Puts all of `q` before what `to` has. */
static void prepend(queue *to, queue *q)
{
    if (q->first == NULL) {
        return;
    }
    q->last->next = to->first;
    to->last = to->last != NULL ? to->last : q->last;
    to->first = q->first;
    to->count += q->count;
    to->bytes += q->bytes;
    *q = (queue){NULL};
}

/* ---- messages ---- */

static uint64_t now_ns(push_sender *s)
{
    return s->transport.now_ns(s->transport.context);
}

static void say(const push_sender *s, const char *what, const char *more)
{
    char message[MESSAGE_BYTES];
    if (s->log != NULL) {
        snprintf(message, sizeof message, "push: %s%s", what, more);
        s->log(message);
    }
}

/* Says how many profiles were lost since it was said last. */
static void say_what_is_lost(push_sender *s, const char *why)
{
    char what[96];
    uint64_t lost = s->counters.lost - s->lost_said;
    if (lost > 0) {
        snprintf(what, sizeof what, "%llu profile%s lost: ", (unsigned long long)lost,
                 lost == 1 ? " is" : "s are");
        say(s, what, why);
        s->lost_said = s->counters.lost;
    }
}

static void describe(const push_answer *a, char reason[PUSH_REASON_BYTES + 64])
{
    if (a->status == 0) {
        snprintf(reason, PUSH_REASON_BYTES + 64, "%s", a->reason);
    } else if (a->status >= 300 && a->status < 400) {
        snprintf(reason, PUSH_REASON_BYTES + 64,
                 "the server answers %d and sends us elsewhere, where nothing is pushed",
                 a->status);
    } else if (a->status < 300) {
        snprintf(reason, PUSH_REASON_BYTES + 64, "the answer %d is not that of such a server (%s)",
                 a->status, a->content_type[0] != '\0' ? a->content_type : "no content type");
    } else {
        snprintf(reason, PUSH_REASON_BYTES + 64, "the server answers %d%s%s", a->status,
                 a->reason[0] != '\0' ? ": " : "", a->reason);
    }
}

/* ---- add ---- */

static bool is_failing(const push_sender *s)
{
    return s->failures > 0;
}

/* Moves the oldest to the spool. False: that cannot be written, and it stays. The caller holds the lock. */
static bool store_first(push_sender *s)
{
    uint64_t dropped = 0;
    int error = push_spool_put(s->spool, s->waiting.first, now_ns(s), &dropped);
    s->counters.lost += dropped;
    if (error != 0 && !s->has_complained_of_spool) {
        s->has_complained_of_spool = true;
        say(s, "profiles wait in memory, because the spool cannot be written: ", strerror(-error));
    }
    s->is_spool_full = error != 0;
    if (error == 0) {
        push_entry_free(take_first(&s->waiting));
        s->moved -= s->moved > 0;
    }
    return error == 0;
}

static void spill_first(push_sender *s)
{
    if (s->spool == NULL || !store_first(s)) {
        push_entry_free(take_first(&s->waiting));
        s->moved -= s->moved > 0;
        s->counters.lost++;
    }
}

/* The queue goes to the spool while the server takes nothing; without a spool, and with it as long
 * as the server takes all, only what has no room. */
static void make_room(push_sender *s)
{
    while (s->waiting.first != NULL && is_failing(s) && s->spool != NULL && store_first(s)) {
    }
    while (s->waiting.bytes > s->memory_bytes) {
        spill_first(s);
    }
}

int push_add(push_sender *s, const push_profile *profile)
{
    push_entry *entry = profile->size <= ENTRY_MAX ? push_entry_new(profile) : NULL;
    pthread_mutex_lock(&s->lock);
    s->counters.added++;
    if (entry != NULL) {
        s->largest = entry->size > s->largest ? entry->size : s->largest;
        append(&s->waiting, entry);
        make_room(s);
    } else {
        s->counters.lost++;
    }
    pthread_mutex_unlock(&s->lock);
    s->transport.wake(s->transport.context);
    return entry != NULL ? 0 : profile->size <= ENTRY_MAX ? -ENOMEM : -E2BIG;
}

bool push_is_full(const push_sender *sender)
{
    push_sender *s = (push_sender *)(uintptr_t)sender;
    pthread_mutex_lock(&s->lock);
    bool is_full = (s->spool == NULL || s->is_spool_full) &&
                   s->waiting.bytes + s->batch.bytes + s->largest > s->memory_bytes;
    pthread_mutex_unlock(&s->lock);
    return is_full;
}

/* ---- a batch ---- */

static size_t entries_wanted(const push_sender *s)
{
    return s->alone > 0 ? 1 : s->format->entries;
}

/* By the wall clock, as the server sees it. */
static bool is_old(const push_sender *s, const push_entry *entry)
{
    return s->format->oldest_s != 0 &&
           entry->profile.end_ns / 1000000000 < time(NULL) - s->format->oldest_s;
}

/* What is old comes first. */
static bool may_grow(const push_sender *s)
{
    return s->batch.count == 0 || (s->batch.count < entries_wanted(s) && !is_old(s, s->batch.last));
}

static size_t plain_size(const push_entry *entry)
{
    return push_pprof_plain_size(entry->profile.data, entry->profile.size);
}

static bool fits(const push_sender *s, const push_entry *entry)
{
    size_t most = s->format->plain_bytes;
    return s->batch.count == 0 || (s->batch.bytes + entry->size <= batch_bytes &&
                                   (most == 0 || s->batch_plain + plain_size(entry) <= most));
}

static void put_in(push_sender *s, push_entry *entry)
{
    s->batch_plain += plain_size(entry);
    append(&s->batch, entry);
}

/* The entry in as many parts as the server's limits ask for. */
static queue split(push_sender *s, push_entry *entry)
{
    queue parts = {NULL};
    entry->next = NULL;
    push_entry *part = s->format->wants_plain_types ? push_rename_types(entry) : entry;
    part = part != NULL ? push_limit_age(part, s->format->oldest_s, time(NULL)) : NULL;
    part = part != NULL ? push_split(part, &s->format->limits) : NULL;
    s->counters.lost += part == NULL;
    while (part != NULL) {
        push_entry *next = part->next;
        append(&parts, part);
        part = next;
    }
    return parts;
}

/* False: nothing more goes into the batch. */
static bool take_from_memory(push_sender *s)
{
    if (s->waiting.first == NULL) {
        return false;
    }
    bool was_moved = s->moved > 0;
    queue parts = split(s, take_first(&s->waiting));
    s->moved += was_moved ? parts.count - 1 : 0;
    prepend(&s->waiting, &parts);
    if (s->waiting.first == NULL || !fits(s, s->waiting.first)) {
        return s->waiting.first != NULL && s->batch.count == 0;
    }
    put_in(s, take_first(&s->waiting));
    s->moved -= s->moved > 0;
    return true;
}

/* What has to be split, or has no room in the batch any more, moves from the folder to the memory. */
static bool take_from_spool(push_sender *s)
{
    push_entry *entry = push_spool_take(s->spool, now_ns(s));
    if (entry == NULL) {
        return false;
    }
    queue parts = split(s, entry);
    if (parts.count == 1 && fits(s, parts.first)) {
        put_in(s, take_first(&parts));
        s->is_from_spool = true;
        return true;
    }
    push_spool_remove_last(s->spool);
    s->moved += parts.count;
    prepend(&s->waiting, &parts);
    return s->batch.count == 0;
}

/* Takes what is oldest, from the folder or from the memory. The caller holds the lock. */
static void take_batch(push_sender *s)
{
    bool has_spool = s->spool != NULL;
    s->batch_plain = 0;
    while (may_grow(s)) {
        bool from_spool = has_spool && s->moved == 0;
        if (s->batch.count > 0 && s->is_from_spool != from_spool) {
            break;
        }
        bool goes_on = from_spool ? take_from_spool(s) : take_from_memory(s);
        has_spool &= goes_on || !from_spool;
        if (!goes_on && (!from_spool || s->batch.count > 0)) {
            break;
        }
    }
}

/* A profile of the spool belongs to the file that was taken, until the batch is over. */
static void drop_batch(push_sender *s)
{
    if (s->is_from_spool) {
        push_spool_remove_taken(s->spool);
    }
    s->alone -= s->alone < s->batch.count ? s->alone : s->batch.count;
    empty(&s->batch);
    s->is_from_spool = false;
    push_body_release(&s->body);
}

/* A profile that was taken from the spool is there again. */
static void return_to_spool(push_sender *s)
{
    if (s->is_from_spool) {
        push_spool_keep_taken(s->spool);
        empty(&s->batch);
        push_body_release(&s->body);
        s->is_from_spool = false;
    }
}

static void put_back(push_sender *s)
{
    return_to_spool(s);
    prepend(&s->waiting, &s->batch);
    push_body_release(&s->body);
}

/* Sends the profiles of the batch one by one: one of them is to blame. */
static void scatter(push_sender *s)
{
    s->alone = s->batch.count;
    put_back(s);
}

static int encode(push_sender *s)
{
    push_body query = PUSH_BODY_INIT;
    push_body_release(&s->body);
    int error = s->format->encode(s->batch.first, s->batch.count, &s->body, &query);
    int length = snprintf(s->path, sizeof s->path, "%s%.*s", s->format->path, (int)query.size,
                          query.data != NULL ? (const char *)query.data : "");
    bool is_too_long = length >= (int)sizeof s->path;
    push_body_release(&query);
    return error != 0 ? error : is_too_long ? -ENAMETOOLONG : 0;
}

/* ---- what an answer does ---- */

static void succeed(push_sender *s)
{
    s->counters.sent += s->batch.count;
    drop_batch(s);
    s->failures = 0;
    if (s->has_complained) {
        say(s, "the server takes profiles again", "");
        s->has_complained = s->has_complained_of_spool = false;
    }
    say_what_is_lost(s, "there was no room for them");
}

static void fail_for_now(push_sender *s, const push_answer *answer)
{
    char reason[PUSH_REASON_BYTES + 64];
    s->failures++;
    s->counters.retried += s->batch.count > 0;
    if (s->format != NULL && s->format->oldest_s != 0) {
        put_back(s); /* it will be older then */
    }
    s->next_ns = now_ns(s) + push_backoff_ns(s->failures, answer->retry_after_s,
                                             s->transport.chance(s->transport.context));
    make_room(s);
    if (!s->has_complained) {
        describe(answer, reason);
        say(s, "will try again: ", reason);
        s->has_complained = true;
    }
}

static void fail_for_ever(push_sender *s, const push_answer *answer)
{
    char reason[PUSH_REASON_BYTES + 64];
    s->failures = 0; /* the server is there */
    if (s->batch.count > 1 && !s->format->keeps_good) {
        scatter(s);
        return;
    }
    s->counters.lost += s->batch.count;
    drop_batch(s);
    describe(answer, reason);
    say_what_is_lost(s, reason);
}

static void settle(push_sender *s, const push_answer *answer)
{
    pthread_mutex_lock(&s->lock);
    switch (push_judge(s->format, answer)) {
    case PUSH_SENT:
        succeed(s);
        break;
    case PUSH_LATER:
        fail_for_now(s, answer);
        break;
    case PUSH_NEVER:
        fail_for_ever(s, answer);
        break;
    }
    pthread_mutex_unlock(&s->lock);
}

/* ---- sending ---- */

/* Asks what kind of server it is. False: not yet known. */
static bool know_format(push_sender *s, uint64_t until_ns)
{
    push_answer answer;
    if (s->format != NULL) {
        return true;
    }
    int error = push_guess_ask(&s->guess, &s->transport, &answer, until_ns);
    s->format = error == 0 ? push_guess_found(&s->guess) : NULL;
    if (error == 0 && s->format == NULL) {
        pthread_mutex_lock(&s->lock);
        fail_for_now(s, &answer);
        pthread_mutex_unlock(&s->lock);
    }
    return s->format != NULL;
}

/* True: there is a request to send. */
static bool have_request(push_sender *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->body.size == 0) {
        if (s->batch.count == 0) {
            take_batch(s);
        }
        if (s->batch.count == 0) {
            break;
        }
        int error = encode(s);
        if (error != 0) {
            push_answer answer = {.status = 400};
            snprintf(answer.reason, sizeof answer.reason, "%s",
                     error == -EBADMSG        ? "(not sent) it is no profile.proto"
                     : error == -ENAMETOOLONG ? "(not sent) its labels make the server's path too "
                                                "long: have fewer, or shorter ones"
                                              : "(not sent) no memory");
            fail_for_ever(s, &answer);
        }
    }
    pthread_mutex_unlock(&s->lock);
    return s->body.size > 0;
}

static bool has_work(push_sender *s)
{
    pthread_mutex_lock(&s->lock);
    bool has = s->batch.count > 0 || s->waiting.count > 0 ||
               (s->spool != NULL && push_spool_count(s->spool) > 0);
    pthread_mutex_unlock(&s->lock);
    return has;
}

static bool was_woken(push_sender *s)
{
    return __atomic_exchange_n(&s->is_woken, false, __ATOMIC_ACQ_REL);
}

static void wait_until(push_sender *s, uint64_t when_ns, uint64_t until_ns)
{
    s->transport.wait(s->transport.context, when_ns < until_ns ? when_ns : until_ns);
}

/* Sends the request of the batch, or goes on with it. */
static void send_request(push_sender *s, uint64_t until_ns)
{
    push_answer answer;
    const push_request request = {.path = s->path,
                                  .content_type = s->format->content_type,
                                  .body = s->body.data,
                                  .size = s->body.size};
    if (s->transport.exchange(s->transport.context, &request, &answer, until_ns) == 0) {
        settle(s, &answer);
    }
}

/* One step. `waits`: for more, if there is nothing to send. */
static void step(push_sender *s, uint64_t until_ns)
{
    if (is_failing(s) && now_ns(s) < s->next_ns) {
        wait_until(s, s->next_ns, until_ns);
    } else if (know_format(s, until_ns) && have_request(s)) {
        send_request(s, until_ns);
    }
}

void push_pump(push_sender *s, uint64_t until_ns)
{
    while (!was_woken(s) && now_ns(s) < until_ns) {
        if (has_work(s)) {
            step(s, until_ns);
        } else {
            wait_until(s, UINT64_MAX, until_ns);
        }
    }
}

bool push_flush(push_sender *s, uint64_t until_ns)
{
    while (has_work(s) && !was_woken(s) && now_ns(s) < until_ns) {
        step(s, until_ns);
    }
    return !has_work(s);
}

bool push_drain(push_sender *s, uint64_t until_ns)
{
    s->failures = 0;
    was_woken(s);
    while (has_work(s) && !is_failing(s) && now_ns(s) < until_ns) {
        step(s, until_ns);
    }
    return !has_work(s);
}

void push_wake(push_sender *s)
{
    __atomic_store_n(&s->is_woken, true, __ATOMIC_RELEASE);
    s->transport.wake(s->transport.context);
}

void push_park(push_sender *s)
{
    s->transport.park(s->transport.context);
    pthread_mutex_lock(&s->lock);
    return_to_spool(s);
    if (s->spool != NULL) {
        push_spool_park(s->spool);
    }
    pthread_mutex_unlock(&s->lock);
}

push_counters push_count(const push_sender *sender)
{
    push_sender *s = (push_sender *)(uintptr_t)sender;
    pthread_mutex_lock(&s->lock);
    push_counters counters = s->counters;
    counters.queued = s->waiting.count + s->batch.count;
    counters.queued_bytes = s->waiting.bytes + s->batch.bytes;
    if (s->spool != NULL) {
        counters.queued += push_spool_count(s->spool);
        counters.queued_bytes += push_spool_bytes(s->spool);
    }
    pthread_mutex_unlock(&s->lock);
    return counters;
}

/* ---- life ---- */

int push_sender_open(const push_settings *settings, const push_format *format,
                     const push_transport *transport, push_sender **sender,
                     char why[PUSH_WHY_BYTES])
{
    push_sender *s = calloc(1, sizeof *s);
    int error = s != NULL ? 0 : -ENOMEM;
    if (s != NULL && settings->spool != NULL) {
        uint64_t bytes = settings->spool_bytes != 0 ? settings->spool_bytes : default_spool_bytes;
        error = push_spool_open(settings->spool, bytes, &s->spool, why);
    } else if (s == NULL) {
        snprintf(why, PUSH_WHY_BYTES, "no memory");
    }
    if (error != 0) {
        transport->close(transport->context);
        free(s);
        return error;
    }
    pthread_mutex_init(&s->lock, NULL);
    s->transport = *transport;
    s->format = format;
    s->log = settings->log;
    s->memory_bytes = settings->memory_bytes != 0 ? settings->memory_bytes : default_memory_bytes;
    *sender = s;
    return 0;
}

static void keep_all(push_sender *s)
{
    return_to_spool(s);
    prepend(&s->waiting, &s->batch);
    while (s->waiting.first != NULL) {
        spill_first(s);
    }
}

void push_close(push_sender *s)
{
    if (s == NULL) {
        return;
    }
    s->transport.close(s->transport.context);
    keep_all(s);
    say_what_is_lost(s, "they could not be sent before the end");
    push_spool_close(s->spool);
    push_body_release(&s->body);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
