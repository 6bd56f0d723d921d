/* SPDX-License-Identifier: MIT
 *
 * retry.c: see retry.h.
 *
 * Tested by: unit.cmd_push_sender
 */
#include "push/retry.h"

#include <string.h>

enum { LONGEST_S = 60, PATIENCE_S = 3600 };

static const uint64_t second_ns = 1000000000;

static bool is_of_server(const push_format *format, const push_answer *answer)
{
    const char *wanted = format->accepted;
    return wanted == NULL || strncmp(answer->content_type, wanted, strlen(wanted)) == 0;
}

static bool is_final_failure(const push_format *format, const push_answer *answer)
{
    for (size_t i = 0; i < 2 && format->final_failures[i] != NULL; i++) {
        if (strstr(answer->reason, format->final_failures[i]) != NULL) {
            return true;
        }
    }
    return false;
}

push_verdict push_judge(const push_format *format, const push_answer *answer)
{
    int status = answer->status;
    if (status >= 200 && status < 300) {
        return is_of_server(format, answer) ? PUSH_SENT : PUSH_LATER;
    }
    bool is_passing = status < 400 || status == 401 || status == 403 || status == 407 ||
                      status == 408 || status == 425 || status == 429;
    bool is_final = status == 500 && is_final_failure(format, answer);
    bool is_for_ever = is_final || (status >= 400 && status < 500 && !is_passing) ||
                       status == 501 || status == 505;
    return is_for_ever ? PUSH_NEVER : PUSH_LATER;
}

uint64_t push_backoff_ns(unsigned failures, int64_t retry_after_s, uint64_t chance)
{
    uint64_t longest = LONGEST_S * second_ns;
    uint64_t wait = failures > 6 ? longest : second_ns << (failures - 1);
    wait = wait < longest ? wait : longest;
    wait -= chance % (wait / 2 + 1);
    uint64_t asked = 0;
    if (retry_after_s > 0) {
        asked = (uint64_t)(retry_after_s < PATIENCE_S ? retry_after_s : PATIENCE_S) * second_ns;
    }
    return wait > asked ? wait : asked;
}
