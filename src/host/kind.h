/* SPDX-License-Identifier: MIT
 *
 * kind.h: a kind of profile, as the rest of the library sees it. A kind is a constant of type
 * pp_kind, and one line in kinds.c.
 *
 *   LIBPPROF, pprof_configure() --> words     --\
 *   gperftools' environment     --> variables ---> what is asked for --> start ... end: its files
 *   pprof_parse_flags()         --> flags     --/
 *   pprof_lookup(), pprof_profiles() --> profiles
 *
 * A function may be NULL: the kind has nothing to do at that moment.
 *
 * Zone: NORMAL. The fatal-signal writer calls `end` too: `end` calls only what is safe there.
 * Locks: preload.c holds its lock while it calls take, take_flags, forget and start.
 */
#ifndef PP_HOST_KIND_H
#define PP_HOST_KIND_H

#include "base/arena.h"
#include "host/sampler.h"

#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lists end with an element whose name is NULL. */

/* A word of LIBPPROF, or a variable of the environment. */
typedef struct pp_word {
    const char *name;
    /* `value` is the text after the '=' or ':', NULL if there is neither. 0, or -errno for a bad
     * value. NULL instead of a function: the word has no value, and sets *asked of its kind. */
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
    const char *about; /* a sentence; NULL in a profile that the program has made */
    /* Functions of a built-in profile; NULL in others. */
    size_t (*count)(void);
    int (*write)(pprof_writer writer, int debug);
    /* Fills in the profile as it is now, for the difference of two moments. NULL: there are no
     * differences of this profile. 0 or -errno. */
    int (*build)(pp_arena *arena, struct pp_profile *profile);
    /* pprof_set_..._rate() or _fraction(); NULL: the profile has no rate. */
    int64_t (*set_rate)(int64_t rate);
    bool (*is_there)(void);     /* NULL: always */
    void (*before_write)(void); /* called without a lock; may call the program */
    bool unlisted;              /* another name of a listed profile */
    /* Only in a profile that the program has made. */
    struct pp_value_table *values;
    struct pprof_profile *next;
};

/* A profile of a time that begins when somebody asks for it. Several may go on at a time. */
typedef struct pp_timed_profile {
    const char *name; /* in the paths of HTTP */
    const char *about;
    /* Begins at `hz` samples a second, 0: the usual number. `arena` stays until the end. 0, or
     * -errno with the reason in *why, a sentence without a full stop. */
    int (*begin)(int hz, bool with_labels, pp_arena *arena, void **collection, const char **why);
    /* Write the profile, or not. 0 or -errno. */
    int (*end)(void *collection, pprof_writer writer);
    void (*cancel)(void *collection);
    /* Writes what has been counted since the sampler started, which goes on. `arena`: until the
     * return. 0 or -errno; -ESRCH: no profile runs. */
    int (*write_so_far)(bool with_labels, pp_arena *arena, pprof_writer writer);
} pp_timed_profile;

/* A text that is no profile, for those who look at the program. */
typedef struct pp_kind_text {
    const char *name;                  /* in the paths of HTTP */
    const char *about;                 /* some words, for a link */
    int (*write)(pprof_writer writer); /* 0 or -errno */
} pp_kind_text;

typedef struct pp_kind {
    const char *name;
    const pp_word *words;
    const pp_word *variables; /* read in this order, after LIBPPROF */
    const pp_flag *flags;
    pprof_profile *profiles;
    /* The first of the profiles that the program has made; they are ordered by name. */
    pprof_profile *(*made)(void);
    const pp_timed_profile *timed; /* NULL: none */
    const pp_kind_text *text;      /* NULL: none */
    const pp_sampler *sampler;

    /* ---- what the user has asked for ---- */

    /* Whether the kind's word without a value was given. The library sets and clears it, and counts
     * one file for it, unless the kind has `files`. NULL: the kind has no such word. */
    bool *asked;
    /* Forgets which profiles were asked for. `all`: forgets their parameters too. */
    void (*forget)(bool all);
    /* The number of files that the kind will write. */
    unsigned (*files)(void);
    /* Asks for the profiles that the flags name, and forgets the flags. 0, or the first error,
     * which is already on the log. */
    int (*take_flags)(void);

    /* ---- the life of the process ---- */

    /* Starts the profiles that were asked for, if any. `duration_ns`: from now on they cover this
     * time; 0: until the process ends. 0 or -errno; the log says why. */
    int (*start)(uint64_t duration_ns);
    /* Called when the library is loaded, if LIBPPROF asks for no file of this kind. */
    void (*load_unasked)(bool options_given);
    /* Whether the kind records, or has a file that it has not written yet. */
    bool (*is_on)(void);
    /* Whether the kind holds addresses, so that modules must be remembered before they are
     * unloaded. */
    bool (*holds_addresses)(void);
    /* Whether the kind records now what the program's calls of our hooks tell it. NULL: it never
     * does. */
    bool (*needs_calls)(void);
    /* Finds the real functions of the kind's hooks, which the program is about to call
     * (attach/slots.h). */
    void (*find_real)(void);
    /* Forgets what hooks would have to remove: from now on the program does not call them. */
    void (*forget_calls)(void);
    /* Whether the kind itself keeps this descriptor open: no profile shows it. */
    bool (*owns_descriptor)(int fd);
    /* Writes the files that are not written yet. `interrupted`: the ucontext_t of a fatal signal's
     * handler, in which the process ends; NULL if it ends in another way. */
    void (*end)(const void *interrupted);
    /* Writes the stacks of all threads to the log. `info`, `interrupted`: what the handler of the
     * signal that caused it was given. Only what the fatal-signal writer may call. */
    void (*dump)(const siginfo_t *info, const void *interrupted);
    /* Writes the same files, and stops recording: the program confines itself. True if it wrote a
     * file. */
    bool (*confine)(void);
    /* Writes the same files, and stops recording, until it is asked for again: the option NAME=off.
     * True if it wrote a file. NULL in a kind whose profiles have rates, which are set to 0. */
    bool (*stop)(void);
    /* At the deadline confine() is called instead of end(), unless the program is linked to
     * libpprof. */
    bool stops_at_deadline;
    /* Before exec: writes the files as they are now. They are written again if the exec fails. */
    void (*write_so_far)(void);
    void (*after_failed_exec)(uint64_t duration_ns);
    /* In the child of fork. `goes_on`: the child writes files of its own. */
    void (*after_fork_in_child)(bool goes_on);
} pp_kind;

/* All kinds, in the order in which they end; they start in the opposite order. The list ends with
 * NULL. Defined in kinds.c. */
extern const pp_kind *const pp_kinds[];

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

/* The number of files that the kind will write. */
static inline unsigned pp_kind_files(const pp_kind *kind)
{
    if (kind->files != NULL) {
        return kind->files();
    }
    return kind->asked != NULL && *kind->asked;
}

#endif
