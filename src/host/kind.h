/* SPDX-License-Identifier: MIT
 *
 * kind.h: a kind of profile, as the rest of the library sees it. A kind is a constant of type
 * pp_kind, and one line in kinds.c.
 *
 *   LIBPPROF, pprof_configure(),
 *   gperftools' environment     --> words --\
 *   pprof_parse_flags()         --> flags ---> files that are asked for --> start ... write
 *   pprof_lookup(), pprof_profiles() --> profiles
 *
 * A function may be NULL: the kind has nothing to do at that moment.
 *
 * Zone: NORMAL. The fatal-signal writer calls `write` too, which calls only what is safe there.
 * Locks: all_kinds.h has the lock that is held around take, take_flags, reset and start.
 */
#ifndef PP_HOST_KIND_H
#define PP_HOST_KIND_H

#include "base/arena.h"
#include "host/call_slots.h"
#include "host/sampler.h"

#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lists end with an element whose name is NULL. */

/* A word of LIBPPROF, or a variable of the environment; those are read in the order of the list,
 * after LIBPPROF. */
typedef struct pp_word {
    const char *name;
    /* `value` is the text after the '=' or ':', NULL if there is neither. 0, or -errno for a bad
     * value. NULL instead of a function: the word has no value, and asks for the file of its name.
     */
    int (*take)(const char *value);
    const char *usage; /* how to write the word; NULL for a variable */
} pp_word;

/* A flag of `go test`: -name=FILE or -name=NUMBER. One of the two pointers is NULL. */
typedef struct pp_flag {
    const char *name;
    const char **file;
    int64_t *number;
} pp_flag;

struct pp_profile; /* profile/model.h */

/* A profile that pprof_lookup() finds. */
struct pprof_profile {
    const char *name;
    /* Of a built-in profile; NULL in others. */
    const char *about; /* a sentence */
    const char *word;  /* that turns it on; NULL: the name */
    const char *alias; /* another name in the paths of HTTP, as gperftools has it; NULL: none */
    const char *full;  /* what its text with debug=2 is, for a link; NULL: the same as debug=1 */
    size_t (*count)(void);
    int (*write)(pprof_writer writer, int debug);
    /* Fills in the profile as it is now, for the difference of two moments. NULL: there are no
     * differences of this profile. 0 or -errno. */
    int (*build)(pp_arena *arena, struct pp_profile *profile);
    /* pprof_set_..._rate() or _fraction(); NULL: the profile has no rate. */
    int64_t (*set_rate)(int64_t rate);
    bool (*is_there)(void);     /* NULL: always */
    void (*before_write)(void); /* called without a lock; may call the program */
    /* A request has it called that has this parameter above 0; NULL: none has. */
    const char *before_write_query;
    bool unlisted; /* another name of a listed profile */
    /* Has no rate, and counts what has happened since it began: the difference of two moments is what happened between. */
    bool accumulates;
    /* Only in a profile that the program has made. */
    struct pp_value_table *values;
    struct pprof_profile *next;
};

/* Which labels the samples of a timed profile have. */
typedef enum pp_timed_labels {
    PP_TIMED_NO_LABELS,
    PP_TIMED_LABELS,
    PP_TIMED_THREAD_LABEL /* also `thread`, if the profile has it */
} pp_timed_labels;

/* A profile of a time that begins when somebody asks for it. Several may go on at a time. */
typedef struct pp_timed_profile {
    const char *name; /* in the paths of HTTP */
    const char *about;
    const char *what;   /* is profiled, for complaints */
    bool ignores_debug; /* as Go's profile does; else a request for a text is refused */
    /* Begins at `hz` samples a second, 0: the usual number. `arena` stays until the end. 0, -EINVAL
     * for a rate that is too large, or another -errno, with the reason in *why, a sentence without a
     * full stop. */
    int (*begin)(int hz, pp_timed_labels labels, pp_arena *arena, void **collection,
                 const char **why);
    /* Write the profile, or not. 0 or -errno. */
    int (*end)(void *collection, pprof_writer writer);
    void (*cancel)(void *collection);
    /* Writes what has been counted since the sampler started, which goes on. `arena`: until the
     * return. 0 or -errno; -ESRCH: no profile runs. */
    int (*write_so_far)(pp_timed_labels labels, pp_arena *arena, pprof_writer writer);
    /* Fills in the same, with labels, for the difference of two moments. `time_ns` is that of the
     * sampler's start: only what has the same can be subtracted. */
    int (*build_so_far)(pp_arena *arena, struct pp_profile *profile);
    /* Completes such a difference. 0 or -ENOMEM. NULL: it is complete. */
    int (*complete)(pp_arena *arena, struct pp_profile *profile);
} pp_timed_profile;

/* A text that is no profile, for those who look at the program. */
typedef struct pp_kind_text {
    const char *name;                  /* in the paths of HTTP */
    const char *about;                 /* some words, for a link */
    int (*write)(pprof_writer writer); /* 0 or -errno */
} pp_kind_text;

/* A file that a kind writes when the process ends, and at other moments. */
typedef struct pp_end_file {
    const char *name;                             /* for %k in the file's name */
    int (*write)(pprof_writer writer, int debug); /* with debug 0; 0 or -errno */
    /* Whether the profile would have no samples: `cpprof record` then does without that of a child,
     * which has no time to spare for its end. NULL: write it to see. */
    bool (*is_empty)(void);
    const char *needs; /* what says why it could not be made; NULL: the error alone */
    bool asked;        /* by the user, who may ask for others before the kind starts */
    bool wanted;       /* the kind was started for it, and has not written it yet */
} pp_end_file;

/* How the program's calls reach the hooks of a kind. */
typedef struct pp_kind_hooks {
    /* Whether the kind records now what its hooks see: it then holds addresses, too. */
    bool (*record)(void);
    /* Finds the real functions of the kind's hooks, which the program is about to call
     * (attach/got.h). NULL: others find them. */
    void (*find_real)(void);
    /* Lists the hooks of which programs make most calls. NULL: there are none. */
    pp_called_hooks *list_called;
    /* Forgets what hooks would have to remove: from now on the program does not call them. NULL:
     * there is nothing. */
    void (*forget)(void);
} pp_kind_hooks;

/*
 * What a kind does is five verbs:
 *
 *   start --> write --> write ... --> stop     `write` also comes alone: a signal, an interval
 *               |                              `stop` comes after the last `write`
 *               +-- exec failed, or an interval is over --> resume
 *   fork, in the child --> goes on, or not
 */
typedef struct pp_kind {
    const char *name;
    const pp_word *words;
    const pp_flag *flags;
    const pprof_profile *profiles;
    /* The first of the profiles that the program has made; they are ordered by name. */
    pprof_profile *(*made)(void);
    pp_end_file *files;            /* NULL: none */
    const pp_timed_profile *timed; /* NULL: none */
    const pp_kind_text *text;      /* NULL: none */
    const pp_sampler *sampler;     /* NULL: none */
    const pp_kind_hooks *hooks;    /* NULL: none */

    /* Asks for the files that the flags name, and forgets the flags. 0, or the first error, which
     * is already on the log. */
    int (*take_flags)(void);
    /* Forgets the values of words. */
    void (*reset)(void);
    /* Whether the kind holds addresses without hooks, so that modules must be remembered before
     * they are unloaded. */
    bool (*holds_addresses)(void);

    /* Starts what was asked for, if anything. `duration_ns`: from now on the profiles cover this
     * time; 0: until the process ends. 0 or -errno; the log says why. NULL: the kind needs nothing
     * but pp_prepare_asked(). */
    int (*start)(uint64_t duration_ns);
    /* Writes the files that are not written yet. `so_far`: they stay wanted, and a kind that stops
     * for it goes on at `resume`. `interrupted`: the ucontext_t of a fatal signal's handler, in
     * which the process ends; NULL in ordinary code. NULL: pp_end_files_write() does it. */
    void (*write)(bool so_far, const void *interrupted);
    /* Stops recording, until the next start. `confined`: the program confines itself, and may be
     * killed for system calls that it has not made before. */
    void (*stop)(bool confined);
    /* Goes on after write(true). `duration_ns`: as in start. */
    void (*resume)(uint64_t duration_ns);
    /* In the child of fork. `goes_on`: the child writes files of its own; else they are not wanted
     * any more after this call. */
    void (*after_fork)(bool goes_on);
} pp_kind;

/* All kinds, in the order in which they end; they start in the opposite order. The list ends with
 * NULL. Defined in kinds.c. */
extern const pp_kind *const pp_kinds[];

/* Whether `name` is a built-in profile that is not there now; the word of its name turns it on.
 * Defined in output/profiles.c. Any thread. */
bool pp_profile_is_off(const char *name);

/*
 * A linker takes a member of an archive only if something refers to it. The list brings the start-up
 * (kinds.c), with it all hooks and the end of the process. This line stands in files whose functions
 * the program calls and that have no other use for the list.
 */
#define PP_NEEDS_KINDS                                                                             \
    __attribute__((used)) static const pp_kind *const *const needs_kinds = pp_kinds

static inline size_t pp_kinds_count(void)
{
    size_t count = 0;
    while (pp_kinds[count] != NULL) {
        count++;
    }
    return count;
}

/* The number of files that were asked for. */
static inline unsigned pp_kind_files(const pp_kind *kind)
{
    unsigned count = 0;
    for (const pp_end_file *file = kind->files; file != NULL && file->name != NULL; file++) {
        count += file->asked;
    }
    return count;
}

/* Whether a file of the list is wanted. */
static inline bool pp_end_files_wanted(const pp_end_file *files)
{
    while (files != NULL && files->name != NULL && !files->wanted) {
        files++;
    }
    return files != NULL && files->name != NULL;
}

static inline bool pp_kind_records(const pp_kind *kind)
{
    return kind->hooks != NULL && kind->hooks->record();
}

/* Whether the kind records, or has a file that it has not written yet. */
static inline bool pp_kind_is_on(const pp_kind *kind)
{
    return pp_end_files_wanted(kind->files) || pp_kind_records(kind);
}

#endif
