/* SPDX-License-Identifier: MIT
 *
 * age.c: see age.h.
 *
 * Tested by: unit.cmd_push_formats, unit.cmd_push_sender
 */
#include "push/age.h"

#include "push/pprof.h"

enum { A_LITTLE_S = 900, AHEAD_S = 300 };

static const int64_t second_ns = 1000000000;

/* True: the profile needs another time, which is in *time. */
static bool needs_time(const push_profile *p, int64_t oldest_ns, int64_t now_ns, push_profile *time)
{
    *time = *p;
    if (p->end_ns > now_ns + AHEAD_S * second_ns) {
        time->begin_ns = now_ns - (p->end_ns - p->begin_ns);
        time->end_ns = now_ns;
    } else if (p->begin_ns < oldest_ns && p->end_ns >= oldest_ns - A_LITTLE_S * second_ns) {
        time->begin_ns = oldest_ns;
        time->end_ns = p->end_ns > oldest_ns ? p->end_ns : oldest_ns;
    }
    return time->begin_ns != p->begin_ns;
}

static push_entry *make_entry(push_pprof *p, push_profile *profile)
{
    push_body packed = PUSH_BODY_INIT;
    p->time_nanos = profile->begin_ns;
    p->duration_nanos = profile->end_ns - profile->begin_ns;
    push_pprof_write(p, &packed);
    profile->data = packed.data;
    profile->size = packed.size;
    push_entry *entry = packed.failed ? NULL : push_entry_new(profile);
    push_body_release(&packed);
    return entry;
}

push_entry *push_limit_age(push_entry *entry, int64_t oldest_s, int64_t now_s)
{
    push_profile profile;
    push_memory memory;
    if (oldest_s == 0 ||
        !needs_time(&entry->profile, (now_s - oldest_s) * second_ns, now_s * second_ns, &profile)) {
        return entry;
    }
    push_memory_init(&memory);
    push_pprof *p = push_pprof_read(entry->profile.data, entry->profile.size, &memory);
    push_entry *younger = p != NULL ? make_entry(p, &profile) : NULL;
    push_memory_release(&memory);
    if (p == NULL) {
        return entry; /* the server may understand it */
    }
    push_entry_free(entry);
    return younger;
}
