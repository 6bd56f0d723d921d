/* SPDX-License-Identifier: MIT
 *
 * flame_colours.h: the colours of a flame graph.
 *
 * They are those of the page in its light form (cmd/page/colours.mjs has the same numbers): a
 * colour stands for an object file, or, in a profile of only one, for a package; the groups that
 * have most of the picture have hues of their own, the others are grey; functions of one group
 * differ a little in lightness, and those without a name are paler.
 *
 * Owns: the arrays, until cp_flame_colours_release().
 */
#ifndef CP_FLAME_COLOURS_H
#define CP_FLAME_COLOURS_H

#include "convert/flame_tree.h"

typedef struct cp_report cp_report;

enum { CP_FLAME_HUES = 12 };

typedef struct cp_flame_colour {
    unsigned char red, green, blue;
} cp_flame_colour;

typedef struct cp_flame_group {
    const char *name; /* empty: no object file, or no package */
    size_t length;
    double area;
} cp_flame_group;

typedef struct cp_flame_colours {
    cp_flame_colour *fills; /* of each frame, and one more, for what is no frame */
    cp_flame_group *groups; /* the largest first */
    uint32_t group_count;
} cp_flame_colours;

void cp_flame_colours_init(cp_flame_colours *colours, const cp_report *report,
                           const cp_flame_tree *tree);
void cp_flame_colours_release(cp_flame_colours *colours);

/* The colour of a group in the key. */
cp_flame_colour cp_flame_group_colour(const cp_flame_colours *colours, uint32_t group);

#endif
