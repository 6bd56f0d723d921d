/* SPDX-License-Identifier: MIT
 *
 * profile_sum.c: see profile_sum.h.
 *
 *   readers:   take the next path -> read, gunzip, decode -> put the profile into its place
 *   caller:                                                  take the next place -> merge -> free
 *
 *   places[]   | 8 | 9 | 6 | 7 |   profile i is in place i % PLACES; readers wait for a free one
 *
 * Locks: the mutex of a sum, which guards all but what is in the header.
 * Owns: the threads and the profiles in the places, for the time of a call.
 * Tested by: unit.cmd_sum.
 */
#include "import/profile_sum.h"

#include "base/message.h"
#include "base/meter.h"
#include "import/profile_file.h"
#include "profile/profile_merge.h"
#include "profile/profile_model.h"

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/stat.h>

#define READERS 4 /* more of them would only wait for the merge */
#define PLACES  8 /* two for each */

typedef struct sum {
    const char *const *paths;
    size_t count;

    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t taken;   /* paths that readers have begun with */
    size_t merged;  /* profiles that left their places */
    bool abandoned; /* no more paths are to be taken */
    struct {
        bool full;
        cp_profile *profile; /* NULL: it could not be read */
    } places[PLACES];
} sum;

/* ---- readers ---- */

static cp_profile *read_one(const char *path)
{
    cp_profile *profile;
    cp_error ignored;

    return cp_profile_read_file(path, &profile, &ignored) < 0 ? NULL : profile;
}

/* Waits for a free place. Returns false if there are no more paths. */
static bool take_path(sum *s, size_t *index)
{
    pthread_mutex_lock(&s->mutex);
    while (!s->abandoned && s->taken < s->count && s->taken >= s->merged + PLACES) {
        pthread_cond_wait(&s->changed, &s->mutex);
    }
    bool more = !s->abandoned && s->taken < s->count;
    if (more) {
        *index = s->taken++;
    }
    pthread_mutex_unlock(&s->mutex);
    return more;
}

static void put_profile(sum *s, size_t index, cp_profile *profile)
{
    pthread_mutex_lock(&s->mutex);
    s->places[index % PLACES].full = true;
    s->places[index % PLACES].profile = profile;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
}

static void *read_files(void *argument)
{
    sum *s = argument;
    size_t index;

    while (take_path(s, &index)) {
        put_profile(s, index, read_one(s->paths[index]));
    }
    return NULL;
}

/* As many as there are processors; none if there is only one. */
static size_t wanted_readers(size_t count)
{
    cpu_set_t processors;

    if (sched_getaffinity(0, sizeof processors, &processors) < 0) {
        return 0;
    }
    size_t readers = (size_t)CPU_COUNT(&processors);
    if (readers < 2 || count < 2) {
        return 0;
    }
    readers = readers > READERS ? READERS : readers;
    return readers > count ? count : readers;
}

static size_t start_readers(sum *s, pthread_t *readers)
{
    size_t wanted = wanted_readers(s->count), started = 0;

    while (started < wanted && pthread_create(&readers[started], NULL, read_files, s) == 0) {
        started++;
    }
    return started;
}

/* ---- the caller ---- */

static cp_profile *wait_for(sum *s, size_t index)
{
    pthread_mutex_lock(&s->mutex);
    while (!s->places[index % PLACES].full) {
        pthread_cond_wait(&s->changed, &s->mutex);
    }
    cp_profile *profile = s->places[index % PLACES].profile;
    s->places[index % PLACES].full = false;
    s->merged = index + 1;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
    return profile;
}

static bool merge_one(cp_merger *merger, cp_profile *profile, void (*prepare)(cp_profile *profile))
{
    cp_error ignored;

    if (!profile) {
        return false;
    }
    if (prepare) {
        prepare(profile);
    }
    bool ok = cp_merger_add(merger, profile, &ignored) == 0;
    cp_profile_free(profile);
    return ok;
}

/* Waits for the readers, and frees what they have left. */
static void stop_readers(sum *s, const pthread_t *readers, size_t count)
{
    pthread_mutex_lock(&s->mutex);
    s->abandoned = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
    for (size_t i = 0; i < count; i++) {
        pthread_join(readers[i], NULL);
    }
    for (size_t i = 0; i < PLACES; i++) {
        if (s->places[i].full) {
            cp_profile_free(s->places[i].profile);
        }
    }
}

static bool merge_all(sum *s, cp_merger *merger, void (*prepare)(cp_profile *profile))
{
    pthread_t readers[READERS];
    size_t started = start_readers(s, readers);
    bool ok = true;

    cp_meter meter;
    cp_meter_begin(&meter, "merging", "files");
    for (size_t i = 0; ok && i < s->count; i++) {
        cp_meter_step(&meter, i, s->count);
        ok = merge_one(merger, started ? wait_for(s, i) : read_one(s->paths[i]), prepare);
    }
    cp_meter_end(&meter);
    stop_readers(s, readers, started);
    return ok;
}

/* A pipe cannot be read twice. */
static bool are_regular(const char *const *paths, size_t count)
{
    struct stat info;

    for (size_t i = 0; i < count; i++) {
        if (stat(paths[i], &info) < 0 || !S_ISREG(info.st_mode)) {
            return false;
        }
    }
    return true;
}

/* What one profile has freed is to be there for the next, without a way by the kernel. */
static void keep_freed_memory(void)
{
#ifdef M_MMAP_THRESHOLD /* musl's allocator has no such settings */
    mallopt(M_MMAP_THRESHOLD, 16 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

cp_profile *cp_profile_sum_files(const char *const *paths, size_t count,
                                 void (*prepare)(cp_profile *profile))
{
    sum s = {.paths = paths,
             .count = count,
             .mutex = PTHREAD_MUTEX_INITIALIZER,
             .changed = PTHREAD_COND_INITIALIZER};

    if (!are_regular(paths, count)) {
        return NULL;
    }
    keep_freed_memory();
    cp_merger *merger = cp_merger_new();
    if (merge_all(&s, merger, prepare)) {
        return cp_merger_finish(merger);
    }
    cp_merger_free(merger);
    return NULL;
}
