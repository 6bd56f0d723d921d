/* SPDX-License-Identifier: MIT
 *
 * why_places.h: what a profile's samples add up to at each place: a few names from the leaf on,
 * without addresses, and without the parts of libc that a wait ends in.
 *
 * Owns: the rows and their texts, until cp_places_release().
 */
#ifndef CP_WHY_PLACES_H
#define CP_WHY_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cp_profile cp_profile;

typedef struct cp_place {
    char *state; /* "" if the sample has no label `state` */
    char *leaf;
    char *text; /* "read < get_request < serve"; of the largest stack if places are by leaf */
    int64_t value, largest;
} cp_place;

typedef struct cp_places {
    cp_place *rows; /* the largest first */
    size_t count;
} cp_places;

/* The samples with a value above 0. `by_leaf`: a row is a function that is the leaf; else a text. */
cp_places cp_places_of(const cp_profile *profile, uint32_t value_index, bool by_leaf);
void cp_places_release(cp_places *places);

/* What the rows of a state add up to; NULL: all rows. */
int64_t cp_places_sum(const cp_places *places, const char *state);

#endif
