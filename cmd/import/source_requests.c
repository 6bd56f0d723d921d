/* SPDX-License-Identifier: MIT
 *
 * source_requests.c: see source_requests.h.
 *
 * Tested by: e2e.cpprof_record_remote, e2e.cpprof_why
 */
#include "import/source_requests.h"

#include "base/meter.h"
#include "import/profile_file.h"

static void *ask(void *argument)
{
    cp_request *r = argument;

    r->status = cp_source_fetch(r->source, &r->answer, &r->error);
    return NULL;
}

static void *ask_quietly(void *argument)
{
    cp_meter_silence_thread();
    return ask(argument);
}

bool cp_requests_ask(cp_request *requests, size_t count)
{
    cp_request *first = NULL;
    bool good = true;

    for (size_t i = 0; i < count; i++) {
        cp_request *r = &requests[i];
        if (r->takes_time && first) {
            r->is_threaded = pthread_create(&r->thread, NULL, ask_quietly, r) == 0;
        } else if (r->takes_time) {
            first = r;
        }
    }
    if (first) {
        ask(first);
    }
    for (size_t i = 0; i < count; i++) {
        cp_request *r = &requests[i];
        if (r->is_threaded) {
            pthread_join(r->thread, NULL);
        } else if (r != first) {
            ask(r);
        }
        good = good && r->status == 0;
    }
    return good;
}
