/* SPDX-License-Identifier: MIT
 *
 * frame_table.h: the frames of a profile, for which reports have rows.
 *
 * A frame here is what the granularity keeps of a line of a location: usually only the function's
 * name, wherever it occurs; or a program, for all of its addresses without a name. Each line of
 * each location of a profile belongs to one frame.
 *
 * Owns: the arrays and labels of a table; the profile owns the names.
 */
#ifndef CP_FRAME_TABLE_H
#define CP_FRAME_TABLE_H

#include "profile/profile_model.h"

typedef enum cp_granularity {
    CP_FUNCTIONS,
    CP_FILEFUNCTIONS, /* a function in each file */
    CP_FILES,
    CP_LINES,
    CP_ADDRESSES,
    CP_SOURCES /* lines, with the program and the function's first line; only for `list` */
} cp_granularity;

/* What the granularity leaves out is 0. Frames with equal members are one frame. */
typedef struct cp_frame_key {
    cp_string name; /* 0: unknown */
    cp_string file; /* the source file, cleaned */
    int64_t line, column;
    uint64_t address;
    cp_string program;  /* the mapping's file; only of a frame without a name, and of sources */
    int64_t start_line; /* also only of these */
} cp_frame_key;

typedef struct cp_frame {
    cp_frame_key key;
    const char *label; /* the text in reports: the name, "[program]", "<unknown>", ... */
    size_t label_length;
} cp_frame;

typedef struct cp_frames {
    const cp_profile *profile;
    cp_frame *frames;
    uint32_t count;
    uint32_t *of_line;  /* the frame of each line of each location, the innermost line first */
    uint32_t *first_of; /* per location, and one more: the index of its first line in of_line */
    cp_pool pool;
} cp_frames;

/* Makes the table. Adds cleaned file names to the profile's strings. */
void cp_frames_init(cp_frames *frames, cp_profile *profile, cp_granularity granularity);
void cp_frames_release(cp_frames *frames);

/* Returns the path without double slashes, "." and "NAME/..": "a//b/../c" becomes "a/c".
 * A leading /proc/self/cwd/, which compilers in a sandbox write, is left out first. It reads no
 * file. The result is to be freed. */
char *cp_clean_path(const char *path);

/* Finds a granularity by its name, such as "lines". Returns 0, or -1 if there is none. */
int cp_granularity_named(const char *name, cp_granularity *granularity);

/* Whether any location has an inlined frame. */
bool cp_frames_have_inlined(const cp_frames *frames);

#endif
