/* SPDX-License-Identifier: MIT
 *
 * http_rate.c: counts the requests that want a rate.
 *
 * Zone: NORMAL.
 * Tested by: e2e.http_deltas, e2e.http_guest
 */
#include "web/http_rate.h"

#include "sys/lock.h"
#include "sys/tasks.h"

#include "pprof.h"

#include <errno.h>
#include <stddef.h>

enum { KINDS = 8 };

typedef struct held {
    pp_set_rate *set_rate;
    unsigned users; /* 0: the entry is free */
    int64_t before, wanted;
} held;

static struct {
    pp_lock lock;
    held list[KINDS];
} rates;

/* The entry of this kind, else a free one; NULL if there is neither. */
static held *rate_of(pp_set_rate *set_rate)
{
    held *free_entry = NULL;
    for (unsigned i = 0; i < KINDS; i++) {
        held *h = &rates.list[i];
        if (h->users > 0 && h->set_rate == set_rate) {
            return h;
        }
        free_entry = h->users == 0 ? h : free_entry;
    }
    return free_entry;
}

/* The entry is whole before the rate is set: a fork may come in between. */
static int begin(held *h, pp_set_rate *set_rate, int64_t rate)
{
    *h = (held){.set_rate = set_rate, .before = set_rate(PPROF_RATE_READ), .wanted = rate};
    __atomic_store_n(&h->users, 1, __ATOMIC_RELEASE);
    if (set_rate(rate) >= 0) {
        return 0;
    }
    h->users = 0;
    return -ENOMEM;
}

/* Sets the rate from before, unless somebody has set another one. */
static void end(held *h)
{
    h->users = 0;
    if (h->set_rate(PPROF_RATE_READ) == h->wanted) {
        h->set_rate(h->before);
    }
}

int pp_http_rate_begin(pp_set_rate *set_rate, int64_t rate)
{
    int error = 0;
    pp_lock_take(&rates.lock, pp_task_self());
    held *h = rate_of(set_rate);
    if (h == NULL) {
        error = -EBUSY;
    } else if (h->users == 0) {
        error = begin(h, set_rate, rate);
    } else {
        h->users++;
    }
    pp_lock_release(&rates.lock);
    return error;
}

void pp_http_rate_end(pp_set_rate *set_rate)
{
    pp_lock_take(&rates.lock, pp_task_self());
    held *h = rate_of(set_rate);
    if (h != NULL && h->users > 0 && --h->users == 0) {
        end(h);
    }
    pp_lock_release(&rates.lock);
}

void pp_http_rate_after_fork_in_child(void)
{
    pp_lock_release(&rates.lock);
    for (unsigned i = 0; i < KINDS; i++) {
        if (rates.list[i].users > 0) {
            end(&rates.list[i]);
        }
    }
}
