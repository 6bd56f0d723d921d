/* SPDX-License-Identifier: MIT
 *
 * live_views.h: what `cpprof top -p` can show of a process, one at a time.
 */
#ifndef CP_LIVE_VIEWS_H
#define CP_LIVE_VIEWS_H

#include <stddef.h>

typedef struct cp_error cp_error;

typedef enum cp_live_kind {
    CP_LIVE_SAMPLED, /* counts since a sampler started, which somebody has to keep running */
    CP_LIVE_SUMS,    /* counts since the process started */
    CP_LIVE_LEVELS   /* how things are */
} cp_live_kind;

typedef struct cp_live_view {
    const char *title;
    const char *profile; /* its name after /debug/pprof/ */
    const char *types;   /* the sample types that --sample may choose, with blanks between them; the
                            first is shown otherwise */
    const char
        *remedy; /* what `cpprof configure` is told to switch it on; NULL: it needs nothing */
    cp_live_kind kind;
} cp_live_view;

enum { CP_LIVE_VIEWS = 7 };
extern const cp_live_view cp_live_views[CP_LIVE_VIEWS];

/* Finds the view of a profile (NULL: any) that has a sample type (NULL: any). Returns 0, or -1 with
 * a sentence. */
int cp_live_view_find(const char *profile, const char *type, size_t *view, cp_error *error);

/* The sample type that a view shows; `wanted`, if the view has it. To be freed. */
char *cp_live_view_type(const cp_live_view *view, const char *wanted);

#endif
