/* SPDX-License-Identifier: MIT
 *
 * kind.h: what a kind of profile is to the rest of the library: one constant of type pp_kind, and
 * one line in kinds.c.
 *
 *   LIBPPROF, pprof_configure() --> words     --\
 *   gperftools' environment     --> variables ---> what is asked for --> start ... end: its files
 *   pprof_parse_flags()         --> flags     --/
 *   pprof_lookup(), pprof_profiles() --> profiles
 *
 * Each function may be NULL: the kind has nothing to do at that moment.
 *
 * Zone: NORMAL. `end` serves the fatal-signal writer too: it calls only what may be called there.
 * Locks: what asks, forgets and starts runs under the lock of preload.c.
 */
#ifndef PP_HOST_KIND_H
#define PP_HOST_KIND_H

#include "host/sampler.h"

#include "pprof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lists end with an element whose name is NULL. */

/* A word of LIBPPROF, or a variable of the environment. */
typedef struct pp_word {
    const char *name;
    /* `value` is what follows the '=' or ':', NULL if there is nothing. 0, or -errno for a
     * bad one. */
    int (*take)(const char *value);
    const char *usage; /* how to write it; NULL for a variable */
} pp_word;

/* A flag of `go test`: -name=FILE or -name=NUMBER. One of the two pointers is NULL. */
typedef struct pp_flag {
    const char *name;
    const char **file;
    int64_t *number;
} pp_flag;

/* A profile that pprof_lookup() finds. */
struct pprof_profile {
    const char *name;
    /* Built in, else NULL. */
    size_t (*count)(void);
    int (*write)(pprof_writer writer, int debug);
    bool (*is_there)(void);     /* NULL: always */
    void (*before_write)(void); /* with no lock of ours held; it may call the program */
    bool unlisted;              /* another name of one that is listed */
    /* The program's own. */
    struct pp_value_table *values;
    struct pprof_profile *next;
};

typedef struct pp_kind {
    const char *name;
    const pp_word *words;
    const pp_word *variables; /* looked at in this order, after LIBPPROF */
    const pp_flag *flags;
    pprof_profile *profiles;
    /* The first of the profiles that the program has made itself; ordered by name. */
    pprof_profile *(*made)(void);
    const pp_sampler *sampler;

    /* ---- what is asked for ---- */

    /* Nothing is asked for any more. `all`: nor is anything kept of how. */
    void (*forget)(bool all);
    /* The number of files that what is asked for will write. */
    unsigned (*files)(void);
    /* Asks for what the flags say, and forgets them. 0, or the first error, which is on the log
     * already. */
    int (*take_flags)(void);

    /* ---- the life of the process ---- */

    /* Starts what is asked for, if anything is. `duration_ns`: what to write is to be that of this
     * time from now; 0: until the end. 0 or -errno; the log says why. */
    int (*start)(uint64_t duration_ns);
    /* The library is loaded, and LIBPPROF asks for nothing of it. */
    void (*load_unasked)(bool options_given);
    /* Whether files are still to be written, or anything is recorded for them. */
    bool (*is_on)(void);
    /* Whether addresses are held whose modules must be remembered before they go. */
    bool (*holds_addresses)(void);
    /* Whether it keeps this descriptor open for itself: no profile shows it. */
    bool (*owns_descriptor)(int fd);
    /* Writes what is to be written and has not been. `interrupted`: the ucontext_t of a fatal
     * signal's handler, in which the process ends; NULL if it ends in another way. */
    void (*end)(const void *interrupted);
    /* The same, and records nothing any more: the program confines itself. True if a file was
     * written. */
    bool (*confine)(void);
    bool stops_at_deadline; /* in a program that is not linked to us: confine(), not end() */
    /* Before exec: writes what the files would be now; they are written again if the exec fails. */
    void (*write_so_far)(void);
    void (*after_failed_exec)(uint64_t duration_ns);
    /* In the child of fork. `goes_on`: it writes files of its own. */
    void (*after_fork_in_child)(bool goes_on);
} pp_kind;

/* In the order in which they end; they start from the last one on. Ends with NULL. Defined in
 * kinds.c. */
extern const pp_kind *const pp_kinds[];

#endif
