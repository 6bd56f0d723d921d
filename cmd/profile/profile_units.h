/* SPDX-License-Identifier: MIT
 *
 * profile_units.h: conversion of several profiles to the same units.
 */
#ifndef CP_PROFILE_UNITS_H
#define CP_PROFILE_UNITS_H

#include <stddef.h>

typedef struct cp_error cp_error;
typedef struct cp_profile cp_profile;

/* Says that the profiles have different sample types, which ones, and what to do. Returns -1. */
int cp_profile_refuse_types(const cp_profile *first, const cp_profile *other, cp_error *error);

/* Converts the values of each sample type to the finest unit among the profiles. Returns 0, or -1
 * with a sentence if a type differs. */
int cp_profile_align_units(cp_profile *const *profiles, size_t count, cp_error *error);

/* Multiplies the values of each sample type by its ratio, and rounds them. Drops the samples that
 * become zero. */
void cp_profile_scale(cp_profile *profile, const double *ratios);

#endif
