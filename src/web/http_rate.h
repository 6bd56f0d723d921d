/* SPDX-License-Identifier: MIT
 *
 * http_rate.h: sets the rate of a profile for the time of a request.
 *
 * Zone: NORMAL.
 * Locks: one, while a rate is changed.
 * Owns: the rates from before.
 */
#ifndef PP_WEB_HTTP_RATE_H
#define PP_WEB_HTTP_RATE_H

#include <stdint.h>

typedef int64_t pp_set_rate(int64_t rate);

/* Sets the rate, unless another request has it set already: then that rate stays. 0, or -EBUSY if
 * too many kinds of rates are set, or -ENOMEM. */
int pp_http_rate_begin(pp_set_rate *set_rate, int64_t rate);

/* The last request restores the rate from before, unless the program has set another one
 * meanwhile. */
void pp_http_rate_end(pp_set_rate *set_rate);

/* In the child of fork, where no request is answered: restores all rates, as if the requests had
 * ended. Called after the kinds know of the fork. */
void pp_http_rate_after_fork_in_child(void);

#endif
