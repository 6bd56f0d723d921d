/* SPDX-License-Identifier: MIT
 *
 * idle_filter.c: see idle_filter.h.
 *
 * Tested by: unit.cmd_idle_filter, e2e.cpprof_ignore_idle
 */
#include "profile/idle_filter.h"

#include "base/base_name.h"
#include "base/measurement.h"
#include "profile/profile_model.h"

#include <stddef.h>
#include <string.h>

enum { OWN_CALLS = 3 }; /* from a thread's beginning to its wait for work */

/* Names are without underscores in front: libc has several of each. Lists end with NULL. */

static const char *const accepts[] = {"accept", "accept4", NULL};

static const char *const signal_waits[] = {"sigwait",    "sigwaitinfo", "sigtimedwait",
                                           "sigsuspend", "pause",       NULL};

static const char *const joins[] = {"pthread_join",
                                    "pthread_timedjoin_np",
                                    "pthread_clockjoin_np",
                                    "pthread_clockjoin_ex",
                                    "thrd_join",
                                    NULL};

static const char *const condition_waits[] = {
    "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait",
    "cnd_wait",          "cnd_timedwait",          "sem_wait",
    "sem_timedwait",     "sem_clockwait",          NULL};

/* Between a thread's own function and the wait, or above it. */
static const char *const wrappers[] = {"std::", "g_", "uv_", "execute_native_thread_routine", NULL};

static const char *const thread_starts[] = {"start_thread", "clone", "clone3", NULL};

/* Functions that ask something, and poll for the answer: beginnings of names. */
static const char *const answers[] = {"res_",
                                      "send_dg",
                                      "send_vc",
                                      "getaddrinfo",
                                      "gethostby",
                                      "Curl_",
                                      "curl_easy_perform",
                                      "PQexec",
                                      "PQgetResult",
                                      "pqWait",
                                      "pqSocket",
                                      "vio_io_wait",
                                      "mysql_real_",
                                      "redisGetReply",
                                      "redisBufferRead",
                                      "SSL_connect",
                                      "ldap_result",
                                      "clnt_call",
                                      "clntudp_",
                                      "clnttcp_",
                                      "xcb_wait_for_reply",
                                      NULL};

/* ---- names ---- */

static bool is_one_of(const char *name, const char *const *list)
{
    name += strspn(name, "_");
    for (; *list; list++) {
        if (strcmp(name, *list) == 0) {
            return true;
        }
    }
    return false;
}

static bool begins_with_one_of(const char *name, const char *const *list)
{
    name += strspn(name, "_");
    for (; *list; list++) {
        if (strncmp(name, *list, strlen(*list)) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- stacks ---- */

/* A walk from the leaf to the root. */
typedef struct walk {
    const cp_profile *profile;
    const cp_sample *sample;
    uint32_t location, line;
    bool
        is_nameless_in_libc; /* the last frame: start_thread has no name where there is no debug file */
} walk;

static walk begin_walk(const cp_profile *profile, const cp_sample *sample)
{
    return (walk){.profile = profile, .sample = sample};
}

/* A report names what has no name after its file: "[libc.so.6]+0x8fb90". */
static bool is_nameless_in_libc(const cp_profile *profile, const cp_location *location,
                                const char *name)
{
    const char *file = "";

    if (*name == '[') {
        file = name + 1;
    } else if (!*name && location->mapping != CP_NO_MAPPING) {
        size_t length = 0;
        file = cp_base_name(cp_profile_text(profile, profile->mappings[location->mapping].file),
                            &length);
    }
    return strncmp(file, "libc.so", strlen("libc.so")) == 0 ||
           strncmp(file, "libc-", strlen("libc-")) == 0 ||
           strncmp(file, "ld-musl-", strlen("ld-musl-")) == 0;
}

/* The name of the next frame, "" if it has none; NULL after the last one. */
static const char *next_name(walk *w)
{
    if (w->location >= w->sample->location_count) {
        return NULL;
    }
    const cp_location *location = &w->profile->locations[w->sample->locations[w->location]];
    const char *name =
        w->line < location->line_count
            ? cp_profile_text(w->profile,
                              w->profile->functions[location->lines[w->line].function].name)
            : "";
    w->is_nameless_in_libc = is_nameless_in_libc(w->profile, location, name);
    if (++w->line >= location->line_count) {
        w->location++;
        w->line = 0;
    }
    return name;
}

/* The leaf's name; a leaf in libc may be named after the part that it waits in. */
static bool leaf_is(const cp_profile *profile, const cp_sample *sample, const char *const *list)
{
    enum { LEAVES = 4 };
    walk w = begin_walk(profile, sample);
    const char *name;

    for (int i = 0; i < LEAVES && (name = next_name(&w)); i++) {
        if (is_one_of(name, list)) {
            return true;
        }
    }
    return false;
}

static bool has_answer(const cp_profile *profile, const cp_sample *sample)
{
    walk w = begin_walk(profile, sample);

    for (const char *name; (name = next_name(&w));) {
        if (begins_with_one_of(name, answers)) {
            return true;
        }
    }
    return false;
}

/* Whether the rest of the stack may be that of start_thread, as opposed to that of main. */
static bool is_thread_start(walk *w)
{
    for (const char *name; (name = next_name(w));) {
        if (!w->is_nameless_in_libc && !is_one_of(name, thread_starts)) {
            return false;
        }
    }
    return true;
}

/* Whether the wait is for a condition, and a few calls from the beginning of a thread. */
static bool waits_for_work(const cp_profile *profile, const cp_sample *sample)
{
    walk w = begin_walk(profile, sample);
    bool is_in_wait = false;
    int own = 0;

    for (const char *name; (name = next_name(&w));) {
        if (is_one_of(name, thread_starts)) {
            return is_in_wait && own > 0;
        }
        if (strcmp(name, "main") == 0) {
            return false; /* in musl what called it has no name */
        }
        if (w.is_nameless_in_libc && own > 0) {
            return is_thread_start(&w);
        }
        if (is_one_of(name, condition_waits)) {
            is_in_wait = true;
            own = 0;
        } else if (is_in_wait && !w.is_nameless_in_libc && !begins_with_one_of(name, wrappers) &&
                   ++own > OWN_CALLS) {
            return false;
        }
    }
    return false;
}

/* ---- samples ---- */

static const char *state_of(const cp_profile *profile, const cp_sample *sample)
{
    for (uint32_t i = 0; i < sample->label_count; i++) {
        const cp_label *label = &sample->labels[i];
        if (!label->numeric && strcmp(cp_profile_text(profile, label->key), "state") == 0) {
            return cp_profile_text(profile, label->text);
        }
    }
    return NULL;
}

static bool is_idle(const cp_profile *profile, const cp_sample *sample, const char *state)
{
    if (strcmp(state, "poll") == 0) {
        return !has_answer(profile, sample);
    }
    if (strcmp(state, "lock") == 0) {
        return leaf_is(profile, sample, joins) || waits_for_work(profile, sample);
    }
    if (strcmp(state, "net") == 0) {
        return leaf_is(profile, sample, accepts);
    }
    return strcmp(state, "other") == 0 && leaf_is(profile, sample, signal_waits);
}

cp_idle cp_profile_filter_idle(cp_profile *profile, uint32_t value_index)
{
    cp_idle idle = {false, 0};
    uint32_t kept = 0;

    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const cp_sample *sample = &profile->samples[i];
        const char *state = state_of(profile, sample);

        idle.has_states = idle.has_states || state;
        if (state && is_idle(profile, sample, state)) {
            idle.value += cp_measure_abs(sample->values[value_index]);
        } else {
            profile->samples[kept++] = *sample;
        }
    }
    profile->sample_count = kept;
    return idle;
}
